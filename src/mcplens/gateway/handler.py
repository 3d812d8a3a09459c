"""Serves the clients at one path: requests, cancellations, answers to questions.

What all endpoints have in common; view_handler.py publishes a view, server_handler.py one server.
A request ends with exactly one answer: own_methods.py has those that the gateway gives itself,
plain_calls.py passes most calls of tools on, and any other request becomes an asyncio task. Called
by the inbound peers.
"""

from __future__ import annotations

import asyncio
import logging
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Iterable
from functools import partial
from typing import Any, Final

from mcplens.downstream.server_connection import ServerConnection
from mcplens.errors import InspectorError, ServerError, classify
from mcplens.gateway import callers
from mcplens.gateway.catalog import ChangedList, Kind
from mcplens.gateway.gateway import Gateway
from mcplens.gateway.inbound_call import MAX_NAME, NOT_CACHED, InboundCall
from mcplens.gateway.inbound_client import InboundClient
from mcplens.gateway.orderly_end import Stage
from mcplens.gateway.own_methods import Description, OwnMethods
from mcplens.gateway.plain_calls import PlainCalls
from mcplens.gateway.refused import Refused, advice_for, forget_frames, naming, shutting_down
from mcplens.gateway.sign_in_offers import InputNeeded, take_answers
from mcplens.gateway.tasks import TaskRequests
from mcplens.gateway.wire import (
    COMPLETE,
    encoded,
    error_message,
    members,
    object_of,
    result_message,
    text_of,
)
from mcplens.inbound.exchange import JSON
from mcplens.inbound.peer import Peer
from mcplens.inbound.refusal import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
)
from mcplens.inbound.request_validation import HeaderParameters, Incoming
from mcplens.protocol.eras import (
    Era,
)
from mcplens.protocol.frames import Frame, RequestId, encode_error
from mcplens.protocol.frames import Kind as FrameKind
from mcplens.protocol.secret_masking import mask_url
from mcplens.session.raw_calls import error_member, read_params

_log = logging.getLogger("mcplens.gateway")

_BEFORE_HANDSHAKE: Final = ("initialize", "ping")
# Methods that a revision of the other era does not have.
HANDSHAKE_ONLY: Final = frozenset(
    {"initialize", "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe",
     "tasks/list", "tasks/result"}
)  # fmt: skip
STATELESS_ONLY: Final = frozenset({"server/discover", "subscriptions/listen", "tasks/update"})
# These go on with what a server has begun: it may wait for them, so they wait for no place.
_CONTINUATIONS: Final = frozenset({"tasks/cancel", "tasks/update"})
_ELSEWHERE: Final = "try again: if that replica is gone, another runs it soon"
# What a server wrote of itself is passed on up to this length.
MAX_INSTRUCTIONS: Final = 100_000


