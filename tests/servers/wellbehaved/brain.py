"""The well-behaved server without its I/O: messages in, messages out.

A `Brain` is one server process; a `Peer` is one client as it sees it (a session, a socket, a pipe,
or in 2026-07-28 over HTTP a single request). Adapters call `Peer.receive` and give it a `send`.
What touches the process (stderr, exit, sleep) goes through `Host`: the brain also runs in a test.
"""

import asyncio
import json
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from . import methods, tools
from .catalog import Catalog
from .envelope import complete, require_envelope, require_version, unsupported_version
from .protocol import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    LEGACY_VERSIONS,
    LOG_LEVEL_KEY,
    LOG_LEVELS,
    METHOD_NOT_FOUND,
    MODERN_VERSION,
    PARSE_ERROR,
    SUBSCRIPTION_KEY,
    VERSION_KEY,
    Message,
    RpcError,
    error,
    is_request,
    is_response,
    meta_of,
    notification,
    params_of,
    request,
    result,
)
from .record import Record

Send = Callable[[Message], None]
SERVER_INFO = {"name": "wellbehaved", "version": "1.0.0", "title": "Well-behaved test server"}


@dataclass(frozen=True)
class Options:
    era: str = "legacy"  # legacy | modern | both
    discover: str = "normal"  # normal | silent | exit | late:SECONDS
    page_size: int = 5
    broken_tools: bool = False
    empty_cursor: bool = False
    without: tuple[str, ...] = ()  # capabilities that this server does not have


class Host:
    """The process around the brain."""

    def write_stderr(self, text: str) -> None:
        print(text, file=sys.stderr, flush=True)

    def exit(self, code: int) -> None:
        os._exit(code)

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)

    def drop_session(self, peer: "Peer") -> None:
        """Forget the session of `peer`; only streamable HTTP has any."""


class Brain:
    def __init__(self, options: Options | None = None, host: Host | None = None) -> None:
        self.options = options or Options()
        self.host = host or Host()
        self.record = Record()
        self.catalog = Catalog(
            tools.DEFINITIONS,
            page_size=self.options.page_size,
            is_broken=self.options.broken_tools,
            empty_cursor=self.options.empty_cursor,
        )
        self.peers: list[Peer] = []  # those that have initialized
        self.listeners: list[Listener] = []

    def __repr__(self) -> str:
        return (
            f"<Brain {self.options.era}: {len(self.peers)} peers, {len(self.listeners)} listeners>"
        )

    @property
    def supported_versions(self) -> tuple[str, ...]:
        eras = {
            "legacy": LEGACY_VERSIONS,
            "modern": (MODERN_VERSION,),
            "both": (MODERN_VERSION, *LEGACY_VERSIONS),
        }
        return eras[self.options.era]

    @property
    def capabilities(self) -> Message:
        every: Message = {
            "tools": {"listChanged": True},
            "resources": {"subscribe": True, "listChanged": True},
            "prompts": {"listChanged": True},
            "completions": {},
            "logging": {},
        }
        return {name: value for name, value in every.items() if name not in self.options.without}

    @property
    def receivers(self) -> "list[Peer | Listener]":
        """Those to whom a message may go that belongs to no request."""
        return [*self.peers, *self.listeners]

    def publish_list_changed(self, kind: str) -> None:
        for receiver in self.receivers:
            if receiver.wants_list(kind):
                receiver.notify(f"notifications/{kind}/list_changed")

    def publish_updated(self, uri: str) -> None:
        for receiver in self.receivers:
            if receiver.wants_resource(uri):
                receiver.notify("notifications/resources/updated", {"uri": uri})

    async def hold_discover(self) -> None:
        """Do to server/discover what the option says, before it is answered at all."""
        how = self.options.discover
        if how == "silent":
            await asyncio.Event().wait()
        elif how == "exit":
            self.host.write_stderr("unexpected request before initialize: server/discover")
            self.host.exit(1)
        elif how.startswith("late:"):
            await self.host.sleep(float(how[5:]))


