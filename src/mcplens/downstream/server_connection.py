"""One downstream server: what it is, where it stands, what it offers, and operations on it.

The same interface in every session mode (sessions.py). Made by live_servers.py, or by hand; used
by the gateway and by MultiServerClient.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeVar

import msgspec

from mcplens.bus import Bus
from mcplens.clock import Clock, SystemClock
from mcplens.config.model import ServerEntry, SessionMode, Settings
from mcplens.downstream.breaker import BreakerPeers
from mcplens.downstream.capabilities_cache import CapabilitiesCache, ServerCapabilities
from mcplens.downstream.client_setup import ClientSetup, DefaultSetup
from mcplens.downstream.list_fetcher import ListFetcher
from mcplens.downstream.listener import ServerListener
from mcplens.downstream.live_server import LiveServer
from mcplens.downstream.options import DEFAULT_CALL, CallOptions, LiveOptions, StartedRequest
from mcplens.downstream.owner_task import OwnerTask
from mcplens.downstream.per_call_sessions import PerCallSessions
from mcplens.downstream.persistent_session import PersistentSession
from mcplens.downstream.raw_requests import RawRequests, TypedOperation
from mcplens.downstream.result import Failure, Result, Success
from mcplens.downstream.server_lists import ServerLists
from mcplens.downstream.sessions import Operation, Sessions
from mcplens.downstream.shared_requests import SharedRequests
from mcplens.downstream.status import ServerState, ServerStatus
from mcplens.downstream.timeouts import Timeouts, timeouts_of
from mcplens.errors import InspectorError
from mcplens.events import StateChanged
from mcplens.protocol.frames import Frame
from mcplens.protocol.result_types import PromptResult, ReadResult, ToolResult
from mcplens.session.attribution import Link
from mcplens.session.call_hooks import WaitingHooks
from mcplens.session.client import Client
from mcplens.session.handshake import Introduction
from mcplens.session.question_handler import ServerRequest
from mcplens.session.queue import CallTag
from mcplens.transports.base import Closing

if TYPE_CHECKING:
    from mcplens.auth.storage import SignInStore
    from mcplens.session.roots import RootLike

T = TypeVar("T")

# Of a connection that is made by hand: 60 s for calls, 10 s for lists.
_BY_HAND: Final = Settings(capabilities_timeout_s=10.0)


class ServerConnection:
    """A downstream server."""

    def __init__(
        self,
        entry: ServerEntry,
        settings: Settings = _BY_HAND,
        *,
        bus: Bus | None = None,
        clock: Clock | None = None,
        options: LiveOptions | None = None,
        listener: ServerListener | None = None,
        setup: ClientSetup | None = None,
        check: Callable[[ServerEntry], None] | None = None,
    ) -> None:
        clock = self._clock = clock or SystemClock()
        bus = self._bus = bus or Bus(clock, is_unread=True)
        options = self._options = options or LiveOptions()
        self._listener = listener or ServerListener()
        self.server_id = entry.name
        self.lists = ServerLists()
        self.introduction: Introduction | None = None  # as last negotiated
        self.timeouts = self._configured = timeouts_of(entry, settings)
        self.live = LiveServer(
            entry,
            settings,
            setup or DefaultSetup(options),
            bus=bus,
            clock=clock,
            on_moved=self._moved,
            on_new_client=self._new_client,
            check=check,
        )
        self._breaker_peers: BreakerPeers | None = None
        self._sessions = self._make_sessions()
        self._fetcher = ListFetcher(
            self.lists,
            clock,
            stale_for_s=options.stale_for_s,
            changed=self._list_changed,
            done=self._state_changed,
        )
        self._requests = RawRequests(
            lambda: self._sessions,
            self.lists,
            clock,
            entry=lambda: self.live.entry,
            new_call_id=bus.next_call_id,
        )
        self._cache = CapabilitiesCache(clock, settings.cache_ttl_s)
        self.shared = SharedRequests(lambda: self.live.client, self._ask)
        self._owner = OwnerTask(entry.name)

    def _make_sessions(self) -> Sessions:
        live, clock = self.live, self._clock
        if self.mode == "per-call":
            return PerCallSessions(live, clock, self._state_changed, self._equip_for_one)
        session = PersistentSession(
            live, clock, self._state_changed, may_pause=lambda: self._options.keeps_ready
        )
        session.peers = self._breaker_peers
        return session

    def __repr__(self) -> str:
        return f"<ServerConnection {self.server_id} {self.status.value} {self.lists!r}>"

    # -- where it stands -----------------------------------------------------------------------

    @property
    def entry(self) -> ServerEntry:
        return self.live.entry

    @property
    def config(self) -> ServerEntry:
        """The same as `entry`."""
        return self.live.entry

    @property
    def mode(self) -> SessionMode:
        return self.live.entry.session_mode

    @property
    def state(self) -> ServerState:
        return self._sessions.state

    @property
    def status(self) -> ServerStatus:
        return self._sessions.state.status

    @property
    def is_connected(self) -> bool:
        """Whether there is a session that stays open."""
        return self._sessions.ready_client is not None

    @property
    def is_in_use(self) -> bool:
        """Whether a request is under way in the session that stays open, or updates are wanted."""
        client = self.live.client
        return client is not None and (bool(client.queue.in_progress()) or self.shared.is_wanted)

    # -- operations that give a result or an error ---------------------------------------------

    async def connect(self) -> Result[None]:
        """Whether a connection comes about; in per-call mode it is closed again at once."""

        async def nothing(_client: Client, _tag: CallTag, _left_s: float | None) -> None:
            return None

        return await self._result(self._owner.do(lambda: self._requests.run(nothing, None)))

    async def disconnect(self) -> None:
        """Close the session, if there is one; the next operation opens a new one."""
        await self._owner.do_now(self._sessions.close)

    async def halt(self) -> None:
        """Kill the server's process, or cut the connection; the next operation connects again."""
        await self._owner.do_now(lambda: self._sessions.close(Closing.KILL))

    async def get_capabilities(self, force_refresh: bool = False) -> Result[ServerCapabilities]:
        """What the server offers; no connection is made while what is known is fresh."""
        getting = self._cache.get(
            lambda: self._owner.do(self._fetch_capabilities), force_refresh=force_refresh
        )
        return await self._result(getting)

    async def call_tool(
        self, name: str, arguments: Mapping[str, Any] | None = None
    ) -> Result[ToolResult]:
        """Call a tool; its own failure is a success with `is_error`."""
        return await self._operation(
            lambda client, tag, left_s: client.call_tool(
                name, arguments, timeout_s=left_s, tag=tag
            ),
            is_repeatable=self._requests.is_repeatable_tool(name),
        )

    async def get_prompt(
        self, name: str, arguments: Mapping[str, str] | None = None
    ) -> Result[PromptResult]:
        return await self._operation(
            lambda client, tag, left_s: client.get_prompt(
                name, arguments, timeout_s=left_s, tag=tag
            )
        )

    async def read_resource(self, uri: str) -> Result[ReadResult]:
        return await self._operation(
            lambda client, tag, left_s: client.read_resource(uri, timeout_s=left_s, tag=tag)
        )

    async def _operation(
        self, operation: TypedOperation[T], *, is_repeatable: bool = True
    ) -> Result[T]:
        running = self._requests.run(operation, self.timeouts.call_s, is_repeatable=is_repeatable)
        return await self._result(running)

    async def _ask(self, operation: Operation[None]) -> None:
        """Ask the server for something that stays asked for."""
        await self._requests.run(lambda client, *_: operation(client), self.timeouts.call_s)

    async def _result(self, work: Awaitable[T]) -> Result[T]:
        try:
            return Success(await work)
        except InspectorError as error:
            return Failure(error)

    async def _fetch_capabilities(self) -> ServerCapabilities:
        """The lists as they are now; one that fails is empty.

        Raises:
            InspectorError: there is no connection.
        """
        await self._requests.run(lambda client, *_: asyncio.shield(self._fetch_lists(client)), None)
        return self.lists.capabilities

    # -- requests with undecoded bodies --------------------------------------------------------

    async def request(
        self,
        method: str,
        params: Mapping[str, Any] | None = None,
        options: CallOptions = DEFAULT_CALL,
    ) -> Frame:
        """Send a request, its params and its result undecoded (session/raw_calls.py).

        One time limit covers the queue, connecting and the call (in per-call mode the call alone).
        A request that was lost with the session is sent again only if the server has not seen it,
        or if that is harmless.

        Raises:
            ServerError: the server's own error.
            InspectorError: no answer.
        """
        budget_s = self.timeouts.call_s if options.timeout_s is None else options.timeout_s
        return await self._requests.send(method, params, options, budget_s)

    def request_now(
        self,
        method: str,
        params: Mapping[str, Any] | None,
        hooks: WaitingHooks,
        *,
        inbound_seq: int,
        wants_progress: bool = False,
        headers: Mapping[str, str] | None = None,
    ) -> StartedRequest | None:
        """Send a request without waiting for anything; None if there is no session to send it in.

        `hooks.on_answered` gets the settled entry. If that failed, `request` with `options.started`
        goes on as if it had sent it.

        Raises:
            InspectorError: it cannot be sent.
        """
        return self._requests.send_now(
            method,
            params,
            hooks,
            self.timeouts.call_s,
            inbound_seq=inbound_seq,
            wants_progress=wants_progress,
            headers=headers,
        )

    def notify(self, method: str, params: Mapping[str, Any] | None = None) -> None:
        """Send a notification to the server over the session that stays open.

        Raises:
            InspectorError: NOT_CONNECTED.
        """
        client = self.live.client
        if client is None:
            raise InspectorError("NOT_CONNECTED", f"{self.server_id} is not connected")
        client.notify(method, params)

    async def answer(self, question: ServerRequest) -> Any:
        """Answer a question by the server's profile.

        Raises:
            ServerError: it refuses, or there is none.
            InspectorError: there is no connection.
        """
        client = self.live.client
        if client is None:
            raise InspectorError("NOT_CONNECTED", f"{self.server_id} is not connected")
        return await client.raw_calls.answer_question(question)

    # -- its life ------------------------------------------------------------------------------

    def start(self) -> None:
        """Start connecting, if a session stays open; what goes wrong is in `state`."""
        try:
            self._sessions.start()
        except InspectorError:
            self._state_changed()

    def share_breaker(self, peers: BreakerPeers | None) -> None:
        """Count failures together with other replicas from now on; None: alone."""
        self._breaker_peers = peers
        if isinstance(self._sessions, PersistentSession):
            self._sessions.peers = peers

    def pause(self, error: dict[str, Any]) -> bool:
        """Pause the server, which failed too often; returns whether that is news."""
        sessions = self._sessions
        return isinstance(sessions, PersistentSession) and sessions.pause(error)

    def resume(self) -> None:
        """End a pause: another replica reached the server."""
        sessions = self._sessions
        if isinstance(sessions, PersistentSession) and sessions.breaker.paused_until is not None:
            sessions.stop_pausing()
            self.start()

    def update_call_timeout(self, seconds: float | None) -> None:
        """For calls from now on; None: no limit."""
        self.timeouts = msgspec.structs.replace(self.timeouts, call_s=seconds)

    def update_capabilities_timeout(self, seconds: float | None) -> None:
        """For lists from now on, and for the next time it connects; None: no limit."""
        self._use_timeouts(
            msgspec.structs.replace(self.timeouts, capabilities_s=seconds, connect_s=seconds)
        )

    def _use_timeouts(self, timeouts: Timeouts) -> None:
        self.timeouts = timeouts
        if self.live.client is not None:
            self._limit_connecting(self.live.client)

    def _limit_connecting(self, client: Client) -> None:
        connection = client.connection
        connection.config = msgspec.structs.replace(
            connection.config, connection_timeout_s=self.timeouts.connect_s
        )

    def use_options(self, options: LiveOptions) -> None:
        """The owner changed its mind; a session that is open stays as it is."""
        self._options = options

    def follow(self, entry: ServerEntry, settings: Settings) -> bool:
        """Use this entry from now on; returns whether the session can stay open for it.

        If not, `reopen` closes it, and the next operation opens another.
        """
        former_mode = self.mode
        is_the_same = self.live.is_the_same(entry, settings)
        self.live.entry, self.live.settings = entry, settings
        configured = timeouts_of(entry, settings)
        if configured != self._configured:
            self._configured = configured
            self._use_timeouts(configured)
        self._cache.ttl_s = settings.cache_ttl_s
        if entry.session_mode != former_mode:
            self._sessions = self._make_sessions()
            is_the_same = False
        if not is_the_same:
            self._requests.hold()
        return is_the_same

    async def reopen(self) -> None:
        """Forget what belongs to the former entry; calls in flight fail."""

        async def edit() -> None:
            await self._fetcher.cancel()
            await self._sessions.close()
            await self.live.disconnect()
            self.live.error = None
            self._cache.forget()
            self._fetcher.forget()

        try:
            await self._owner.do_now(edit)
        finally:
            self._requests.release()

    def for_client(
        self,
        capabilities: Mapping[str, Any],
        roots: Sequence[RootLike] | None = None,
        client_info: Mapping[str, Any] | None = None,
        listener: ServerListener | None = None,
    ) -> ServerConnection:
        """A session of its own for one client (sessionMode `per-client`), with what it declares.

        The caller closes it.
        """
        options = msgspec.structs.replace(self._options, client_info=client_info)
        return ServerConnection(
            self.live.entry,
            self.live.settings,
            bus=self._bus,
            clock=self._clock,
            options=options,
            listener=listener,
            setup=self.live.setup.for_client(options, capabilities, roots),
            check=self.live.check,
        )

    def for_user(self, sign_ins: SignInStore, listener: ServerListener) -> ServerConnection:
        """A session of its own for one user, who has other sign-ins; the caller closes it."""
        return ServerConnection(
            self.live.entry,
            self.live.settings,
            bus=self._bus,
            clock=self._clock,
            options=self._options,
            listener=listener,
            setup=DefaultSetup(self._options, sign_ins=sign_ins),
            check=self.live.check,
        )

    async def close(self, closing: Closing = Closing.GRACEFUL) -> None:
        """Disconnect for good; nothing is left running."""
        self.live.is_closed = True

        async def end() -> None:
            await self._fetcher.cancel()
            await self._sessions.close(closing)
            self._fetcher.end()

        await self._owner.do_now(end)

    def _fetch_lists(self, client: Client) -> asyncio.Task[None]:
        return self._fetcher.fetch(client, self.timeouts.capabilities_s)

    def _new_client(self, client: Client, former: Client | None) -> None:
        if former is not None:
            former.connection.on_notification = None
            former.catalog.on_refreshed = None
        self._equip(client)

    def _equip(self, client: Client) -> None:
        self._limit_connecting(client)
        client.connection.on_notification = self._notified
        client.catalog.on_refreshed = lambda kind, error: self._fetcher.refreshed(
            client, kind, error
        )

    def _equip_for_one(self, client: Client) -> None:
        """Of a client that lives for one operation, only what it learns stays."""
        self._equip(client)

        def moved(event: StateChanged) -> None:
            if event.new == "CONNECTED":
                self.introduction = client.connection.introduction

        client.connection.on_moved = moved

    def _notified(self, frame: Frame, link: Link) -> None:
        self._listener.notified(self.server_id, frame, link)

    def _moved(self, event: StateChanged) -> None:
        client = self.live.client
        if event.new == "CONNECTED" and client is not None:
            self.introduction = client.connection.introduction
            if self._options.keeps_ready:
                self._fetch_lists(client)
        elif event.old == "CONNECTED":
            self._fetcher.lost()
        self._sessions.moved(event)

    def _state_changed(self) -> None:
        self._listener.state_changed(self.server_id)

    def _list_changed(self, kind: str) -> None:
        if not self.lists[kind].is_stale:
            self._cache.correct(self.lists.capabilities)
        self._listener.list_changed(self.server_id, kind)
