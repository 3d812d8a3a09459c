"""One server of the workspace: what a page adds to a live server (downstream/live_server.py).

Lists as a page sees them, subscriptions, sign-in and answer settings. The connection itself, its
client and what is known of it belong to the live server; this is the ClientSetup that says how its
clients are made.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import msgspec

from mcplens.config.connect_options import put_over, to_connect_options
from mcplens.config.model import ServerEntry, Settings
from mcplens.downstream.client_setup import ClientSetup, DefaultSetup, MadeOf, retry_config
from mcplens.downstream.live_servers import LiveServers
from mcplens.downstream.options import LiveOptions
from mcplens.errors import InspectorError
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
from mcplens.session.question_handler import Answering
from mcplens.transports.authorization import Authorizer
from mcplens.transports.base import Closing
from mcplens.workspace.answer_settings import CLIENT_OPTIONS, AnswerSettings
from mcplens.workspace.listing import Listing
from mcplens.workspace.sign_in import SIGN_IN_EVENTS, ServerSignIn
from mcplens.workspace.skills import ServerSkills
from mcplens.workspace.statistics import ServerStatistics

if TYPE_CHECKING:
    from mcplens.session.roots import RootLike

_ANSWERED: Final = ("capabilities", "roots")  # set by `answer_settings`


class ResourceSubscription(msgspec.Struct):
    """A subscribed resource; `error` says why it is not subscribed on this connection."""

    uri: str
    updated: float | None = None
    updates: int = 0
    error: dict[str, Any] | None = None


class Server:
    """A server that is connected, was, or can be."""

    def __init__(
        self,
        entry: ServerEntry,
        *,
        live_servers: LiveServers,
        profiles: Callable[[], Profiles],
        changed: Callable[[str], None],
        list_changed: Callable[[str, str], None],
        sign_in_networks: str = "any",
        person: Answering = True,
    ) -> None:
        bus, clock = live_servers.bus, live_servers.clock
        self.answer_settings = AnswerSettings(entry, person)
        self.overrides: dict[str, Any] = {}  # options given on the command line
        self.is_built_in = False
        self.is_given = False  # given on the command line, in no file of ours
        self.lists: dict[str, Listing] = {}
        self.subscriptions: dict[str, ResourceSubscription] = {}
        self.statistics = ServerStatistics()
        self.skills = ServerSkills(clock)
        self.sign_in = ServerSignIn(
            entry.name, bus=bus, clock=clock, changed=lambda: changed(self.server_id)
        )
        self.connection = live_servers.make(entry, self)
        self.live = self.connection.live
        self._clock = clock
        self._live_servers = live_servers
        self._options = live_servers.options  # as the process was started
        self._profiles = profiles
        self._changed = changed
        self._list_changed = list_changed
        self._sign_in_for: object = None
        self._sign_in_networks = sign_in_networks

    def __repr__(self) -> str:
        return f"<Server {self.server_id} {self.state.value}>"

    @property
    def entry(self) -> ServerEntry:
        return self.live.entry

    @property
    def server_id(self) -> str:
        return self.live.server_id

    @property
    def client(self) -> Client | None:
        return self.live.client

    @property
    def state(self) -> ConnectionState:
        return self.live.state

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
        self.live.settings = settings
        return self.live.is_outdated

    # -- commands ------------------------------------------------------------------------------

    def use(self, entry: ServerEntry) -> None:
        """Use this entry from the next connection on.

        The owner of servers that are kept ready gives it to the connection itself, at once.
        """
        self.answer_settings.follow(self.entry, entry)
        if not self._live_servers.options.keeps_ready:
            self.live.entry = entry

    def follow_sign_in(self, settings: Settings) -> None:
        """Make the sign-in that of the current entry; an entry that cannot be used has none."""
        made_for = (self.entry, settings)
        if made_for == self._sign_in_for or self.entry.url is None:
            return
        self._sign_in_for = made_for
        with contextlib.suppress(InspectorError):
            self.sign_in.follow(*self.made_of(self.entry, settings))

    def connect(self, settings: Settings) -> None:
        """Start connecting; if it waits for its next attempt, try at once.

        Raises:
            InspectorError: the entry cannot be used.
        """
        self.live.settings = settings
        self.live.connect()

    async def begun(self) -> None:
        """Wait until connecting has begun; before that, `state` is of the former connection."""
        await self.live.begun()

    async def disconnect(self, closing: Closing = Closing.GRACEFUL) -> None:
        """Disconnect, or cancel connecting; safe at any time."""
        await self.sign_in.end()
        for listing in self.lists.values():
            listing.stop()
        await self.live.disconnect(closing)

    # -- how its clients are made (ClientSetup) ------------------------------------------------

    def made_of(self, entry: ServerEntry, settings: Settings) -> MadeOf:
        """Target and options for a new client, without what `answer_settings` sets."""
        target, options = to_connect_options(entry, settings)
        options = {"concurrency": self._options.concurrency, **options}
        if self._options.keeps_ready:
            is_per_call = entry.session_mode == "per-call"
            options["retry"] = retry_config(options, settings, is_per_call=is_per_call)
        else:
            options = {"max_retries": settings.connection_retry_count, **options}
        if self._options.client_info is not None:
            options["client_info"] = self._options.client_info
        # The page asks for confirmation instead: testers must be able to send anything.
        options = put_over({**options, "enforce_capabilities": False}, self.overrides)
        for name in _ANSWERED:
            options.pop(name, None)
        options |= {**CLIENT_OPTIONS, "server_id": entry.name}
        options["receiver_task_ttl_s"] = settings.task_ttl_s
        if entry.url is not None:
            options["sign_in_networks"] = self._sign_in_networks
        return target, options

    def authorizer(self, made_of: MadeOf) -> Authorizer | None:
        return self.sign_in.follow(*made_of)

    def equip(self, client: Client) -> None:
        self.answer_settings.equip(client, self._profiles())

    def adopted(self, client: Client) -> None:
        """The lists are those of the former client."""
        self.lists.clear()

    def for_client(
        self,
        options: LiveOptions,
        capabilities: Mapping[str, Any],
        roots: Sequence[RootLike] | None,
    ) -> ClientSetup:
        return DefaultSetup(options, capabilities, roots)

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
                # Of a connected server, pages read the lines from the events.
                return self.state is not ConnectionState.CONNECTED
            case ListRefreshed():
                if self.client is not None:
                    self.listing(event.kind).refreshed(self.client, event)
            case ResourceRefreshed():
                self._resource_refreshed(event)
        return True

    def _moved(self, event: StateChanged) -> None:
        is_by_itself = self._live_servers.options.keeps_ready
        self.sign_in.moved(event.new, is_by_itself=is_by_itself)
        if event.new == "CONNECTED" and event.error is None:
            if event.old != "CONNECTED":
                self.statistics.connected()
            for listing in self.lists.values():
                listing.is_stale = True  # the server may have changed meanwhile
            for subscription in self.subscriptions.values():
                subscription.error = None

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
