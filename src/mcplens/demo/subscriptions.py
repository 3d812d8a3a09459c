"""Subscriptions: notifies clients of 2025-11-25 and streams of subscriptions/listen of changes.

A stream gets only the lists, resources and tasks that it subscribed to. Also the tool touch-note.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final

from mcplens.demo.registry import Fault, Json, method, text, tool
from mcplens.demo.request_context import RequestContext
from mcplens.demo.tasks import require_extension
from mcplens.inbound.refusal import INVALID_PARAMS
from mcplens.protocol.eras import SUBSCRIPTION_ID, Era

if TYPE_CHECKING:
    from mcplens.demo.server import Demo
    from mcplens.demo.tasks import DemoTask

# A resource that changes by itself, as long as somebody listens.
TICKER: Final = "demo://ticker"
_TICK_S: Final = 1.0
# A resource that changes when the tool touch-note is called.
_NOTE: Final = "demo://note"

_FILTER_OF: Final = {
    "tools": "toolsListChanged",
    "prompts": "promptsListChanged",
    "resources": "resourcesListChanged",
}


class ListenStream:
    """One open subscriptions/listen."""

    def __init__(self, context: RequestContext, wanted: Json) -> None:
        self.context = context
        self.wanted = wanted

    def notify(self, method: str, params: Json | None = None) -> None:
        """Every message carries the id of the request that it is sent for."""
        meta = {SUBSCRIPTION_ID: self.context.id}
        self.context.client.notify(method, {**(params or {}), "_meta": meta}, self.context.id)


class Subscribers:
    """All subscribers, and the notifications to them."""

    def __init__(self, demo: Demo) -> None:
        self._demo = demo
        self.listeners: list[ListenStream] = []
        self.ticks = 0
        self._ticker: asyncio.Task[None] | None = None

    def __repr__(self) -> str:
        return f"<Subscribers of {len(self.listeners)} listeners, {self.ticks} ticks>"

    def list_changed(self, kind: str) -> None:
        """`tools`, `resources` or `prompts` changed."""
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

    def task_changed(self, task: DemoTask) -> None:
        for listener in self.listeners:
            if task.id in listener.wanted.get("taskIds", ()):
                listener.notify("notifications/tasks", task.detailed())

    def subscribed(self) -> None:
        """A subscription was added: start the ticker if needed."""
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
async def subscribe(context: RequestContext) -> Json:
    context.client.subscriptions.add(_uri(context))
    context.demo.subscribers.subscribed()
    return {}


@method("resources/unsubscribe", Era.HANDSHAKE)
async def unsubscribe(context: RequestContext) -> Json:
    context.client.subscriptions.discard(_uri(context))
    return {}


def _uri(context: RequestContext) -> str:
    uri = context.params.get("uri")
    if not isinstance(uri, str):
        raise Fault(INVALID_PARAMS, "uri is missing")
    return uri


@method("subscriptions/listen", Era.STATELESS)
async def listen(context: RequestContext) -> Json:
    """Acknowledge what will be sent, then stay until the client ends it."""
    filters = context.params.get("notifications")
    wanted = _honoured(context, filters if isinstance(filters, dict) else {})
    subscribers = context.demo.subscribers
    listener = ListenStream(context, wanted)
    listener.notify("notifications/subscriptions/acknowledged", {"notifications": wanted})
    subscribers.listeners.append(listener)
    subscribers.subscribed()
    try:
        await asyncio.get_running_loop().create_future()
    finally:
        subscribers.listeners.remove(listener)
    return {"_meta": {SUBSCRIPTION_ID: context.id}}


def _honoured(context: RequestContext, filters: dict[str, Any]) -> Json:
    """The supported part of a filter."""
    wanted: Json = {name: True for name in _FILTER_OF.values() if filters.get(name) is True}
    uris = filters.get("resourceSubscriptions")
    if isinstance(uris, list):
        wanted["resourceSubscriptions"] = [uri for uri in uris if isinstance(uri, str)]
    if "taskIds" in filters:
        require_extension(context)
        known = context.demo.tasks.known
        wanted["taskIds"] = [name for name in filters["taskIds"] or () if name in known]
    return wanted


@tool(
    "touch-note",
    "Changes the resource demo://note and notifies its subscribers "
    "(notifications/resources/updated). demo://ticker does so by itself, every second.",
    {"times": {"type": "integer", "minimum": 1, "maximum": 100, "default": 1}},
)
async def touch(context: RequestContext) -> Json:
    catalog = context.demo.catalog
    for _ in range(context.arguments.get("times", 1)):
        catalog.note_revision += 1
        context.demo.subscribers.resource_updated(_NOTE)
    return text(f"{_NOTE} is at revision {catalog.note_revision}")
