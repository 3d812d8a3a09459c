"""One server of the workspace: its configuration entry, its client, and its state.

Servers are independent: connecting, losing or closing one never waits for another. What only
events report (attempts, exit, stderr) is collected by `handle_event`; all else is read from the
client when needed.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Any, Final

from mcplens.app import connect
from mcplens.background import Background
from mcplens.bus import Bus
from mcplens.clock import Clock
from mcplens.config.connect_options import put_over, to_connect_options
from mcplens.config.model import ServerEntry, Settings
from mcplens.errors import InspectorError, classify
from mcplens.events import (
    Event,
    ListRefreshed,
    PingAnswered,
    ProcessExited,
    ProcessStarted,
    Remark,
    ResourceRefreshed,
    ServerIntroduced,
    StateChanged,
    StderrLine,
)
from mcplens.protocol.eras import why_not_allowed
from mcplens.protocol.lifecycle import ConnectionState
from mcplens.session.capabilities import for_stateless
from mcplens.session.catalog import METHODS
from mcplens.session.client import Client
from mcplens.session.profiles import Profiles
from mcplens.transports.base import Closing
from mcplens.workspace.answer_settings import CLIENT_OPTIONS, AnswerSettings
from mcplens.workspace.connection_facts import Attempt, Exit, ResourceSubscription
from mcplens.workspace.listing import Listing
from mcplens.workspace.sign_in import SIGN_IN_EVENTS, ServerSignIn

# Enough to see why a server exited; the recording has all of it.
_STDERR_LINES: Final = 50
_STDERR_CHARACTERS: Final = 2_000
# Enough for the calls of one person beside many questions, without flooding a server.
_CONCURRENCY: Final = 16
_ANSWERED: Final = ("capabilities", "roots")  # set by `answer_settings`
_SETTLED: Final = (ConnectionState.CONNECTED, ConnectionState.DISCONNECTING)


class Server:
    """A server that is connected, was, or can be."""

    def __init__(
        self,
        entry: ServerEntry,
        *,
        bus: Bus,
        clock: Clock,
        changed: Callable[[str], None],
        list_changed: Callable[[str, str], None],
    ) -> None:
        self.entry = entry
        self.answer_settings = AnswerSettings(entry)
        self.client: Client | None = None
        self.overrides: dict[str, Any] = {}  # options given on the command line
        self.is_built_in = False
        self.is_given = False  # given on the command line, in no file of ours
        self.since = clock.wall()
        self.error: dict[str, Any] | None = None
        self.attempt: Attempt | None = None
        self.exit: Exit | None = None
        self.stderr: deque[str] = deque(maxlen=_STDERR_LINES)
        self.lists: dict[str, Listing] = {}
        self.subscriptions: dict[str, ResourceSubscription] = {}
        self.sign_in = ServerSignIn(
            entry.name, bus=bus, clock=clock, changed=lambda: changed(self.server_id)
        )
        self._bus = bus
        self._clock = clock
        self._changed = changed
        self._list_changed = list_changed
        self._made_of: tuple[Any, dict[str, Any]] | None = None
        self._sign_in_for: object = None
        self._work = Background()
        self._begun = asyncio.Event()
        self._begun.set()  # nothing is about to begin
        self._closing = asyncio.Lock()

    def __repr__(self) -> str:
        return f"<Server {self.server_id} {self.state.value}>"

    @property
    def server_id(self) -> str:
        return self.entry.name

    @property
    def state(self) -> ConnectionState:
        return self.client.state if self.client is not None else ConnectionState.DISCONNECTED

    @property
    def stray_lines(self) -> list[str]:
        """What the server printed to stdout, in place of the messages that are waited for."""
        session = self.client.connection.session if self.client is not None else None
        return [] if session is None else list(session.transport.stray_lines)

    @property
    def log_level(self) -> str | None:
        """The lowest log level that was requested from the server."""
        return self.client.catalog.level if self.client is not None else None

    @property
    def declared(self) -> dict[str, Any] | None:
        """The capabilities that were declared on this connection; None if not connected."""
        session = self.client.connection.session if self.client is not None else None
        if session is None or self.state is not ConnectionState.CONNECTED:
            return None
        told = dict(session.client_capabilities)
        return for_stateless(told) if session.is_stateless else told

    @property
    def needs_reconnect(self) -> bool:
        """Whether other capabilities are chosen than this connection declared."""
        session = self.client.connection.session if self.client is not None else None
        if session is None or self.state is not ConnectionState.CONNECTED:
            return False
        return dict(session.client_capabilities) != self.answer_settings.capabilities

    def is_outdated(self, settings: Settings) -> bool:
        """Whether the entry or the settings changed since this connection was made."""
        if self.state is not ConnectionState.CONNECTED:
            return False
        try:
            return self._made_of != self._made_with(settings)
        except InspectorError:  # the entry is no longer valid
            return True

    # -- commands ------------------------------------------------------------------------------

    def use(self, entry: ServerEntry) -> None:
        """Use this entry from the next connection on."""
        self.answer_settings.follow(self.entry, entry)
        self.entry = entry

    def follow_sign_in(self, settings: Settings) -> None:
        """Make the sign-in that of the current entry; an entry that cannot be used has none."""
        made_for = (self.entry, settings)
        if made_for == self._sign_in_for or self.entry.url is None:
            return
        self._sign_in_for = made_for
        with contextlib.suppress(InspectorError):
            self.sign_in.follow(*self._made_with(settings))

    def connect(self, settings: Settings, profiles: Profiles) -> None:
        """Start connecting; if it waits for its next attempt, try at once.

        Raises:
            InspectorError: the entry cannot be used.
        """
        is_on_its_way = bool(self._work) or self.state in _SETTLED
        if is_on_its_way and self.state is not ConnectionState.ERROR:
            return
        former = self.client
        self._make_client(settings, profiles)
        begun = self._begun = asyncio.Event()
        work = self._work.start(self._connect(former, begun), f"connect {self.server_id}")
        work.add_done_callback(lambda _: begun.set())

    async def begun(self) -> None:
        """Wait until connecting has begun; before that, `state` is of the former connection."""
        await self._begun.wait()

    async def _connect(self, former: Client | None, begun: asyncio.Event) -> None:
        assert self.client is not None
        try:
            if former is not None and former.state is not ConnectionState.DISCONNECTED:
                await former.disconnect()
            begun.set()  # waiters resume after this task has moved to CONNECTING
            await self.client.connect()
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
            await self.sign_in.end()
            for listing in self.lists.values():
                listing.stop()
            if self.client is not None:
                await self.client.disconnect(closing)

    def _make_client(self, settings: Settings, profiles: Profiles) -> None:
        """Create a client for the current entry, or keep the former one if nothing has changed."""
        try:
            made_of = target, options = self._made_with(settings)
            client = self.client
            if client is None or self._made_of != made_of:
                authorizer = self.sign_in.follow(target, options)
                if authorizer is not None:
                    options = {**options, "authorizer": authorizer}
                client = connect(target, bus=self._bus, clock=self._clock, **options).client
            self.answer_settings.equip(client, profiles)
        except InspectorError as error:
            self.error = error.shortened().to_dict()
            raise
        if client is not self.client:
            self.lists.clear()
            client.catalog.reads_updates = False
            if self.client is not None:
                client.catalog.take_over(self.client.catalog)
        self.client, self._made_of = client, made_of

    def _made_with(self, settings: Settings) -> tuple[Any, dict[str, Any]]:
        """Target and options for a new client, without what `answer_settings` sets."""
        target, options = to_connect_options(self.entry, settings)
        retries = settings.connection_retry_count
        options = {"concurrency": _CONCURRENCY, "max_retries": retries, **options}
        # The page asks for confirmation instead: testers must be able to send anything.
        options = put_over({**options, "enforce_capabilities": False}, self.overrides)
        for name in _ANSWERED:
            options.pop(name, None)
        options |= {**CLIENT_OPTIONS, "server_id": self.server_id}
        options["receiver_task_ttl_s"] = settings.task_ttl_s
        return target, options

    def ready(self, method: str = "", *, is_forced: bool = False) -> Client:
        """The connected client, if the server offers this method.

        Raises:
            InspectorError: NOT_CONNECTED, or CAPABILITY_NOT_SUPPORTED.
        """
        if self.client is None:
            text = f"{self.server_id} is not connected"
            raise InspectorError("NOT_CONNECTED", text, details={"server_id": self.server_id})
        self.client.connection.ready_session()
        version = self.client.protocol_version
        if method and version is not None and not is_forced:
            why = why_not_allowed(method, version, self.client.capabilities)
            if why is not None:
                details = {"server_id": self.server_id, "method": method}
                raise InspectorError("CAPABILITY_NOT_SUPPORTED", why, details=details)
        return self.client

    async def subscribe(self, uri: str) -> None:
        """Subscribe to a resource, on this connection and later ones."""
        await self.ready().subscribe(uri)
        self.subscriptions.setdefault(uri, ResourceSubscription(uri))
        self._changed(self.server_id)

    async def unsubscribe(self, uri: str) -> None:
        await self.ready().unsubscribe(uri)
        self.subscriptions.pop(uri, None)
        self._changed(self.server_id)

    async def set_level(self, level: str) -> None:
        """Set the lowest log level that the server sends."""
        await self.ready().set_level(level)
        self._changed(self.server_id)

    async def ping(self) -> float:
        """Ping the server; returns the latency in seconds."""
        latency_s = await self.ready().ping()
        self._changed(self.server_id)
        return latency_s

    # -- lists ---------------------------------------------------------------------------------

    def listing(self, kind: str) -> Listing:
        """One of the four lists; empty until it is fetched."""
        if kind not in self.lists:
            changed = partial(self._list_changed, kind, self.server_id)
            self.lists[kind] = Listing(kind, self._clock, changed)
        return self.lists[kind]

    def fetch_list(self, kind: str, *, refresh: bool, one_page: bool) -> Listing:
        """A list, fetched if asked to, if it is new, or if it is of an earlier connection."""
        listing = self.listing(kind)
        is_old = listing.is_stale and self.state is ConnectionState.CONNECTED
        if refresh or (not listing.is_fetching and (is_old or not listing.fetched)):
            listing.fetch(self.ready(METHODS[kind][0]), one_page=one_page)
        return listing

    def fetch_more(self, kind: str, *, one_page: bool) -> Listing:
        """A list whose fetch continues from where it stopped."""
        listing = self.listing(kind)
        listing.go_on(self.ready(METHODS[kind][0]), one_page=one_page)
        return listing

    # -- what happened -------------------------------------------------------------------------

    def handle_event(self, event: Event) -> bool:
        """Update the state from an event; returns whether the view of the server changed."""
        if type(event) in SIGN_IN_EVENTS:
            self.sign_in.handle_event(event)
            return True
        match event:
            case StateChanged():
                self._moved(event)
            case StderrLine():
                self.stderr.append(_line(event.data))
                # Of a connected server, pages read the lines from the events.
                return self.state is not ConnectionState.CONNECTED
            case ProcessStarted():
                self.exit = None
                self.stderr.clear()
            case ProcessExited():
                self.exit = Exit(
                    event.pid, event.exit_code, event.signal, event.wall, event.stopped_after_s
                )
            case ListRefreshed():
                if self.client is not None:
                    self.listing(event.kind).refreshed(self.client, event)
            case ResourceRefreshed():
                self._resource_refreshed(event)
        return True

    def _moved(self, event: StateChanged) -> None:
        wall, new, retries, retry_in_s = event.wall, event.new, event.retry_count, event.retry_in_s
        self.since = wall
        self.sign_in.moved(new)
        if event.error is not None:
            self.error = event.error
        elif new == "CONNECTED":
            self.error = None
            for listing in self.lists.values():
                listing.is_stale = True  # the server may have changed meanwhile
            for subscription in self.subscriptions.values():
                subscription.error = None
        elif self._is_fresh_start(event):
            self.error = None
        elif event.transition == "give_up" and retries and self.error is not None:
            details = {**self.error.get("details", {}), "attempts": retries + 1}
            self.error = {**self.error, "details": details}
        is_trying = new in ("ERROR", "CONNECTING") and (retries or retry_in_s is not None)
        at = None if retry_in_s is None else wall + retry_in_s
        # While it waits, the count is that of the next attempt.
        count = retries + 1 if new == "ERROR" else retries
        self.attempt = Attempt(count, event.max_retries, at) if is_trying else None

    def _is_fresh_start(self, event: StateChanged) -> bool:
        """Whether a person connects, or stops connecting: earlier errors are no longer true."""
        if event.transition in ("connect", "cancel"):
            return True
        is_waiting = self.attempt is not None and self.attempt.at is not None
        return event.transition == "give_up" and is_waiting

    def _resource_refreshed(self, event: ResourceRefreshed) -> None:
        uri, error = event.uri, event.error
        for subscription in self.subscriptions.values():
            if uri == subscription.uri or uri.startswith(subscription.uri.removesuffix("/") + "/"):
                subscription.error = error
                if error is None and not event.is_unannounced:
                    subscription.updated = event.wall
                    subscription.updates += 1


# The kinds of event that `handle_event` takes; all others are traffic.
HANDLED_EVENTS: Final = frozenset(
    {
        StateChanged, ServerIntroduced, PingAnswered, ProcessStarted, ProcessExited, ListRefreshed,
        ResourceRefreshed, StderrLine, Remark, *SIGN_IN_EVENTS,
    }
)  # fmt: skip


def _line(data: bytes) -> str:
    return data[:_STDERR_CHARACTERS].decode("utf-8", "backslashreplace")
