"""The gateway of a process: its clients, their calls, and the servers behind it.

Knows who is connected where and what is under way, publishes both as events, and owns the parts
that the endpoints share. Endpoints (view_handler.py, server_handler.py) serve the clients; the
servers are LiveServers of downstream/.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import secrets
from collections.abc import Callable, Iterable, Mapping
from math import inf
from typing import TYPE_CHECKING, Any, Final

from mcplens.background import Background
from mcplens.bus import Bus
from mcplens.clock import Clock
from mcplens.config.views import GatewaySettings, View
from mcplens.downstream.listener import ServerListener
from mcplens.downstream.live_servers import LiveServers
from mcplens.downstream.server_connection import ServerConnection
from mcplens.errors import InspectorError
from mcplens.events import (
    InboundConnected,
    InboundDisconnected,
    StoreStateChanged,
)
from mcplens.gateway.audit_log import AuditLog
from mcplens.gateway.call_ledger import CallLedger
from mcplens.gateway.call_limits import CallLimits
from mcplens.gateway.catalog import KINDS, ServerLists, ViewCatalog
from mcplens.gateway.client_sessions import ClientSessions
from mcplens.gateway.client_use import ClientUse, StatelessUses
from mcplens.gateway.era_sessions import EraSessions
from mcplens.gateway.fan_out import FanOut
from mcplens.gateway.inbound_call import InboundCall, opened
from mcplens.gateway.inbound_client import InboundClient
from mcplens.gateway.list_search import ListSearch
from mcplens.gateway.live_lists import lists_of
from mcplens.gateway.orderly_end import OrderlyEnd, Stage
from mcplens.gateway.refused_requests import RefusedRequests
from mcplens.gateway.statistics import CallStatistics
from mcplens.gateway.suspended_calls import SuspendedCalls
from mcplens.gateway.task_owners import TaskOwners
from mcplens.gateway.users import Users
from mcplens.inbound.peer import Peer
from mcplens.protocol.frames import Frame
from mcplens.replicas.replica import Replica
from mcplens.replicas.state_store import StoreState
from mcplens.session.attribution import Link
from mcplens.session.question_handler import ServerRequest

if TYPE_CHECKING:
    from mcplens.gateway.approvals import Approvals
    from mcplens.gateway.handler import InboundHandler
    from mcplens.gateway.shared_sessions import SharedSessions
    from mcplens.gateway.shared_state import SharedState
    from mcplens.gateway.telemetry import Telemetry

# Our mark in the capabilities of a gateway: which gateways a client reaches through it.
GATEWAY_MARK: Final = "mcplens/gateway"


class Gateway(ServerListener):
    """Clients by their peers, and what they share."""

    def __init__(
        self,
        servers: LiveServers,
        *,
        bus: Bus,
        clock: Clock,
        views: Iterable[View] = (),
        settings: GatewaySettings | None = None,
        replica: Replica | None = None,
    ) -> None:
        self.id = secrets.token_hex(8)  # by which another gateway knows this one
        self.replica = replica or Replica.alone(clock)
        self.servers = servers
        self.bus = bus
        self.clock = clock
        self.settings = settings or GatewaySettings()
        self.views = {view.name: view for view in views}
        self.clients: dict[Peer, InboundClient] = {}
        self.fan_out = FanOut(self)
        self.tasks = TaskOwners(clock)
        self.suspended = SuspendedCalls(clock)
        self.era_sessions = EraSessions(self)
        self.client_sessions = ClientSessions(self)
        self.statistics = CallStatistics()
        self.stateless_uses = StatelessUses()
        self.ledger = CallLedger(self)
        self.ending = OrderlyEnd(self)
        self.shared: SharedState | None = None  # what replicas share; set by who starts it
        self.call_limits = CallLimits(self.settings.limits, clock)
        self.refused_requests = RefusedRequests(self)
        self.audit_log: AuditLog | None = None  # set by who starts the gateway
        self.approvals: Approvals | None = None  # likewise
        self.telemetry: Telemetry | None = None  # likewise
        self.users = Users(self)
        # When the token of a request expires (monotonic), by its path and headers.
        self.token_expiry: Callable[[str, Mapping[str, str]], float] = lambda _path, _headers: inf
        self.shared_sessions: SharedSessions | None = None  # with other replicas
        self.left_out: dict[str, str] = {}  # why servers of the configuration are not served
        self._ready_by = clock.monotonic() + self.settings.startup_budget_s
        self._handlers: dict[str, InboundHandler] = {}
        self._publish = bus.publish_as("")
        self._numbers = itertools.count(1)
        self._work = Background()
        self.list_search = ListSearch(self)
        self._unlisten = servers.listen(self)
        self.replica.store.listen_to_state(self._store_changed)

    def __repr__(self) -> str:
        return (
            f"<Gateway {len(self.clients)} clients, {self.running_calls} calls, {self.servers!r}>"
        )

    # -- clients -----------------------------------------------------------------------------------

    @property
    def handlers(self) -> list[InboundHandler]:
        return list(self._handlers.values())

    def handler_at(self, path: str) -> InboundHandler | None:
        return self._handlers.get(path)

    def add_handler(self, handler: InboundHandler) -> None:
        """Serve clients at the path of this handler."""
        self._handlers[handler.path] = handler

    def remove_handler(self, path: str) -> None:
        """Nothing is served at this path any more."""
        self._handlers.pop(path, None)

    def use_settings(self, views: Iterable[View], settings: GatewaySettings) -> None:
        """Have these views and limits of calls from now on; who publishes the views does the rest.

        Calls that are under way stay as they are.
        """
        self.views = {view.name: view for view in views}
        if settings.limits != self.settings.limits:
            self.call_limits.use(settings.limits)
        self.settings = settings
        if self.approvals is not None:
            self.approvals.settings_changed()

    def client_of(self, peer: Peer, path: str) -> InboundClient:
        """The client that a peer is, known or new."""
        client = self.clients.get(peer)
        if client is None:
            now = self.clock.wall()
            client = self.clients[peer] = InboundClient(
                peer, f"client-{next(self._numbers)}", path=path, use=ClientUse(now, now)
            )
            if self.telemetry is not None:
                client.spans = self.telemetry.notifications
        return client

    def share_sessions(self) -> None:
        """Share sessions with other replicas, if there can be any."""
        if self.replica.is_shared:
            from mcplens.gateway.shared_sessions import SharedSessions

            self.shared_sessions = SharedSessions(self)

    def client_changed(self, client: InboundClient) -> None:
        """Another replica would have to know something else of a client."""
        if self.shared_sessions is not None:
            self.shared_sessions.writer.changed(client.peer)

    def connected(self, client: InboundClient) -> None:
        """A client of 2025-11-25 finished its handshake."""
        self.client_changed(client)
        self._publish(
            InboundConnected(
                client_id=client.id,
                client_info=client.info,
                path=client.path,
                transport=client.peer.kind,
                protocol_version=client.peer.protocol_version or "",
            ),
            0,
        )

    def left(self, peer: Peer, reason: str) -> None:
        """A client is gone, with all that it had open."""
        client = self.clients.pop(peer, None)
        if client is None:
            return
        for call in list(client.calls.values()):
            call.cancel()
        client.leave()
        self.fan_out.left(client)
        self.tasks.left(client)
        if not client.is_stateless:
            self.call_limits.forget(client.key)
            self._publish(InboundDisconnected(client_id=client.id, reason=reason), 0)
            if self.telemetry is not None:
                self.telemetry.session_ended(client, reason)
            self.spawn(self._drop(client), "drop")
            self.spawn(self.client_sessions.left(client), "end sessions")

    async def _drop(self, holder: object) -> None:
        """Give up the subscriptions and the log level of a client or stream that is gone."""
        connections = [*self.servers.connections.values(), *self.era_sessions.connections]
        connections += self.users.connections
        for connection in connections:
            with contextlib.suppress(InspectorError):
                await connection.shared.drop(holder)

    def drop(self, holder: object) -> None:
        self.spawn(self._drop(holder), "drop")

    def spawn(self, work: Any, name: str) -> asyncio.Task[Any]:
        """Run work that may outlive a request."""
        task = self._work.start(work, f"gateway {name}")
        task.add_done_callback(_forget_error)
        return task

    @property
    def running_calls(self) -> int:
        """How many requests of clients are under way."""
        return self.ledger.running

    def _store_changed(self, state: StoreState) -> None:
        store = self.replica.store.name
        event = StoreStateChanged(store=store, status=state.status, reason=state.reason)
        self._publish(event, 0)

    # -- calls -------------------------------------------------------------------------------------

    def may_ask(self, call: InboundCall, request: ServerRequest) -> bool:
        """Whether a server's question may go to the client of this call.

        Roots are the configured ones in a session that clients share. A link that was inferred is
        not enough where several clients use the server: the question may be another's.
        """
        connection = self.servers.get(call.server_id)
        # Clients without a session of their own share one, whatever the server's mode.
        is_shared = connection is None or connection.mode != "per-client" or call.is_stateless
        if request.method == "roots/list" and is_shared:
            return False
        if request.is_inferred and is_shared and self._has_other_clients(call):
            return False
        params = request.params if isinstance(request.params, dict) else {}
        return call.can_answer(request.method, params)

    def _has_other_clients(self, call: InboundCall) -> bool:
        own = call.client.key
        for client in self.clients.values():
            handler = self._handlers.get(client.path)
            if client.key != own and handler is not None and handler.shows(call.server_id):
                return True
        return False

    # -- servers -----------------------------------------------------------------------------------

    async def session_for(
        self, connection: ServerConnection, client: InboundClient
    ) -> ServerConnection:
        """The session with a server that suits a client best.

        Raises:
            InspectorError: there is no connection.
        """
        if connection.entry.is_per_user:
            return await self.users.session_for(connection, client)
        if connection.mode == "per-client" and not client.is_stateless:
            return await self.client_sessions.session(connection, client)
        if connection.introduction is None:
            await opened(connection)
        return await self.era_sessions.matching(connection, is_stateless=client.is_stateless)

    @property
    def has_settled(self) -> bool:
        """Whether the servers are there, or had the time that the startup budget gives them."""
        return self.servers.is_settled or self.clock.monotonic() >= self._ready_by

    async def settled(self) -> None:
        """Wait until the servers are there; the startup budget counts from the start, once."""
        left_s = self._ready_by - self.clock.monotonic()
        if left_s > 0:
            await self.servers.settled(left_s)

    def is_loop(self, connection: ServerConnection) -> bool:
        """Whether a server leads back to this very gateway, directly or through another."""
        return connection.live.detour is None and self.id in gateways_behind(connection)

    def is_elsewhere(self, server_id: str) -> bool:
        """Whether another replica runs a server, and its calls are passed on there."""
        connection = self.servers.get(server_id)
        return connection is not None and connection.live.detour is not None

    def offered(self) -> list[ServerConnection]:
        """The servers that this gateway is for; a web UI beside it may have others too."""
        offers = self.servers.offers
        return [one for one in self.servers.connections.values() if offers(one.entry)]

    def server(self, server_id: str) -> ServerConnection | None:
        """One of the servers that this gateway is for."""
        found = self.servers.get(server_id)
        return found if found is not None and self.servers.offers(found.entry) else None

    def usable(self) -> list[ServerConnection]:
        """The servers whose tools can be published."""
        return [
            one for one in self.offered() if one.entry.problem is None and not self.is_loop(one)
        ]

    def reached_gateways(self) -> list[str]:
        """This gateway and those behind it, for the mark in our capabilities."""
        found = {self.id: None}
        for connection in self.offered():
            if connection.live.detour is None:  # another replica is this very gateway
                found |= dict.fromkeys(gateways_behind(connection))
        return list(found)

    def catalog(self, view: View, of_user: Iterable[ServerLists] = ()) -> ViewCatalog:
        """What a view publishes now; `of_user` is what a user's own sessions offer."""
        now = self.clock.wall()
        twin_of = self.era_sessions.twin_of
        shared = [one for one in self.usable() if not one.entry.is_per_user]
        lists = [lists_of(one, now, twin_of(one.server_id)) for one in shared]
        lists += of_user
        check = None if self.approvals is None else self.approvals.check(view)
        return ViewCatalog(view, lists, [one.server_id for one in self.offered()], check)

    def catalog_of(self, view: View, connection: ServerConnection) -> ViewCatalog:
        """What a view would publish of one server."""
        return ViewCatalog(view, [lists_of(connection, self.clock.wall())])

    # -- what the servers tell ---------------------------------------------------------------------

    def servers_changed(self) -> None:
        self.spawn(self.era_sessions.drop_gone(), "close second sessions")
        self.call_limits.forget_servers(set(self.servers.connections))
        for server_id in [*self.servers.connections, ""]:
            for kind in KINDS:
                self.fan_out.list_changed(server_id, kind)
        self._review_soon()

    def publish_anew(self) -> None:
        """What views show of the same lists may have changed."""
        for kind in KINDS:
            self.fan_out.list_changed("", kind)
        if self.users.sessions is not None:
            self.users.sessions.publish_anew()

    def state_changed(self, server_id: str) -> None:
        connection = self.servers.get(server_id)
        if connection is not None and self.is_loop(connection):
            self.fan_out.list_changed(server_id, "tools")
        self._review_soon()

    def list_changed(self, server_id: str, kind: str) -> None:
        if kind in KINDS:
            self.fan_out.list_changed(server_id, kind)
            self._review_soon()

    def _review_soon(self) -> None:
        if self.approvals is not None:
            self.approvals.review_soon()

    def notified(self, server_id: str, frame: Frame, link: Link) -> None:
        self.fan_out.notified(server_id, frame, link)

    # -- its end -----------------------------------------------------------------------------------

    @property
    def is_draining(self) -> bool:
        """Whether it is about to end: it is not ready, and soon refuses calls."""
        return self.ending.stage is not Stage.SERVING

    async def close(self) -> None:
        self._unlisten()
        if self.audit_log is not None:
            self.audit_log.close()
        await self.suspended.close()
        self.tasks.close()
        await self.client_sessions.close()
        await self.users.close()
        await self.call_limits.close()
        await self._work.end()
        await self.era_sessions.close()


def gateways_behind(connection: ServerConnection) -> list[str]:
    """The gateways that a server is or leads to, as it says itself."""
    introduction = connection.introduction
    experimental = None if introduction is None else introduction.capabilities.get("experimental")
    mark = experimental.get(GATEWAY_MARK) if isinstance(experimental, dict) else None
    found = mark.get("ids") if isinstance(mark, dict) else None
    return [one for one in found if isinstance(one, str)] if isinstance(found, list) else []


def _forget_error(task: asyncio.Task[Any]) -> None:
    if not task.cancelled():
        task.exception()
