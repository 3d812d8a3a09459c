"""One request of a client, passed on to a server: the four pairs of eras.

Same era: bodies pass untouched. A 2025-11-25 client of a 2026-07-28 server is asked by requests
what the server asks by `input_required`. The other way round, see suspended_calls.py. Notifications
that belong to the call go to its client, with the client's own progress token. Made by handler.py.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final
from uuid import uuid4

from msgspec import Raw

from mcplens.downstream.options import CallOptions, StartedRequest
from mcplens.downstream.result import Failure
from mcplens.gateway.inbound_client import InboundClient
from mcplens.gateway.notification_tracing import heard
from mcplens.gateway.wire import (
    NO_HOP,
    HopMeta,
    completed,
    encoded,
    hop_meta,
    members,
    object_of,
    text_of,
    with_member,
)
from mcplens.protocol.eras import (
    CLIENT_CAPABILITIES,
    CLIENT_INFO,
    LOG_LEVEL,
    LOG_LEVELS,
    STATELESS_VERSIONS,
)
from mcplens.protocol.frames import ABSENT, Frame, RequestId, parse
from mcplens.session.attribution import Link
from mcplens.session.call_hooks import Hooks
from mcplens.session.capabilities import TASKS_EXTENSION
from mcplens.session.question_handler import ServerRequest

if TYPE_CHECKING:
    from mcplens.downstream.server_connection import ServerConnection
    from mcplens.gateway.gateway import Gateway
    from mcplens.gateway.plain_calls import SentCall
    from mcplens.gateway.server_places import ServerPlaces
    from mcplens.gateway.telemetry import CallTrace

CAPABILITY_OF: Final = {
    "sampling/createMessage": "sampling",
    "elicitation/create": "elicitation",
    "roots/list": "roots",
}
# Results that 2026-07-28 lets clients keep; what we cannot vouch for is stale at once.
_CACHEABLE: Final = frozenset(
    {"tools/list", "prompts/list", "resources/list", "resources/templates/list", "resources/read"}
)
# tasks/result is answered when the task is over; a client that gives up cancels it.
RESULT_WITHIN_S: Final = 86_400.0
# Of a name that a client gave, so much is logged.
MAX_NAME: Final = 500
NOT_CACHED: Final = b',"ttlMs":0,"cacheScope":"private"'


def is_stateless_server(connection: ServerConnection) -> bool:
    introduction = connection.introduction
    return introduction is not None and introduction.version in STATELESS_VERSIONS


async def opened(connection: ServerConnection) -> None:
    """Connect to a server, if there is no session with it.

    Raises:
        InspectorError: there is no connection.
    """
    result = await connection.connect()
    if isinstance(result, Failure):
        raise result.error


def has_logging(connection: ServerConnection) -> bool:
    """Whether a server declared that it sends log messages."""
    introduction = connection.introduction
    return introduction is not None and "logging" in introduction.capabilities


class InboundCall:
    """A request of a client's that is being served."""

    # Of few calls; as defaults of the class they cost the others nothing.
    is_counted_in_view = False
    is_continuation = False  # of a call that a server works on already: it waits for no place
    waited_s = 0.0  # for its place
    is_place_shared = False  # the store knows of it
    shared_places: tuple[str, ...] = ()  # of its client and its view, that the store knows of

    is_after_sign_in = False  # it comes again, after its client was asked to have the user sign in
    reason = ""  # why it is refused, for the audit log alone
    error_code: int | None = None  # of its answer, if that is an error
    trace: CallTrace | None = None  # its spans, if telemetry is on

    def __init__(
        self,
        gateway: Gateway,
        client: InboundClient,
        frame: Frame,
        *,
        is_stateless: bool,
        headers: Mapping[str, str],
    ) -> None:
        assert frame.id is not None
        self.gateway = gateway
        self.client = client
        self.id: RequestId = frame.id
        self.method = frame.method
        self.body = frame.body
        self.is_stateless = is_stateless
        self.headers = headers
        self.seq = 0  # of the event that it came with
        self.hop: HopMeta = hop_meta(frame.body) if frame.body is not ABSENT else NO_HOP
        self.server_id = ""  # the server that it was passed on to
        self.name: str | None = None  # the tool, prompt or URI that it is about
        self.size_bytes = len(frame.raw)
        self.declares_tasks = False  # to a 2026-07-28 server, for a client of 2025-11-25
        self.answered_id: RequestId | None = None  # of the last answered request to the server
        self.is_counted = False  # among the calls under way of its client
        self.place: ServerPlaces | None = None  # that it has at its server
        self.started_at = gateway.clock.monotonic()
        self.task: asyncio.Task[None] | None = None
        self.sent: SentCall | None = None  # while no task serves it
        self.started: StartedRequest | None = None  # what the task goes on with

    def __repr__(self) -> str:
        return f"<InboundCall {self.id!r} {self.method} of {self.client.id} to {self.server_id}>"

    def cancel(self) -> None:
        """The client does not want the answer any more."""
        if self.sent is not None:
            self.sent.cancel()
        elif self.task is not None:
            # Not before it has begun: it would end without a word, and count as running for ever.
            asyncio.get_running_loop().call_soon(self.task.cancel)

    @property
    def capabilities(self) -> dict[str, Any]:
        """What the client declared: with this request, or in its handshake."""
        return object_of(self.hop.capabilities) if self.is_stateless else self.client.capabilities

    @property
    def log_level(self) -> str | None:
        return text_of(self.hop.log_level) if self.is_stateless else self.client.log_level

    # -- passing it on -----------------------------------------------------------------------------

    async def relay(
        self, connection: ServerConnection, method: str, params: dict[str, Any]
    ) -> bytes:
        """Send it to a server; the bytes of the result.

        Raises:
            ServerError: the server's own error.
            InspectorError: no answer.
        """
        return await self.send(await self.session_with(connection), method, params)

    async def session_with(self, connection: ServerConnection) -> ServerConnection:
        """The session that this call goes to: that of its client's revision, if there is one.

        Raises:
            Refused: the server has too many calls under way.
            TimeoutExpired: no place at the server in time.
            InspectorError: there is no connection.
        """
        limits = self.gateway.call_limits
        self.server_id = connection.server_id
        own = None
        if connection.entry.is_per_user:  # first: a person who signs in holds no place
            own = await self.gateway.users.session(self, connection)
        if not limits.take_place(self, connection):
            budget_s = self._budget_s(self.method) or connection.timeouts.call_s
            await limits.wait_for_place(self, connection, budget_s)
        return own or await self.gateway.session_for(connection, self.client)

    async def send(self, session: ServerConnection, method: str, params: dict[str, Any]) -> bytes:
        """Send a request in a session, in the server's revision; see `relay`."""
        trace = self.trace
        if trace is None:
            return await self._send(session, method, params)
        try:
            body = await self._send(session, method, trace.passed_on(session, method, params))
        except BaseException as error:
            trace.failed(self, error)
            raise
        trace.answered(self, body)
        return body

    async def _send(self, session: ServerConnection, method: str, params: dict[str, Any]) -> bytes:
        is_stateless = is_stateless_server(session)
        if self.is_stateless and not is_stateless:
            if self._may_be_asked(params):
                body = await self.gateway.suspended.run(self, session, method, params)
            else:
                body = bytes((await session.request(method, params, self.options())).body)
            if b'"resultType"' in body[:200]:
                return body
            return completed(body, extra=NOT_CACHED if method in _CACHEABLE else b"")
        if is_stateless:
            self.add_envelope(params)
        options = self.options(method, answers_input=not self.is_stateless)
        frame = await session.request(method, params, options)
        self.answered_id = frame.id
        return bytes(frame.body)

    def _may_be_asked(self, params: dict[str, Any]) -> bool:
        """Whether a 2025-11-25 server may have questions or logs for this 2026-07-28 client."""
        if "requestState" in params or self.hop.log_level is not ABSENT:
            return True
        return bytes(self.hop.capabilities).strip() not in (b"", b"{}")

    def options(
        self, method: str = "", *, answers_input: bool = False, hooks: Hooks | None = None
    ) -> CallOptions:
        return CallOptions(
            inbound_seq=self.seq,
            hooks=hooks or self,
            wants_progress=self.hop.progress_token is not ABSENT,
            headers=self.passed_headers(),
            answers_input=answers_input,
            timeout_s=self._budget_s(method),
            waited_s=self.waited_s,
            started=self.started,
        )

    def _budget_s(self, method: str) -> float | None:
        """How long a request may take; None: as long as the server's others."""
        return RESULT_WITHIN_S if method == "tasks/result" else None

    def passed_headers(self) -> dict[str, str] | None:
        """Headers that repeat arguments; gateways must pass on those that they do not know."""
        if not self.is_stateless:
            return None
        found = {name: value for name, value in self.headers.items() if name[:10] == "mcp-param-"}
        return found or None

    def add_envelope(self, params: dict[str, Any]) -> None:
        """What a 2026-07-28 server is told about the client: the client's own words."""
        meta: dict[str, Any] = params.get("_meta") or {}
        if self.is_stateless:
            hop = self.hop
            for key, value in (
                (CLIENT_CAPABILITIES, hop.capabilities),
                (CLIENT_INFO, hop.client_info),
                (LOG_LEVEL, hop.log_level),
            ):
                if value is not ABSENT:
                    meta[key] = value
        else:
            declared = self.client.stateless_capabilities
            meta[CLIENT_CAPABILITIES] = _with_tasks(declared) if self.declares_tasks else declared
            if self.client.info:
                meta[CLIENT_INFO] = self.client.info
            if self.client.log_level is not None:
                meta[LOG_LEVEL] = self.client.log_level
        params["_meta"] = meta

    # -- what the server says meanwhile ------------------------------------------------------------

    def on_notification(self, frame: Frame, link: Link) -> None:
        """A notification that belongs to this call."""
        with heard(self.gateway, self.server_id, frame, self):
            self._pass_on(frame)

    def _pass_on(self, frame: Frame) -> None:
        if frame.method == "notifications/progress":
            token = self.hop.progress_token
            if token is not ABSENT:
                params = with_member(frame.body, "progressToken", token)
                self.client.notify(frame.method, params, self.id)
        elif frame.method == "notifications/message":
            if admits(self.log_level, frame, is_asked_for=self.is_stateless):
                self.client.pass_on(frame, self.id)
        else:
            self.gateway.fan_out.pass_on(self.server_id, frame)

    async def on_question(self, request: ServerRequest) -> Any:
        """A question that the server asks because of this call.

        None leaves it to the server's configured profile, or it is refused.
        """
        if not self.gateway.may_ask(self, request):
            return None
        params = question_params(request)
        if request.method == "elicitation/create":
            params = self.gateway.fan_out.elicited(self.client, params)
        if self.trace is not None:
            return await self.trace.ask(self, request.method, params)
        return await self.client.ask(request.method, params, self.id)

    def can_answer(self, method: str, params: Mapping[str, Any]) -> bool:
        """Whether the client declared that it answers such questions."""
        if method not in CAPABILITY_OF:
            return not self.is_stateless  # a method that we do not know: the client decides
        return does_answer(self.capabilities, method, params)