class Peer:
    def __init__(self, brain: Brain, send: Send) -> None:
        self.brain = brain
        self.version: str | None = None
        self.log_level = "debug"
        self.subscriptions: set[str] = set()
        self.client: Message = {}
        self._send = send
        self._spoke_modern = False
        self._running: dict[Any, asyncio.Task[None]] = {}
        self._asked: dict[int, asyncio.Future[Message]] = {}
        self._last_id = 0

    def __repr__(self) -> str:
        return (
            f"<Peer version={self.version} running={len(self._running)} asked={len(self._asked)}>"
        )

    def receive_bytes(self, data: bytes, send: Send | None = None) -> asyncio.Task[None] | None:
        """Parse and receive; a message that cannot be parsed is answered at once."""
        try:
            message = json.loads(data)
        except ValueError as problem:
            self.brain.record.unparsed.append(data.decode(errors="replace"))
            (send or self._send)(error(None, RpcError(PARSE_ERROR, f"Parse error: {problem}")))
            return None
        return self.receive(message, send)

    def receive(self, message: Any, send: Send | None = None) -> asyncio.Task[None] | None:
        """Take one message; a request starts a task that sends its messages, the answer last."""
        send = send or self._send
        if is_request(message) and isinstance(message["id"], str | int):
            self.brain.record.methods.append(message["method"])
            task = asyncio.ensure_future(self._answer(message, send))
            self._running[message["id"]] = task
            task.add_done_callback(lambda _: self._running.pop(message["id"], None))
            return task
        if isinstance(message, dict) and "method" in message and "id" not in message:
            self.brain.record.methods.append(message["method"])
            self._notified(message["method"], params_of(message))
        elif is_response(message):
            self.brain.record.answers.append(message)
            waiting = self._asked.pop(message.get("id"), None)
            if waiting and not waiting.done():
                waiting.set_result(message)
        else:
            send(
                error(
                    None,
                    RpcError(INVALID_REQUEST, "not a JSON-RPC message (batches are not supported)"),
                )
            )
        return None

    def wants_list(self, kind: str) -> bool:
        return True

    def wants_resource(self, uri: str) -> bool:
        return uri in self.subscriptions

    def notify(self, method: str, params: Message | None = None) -> None:
        self._send(notification(method, params))

    async def ask(self, method: str, params: Message, send: Send) -> Message:
        """Send the client a request and wait for its response."""
        # From 1, as clients count too: the two id spaces must not be mixed up.
        self._last_id += 1
        waiting: asyncio.Future[Message] = asyncio.get_running_loop().create_future()
        self._asked[self._last_id] = waiting
        send(request(self._last_id, method, params))
        return await waiting

    def cancel(self, request_id: Any) -> None:
        task = self._running.get(request_id)
        if task:
            self.brain.record.stopped.append(request_id)
            task.cancel()

    def close(self) -> None:
        if self in self.brain.peers:
            self.brain.peers.remove(self)
        for task in list(self._running.values()):
            task.cancel()

    async def _answer(self, message: Message, send: Send) -> None:
        request_id = message["id"]
        try:
            send(result(request_id, await self._work(message, send)))
        except RpcError as cause:
            send(error(request_id, cause))
        except (KeyError, TypeError, ValueError, AttributeError) as problem:
            send(error(request_id, RpcError(INVALID_PARAMS, f"Invalid params: {problem!r}")))
        except EndedSilently:
            pass

    async def _work(self, message: Message, send: Send) -> Message:
        method, params = message["method"], params_of(message)
        if method == "server/discover":
            # A late answer counts from the question on: initialize is refused in between.
            self._spoke_modern = self.brain.options.discover != "silent"
            await self.brain.hold_discover()
        call = Call(self, message["id"], method, params, send, self._is_modern(method, params))
        if call.is_modern:
            self.admit(method, params)
            self._spoke_modern = True
            return complete(method, await methods.METHODS[method].handler(call), SERVER_INFO)
        known = self._method(method, "legacy")
        if self.version is None and method not in ("initialize", "ping"):
            raise RpcError(INVALID_REQUEST, "the session is not initialized")
        return await known.handler(call)

    def admit(self, method: str, params: Message) -> None:
        """Check what 2026-07-28 wants checked before any work is done.

        Raises:
            RpcError: the reason to refuse; over HTTP it has a status of its own.
        """
        supported = self.brain.supported_versions
        if method == "initialize":
            raise unsupported_version(params.get("protocolVersion"), supported)
        require_envelope(params)
        require_version(params, supported)
        self._method(method, "modern")

    def _is_modern(self, method: str, params: Message) -> bool:
        if self.brain.options.era != "both":
            return self.brain.options.era == "modern"
        if method == "initialize":
            return self._spoke_modern
        return method == "server/discover" or VERSION_KEY in meta_of(params)

    def _method(self, name: str, era: str) -> methods.Method:
        known = methods.METHODS.get(name)
        if known and era in known.eras and known.capability not in self.brain.options.without:
            return known
        raise RpcError(METHOD_NOT_FOUND, f"Method not found: {name}")

    def _notified(self, method: str, params: Message) -> None:
        if method == "notifications/cancelled":
            self.brain.record.cancelled.append(
                {"id": params.get("requestId"), "reason": params.get("reason")}
            )
            self.cancel(params.get("requestId"))


@dataclass
class Call:
    """One request being worked on, as tools and methods see it."""

    peer: Peer
    request_id: Any
    method: str
    params: Message
    send: Send
    is_modern: bool

    @property
    def brain(self) -> Brain:
        return self.peer.brain

    @property
    def arguments(self) -> Message:
        return self.params.get("arguments") or {}

    def notify(self, method: str, params: Message | None = None) -> None:
        self.send(notification(method, params))

    def log(self, level: str, data: Any) -> None:
        """A log message, if the level lets it pass; 2026-07-28 wants an opt-in on the request."""
        threshold = (
            meta_of(self.params).get(LOG_LEVEL_KEY) if self.is_modern else self.peer.log_level
        )
        if threshold in LOG_LEVELS and LOG_LEVELS.index(level) >= LOG_LEVELS.index(threshold):
            self.notify(
                "notifications/message", {"level": level, "logger": "wellbehaved", "data": data}
            )

    def progress(self, value: float, total: float, text: str) -> None:
        token = meta_of(self.params).get("progressToken")
        if token is not None:
            params = {"progressToken": token, "progress": value, "total": total, "message": text}
            self.notify("notifications/progress", params)


@dataclass(eq=False)
class Listener:
    """One subscriptions/listen stream; every message on it carries the id of its request."""

    call: Call
    wanted: Message
    ended: asyncio.Future[str] = field(
        default_factory=lambda: asyncio.get_running_loop().create_future()
    )

    def wants_list(self, kind: str) -> bool:
        return bool(self.wanted.get(f"{kind}ListChanged"))

    def wants_resource(self, uri: str) -> bool:
        return uri in self.wanted.get("resourceSubscriptions", ())

    def notify(self, method: str, params: Message | None = None) -> None:
        self.call.notify(
            method, {**(params or {}), "_meta": {SUBSCRIPTION_KEY: self.call.request_id}}
        )


class EndedSilently(Exception):
    """The request ends without an answer, as the protocol allows for a lost subscription."""
