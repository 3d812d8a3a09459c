"""Sessions for one client alone, with servers whose `sessionMode` is `per-client`.

Such a session declares what its client declared, offers its client's roots, and ends with it; what
the server asks or says in it goes to this client, whether it belongs to a call or not. Clients of
2026-07-28 have no session of their own to tie it to, and share one. Owned by gateway.py.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Any, Final

from mcplens.clock import within
from mcplens.downstream.listener import ServerListener
from mcplens.downstream.server_connection import ServerConnection
from mcplens.errors import InspectorError, ServerError
from mcplens.gateway.inbound_call import (
    CAPABILITY_OF,
    admits,
    does_answer,
    opened,
    question_params,
)
from mcplens.gateway.inbound_client import InboundClient
from mcplens.gateway.notification_tracing import heard
from mcplens.gateway.task_notifications import pass_progress_on, pass_status_on
from mcplens.gateway.wire import object_of
from mcplens.inbound.refusal import METHOD_NOT_FOUND
from mcplens.protocol.frames import ABSENT, Frame
from mcplens.session.attribution import Link
from mcplens.session.question_handler import ServerRequest

if TYPE_CHECKING:
    from mcplens.gateway.gateway import Gateway
    from mcplens.session.client import Client

# A client that does not answer has no roots; its session is not held up for long.
_ROOTS_WITHIN_S: Final = 5.0
_NOT_PASSED_ON: Final = frozenset({
    "notifications/cancelled", "notifications/tools/list_changed",
    "notifications/prompts/list_changed", "notifications/resources/list_changed",
})  # fmt: skip


class _OwnNotifications(ServerListener):
    """Passes what a server says in a client's own session on to this client."""

    def __init__(self, gateway: Gateway, client: InboundClient) -> None:
        self._gateway = gateway
        self._client = client

    def notified(self, server_id: str, frame: Frame, link: Link) -> None:
        with heard(self._gateway, server_id, frame):
            self._pass_on(server_id, frame)

    def _pass_on(self, server_id: str, frame: Frame) -> None:
        client = self._client
        if frame.method in _NOT_PASSED_ON:
            return
        if frame.method == "notifications/progress":
            pass_progress_on(self._gateway, server_id, frame, client.key)
            return
        if frame.method.startswith("notifications/tasks"):
            pass_status_on(self._gateway, server_id, frame, client.key)
            return
        is_log = frame.method == "notifications/message"
        if not is_log or admits(client.log_level, frame, is_asked_for=False):
            client.pass_on(frame)


class ClientSessions:
    """Sessions by client and server."""

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway
        self._sessions: dict[InboundClient, dict[str, asyncio.Task[ServerConnection]]] = {}
        self._equipped: dict[ServerConnection, Client] = {}

    def __repr__(self) -> str:
        return f"<ClientSessions of {len(self._sessions)} clients>"

    async def session(
        self, connection: ServerConnection, client: InboundClient
    ) -> ServerConnection:
        """The client's own session with a server, made when it is first needed."""
        own = self._sessions.setdefault(client, {})
        making = own.get(connection.server_id)
        if making is None:
            work = self._make(connection, client)
            making = self._gateway.spawn(work, f"session of {client.id}")
            own[connection.server_id] = making
        session = await asyncio.shield(making)
        if session.introduction is None or session.live.client is None:
            await opened(session)
        self._equip(session, client)
        return session

    def _equip(self, session: ServerConnection, client: InboundClient) -> None:
        """Questions that belong to no call are this client's too; a new session is told again."""
        live = session.live.client
        if live is None or self._equipped.get(session) is live:
            return
        self._equipped[session] = live

        async def answer(request: ServerRequest) -> Any:
            params = request.params if isinstance(request.params, dict) else {}
            if not does_answer(client.capabilities, request.method, params):
                text = f"the client does not answer {request.method}"
                raise ServerError(METHOD_NOT_FOUND, text)
            return await client.ask(request.method, question_params(request), None)

        for method in CAPABILITY_OF:
            live.set_request_handler(method, answer)

    async def _make(self, connection: ServerConnection, client: InboundClient) -> ServerConnection:
        return connection.for_client(
            client.capabilities,
            await self._roots_of(client),
            client.info or None,
            _OwnNotifications(self._gateway, client),
        )

    async def _roots_of(self, client: InboundClient) -> list[dict[str, Any]] | None:
        """The client's roots; None if it has none to offer."""
        if not isinstance(client.capabilities.get("roots"), dict):
            return None
        found: list[dict[str, Any]] = []

        async def ask() -> None:
            listed = object_of(await client.ask("roots/list", ABSENT, None)).get("roots")
            found.extend(root for root in listed or () if _is_folder(root))

        with contextlib.suppress(ServerError, TimeoutError):
            await within(self._gateway.clock, _ROOTS_WITHIN_S, ask())
        return found

    def made_for(self, client: InboundClient) -> list[ServerConnection]:
        """The client's sessions that are there."""
        tasks = self._sessions.get(client, {}).values()
        return [
            task.result()
            for task in tasks
            if task.done() and not task.cancelled() and task.exception() is None
        ]

    async def roots_changed(self, client: InboundClient) -> None:
        """Tell the servers of a client's own sessions of its new roots."""
        sessions = self.made_for(client)
        roots = await self._roots_of(client) if sessions else None
        for session in sessions:
            live = session.live.client
            if live is None or roots is None:
                continue
            try:
                live.roots.set(roots)
            except InspectorError:
                continue  # one of them is not a folder; the former ones stay

    async def left(self, client: InboundClient) -> None:
        """End the sessions of a client that is gone."""
        sessions = self.made_for(client)
        for task in self._sessions.pop(client, {}).values():
            task.cancel()
        for session in sessions:
            self._equipped.pop(session, None)
            await session.close()

    async def close(self) -> None:
        for client in list(self._sessions):
            await self.left(client)


def _is_folder(root: Any) -> bool:
    return isinstance(root, dict) and str(root.get("uri")).startswith("file://")
