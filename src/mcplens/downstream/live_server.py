"""One live server: its entry, its long-lived client, and what is known of its connection.

Makes clients, connects and disconnects, and keeps the facts that a surface shows: state, error,
next attempt, exit, last words on stderr. Shared by all surfaces of a process; what they do with
the client (calls, questions, lists) is theirs.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Any, Final

import msgspec

from mcplens.app import connect
from mcplens.background import Background
from mcplens.bus import Bus
from mcplens.clock import Clock
from mcplens.config.model import ServerEntry, Settings
from mcplens.downstream.client_setup import ClientSetup, MadeOf
from mcplens.errors import CancelledRequest, InspectorError, classify
from mcplens.events import Event, ProcessExited, ProcessStarted, StateChanged, StderrLine
from mcplens.protocol.lifecycle import ConnectionState
from mcplens.session.client import Client
from mcplens.transports.authorization import Authorizer
from mcplens.transports.base import Closing
from mcplens.transports.lease_guard import LeaseGuard

# Enough to see why a server exited; the recording has all of it.
_STDERR_LINES: Final = 50
_STDERR_CHARACTERS: Final = 2_000
# Options that a session that is open need not be opened again for.
_TIMES: Final = frozenset({
    "connection_timeout_s", "request_timeout_s", "max_total_timeout_s", "progress_resets_timeout",
    "ping_interval_s", "max_retries", "retry_backoff_s", "retry", "sign_in_timeout_s",
})  # fmt: skip
# The states from which connecting begins.
_AT_REST: Final = (ConnectionState.DISCONNECTED, ConnectionState.ERROR)


class Exit(msgspec.Struct, frozen=True):
    """How the server's process ended."""

    pid: int
    exit_code: int | None
    signal: str | None
    at: float
    stopped_after_s: float | None  # set if mcplens stopped it


class Attempt(msgspec.Struct, frozen=True):
    """The next attempt to connect; `at` is its time, None while it is under way."""

    count: int
    most: int | None  # None: no limit
    at: float | None


class Detour(msgspec.Struct, frozen=True):
    """Where a server is reached instead, and by which authorization."""

    entry: ServerEntry
    authorizer: Authorizer


