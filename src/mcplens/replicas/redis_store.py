"""The store of several replicas in Redis or Valkey; the only module that imports redis.

Knows the connection: its state, its time limits, and how it comes back. An operation that fails to
reach the store marks it as down; while it is down, operations fail at once, and a task tries to
reach it. What must be atomic is a script of redis_scripts.py. Made by opening.py.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final
from urllib.parse import urlsplit

from redis.asyncio import BlockingConnectionPool, ConnectionPool, Redis
from redis.asyncio.connection import AbstractConnection as Connection
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import (
    AuthenticationError,
    NoScriptError,
    OutOfMemoryError,
    ReadOnlyError,
    RedisError,
    ResponseError,
)
from redis.maint_notifications import MaintNotificationsConfig

from mcplens.background import Background
from mcplens.clock import Clock
from mcplens.config.replica_settings import StoreSettings
from mcplens.errors import StoreUnavailable
from mcplens.replicas import redis_scripts as scripts
from mcplens.replicas.redis_scripts import Script
from mcplens.replicas.state_store import (
    FORMAT_VERSION,
    LogPart,
    OnMessage,
    StateStore,
    StoreState,
    Tokens,
)

_log = logging.getLogger("mcplens.replicas")

# Enough for the operations that are under way at once; others wait for one of them. They stay
# open: so few cost nothing, and the replica's own presence uses one every 1.5 s. One that the store
# closed (`timeout` of its configuration) is opened again before it is used.
_CONNECTIONS: Final = 16
# Tries to reach a store that is down: soon at first, since a restart takes a moment.
_FIRST_RETRY_S: Final = 0.1
_LAST_RETRY_S: Final = 2.0
# A connection that only listens is asked for a sign of life after this time.
_LISTEN_S: Final = 5.0
# What redis-py raises when the store cannot be reached.
_FAILURES: Final = (RedisError, OSError, TimeoutError)


class RedisStore(StateStore):
    """Shared state in Redis or Valkey."""

    outlives_us = True

    def __init__(self, settings: StoreSettings, clock: Clock) -> None:
        super().__init__(clock.wall())
        self._clock = clock
        self._timeout_s = settings.timeout_s
        self._prefix = f"{settings.prefix}:{FORMAT_VERSION}:"
        parts = urlsplit(settings.url)
        self.name = f"{parts.scheme}://{parts.hostname}:{parts.port or 6379}"
        self._options = _connection_options(settings)
        self._url = settings.url
        self._client: Redis | None = None
        self._work = Background()
        self._is_retrying = False
        self._closing = asyncio.Event()
        self._listener: Connection | None = None  # subscribed to channels
        self._subscribers: dict[str, list[OnMessage]] = {}

    # -- life ------------------------------------------------------------------------------

    async def open(self) -> None:
        pool = BlockingConnectionPool.from_url(
            self._url, max_connections=_CONNECTIONS, timeout=self._timeout_s, **self._options
        )
        self._client = Redis(connection_pool=pool)
        try:
            await self._ping()
        except _FAILURES as problem:
            self._lost(problem)
        else:
            self._found()
        self._work.start(self._listen(), "listen to the store")

    async def close(self) -> None:
        # Nothing is cancelled: redis-py can leave a connection open that is cancelled while it
        # connects. Each task ends by itself, within the time limit of an operation.
        self._closing.set()
        if self._listener is not None:
            await self._listener.disconnect(nowait=True)
        await self._work.ended()
        if self._client is not None:
            client, self._client = self._client, None
            with contextlib.suppress(*_FAILURES):
                await client.connection_pool.disconnect()
                await client.aclose()

    async def _ping(self) -> None:
        assert self._client is not None
        await _execute(self._client, "PING")

    def _found(self) -> None:
        if self._state.status == "down" or self._state.reason:
            _log.info("the shared store %s is up", self.name)
        self._set_state(StoreState("up", self._clock.wall()))

    def _lost(self, problem: BaseException) -> None:
        reason = self._reason(problem)
        if self._state.status != "down":
            _log.warning("the shared store %s is down: %s", self.name, reason)
            self._set_state(StoreState("down", self._clock.wall(), reason))
        elif self._state.reason != reason:
            self._set_state(StoreState("down", self._state.since, reason))
        if not self._is_retrying:
            self._is_retrying = True
            self._work.start(self._come_back(), "reach the store again")

    def _reason(self, problem: BaseException) -> str:
        if isinstance(problem, TimeoutError) or type(problem).__name__ == "TimeoutError":
            return f"no answer within {self._timeout_s:g} s"
        if isinstance(problem, AuthenticationError):
            return "it refused the sign-in: check username and password of gateway.store"
        return str(problem) or type(problem).__name__

    async def _come_back(self) -> None:
        delay_s = _FIRST_RETRY_S
        try:
            while not await self._closes_within(delay_s):
                delay_s = min(_LAST_RETRY_S, delay_s * 2)
                try:
                    await self._ping()
                except _FAILURES as problem:
                    self._lost(problem)
                else:
                    self._found()
                    return
        finally:
            self._is_retrying = False

    async def _closes_within(self, delay_s: float) -> bool:
        try:
            async with asyncio.timeout(delay_s):
                return await self._closing.wait()
        except TimeoutError:
            return False

    # -- one operation -----------------------------------------------------------------------

    def _unavailable(self) -> StoreUnavailable:
        state = self._state
        if state.status == "full":
            text = f"the shared store ({self.name}) takes no more data: {state.reason}"
        else:
            text = f"the shared store ({self.name}) cannot be used: {state.reason}"
        return StoreUnavailable(text, store=self.name, since=state.since)

    async def _do(self, *command: str | bytes | int) -> Any:
        """Carry out one command.

        Raises:
            StoreUnavailable: the store is down, full or too slow.
        """
        if self._client is None or self._closing.is_set():
            raise StoreUnavailable(f"the shared store ({self.name}) is not open", store=self.name)
        if self._state.status == "down":
            raise self._unavailable()
        # In a task of its own, which is never cancelled: a caller that is would leave a connection
        # open if redis-py was connecting, and before Python 3.12 could lose its cancellation.
        work = self._work.start(_execute(self._client, *command), "use the store")
        work.add_done_callback(_forget_error)
        try:
            reply = await asyncio.shield(work)
        except NoScriptError:
            raise
        except OutOfMemoryError as problem:
            self._refused_write(problem)
        except ReadOnlyError as problem:  # a replica of Redis, until the client finds the primary
            self._lost(problem)
        except ResponseError as problem:
            if str(problem).startswith(("MISCONF", "OOM")):
                self._refused_write(problem)
            elif str(problem).startswith(("NOPERM", "NOAUTH", "WRONGPASS")):
                self._lost(problem)
            else:
                raise  # a bug of ours
        except _FAILURES as problem:
            self._lost(problem)
        else:
            return reply
        raise self._unavailable()

    def _refused_write(self, problem: ResponseError) -> None:
        if self._state.status != "full":
            _log.warning("the shared store %s takes no more data: %s", self.name, problem)
            self._set_state(StoreState("full", self._clock.wall(), str(problem)))

    async def _write(self, *command: str | bytes | int) -> Any:
        """Carry out a command that needs room: a store that was full has some again."""
        reply = await self._do(*command)
        if self._state.status == "full":
            self._found()
        return reply

    async def _run(self, script: Script, keys: Sequence[str], *args: str | bytes | int) -> Any:
        names = [self._prefix + key for key in keys]
        try:
            return await self._do("EVALSHA", script.digest, len(names), *names, *args)
        except NoScriptError:  # the store was restarted, or has never seen it
            return await self._do("EVAL", script.text, len(names), *names, *args)

    async def _run_write(
        self, script: Script, keys: Sequence[str], *args: str | bytes | int
    ) -> Any:
        reply = await self._run(script, keys, *args)
        if self._state.status == "full":
            self._found()
        return reply

    # -- values ------------------------------------------------------------------------------

    async def get(self, key: str) -> bytes | None:
        found: bytes | None = await self._do("GET", self._prefix + key)
        return found

    async def put(self, key: str, value: bytes, ttl_s: float) -> None:
        await self._write("SET", self._prefix + key, value, "PX", _ms(ttl_s))

    async def compare_and_set(
        self, key: str, expected: bytes | None, value: bytes, ttl_s: float
    ) -> bool:
        must_be_absent = 1 if expected is None else 0
        args = (must_be_absent, expected or b"", value, _ms(ttl_s))
        return bool(await self._run_write(scripts.COMPARE_AND_SET, [key], *args))

    async def delete(self, key: str, expected: bytes | None = None) -> bool:
        if expected is None:
            return bool(await self._do("DEL", self._prefix + key))
        return bool(await self._run(scripts.COMPARE_AND_DELETE, [key], expected))

    # -- members -----------------------------------------------------------------------------

    async def join(self, group: str, member: str, value: bytes, ttl_s: float) -> bool:
        args = (member, value, _ms(ttl_s))
        return bool(await self._run_write(scripts.JOIN, [f"group:{group}"], *args))

    async def leave(self, group: str, member: str) -> None:
        await self._do("HDEL", f"{self._prefix}group:{group}", member)

    async def members(self, group: str) -> dict[str, bytes]:
        found: list[bytes] = await self._run(scripts.MEMBERS, [f"group:{group}"])
        return {
            member.decode(): value for member, value in zip(found[::2], found[1::2], strict=True)
        }

    # -- logs --------------------------------------------------------------------------------

    async def append(
        self, log: str, entries: Sequence[bytes], *, most: int, most_bytes: int, ttl_s: float
    ) -> int:
        keys = _log_keys(log)
        limits = (most, most_bytes, _ms(ttl_s))
        last: int = await self._run_write(scripts.APPEND, keys, *limits, *entries)
        return last

    async def read(self, log: str, after: int = 0) -> LogPart:
        oldest, entries = await self._run(scripts.READ, _log_keys(log), after)
        return LogPart(tuple(entries), max(oldest, after + 1), after + 1 >= oldest)

    async def drop_log(self, log: str) -> None:
        await self._do("DEL", *(self._prefix + key for key in _log_keys(log)))

    # -- limits ------------------------------------------------------------------------------

    async def take_tokens(
        self, bucket: str, *, per_second: float, burst: int, most: int = 1
    ) -> Tokens:
        args = (repr(float(per_second)), burst, most)
        taken, wait_ms = await self._run_write(scripts.TAKE_TOKENS, [f"bucket:{bucket}"], *args)
        return Tokens(taken, wait_ms / 1000)

    async def take_place(self, name: str, holder: str, *, most: int, ttl_s: float) -> bool:
        args = (holder, most, _ms(ttl_s))
        return bool(await self._run_write(scripts.TAKE_PLACE, [f"places:{name}"], *args))

    async def free_place(self, name: str, holder: str) -> None:
        await self._run(scripts.FREE_PLACE, [f"places:{name}"], holder)

    async def keep_places(self, name: str, holder: str, ttl_s: float) -> int:
        args = (holder, _ms(ttl_s))
        held: int = await self._run_write(scripts.KEEP_PLACES, [f"places:{name}"], *args)
        return held

    # -- wake-up calls -------------------------------------------------------------------------

    async def publish(self, channel: str, message: bytes) -> None:
        await self._do("PUBLISH", self._prefix + channel, message)

    def subscribe(self, channel: str, on_message: OnMessage) -> Callable[[], None]:
        known = self._subscribers.setdefault(channel, [])
        known.append(on_message)
        if len(known) == 1:
            self._change_channel("SUBSCRIBE", channel)

        def end() -> None:
            left = self._subscribers.get(channel, [])
            if on_message in left:
                left.remove(on_message)
            if channel in self._subscribers and not left:
                del self._subscribers[channel]
                self._change_channel("UNSUBSCRIBE", channel)

        return end

    def _change_channel(self, verb: str, channel: str) -> None:
        connection = self._listener
        if connection is not None:

            async def change() -> None:
                # A connection that was closed meanwhile would be opened again by a command.
                if connection is self._listener and not self._closing.is_set():
                    with contextlib.suppress(*_FAILURES):  # _listen notices
                        await connection.send_command(verb, self._prefix + channel)

            self._work.start(change(), f"{verb.lower()} a channel of the store")

    async def _listen(self) -> None:
        """Pass on messages of all channels; connects again whenever the store is back."""
        is_soon = True
        while not await self._closes_within(_FIRST_RETRY_S if is_soon else _LAST_RETRY_S):
            connection = self._make_listener()
            try:
                connect: Callable[[], Awaitable[None]] = connection.connect  # it has no types
                await connect()
                await self._pass_on(connection)
            except _FAILURES:
                is_soon = self._state.status != "down"
            finally:
                self._listener = None
                with contextlib.suppress(*_FAILURES):
                    await connection.disconnect(nowait=True)

    def _make_listener(self) -> Connection:
        # Under RESP2, messages of channels are replies like any other.
        pool = ConnectionPool.from_url(self._url, **self._options | {"protocol": 2})
        make: Callable[[], Connection] = pool.make_connection  # it has no types
        return make()

    async def _pass_on(self, connection: Connection) -> None:
        # A channel of its own keeps the connection subscribed while there is no other.
        names = ["alive", *self._subscribers]
        await connection.send_command("SUBSCRIBE", *(self._prefix + name for name in names))
        self._listener = connection
        for listeners in tuple(self._subscribers.values()):
            for listener in tuple(listeners):
                listener(None)
        is_waiting_for_pong = False
        while not self._closing.is_set():
            reply = await connection.read_response(timeout=_LISTEN_S)
            if reply is None:
                if is_waiting_for_pong:
                    return  # the connection is dead
                is_waiting_for_pong = True
                await connection.send_command("PING")
                continue
            is_waiting_for_pong = False
            if isinstance(reply, list) and reply[0] == b"message":
                channel = reply[1].decode().removeprefix(self._prefix)
                for listener in tuple(self._subscribers.get(channel, ())):
                    listener(reply[2])


def _forget_error(work: asyncio.Task[Any]) -> None:
    """Its caller may be gone."""
    if not work.cancelled():
        work.exception()


async def _execute(client: Redis, *command: str | bytes | int) -> Any:
    execute: Callable[..., Awaitable[Any]] = client.execute_command  # it has no types
    return await execute(*command)


def _ms(seconds: float) -> int:
    return max(1, round(seconds * 1000))


def _log_keys(log: str) -> tuple[str, str]:
    return f"log:{log}", f"log:{log}:facts"


def _connection_options(settings: StoreSettings) -> dict[str, Any]:
    options: dict[str, Any] = {
        "protocol": 3,
        "socket_timeout": settings.timeout_s,
        "socket_connect_timeout": settings.timeout_s,
        # We never repeat a command: it may have been carried out.
        "retry": Retry(NoBackoff(), 0),
        "maint_notifications_config": MaintNotificationsConfig(enabled=False),
    }
    if settings.username is not None:
        options["username"] = settings.username
    if settings.password is not None:
        options["password"] = settings.password
    if settings.ca_file is not None:
        options["ssl_ca_certs"] = settings.ca_file
    return options
