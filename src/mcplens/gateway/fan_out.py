"""What servers say that belongs to no call: passed on to the clients that it concerns.

Changed lists are announced to the clients of each view whose published list changed; updates of a
resource to those who subscribed; logs to those who asked for that level. Owned by gateway.py.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from typing import TYPE_CHECKING, Any, Final

from msgspec import Raw

from mcplens.gateway.catalog import ChangedList, Kind
from mcplens.gateway.inbound_call import InboundCall, admits
from mcplens.gateway.inbound_client import InboundClient
from mcplens.gateway.notification_tracing import heard
from mcplens.gateway.task_notifications import pass_progress_on, pass_status_on
from mcplens.gateway.wire import decoded, members, text_of
from mcplens.protocol.eras import SUBSCRIPTION_ID
from mcplens.protocol.frames import Frame
from mcplens.session.attribution import Link

if TYPE_CHECKING:
    from mcplens.downstream.server_connection import ServerConnection
    from mcplens.gateway.gateway import Gateway

# The notification that announces a list, and the filter of subscriptions/listen that asks for it.
_ANNOUNCED: Final[dict[Kind, tuple[str, str]]] = {
    "tools": ("notifications/tools/list_changed", "toolsListChanged"),
    "prompts": ("notifications/prompts/list_changed", "promptsListChanged"),
    "resources": ("notifications/resources/list_changed", "resourcesListChanged"),
    "resource_templates": ("notifications/resources/list_changed", "resourcesListChanged"),
}
LIST_FILTERS: Final = tuple(dict.fromkeys(name for _, name in _ANNOUNCED.values()))
_LIST_CHANGES: Final = frozenset(method for method, _ in _ANNOUNCED.values())
# Elicitations by URL whose end may be announced, and to which client.
MAX_ELICITATIONS: Final = 1_000


class ListenStream:
    """An open subscriptions/listen of a 2026-07-28 client."""

    def __init__(self, call: InboundCall, wanted: dict[str, Any]) -> None:
        self.call = call
        self.wanted = wanted

    def __repr__(self) -> str:
        return f"<ListenStream of {self.call.client.id}: {self.wanted}>"

    def notify(self, method: str, params: dict[str, Any]) -> None:
        """Every message names the request that opened the stream."""
        meta = params.get("_meta")
        own = members(meta) if isinstance(meta, Raw) else {}
        tagged = {**params, "_meta": {**own, SUBSCRIPTION_ID: self.call.id}}
        self.call.client.notify(method, tagged, self.call.id)


class FanOut:
    """Passes notifications on."""

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway
        self.streams: list[ListenStream] = []
        self._changed: set[ChangedList] = set()
        self._elicited: OrderedDict[str, InboundClient] = OrderedDict()

    def __repr__(self) -> str:
        return f"<FanOut {len(self.streams)} streams>"

    # -- lists -----------------------------------------------------------------------------------

    def list_changed(self, server_id: str, kind: Kind) -> None:
        """A server's list changed; all changes of one moment are announced once."""
        if not self._changed:
            asyncio.get_running_loop().call_soon(self._announce)
        self._changed.add(ChangedList(server_id, kind))

    def _announce(self) -> None:
        changed, self._changed = self._changed, set()
        for handler in self._gateway.handlers:
            # Resources and their templates share an announcement.
            for method, name in {_ANNOUNCED[kind] for kind in handler.published_changes(changed)}:
                self._announce_to(handler.path, method, name)
        self._gateway.list_search.announced()

    def _announce_to(self, path: str, method: str, name: str) -> None:
        for client in list(self._gateway.clients.values()):
            if client.path == path and client.is_ready and not client.is_stateless:
                client.notify(method, b"")
        for stream in list(self.streams):
            if stream.call.client.path == path and stream.wanted.get(name) is True:
                stream.notify(method, {})

    def list_changed_for(self, caller: str, server_id: str, kind: Kind) -> None:
        """What one user sees of a server changed: the clients of this user are told."""
        method, name = _ANNOUNCED[kind]

        def is_theirs(client: InboundClient) -> bool:
            return client.peer.caller == caller and self._can_see(client, server_id)

        for client in list(self._gateway.clients.values()):
            if client.is_ready and not client.is_stateless and is_theirs(client):
                client.notify(method, b"")
        for stream in list(self.streams):
            if stream.wanted.get(name) is True and is_theirs(stream.call.client):
                stream.notify(method, {})

    # -- all else --------------------------------------------------------------------------------

    def notified(self, server_id: str, frame: Frame, link: Link) -> None:
        """A notification of a server's that is not for the client of a call."""
        with heard(self._gateway, server_id, frame):
            self.pass_on(server_id, frame)

    def pass_on(self, server_id: str, frame: Frame) -> None:
        """Tell the clients that a notification concerns."""
        method = frame.method
        if method in _LIST_CHANGES:
            return  # announced when the list was fetched again
        if method == "notifications/resources/updated":
            self._updated(server_id, frame)
        elif method == "notifications/message":
            self._logged(server_id, frame)
        elif method == "notifications/elicitation/complete":
            self._completed(frame)
        elif method.startswith("notifications/tasks"):
            pass_status_on(self._gateway, server_id, frame)
        elif method == "notifications/progress":
            pass_progress_on(self._gateway, server_id, frame)
        elif method != "notifications/cancelled":
            self._unknown(server_id, frame)

    def _updated(self, server_id: str, frame: Frame) -> None:
        connection = self._gateway.servers.get(server_id)
        if connection is not None:
            self.updated(connection, frame)

    def updated(self, connection: ServerConnection, frame: Frame) -> None:
        """A resource changed: those who subscribed in this session are told."""
        params = members(frame.body)
        uri = text_of(params.get("uri"))
        if uri is None:
            return
        for holder in connection.shared.subscribers(uri):
            if isinstance(holder, ListenStream):
                holder.notify(frame.method, dict(params))
            elif isinstance(holder, InboundClient):
                holder.pass_on(frame)

    def _logged(self, server_id: str, frame: Frame) -> None:
        """A log message of no call: to clients that asked for its level, or to the only one."""
        clients = [
            client
            for client in self._gateway.clients.values()
            if client.is_ready and not client.is_stateless and self._can_see(client, server_id)
        ]
        for client in clients:
            if client.log_level is None and len(clients) > 1:
                continue
            if admits(client.log_level, frame, is_asked_for=False):
                client.pass_on(frame)

    def _unknown(self, server_id: str, frame: Frame) -> None:
        """Notifications that we do not know pass where one server is published untouched."""
        for client in list(self._gateway.clients.values()):
            handler = self._gateway.handler_at(client.path)
            if client.is_ready and handler is not None and handler.is_untouched_for(server_id):
                client.pass_on(frame)

    def _can_see(self, client: InboundClient, server_id: str) -> bool:
        handler = self._gateway.handler_at(client.path)
        return handler is not None and handler.shows(server_id)

    # -- elicitation by URL ------------------------------------------------------------------------

    def elicited(self, client: InboundClient, params: Raw) -> Raw:
        """Remember which client is asked to open a URL: only it is told when that is done."""
        name = text_of(members(params).get("elicitationId"))
        if name is not None:
            self._elicited[name] = client
            if len(self._elicited) > MAX_ELICITATIONS:
                self._elicited.popitem(last=False)
        return params

    def _completed(self, frame: Frame) -> None:
        name = text_of(members(frame.body).get("elicitationId"))
        client = self._elicited.pop(name, None) if name is not None else None
        if client is not None and not client.is_stateless:
            client.pass_on(frame)

    def left(self, client: InboundClient) -> None:
        """A client is gone."""
        for name in [name for name, one in self._elicited.items() if one is client]:
            del self._elicited[name]


def wanted_of(params: dict[str, Raw]) -> dict[str, Any]:
    """The filters of a subscriptions/listen."""
    filters = decoded(params.get("notifications"))
    return filters if isinstance(filters, dict) else {}
