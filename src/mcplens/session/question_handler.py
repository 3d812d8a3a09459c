"""Questions from the server that wait for an answer by a person, a profile or a function.

What SamplingHandler and ElicitationHandler share: each question waits under an id of ours until it
is resolved, rejected, withdrawn, or times out. Called by server_requests.py, and by surfaces.
"""

from __future__ import annotations

import asyncio
import inspect
import itertools
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, ClassVar, Final, Protocol, runtime_checkable

import msgspec

from mcplens.errors import InspectorError, ServerError
from mcplens.events import QuestionClosed, QuestionOpened, Remark
from mcplens.protocol.frames import RequestId
from mcplens.session.config import HandlerConfig

if TYPE_CHECKING:  # not loaded for profiles alone, as shell completion needs them
    from mcplens.clock import Timer
    from mcplens.session.connection import Connection

REJECTED: Final = -1  # the specification's code for "the user said no"
CALL_CANCELLED: Final = "the call was cancelled"
INVALID_PARAMS: Final = -32602
INTERNAL_ERROR: Final = -32603


class ServerRequest(msgspec.Struct, frozen=True):
    """A question of the server's, as a handler gets it."""

    id: RequestId
    method: str
    params: Any
    raw: bytes
    caused_by: RequestId | None = None  # the request of ours that made the server ask
    # request; task: the server polls us for the answer; input_required; error: -32042; app: one of
    # the server's apps asks.
    origin: str = "request"
    task_id: str | None = None
    expires_in_s: float | None = None  # the answer is useless after that
    # Links as the events have them: the frame that asked, and the one that made the server ask.
    request_seq: int | None = None
    caused_by_seq: int | None = None
    is_inferred: bool = False
    call_id: str | None = None


@runtime_checkable
class Profile(Protocol):
    """A way to answer without a person; None leaves the question to one."""

    name: str

    async def answer(self, request: ServerRequest) -> Any: ...


class Forced(msgspec.Struct, frozen=True):
    """An answer of a profile's that is sent exactly as it is, right or wrong."""

    result: Any


AnswerFunction = Callable[[ServerRequest], Any | Awaitable[Any]]
RequestHandler = AnswerFunction
# How questions are answered: not at all, by a person (True), by a function or by a profile.
Answering = bool | AnswerFunction | Profile


class PendingRequest(msgspec.Struct, eq=False):
    """A question that waits for its answer."""

    id: str
    server_id: str
    request: ServerRequest
    created_at: float  # wall time
    created_mono: float
    timeout_s: float | None
    future: asyncio.Future[Any]
    answered_by: str = ""
    is_called_off: bool = False  # the call that caused it was cancelled
    opened_seq: int | None = None  # where it was published that it waits
    works: set[asyncio.Task[None]] = msgspec.field(default_factory=set)  # profiles at work on it

    def __repr__(self) -> str:
        return f"<PendingRequest {self.id} {self.method} of {self.server_id}>"

    @property
    def method(self) -> str:
        return self.request.method

    @property
    def params(self) -> dict[str, Any]:
        return self.request.params if isinstance(self.request.params, dict) else {}

    def age_s(self, now_mono: float) -> float:
        return now_mono - self.created_mono

    def left_s(self, now_mono: float) -> float | None:
        """How long until it is rejected; None: it has no timeout."""
        if self.timeout_s is None:
            return None
        return max(0.0, self.timeout_s - self.age_s(now_mono))


class _ByFunction:
    """A function as a profile."""

    def __init__(self, function: AnswerFunction) -> None:
        self.name = getattr(function, "__name__", type(function).__name__)
        self._function = function

    async def answer(self, request: ServerRequest) -> Any:
        result = self._function(request)
        return await result if inspect.isawaitable(result) else result


