"""The demo server: who is connected, and what is being worked on for whom.

A Handler for the inbound transports. A request becomes a task that looks up its method, does the
work and sends the answer; everything that a feature needs is in its Call.
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
from mcplens.demo import features, roots
from mcplens.demo.asking import InputRequired
from mcplens.demo.call import Call
from mcplens.demo.client import Client
from mcplens.demo.handshake import complete
from mcplens.demo.listening import Audience
from mcplens.demo.lists import Catalog
from mcplens.demo.pages import Page
from mcplens.demo.registry import METHODS, Answered, Failure, Fault, Json
from mcplens.demo.tasks import Tasks
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
        features.load()
        self.clock = clock or SystemClock()
        self.exit = exit  # broken-crash really does it
        self.catalog = Catalog()
        self.audience = Audience(self)
        self.tasks = Tasks(self)
        self.clients: dict[Peer, Client] = {}
        self.pages: dict[str, Page] = {}  # that clients were sent to, by client and tool
        # What was called off; the tool cancelled-calls shows it.
        self.cancelled: deque[Json] = deque(maxlen=100)
        self._work = Background()

    def __repr__(self) -> str:
        return f"<Demo {len(self.clients)} clients, {len(self._work)} things under way>"

    def spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Do something that may outlast the request that began it."""
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
            client = self.clients[peer] = Client(peer)
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

    def _start(self, client: Client, frame: Frame, era: Era) -> None:
        identity = frame.id
        assert identity is not None
        try:
            params = frame.value()
        except ValueError as problem:
            client.peer.refuse(identity, INVALID_PARAMS, f"params cannot be read: {problem}")
            return
        given = params if isinstance(params, dict) else {}
        call = Call(self, client, identity, frame.method, given, era)
        task = client.running[identity] = self.spawn(self._answer(call))
        task.add_done_callback(lambda _: client.running.pop(identity, None))

    async def _answer(self, call: Call) -> None:
        peer = call.client.peer
        try:
            result = await self._result(call)
        except Answered:
            return
        except Fault as fault:
            peer.refuse(call.id, fault.code, str(fault), fault.data)
        except Failure as failure:
            peer.refuse(call.id, INTERNAL_ERROR, str(failure))
        except asyncio.CancelledError:
            peer.drop(call.id)
            raise
        except Exception as problem:  # a bug of ours is an answer, as any SDK's server would give
            traceback.print_exc(file=sys.stderr)
            peer.refuse(call.id, INTERNAL_ERROR, f"{type(problem).__name__}: {problem}")
        else:
            peer.answer(call.id, encode_result(call.id, result))

    async def _result(self, call: Call) -> Json:
        method = METHODS.get(call.method)
        if method is None or call.era not in method.eras:
            raise Fault(METHOD_NOT_FOUND, f"{call.method} is not offered")
        if not call.is_stateless:
            if not call.client.has_shaken_hands and call.method not in _BEFORE_HANDSHAKE:
                raise Fault(INVALID_REQUEST, f"{call.method} came before initialize")
            return await method.work(call)
        try:
            return complete(call.method, await method.work(call))
        except InputRequired as required:
            return complete(call.method, required.result)

    def _notified(self, client: Client, frame: Frame) -> None:
        if frame.method == "notifications/cancelled":
            params = frame.value()
            if isinstance(params, dict):
                self.cancel(client, params.get("requestId"), params.get("reason"))
        elif frame.method == "notifications/roots/list_changed":
            self.spawn(roots.ask_again(client))

    def cancel(self, client: Client, request_id: RequestId | None, reason: Any) -> None:
        """Stop work on a request; what is unknown or done is ignored."""
        task = client.running.get(request_id) if request_id is not None else None
        if task is not None and not task.done():
            self.cancelled.append({"requestId": request_id, "reason": reason})
            task.cancel()
