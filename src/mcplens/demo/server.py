"""The demo server: connected clients and running requests.

A PeerHandler for the inbound transports. A request becomes an asyncio task that looks up its
method, runs it and sends the answer; everything that a feature needs is in its RequestContext.
"""

from __future__ import annotations

import asyncio
import os
import sys
import traceback
from collections import deque
from collections.abc import Callable, Coroutine
from typing import Any, Final

from mcplens.background import Background
from mcplens.clock import Clock, SystemClock
from mcplens.demo import roots
from mcplens.demo.browser_page import BrowserPage
from mcplens.demo.client import DemoClient
from mcplens.demo.client_questions import InputNeeded
from mcplens.demo.handshake import complete
from mcplens.demo.lists import DemoCatalog
from mcplens.demo.registry import METHODS, Answered, Fault, Json, ToolFailure, load_features
from mcplens.demo.request_context import RequestContext
from mcplens.demo.subscriptions import Subscribers
from mcplens.demo.tasks import TaskTable
from mcplens.inbound.peer import Peer
from mcplens.inbound.refusal import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
)
from mcplens.inbound.request_validation import HeaderParameters, Incoming
from mcplens.protocol.eras import Era, InvalidHeaderAnnotation, header_parameters
from mcplens.protocol.frames import Frame, Kind, RequestId, encode_result

# What a client of the handshake era may ask before its handshake.
_BEFORE_HANDSHAKE: Final = ("initialize", "ping")


class Demo:
    """The server."""

    def __init__(
        self, clock: Clock | None = None, *, exit: Callable[[int], Any] = os._exit
    ) -> None:
        load_features()
        self.clock = clock or SystemClock()
        self.exit = exit  # broken-crash really does it
        self.catalog = DemoCatalog()
        self.subscribers = Subscribers(self)
        self.tasks = TaskTable(self)
        self.clients: dict[Peer, DemoClient] = {}
        self.pages: dict[str, BrowserPage] = {}  # that clients were sent to, by client and tool
        # Cancelled calls; the tool cancelled-calls shows them.
        self.cancelled: deque[Json] = deque(maxlen=100)
        self._work = Background()

    def __repr__(self) -> str:
        return f"<Demo {len(self.clients)} clients, {len(self._work)} running>"

    def spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Run a task that may outlive its request."""
        return self._work.start(work, "demo")

    async def close(self) -> None:
        """Stop all work."""
        for page in self.pages.values():
            page.close()
        await self._work.end()

    # -- Handler -------------------------------------------------------------------------------

    def received(self, peer: Peer, incoming: Incoming) -> None:
        frame = incoming.message
        if not isinstance(frame, Frame):
            return  # the transport has refused it already
        client = self.clients.get(peer)
        if client is None:
            client = self.clients[peer] = DemoClient(peer)
        match frame.kind:
            case Kind.REQUEST:
                self._start(client, frame, incoming.era)
            case Kind.NOTIFICATION:
                self._notified(client, frame)
            case _:
                client.answered(frame)

    def disconnected(self, peer: Peer, reason: str) -> None:
        client = self.clients.pop(peer, None)
        if client is not None:
            for request_id in list(client.running):
                self.cancel(client, request_id, reason)
            client.leave()
            self.tasks.left(client)

    def header_parameters(self, tool: str) -> HeaderParameters:
        definition = self.catalog.tools().get(tool, {})
        try:
            return header_parameters(definition.get("inputSchema"))
        except InvalidHeaderAnnotation:
            return {}  # clients must not call such a tool over HTTP

    # -- requests ------------------------------------------------------------------------------

    def _start(self, client: DemoClient, frame: Frame, era: Era) -> None:
        identity = frame.id
        assert identity is not None
        try:
            params = frame.value()
        except ValueError as problem:
            client.peer.refuse(identity, INVALID_PARAMS, f"params cannot be read: {problem}")
            return
        given = params if isinstance(params, dict) else {}
        context = RequestContext(self, client, identity, frame.method, given, era)
        task = client.running[identity] = self.spawn(self._answer(context))
        task.add_done_callback(lambda _: client.running.pop(identity, None))

    async def _answer(self, context: RequestContext) -> None:
        peer = context.client.peer
        try:
            result = await self._result(context)
        except Answered:
            return
        except Fault as fault:
            peer.refuse(context.id, fault.code, str(fault), fault.data)
        except ToolFailure as failure:
            peer.refuse(context.id, INTERNAL_ERROR, str(failure))
        except asyncio.CancelledError:
            peer.drop(context.id)
            raise
        except Exception as problem:  # a bug of ours is an answer, as any SDK's server would give
            traceback.print_exc(file=sys.stderr)
            peer.refuse(context.id, INTERNAL_ERROR, f"{type(problem).__name__}: {problem}")
        else:
            peer.answer(context.id, encode_result(context.id, result))

    async def _result(self, context: RequestContext) -> Json:
        method = METHODS.get(context.method)
        if method is None or context.era not in method.eras:
            raise Fault(METHOD_NOT_FOUND, f"{context.method} is not offered")
        if not context.is_stateless:
            if not context.client.has_shaken_hands and context.method not in _BEFORE_HANDSHAKE:
                raise Fault(INVALID_REQUEST, f"{context.method} came before initialize")
            return await method.work(context)
        try:
            return complete(context.method, await method.work(context))
        except InputNeeded as required:
            return complete(context.method, required.result)

    def _notified(self, client: DemoClient, frame: Frame) -> None:
        if frame.method == "notifications/cancelled":
            params = frame.value()
            if isinstance(params, dict):
                self.cancel(client, params.get("requestId"), params.get("reason"))
        elif frame.method == "notifications/roots/list_changed":
            self.spawn(roots.ask_again(client))

    def cancel(self, client: DemoClient, request_id: RequestId | None, reason: Any) -> None:
        """Stop work on a request; what is unknown or done is ignored."""
        task = client.running.get(request_id) if request_id is not None else None
        if task is not None and not task.done():
            self.cancelled.append({"requestId": request_id, "reason": reason})
            task.cancel()