class LiveServer:
    """A server that is connected, was, or can be."""

    def __init__(
        self,
        entry: ServerEntry,
        settings: Settings,
        setup: ClientSetup,
        *,
        bus: Bus,
        clock: Clock,
        on_moved: Callable[[StateChanged], None],
        on_new_client: Callable[[Client, Client | None], None],
        check: Callable[[ServerEntry], None] | None = None,
    ) -> None:
        self.entry = entry
        self.settings = settings
        self.setup = setup
        self.check = check  # raises InspectorError if the entry must not be started
        self.guard: LeaseGuard | None = None  # of processes that may run only under a lease
        self.detour: Detour | None = None  # how it is reached while another replica runs it
        self.client: Client | None = None
        self.is_closed = False  # for good: no client may be made any more
        self.since = clock.wall()
        self.error: dict[str, Any] | None = None
        self.attempt: Attempt | None = None
        self.exit: Exit | None = None
        self.stderr: deque[str] = deque(maxlen=_STDERR_LINES)
        self._bus = bus
        self._clock = clock
        self._on_moved = on_moved
        self._on_new_client = on_new_client
        self._made_of: MadeOf | None = None
        self._work = Background()
        self._begun = asyncio.Event()
        self._begun.set()  # nothing is about to begin
        self._closing = asyncio.Lock()

    def __repr__(self) -> str:
        return f"<LiveServer {self.server_id} {self.state.value}>"

    @property
    def server_id(self) -> str:
        return self.entry.name

    @property
    def state(self) -> ConnectionState:
        return self.client.state if self.client is not None else ConnectionState.DISCONNECTED

    @property
    def is_outdated(self) -> bool:
        """Whether the entry or the settings changed since this connection was made."""
        if self.state is not ConnectionState.CONNECTED:
            return False
        try:
            return self._made_of != self._wanted()
        except InspectorError:  # the entry is no longer valid
            return True

    def is_the_same(self, entry: ServerEntry, settings: Settings) -> bool:
        """Whether a client of this entry would differ from the current one in times alone."""
        try:
            before = None if self.detour is not None else self._made_of
            before = before or self.setup.made_of(self.entry, self.settings)
            after = self.setup.made_of(entry, settings)
        except InspectorError:
            return entry == self.entry
        return _without_times(before) == _without_times(after)

    # -- connecting ----------------------------------------------------------------------------

    def connect(self) -> None:
        """Start connecting; if it waits for its next attempt, try at once.

        Raises:
            InspectorError: the entry cannot be used.
        """
        if not self._begun.is_set() or self.state not in _AT_REST:
            return
        try:
            self._check_open()
        except InspectorError as error:
            self.error = error.to_dict()
            raise
        former = self.client
        client = self._ready_client()
        begun = self._begun = asyncio.Event()
        work = self._work.start(self._connect(client, former, begun), f"connect {self.server_id}")
        work.add_done_callback(lambda _: begun.set())

    async def begun(self) -> None:
        """Wait until connecting has begun; before that, `state` is of the former connection."""
        await self._begun.wait()

    async def _connect(self, client: Client, former: Client | None, begun: asyncio.Event) -> None:
        try:
            if former is not None and former.state is not ConnectionState.DISCONNECTED:
                await former.disconnect()
            begun.set()  # waiters resume after this task has moved to CONNECTING
            await client.connect()
        except InspectorError as error:
            if error.category != "cancelled":
                self.error = error.shortened().to_dict()
        except Exception as problem:  # a bug must not look like an endless attempt to connect
            classified = classify(problem, "connecting", server_id=self.server_id)
            self.error = classified.shortened().to_dict()

    async def disconnect(self, closing: Closing = Closing.GRACEFUL) -> None:
        """Disconnect, or cancel connecting; safe at any time."""
        async with self._closing:
            await self._work.end()
            if self.client is not None:
                await self.client.disconnect(closing)

    def new_client(self) -> Client:
        """A client of its own for the current entry, which the caller connects and disconnects.

        Raises:
            InspectorError: the entry cannot be used.
        """
        self._check_open()
        client = self._make(self._wanted())
        self.setup.equip(client)
        return client

    def _check_open(self) -> None:
        if self.is_closed:
            text = f"{self.server_id} was removed, or its configuration changed; try again"
            raise CancelledRequest(text, details={"server_id": self.server_id})
        if self.check is not None:
            self.check(self.entry)

    def _wanted(self) -> MadeOf:
        """What a client is made of now. Raises InspectorError if the entry cannot be used."""
        entry = self.entry if self.detour is None else self.detour.entry
        return self.setup.made_of(entry, self.settings)

    def _make(self, made_of: MadeOf) -> Client:
        target, options = made_of
        detour = self.detour
        authorizer = self.setup.authorizer(made_of) if detour is None else detour.authorizer
        if authorizer is not None:
            options = {**options, "authorizer": authorizer}
        if self.guard is not None and isinstance(target, list):
            options = {**options, "guard": self.guard}
        client = connect(target, bus=self._bus, clock=self._clock, **options).client
        # The recording has what was sent; many servers would hold the answers of many calls.
        client.connection.queue.limit_history(0)
        return client

    def _ready_client(self) -> Client:
        """A client for the current entry; the former one if nothing has changed."""
        try:
            made_of = self._wanted()
            client = self.client
            if client is None or self._made_of != made_of:
                client = self._make(made_of)
            self.setup.equip(client)
        except InspectorError as error:
            self.error = error.shortened().to_dict()
            raise
        if client is not self.client:
            former = self.client
            if former is not None:
                former.connection.on_moved = None
                client.catalog.take_over(former.catalog)
            client.catalog.reads_updates = False
            client.connection.on_moved = self._moved
            self._on_new_client(client, former)
            self.setup.adopted(client)
        self.client, self._made_of = client, made_of
        return client

    # -- what happened -------------------------------------------------------------------------

    def handle_event(self, event: Event) -> None:
        """Note what only events report: exit and stderr of the process."""
        match event:
            case StderrLine():
                self.stderr.append(_line(event.data))
            case ProcessStarted():
                self.exit = None
                self.stderr.clear()
            case ProcessExited():
                self.exit = Exit(
                    event.pid, event.exit_code, event.signal, event.wall, event.stopped_after_s
                )

    def _moved(self, event: StateChanged) -> None:
        wall, new, retries, retry_in_s = event.wall, event.new, event.retry_count, event.retry_in_s
        self.since = wall
        if event.error is not None:
            self.error = event.error
        elif new == "CONNECTED" or self._is_fresh_start(event):
            self.error = None
        elif event.transition == "give_up" and retries and self.error is not None:
            details = {**self.error.get("details", {}), "attempts": retries + 1}
            self.error = {**self.error, "details": details}
        is_trying = new in ("ERROR", "CONNECTING") and (retries or retry_in_s is not None)
        at = None if retry_in_s is None else wall + retry_in_s
        # While it waits, the count is that of the next attempt.
        count = retries + 1 if new == "ERROR" else retries
        self.attempt = Attempt(count, event.max_retries, at) if is_trying else None
        self._on_moved(event)

    def _is_fresh_start(self, event: StateChanged) -> bool:
        """Whether a person connects, or stops connecting: earlier errors are no longer true."""
        if event.transition in ("connect", "cancel"):
            return True
        is_waiting = self.attempt is not None and self.attempt.at is not None
        return event.transition == "give_up" and is_waiting


def _without_times(made_of: MadeOf) -> MadeOf:
    target, options = made_of
    return target, {name: value for name, value in options.items() if name not in _TIMES}


def _line(data: bytes) -> str:
    return data[:_STDERR_CHARACTERS].decode("utf-8", "backslashreplace")