class InboundHandler(ABC):
    """Serves the clients at one path."""

    def __init__(self, gateway: Gateway, path: str) -> None:
        self.gateway = gateway
        self.path = path
        self.tasks = TaskRequests(gateway)
        self._plain_calls = PlainCalls(gateway, self.tasks, self.find_tool, self._serve_by_task)
        self.own_methods = OwnMethods(self)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} at {self.path}>"

    # -- what the two kinds of endpoints decide ----------------------------------------------------

    @abstractmethod
    async def describe(self, client: InboundClient) -> Description:
        """How this endpoint introduces itself to a client."""

    @abstractmethod
    async def passed_on(self, call: InboundCall, params: dict[str, Any]) -> bytes:
        """Answer a request that is for a server; the bytes of the result."""

    @abstractmethod
    def find_tool(self, name: str) -> tuple[ServerConnection, str] | None:
        """The server of a tool and its name there; None if it is not known, or not usable."""

    @abstractmethod
    def server_of_uri(self, uri: str, caller: str) -> str | None:
        """The server that offers a resource here to a caller."""

    @abstractmethod
    def shows(self, server_id: str) -> bool:
        """Whether clients at this path can see anything of a server."""

    @abstractmethod
    def published_changes(self, changed: Iterable[ChangedList]) -> set[Kind]:
        """Lists of servers changed: which of those that are published here did."""

    @abstractmethod
    def header_parameters(self, tool: str) -> HeaderParameters:
        """The arguments of a tool that HTTP headers repeat."""

    def is_untouched_for(self, server_id: str) -> bool:
        """Whether notifications of a server that we do not know pass here."""
        return False

    def client_notified(self, client: InboundClient, frame: Frame) -> None:
        """A notification of a client's that we do not know."""
        return  # most endpoints have nobody to pass it on to

    # -- PeerHandler -------------------------------------------------------------------------------

    def received(self, peer: Peer, incoming: Incoming) -> None:
        frame = incoming.message
        if not isinstance(frame, Frame):
            return  # the transport has refused it already
        client = self.gateway.client_of(peer, self.path)
        is_stateless = incoming.era is Era.STATELESS
        client.is_stateless = is_stateless
        kind = frame.kind
        if kind is FrameKind.REQUEST:
            self._start(client, frame, incoming, is_stateless)
        elif kind is FrameKind.NOTIFICATION:
            self.gateway.ledger.received(client, frame)
            telemetry = self.gateway.telemetry
            if telemetry is None:
                self._notified(client, frame)
            else:
                with telemetry.notifications.from_client(client, frame, incoming.headers):
                    self._notified(client, frame)
        else:
            self.gateway.ledger.received(client, frame)
            client.answered(frame)

    def disconnected(self, peer: Peer, reason: str) -> None:
        self.gateway.left(peer, reason)

    # -- requests ----------------------------------------------------------------------------------

    def _start(
        self, client: InboundClient, frame: Frame, incoming: Incoming, is_stateless: bool
    ) -> None:
        gateway = self.gateway
        call = InboundCall(
            gateway, client, frame, is_stateless=is_stateless, headers=incoming.headers
        )
        if is_stateless:
            client.introduce(object_of(call.hop.client_info), None)
        elif frame.method == "initialize" and client.peer.protocol_version is None:
            client.introduce_by(members(frame.body))  # so that this very request has its name
        call.seq = gateway.ledger.received(client, frame)
        client.calls[call.id] = call
        gateway.ledger.began(call)
        if frame.method != "tools/call" or not self._plain_calls.send(call):
            self._serve_by_task(call, partial(self._answer, call))

    def _serve_by_task(self, call: InboundCall, work: Callable[[], Awaitable[bytes]]) -> None:
        call.task = self.gateway.spawn(self._serve(call, work), call.method)

    async def _serve(self, call: InboundCall, work: Callable[[], Awaitable[bytes]]) -> None:
        peer, request_id = call.client.peer, call.id
        outcome, size = "ok", 0
        try:
            data = result_message(request_id, await work())
            size = len(data)
            peer.answer(request_id, data)
        except Refused as refused:
            outcome, call.error_code = "refused", refused.code
            if refused.retry_after_s is None or not _send_elsewhere(peer, request_id, refused):
                peer.refuse(request_id, refused.code, str(refused), refused.data)
        except ServerError as error:
            outcome, call.error_code = "error", error.rpc_code
            self._pass_error_on(call, error)
            forget_frames(error)
        except InspectorError as error:
            outcome, call.error_code = "failed", INTERNAL_ERROR
            self._refuse(call, error)
            forget_frames(error)
        except asyncio.CancelledError:
            outcome = "cancelled"
            peer.drop(request_id)
            raise
        except Exception as problem:  # a bug of ours: only this request fails
            outcome, call.error_code = "failed", INTERNAL_ERROR
            _log.exception("%r failed", call)
            peer.refuse(request_id, INTERNAL_ERROR, classify(problem).message)
        finally:
            call.client.calls.pop(request_id, None)
            self.gateway.ledger.ended(call, outcome, size)

    def _refuse(self, call: InboundCall, error: InspectorError) -> None:
        """Answer with an error that is not the server's own: its connection failed."""
        server_id = call.server_id or str(error.details.get("server_id", ""))
        message, advice = naming(server_id, error), advice_for(server_id, error)
        if self.gateway.users.lost_sign_in(call, error):
            advice = "call again, to be offered a sign-in"
        if self.gateway.is_elsewhere(server_id):
            message, advice = f"{message}; it runs on another replica", _ELSEWHERE
        data = {"code": error.code, "server": server_id}
        if advice is not None:
            message, data["advice"] = f"{message}. To do: {advice}", advice
        call.client.peer.refuse(call.id, INTERNAL_ERROR, message, data)

    def _pass_error_on(self, call: InboundCall, error: ServerError) -> None:
        member = bytes(error_member(error.raw)) if error.raw else b""
        if not member:  # an error that did not come as an error answer
            given = {"code": error.rpc_code, "message": error.rpc_message}
            member = encoded(given if error.data is None else {**given, "data": error.data})
        data = error_message(call.id, member)
        call.client.peer.answer(call.id, data, error_code=error.rpc_code)

    async def _answer(self, call: InboundCall) -> bytes:
        method = call.method
        if self.gateway.ending.stage is Stage.DRAINING and not self.gateway.ending.still_serves(
            call
        ):
            raise shutting_down()
        if method in (HANDSHAKE_ONLY if call.is_stateless else STATELESS_ONLY):
            raise unknown_method(method)
        is_unknown = not call.is_stateless and call.client.peer.protocol_version is None
        if is_unknown and method not in _BEFORE_HANDSHAKE:
            raise Refused(INVALID_REQUEST, f"{method} came before initialize")
        own = self.own_methods.by_name.get(method)
        if own is not None:
            return await own(call)
        try:
            params = read_params(call.body)
        except ValueError as problem:
            raise Refused(INVALID_PARAMS, str(problem)) from None
        call.name = _name_in(params)
        if self.gateway.users.sessions is not None:
            call.is_after_sign_in = take_answers(params)
        call.is_continuation = (
            method in _CONTINUATIONS
            or "requestState" in params
            or callers.is_replica(call.client.peer.caller)  # which has counted it already
        )
        if not call.is_counted:
            await self.gateway.call_limits.admitted(call)
        try:
            return await self.passed_on(call, params)
        except InputNeeded as needed:
            return needed.body

    # -- notifications -----------------------------------------------------------------------------

    def _notified(self, client: InboundClient, frame: Frame) -> None:
        if frame.method == "notifications/cancelled":
            requested = object_of(frame.body).get("requestId")
            call = client.calls.get(requested) if isinstance(requested, int | str) else None
            if call is not None and call.method != "initialize":
                call.cancel()
        elif frame.method == "notifications/roots/list_changed":
            self.gateway.spawn(self.gateway.client_sessions.roots_changed(client), "new roots")
        elif frame.method != "notifications/initialized":
            self.client_notified(client, frame)


def _send_elsewhere(peer: Peer, request_id: RequestId, refused: Refused) -> bool:
    """Refuse a call by HTTP, so that a load balancer sends it to another replica."""
    body = encode_error(request_id, refused.code, str(refused), refused.data)
    headers = {"Retry-After": str(refused.retry_after_s), "Connection": "close"}
    return peer.reject(request_id, 503, JSON, body, headers)


def _name_in(params: dict[str, Any]) -> str | None:
    """What a request is about, without the secrets that a URI may hold."""
    name = text_of(params.get("name"))
    if name is not None:
        return name[:MAX_NAME]
    uri = text_of(params.get("uri"))
    return None if uri is None else mask_url(uri[:MAX_NAME])


def unknown_method(method: str) -> Refused:
    """The refusal of a method that this endpoint does not route."""
    return Refused(METHOD_NOT_FOUND, f"{method} is not offered here")


def list_result(key: str, items: list[Any], cursor: str | None, *, is_stateless: bool) -> bytes:
    """A page of a list, in the way of either revision."""
    body = encoded({key: items} if cursor is None else {key: items, "nextCursor": cursor})
    return b"{" + COMPLETE + NOT_CACHED + b"," + body[1:] if is_stateless else body