class QuestionHandler(ABC):
    """The questions of one kind that wait, and the ways to answer them."""

    method: ClassVar[str]
    capability: ClassVar[str]

    def __init__(
        self,
        connection: Connection,
        *,
        config: HandlerConfig | None = None,
        answering: Answering = False,
    ) -> None:
        self.config = config or HandlerConfig()
        self._connection = connection
        self._pending: dict[str, PendingRequest] = {}
        self._numbers = itertools.count(1)
        self.profile: Profile | None = None
        self.is_on = False
        self.use(answering)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {len(self._pending)} waiting>"

    def use(self, answering: Answering) -> None:
        """Answer like this from now on; what waits already goes on waiting."""
        self.is_on = answering is not False
        if isinstance(answering, bool):
            self.profile = None
        elif isinstance(answering, Profile):
            self.profile = answering
        else:
            self.profile = _ByFunction(answering)

    # -- the server's side ---------------------------------------------------------------------

    async def on_request(self, request: ServerRequest) -> Any:
        """Wait for the answer to a question.

        Raises:
            ServerError: it is refused: not declared, rejected, or its time was up.
        """
        self._check(request)
        pending = self._open(request)
        timer = self._start_timer(pending)
        if self.profile is not None:
            self._set_to_work(self.profile, pending)
        outcome = "withdrawn"
        try:
            answer = await pending.future
            outcome = "answered"
            return answer
        except ServerError as refusal:
            outcome = f"rejected: {refusal.rpc_message}"
            if pending.answered_by == "timeout":
                outcome = "timed out"
            raise
        finally:
            if pending.is_called_off:
                outcome = "call cancelled"
            del self._pending[pending.id]
            if timer is not None:
                timer.cancel()
            for work in pending.works:
                work.cancel()
            self._connection.publish(
                QuestionClosed(
                    question_id=pending.id,
                    method=request.method,
                    outcome=outcome,
                    answered_by=pending.answered_by,
                    opened_seq=pending.opened_seq,
                )
            )

    def _open(self, request: ServerRequest) -> PendingRequest:
        connection = self._connection
        clock = connection.clock
        pending = PendingRequest(
            f"{self.capability}-{next(self._numbers)}",
            connection.publish.server_id,
            request,
            clock.wall(),
            clock.monotonic(),
            self._timeout_s(request),
            asyncio.get_running_loop().create_future(),
        )
        self._pending[pending.id] = pending
        has_wire_id = request.origin in ("request", "task")
        pending.opened_seq = connection.publish(
            QuestionOpened(
                question_id=pending.id,
                method=request.method,
                params=request.params,
                request_id=request.id if has_wire_id else None,
                request_seq=request.request_seq,
                caused_by_seq=request.caused_by_seq,
                is_inferred=request.is_inferred,
                call_id=request.call_id,
                origin=request.origin,
                task_id=request.task_id,
                timeout_s=pending.timeout_s,
            )
        )
        return pending

    def _timeout_s(self, request: ServerRequest) -> float | None:
        if not self.config.auto_reject_on_timeout:
            return None
        limits = [self.config.request_timeout_s, request.expires_in_s]
        return min((limit for limit in limits if limit is not None), default=None)

    def _start_timer(self, pending: PendingRequest) -> Timer | None:
        if pending.timeout_s is None:
            return None

        def expire() -> None:
            if not pending.future.done():
                pending.answered_by = "timeout"
                pending.future.set_exception(ServerError(REJECTED, self.config.timeout_message))

        return self._connection.clock.call_at(pending.created_mono + pending.timeout_s, expire)

    def _set_to_work(self, profile: Profile, pending: PendingRequest) -> asyncio.Task[None]:
        """Have a profile answer; its work ends with the question."""
        work = self._answer_by(profile, pending)
        task = asyncio.get_running_loop().create_task(work, name=f"answer {pending.id}")
        pending.works.add(task)
        return task

    async def _answer_by(self, profile: Profile, pending: PendingRequest) -> None:
        """Let a profile answer; whatever goes wrong in it, the server gets told."""
        try:
            result = await profile.answer(pending.request)
            if result is None or pending.future.done():
                return
            if isinstance(result, Forced):
                self._settle(pending, result.result, profile.name)
                return
            if isinstance(result, str) or not getattr(profile, "is_forced", False):
                result = self._completed(pending, result)
                if findings := self._findings(pending, result):
                    text = f"the answer of {profile.name} is not valid: {'; '.join(findings)}"
                    raise ServerError(INTERNAL_ERROR, text)
            self._settle(pending, result, profile.name)
        except ServerError as refusal:
            self._refuse(pending, refusal, profile.name)
        except Exception as problem:  # a profile is foreign code
            text = f"{profile.name} failed: {type(problem).__name__}: {problem}"
            self._connection.publish(Remark(message=text))
            self._refuse(pending, ServerError(INTERNAL_ERROR, text), profile.name)

    # -- the person's side ---------------------------------------------------------------------

    def get_pending(self) -> list[PendingRequest]:
        """What waits, oldest first."""
        return list(self._pending.values())

    def get(self, request_id: str) -> PendingRequest:
        """One question that waits.

        Raises:
            InspectorError: QUESTION_GONE; nothing of this id waits.
        """
        pending = self._pending.get(request_id)
        if pending is None or pending.future.done():
            text = f"no question {request_id!r} waits: it was answered, withdrawn or timed out"
            raise self._connection.describe(InspectorError("QUESTION_GONE", text), self.method)
        return pending

    def resolve(
        self,
        request_id: str,
        result: Any,
        *,
        force: bool = False,
        is_whole: bool = False,
        answered_by: str = "person",
    ) -> None:
        """Answer a question; `force` sends an answer that breaks the rules, exactly as it is.

        Nothing is added to an answer that `is_whole`: what it leaves out, it leaves out on purpose.

        Raises:
            InspectorError: nothing of this id waits, or INVALID_ANSWER: the question still waits.
        """
        pending = self.get(request_id)
        if not force:
            if not is_whole:
                result = self._completed(pending, result)
            findings = self._findings(pending, result)
            if findings:
                details = {"findings": list(findings), "question_id": request_id}
                text = f"not sent: {'; '.join(findings)}"
                error = InspectorError("INVALID_ANSWER", text, details=details)
                raise self._connection.describe(error, self.method)
        self._settle(pending, result, answered_by)

    def reject(
        self,
        request_id: str,
        reason: str = "the user rejected the request",
        *,
        answered_by: str = "person",
    ) -> None:
        """Refuse a question.

        Raises:
            InspectorError: nothing of this id waits.
        """
        self._refuse(self.get(request_id), ServerError(REJECTED, reason), answered_by)

    def call_off(self, call_id: str) -> None:
        """Cancel the questions that a call caused which was cancelled; the server is told."""
        for pending in list(self._pending.values()):
            if pending.request.call_id == call_id and not pending.future.done():
                pending.is_called_off = True
                self._dismiss(pending)

    def try_profile(self, request_id: str, profile: Profile) -> asyncio.Task[None]:
        """Have this profile answer a question that waits for a person.

        Raises:
            InspectorError: nothing of this id waits.
        """
        return self._set_to_work(profile, self.get(request_id))

    def _settle(self, pending: PendingRequest, result: Any, who: str) -> None:
        if not pending.future.done():
            pending.answered_by = who
            pending.future.set_result(result)

    def _refuse(self, pending: PendingRequest, refusal: ServerError, who: str) -> None:
        if not pending.future.done():
            pending.answered_by = who
            pending.future.set_exception(refusal)

    # -- what the kinds differ in --------------------------------------------------------------

    def _dismiss(self, pending: PendingRequest) -> None:
        """Answer that there will be no answer."""
        self._refuse(pending, ServerError(REJECTED, CALL_CANCELLED), "")

    def _declared(self) -> dict[str, Any]:
        """What we declared to the server for this capability."""
        session = self._connection.session
        declared = session.client_capabilities.get(self.capability) if session else None
        return declared if isinstance(declared, dict) else {}

    @abstractmethod
    def _check(self, request: ServerRequest) -> None:
        """Refuse what was not declared, or can have no right answer. Raises ServerError."""

    def _completed(self, pending: PendingRequest, result: Any) -> Any:
        """The answer with what goes without saying."""
        return result

    @abstractmethod
    def _findings(self, pending: PendingRequest, result: Any) -> tuple[str, ...]:
        """What is wrong with an answer."""