def _with_tasks(capabilities: Mapping[str, Any]) -> dict[str, Any]:
    """The capabilities of a client, and the tasks extension."""
    extensions = capabilities.get("extensions")
    own = extensions if isinstance(extensions, dict) else {}
    return {**capabilities, "extensions": {**own, TASKS_EXTENSION: {}}}


def does_answer(capabilities: Mapping[str, Any], method: str, params: Mapping[str, Any]) -> bool:
    """Whether these capabilities include answers to such questions."""
    name = CAPABILITY_OF[method]
    declared = capabilities.get(name)
    if not isinstance(declared, dict):
        return False
    if name == "elicitation":
        if params.get("mode") == "url":
            return "url" in declared
        return "form" in declared or not declared  # an empty capability means forms
    return not ("tools" in params and name == "sampling") or "tools" in declared


def question_params(request: ServerRequest) -> Raw:
    """The params of a question as the server wrote them; URLs get the id that 2025-11-25 wants."""
    message = parse(request.raw)
    if isinstance(message, Frame):
        params = message.body
    else:  # an input request of 2026-07-28, which is not a message of its own
        params = members(request.raw).get("params", ABSENT)
    given = request.params if isinstance(request.params, dict) else {}
    if given.get("mode") == "url" and "elicitationId" not in given:
        return Raw(with_member(params, "elicitationId", str(uuid4())))
    return params


def admits(level: str | None, frame: Frame, *, is_asked_for: bool) -> bool:
    """Whether a log message is as important as a client wants; unasked-for ones pass if allowed."""
    if level is None:
        return not is_asked_for
    wanted = LOG_LEVELS.index(level) if level in LOG_LEVELS else 0
    given = text_of(members(frame.body).get("level"))
    return given not in LOG_LEVELS or LOG_LEVELS.index(given) >= wanted


def input_required(questions: Mapping[str, tuple[str, Raw]], state: str) -> bytes:
    """A result of 2026-07-28 that asks for input."""
    requests = {}
    for key, (method, params) in questions.items():
        requests[key] = {"method": method, "params": params if bytes(params) else {}}
    return encoded(
        {"resultType": "input_required", "inputRequests": requests, "requestState": state}
    )
