"""Who hears of changes: subscribers of 2025-11-25, and streams of subscriptions/listen.

Lists, resources and tasks are told apart; a stream gets only what it asked for.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final

from mcplens.demo.call import Call
from mcplens.demo.registry import Fault, Json, method
from mcplens.demo.tasks import require_extension
from mcplens.inbound.refusal import INVALID_PARAMS
from mcplens.protocol.eras import SUBSCRIPTION_ID, Era

if TYPE_CHECKING:
    from mcplens.demo.server import Demo
    from mcplens.demo.tasks import Task

# A resource that changes by itself, as long as somebody listens.
TICKER: Final = "demo://ticker"
_TICK_S: Final = 1.0

_FILTER_OF: Final = {
    "tools": "toolsListChanged",
    "prompts": "promptsListChanged",
    "resources": "resourcesListChanged",
}


class Listener:
    """One open subscriptions/listen."""

    def __init__(self, call: Call, wanted: Json) -> None:
        self.call = call
        self.wanted = wanted

    def notify(self, method: str, params: Json | None = None) -> None:
        """Every message carries the id of the request that it is sent for."""
        meta = {SUBSCRIPTION_ID: self.call.id}
        self.call.client.notify(method, {**(params or {}), "_meta": meta}, self.call.id)


class Audience:
    """Everybody who wants to hear of changes."""

    def __init__(self, demo: Demo) -> None:
        self._demo = demo
        self.listeners: list[Listener] = []
        self.ticks = 0
        self._ticker: asyncio.Task[None] | None = None

    def __repr__(self) -> str:
        return f"<Audience of {len(self.listeners)} listeners, {self.ticks} ticks>"

    def list_changed(self, kind: str) -> None:
        """`tools`, `resources` or `prompts` are others now."""
        name = f"notifications/{kind}/list_changed"
        for client in self._demo.clients.values():
            if client.has_shaken_hands:
                client.notify(name)
        for listener in self.listeners:
            if listener.wanted.get(_FILTER_OF[kind]):
                listener.notify(name)

    def resource_updated(self, uri: str) -> None:
        params = {"uri": uri}
        for client in self._demo.clients.values():
            if uri in client.subscriptions:
                client.notify("notifications/resources/updated", params)
        for listener in self.listeners:
            if uri in listener.wanted.get("resourceSubscriptions", ()):
                listener.notify("notifications/resources/updated", params)

    def task_changed(self, task: Task) -> None:
        for listener in self.listeners:
            if task.id in listener.wanted.get("taskIds", ()):
                listener.notify("notifications/tasks", task.detailed())

    def subscribed(self) -> None:
        """Somebody has a new wish: the ticker may have to run."""
        if self._is_ticker_wanted() and self._ticker is None:
            self._ticker = self._demo.spawn(self._tick())

    def _is_ticker_wanted(self) -> bool:
        clients = self._demo.clients.values()
        return any(TICKER in client.subscriptions for client in clients) or any(
            TICKER in listener.wanted.get("resourceSubscriptions", ())
            for listener in self.listeners
        )

    async def _tick(self) -> None:
        while True:
            await self._demo.clock.sleep(_TICK_S)
            if not self._is_ticker_wanted():
                break
            self.ticks += 1
            self.resource_updated(TICKER)
        self._ticker = None


@method("resources/subscribe", Era.HANDSHAKE)
async def subscribe(call: Call) -> Json:
    call.client.subscriptions.add(_uri(call))
    call.demo.audience.subscribed()
    return {}


@method("resources/unsubscribe", Era.HANDSHAKE)
async def unsubscribe(call: Call) -> Json:
    call.client.subscriptions.discard(_uri(call))
    return {}


def _uri(call: Call) -> str:
    uri = call.params.get("uri")
    if not isinstance(uri, str):
        raise Fault(INVALID_PARAMS, "uri is missing")
    return uri


@method("subscriptions/listen", Era.STATELESS)
async def listen(call: Call) -> Json:
    """Acknowledge what will be sent, then stay until the client ends it."""
    filters = call.params.get("notifications")
    wanted = _honoured(call, filters if isinstance(filters, dict) else {})
    audience = call.demo.audience
    listener = Listener(call, wanted)
    listener.notify("notifications/subscriptions/acknowledged", {"notifications": wanted})
    audience.listeners.append(listener)
    audience.subscribed()
    try:
        await asyncio.get_running_loop().create_future()
    finally:
        audience.listeners.remove(listener)
    return {"_meta": {SUBSCRIPTION_ID: call.id}}


def _honoured(call: Call, filters: dict[str, Any]) -> Json:
    """The part of a filter that means something here."""
    wanted: Json = {name: True for name in _FILTER_OF.values() if filters.get(name) is True}
    uris = filters.get("resourceSubscriptions")
    if isinstance(uris, list):
        wanted["resourceSubscriptions"] = [uri for uri in uris if isinstance(uri, str)]
    if "taskIds" in filters:
        require_extension(call)
        known = call.demo.tasks.known
        wanted["taskIds"] = [name for name in filters["taskIds"] or () if name in known]
    return wanted
