"""Plays one recorded call to a client: notifications, questions, reply, and what follows.

A client of the other era gets the same in the words of its era: in 2026-07-28 a question is an
`input_required` result, whose `requestState` says where to go on; before, it is a request of the
server's. Called by mock_server.py, one `Playback` for each request.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import msgspec

from mcplens.inbound.refusal import METHOD_NOT_FOUND
from mcplens.mocking.answers import (
    CAPABILITY_OF,
    answer_to,
    is_task,
    question_of,
    recorded_answers,
    renamed,
    status_of_task,
    task_id_of,
    why_different,
)
from mcplens.mocking.era_conversion import convert_result
from mcplens.mocking.mock_client import MockClient
from mcplens.mocking.recorded_calls import RecordedCall, Step, describe
from mcplens.protocol.eras import LOG_LEVEL, LOG_LEVELS, SUBSCRIPTION_ID, Era
from mcplens.protocol.frames import Frame, RequestId, parse
from mcplens.protocol.input_required import members

if TYPE_CHECKING:
    from mcplens.mocking.mock_server import MockServer

# JSON-RPC leaves this code to servers: the recording has no answer, unlike a server's own error.
NOT_RECORDED: Final = -32000
_QUESTION: Final = "question"
# Between two questions for the status of a client's task that takes longer than recorded.
_POLL_S: Final = 0.05
_TERMINAL: Final = ("completed", "failed", "cancelled")


class NotRecorded(Exception):
    """The recording has no answer; the text says what is nearest."""

    def __init__(self, message: str, nearest: str | None = None, code: int = NOT_RECORDED) -> None:
        super().__init__(message)
        self.nearest = nearest
        self.code = code

    @property
    def data(self) -> dict[str, str] | None:
        return None if self.nearest is None else {"nearest": self.nearest}


class Playback:
    """One request of a client, and the recorded calls that answer it."""

    def __init__(
        self,
        server: MockServer,
        client: MockClient,
        request_id: RequestId | None,
        method: str,
        params: dict[str, Any],
        era: Era,
    ) -> None:
        self.server = server
        self.client = client
        self.id = request_id
        self.method = method
        self.params = params
        self.era = era
        self._renames: dict[str, str] = {}

    def __repr__(self) -> str:
        return f"<Playback {self.method} {self.id!r} for {self.era.value}>"

    @property
    def is_converted(self) -> bool:
        """Whether the client is of another era than the recording."""
        return self.era is not self.server.recording.era

    # -- from the request to its reply ---------------------------------------------------------

    async def play(self, call: RecordedCall, places: Sequence[int], start: int = 0) -> None:
        """Play a call from one of its steps on; `places` are the calls with the same params.

        Raises:
            NotRecorded: the client answered in a way that was not recorded.
        """
        at = start
        while at < len(call.steps):
            step = call.steps[at]
            if step.kind != "answer":  # the client takes its own time
                await self.server.wait(step.after_s)
            if step.kind == "notification":
                self.notify(step)
                await self.server.give_way(self.client.peer, at)
            elif step.kind == _QUESTION and (is_done := await self._ask(call, at, places)):
                if isinstance(is_done, bool):
                    return
                call, at = is_done
            at += 1
        await self.server.wait(call.reply_after_s)
        await self._reply(call, places)

    async def _ask(
        self, call: RecordedCall, at: int, places: Sequence[int]
    ) -> bool | tuple[RecordedCall, int]:
        """Ask a recorded question; where to go on if the answer leads elsewhere, True if the
        client of 2026-07-28 has to come back with the answer."""
        question = call.steps[at]
        method, params = question_of(question)
        if method == "ping" and self.is_converted:
            return False
        self._check_capability(method)
        if self.era is Era.STATELESS:
            if method not in CAPABILITY_OF or "task" in params:
                raise NotRecorded(
                    f"the recorded server asks for {method} as a task here: a client of 2026-07-28 "
                    "cannot answer that; use one of the recorded revision"
                )
            self._require_input(method, params, question, call)
            return True
        recorded = answer_to(call, question)
        given = await self._answer(method, params, recorded)
        return self._accept(call, at, given, places) or False

    async def _answer(self, method: str, params: dict[str, Any], recorded: Any) -> Any:
        """Ask a client of the older era; a task of the client's own may need longer than then."""
        while True:
            given = await self.client.ask(method, renamed(params, self._renames), self.id)
            if method != "tasks/get" or status_of_task(recorded) not in _TERMINAL:
                break
            if status_of_task(given) in (None, *_TERMINAL):
                break
            await self.server.clock.sleep(_POLL_S)
        if recorded is not None and is_task(recorded) and is_task(given):
            before, now = task_id_of(recorded), task_id_of(given)
            if before is not None and now is not None:
                self._renames[before] = now
        return given

    def _accept(
        self, call: RecordedCall, at: int, given: Any, places: Sequence[int]
    ) -> tuple[RecordedCall, int] | None:
        """Compare an answer with the recorded one; another recording of the call may have it.

        Raises:
            NotRecorded: none has.
        """
        question = call.steps[at]
        method, _ = question_of(question)
        if self.server.takes_any_answer or method.startswith("tasks/get"):
            return None
        problem = why_different(answer_to(call, question), given)
        if problem is None:
            return None
        number = call.questions.index(question)
        before = recorded_answers(call)[:number]
        for place in places:
            other = self.server.recording.load(place)
            answers = recorded_answers(other)
            if len(answers) > number and not any(
                map(why_different, answers[: number + 1], [*before, given])
            ):
                return other, other.steps.index(other.questions[number])
        raise NotRecorded(
            f"the recording does not have this answer to {method}: {problem}", describe(call)
        )

    def _check_capability(self, method: str) -> None:
        needed = CAPABILITY_OF.get(method)
        if needed is not None and needed not in self.client.capabilities:
            raise NotRecorded(
                f"the recorded server asks the client for {method} here, and this client does not "
                f"declare {needed}"
            )

    async def _reply(self, call: RecordedCall, places: Sequence[int]) -> None:
        if call.reply is None:
            if self.method == "subscriptions/listen":
                await self.server.listen(self)
            raise NotRecorded(
                f"the recording has no answer to {self.method}: {call.why_unanswered}",
                describe(call),
            )
        frame = parse(call.reply)
        if self.is_converted and self.era is Era.HANDSHAKE and _asks(frame):
            await self._ask_in_turn(call, frame)
            return
        self.answer(frame)
        await self.follow(call)

    async def _ask_in_turn(self, call: RecordedCall, frame: Any) -> None:
        """Ask a client of the older era what an `input_required` result asks, and go on."""
        result = frame.value()
        responses = {}
        for key, question in (result.get("inputRequests") or {}).items():
            method, params = str(question.get("method")), question.get("params")
            self._check_capability(method)
            given = await self.client.ask(method, params, self.id)
            if "result" not in given:
                raise NotRecorded(f"the client refused {method}, which was not recorded")
            responses[key] = given["result"]
        params = {**self.params, "inputResponses": responses}
        if "requestState" in result:
            params["requestState"] = result["requestState"]
        following, places = self.server.choose(self.client, self.method, params, self.id)
        await self.play(following, places)

    # -- what is sent --------------------------------------------------------------------------

    def answer(self, frame: Any) -> None:
        """Send a recorded reply, with the id of today's request."""
        assert self.id is not None
        if not isinstance(frame, Frame):
            raise NotRecorded(f"the recorded answer to {self.method} is not a valid message")
        if frame.error is not None:
            error = members(frame.raw, "the reply")["error"]
            self._send_reply(b"error", bytes(error), frame.error.code)
        elif self.is_converted:
            info = self.server.introduction.get("server_info") or {}
            self.give(convert_result(frame.value(), self.method, self.era, info))
        elif self.method == "subscriptions/listen":
            self.give(self._for_subscription(frame.value()))
        else:
            self._send_reply(b"result", bytes(frame.body), None)

    def give(self, result: Any) -> None:
        """Send a result."""
        self._send_reply(b"result", msgspec.json.encode(result), None)

    def refuse(self, error: bytes, code: int) -> None:
        """Send an error, as JSON."""
        self._send_reply(b"error", error, code)

    def _send_reply(self, name: bytes, body: bytes, error_code: int | None) -> None:
        assert self.id is not None
        identity = msgspec.json.encode(self.id)
        data = b'{"jsonrpc":"2.0","id":' + identity + b',"' + name + b'":' + body + b"}"
        self.client.peer.answer(self.id, data, error_code=error_code)

    def notify(self, step: Step) -> None:
        """Send a recorded notification, unless this client did not ask for it."""
        method, params = question_of(step)
        meta = self.params.get("_meta")
        meta = meta if isinstance(meta, dict) else {}
        if method == "notifications/progress":
            if "progressToken" not in meta:
                return
            params = {**params, "progressToken": meta["progressToken"]}
        elif method == "notifications/message" and not self._is_logged(params, meta):
            return
        elif method in ("notifications/cancelled", "notifications/tasks") and self.is_converted:
            return  # of a question, or of a task, that the other era does not have
        if self.method == "subscriptions/listen":
            params = self._for_subscription(params)
        self.client.notify(method, renamed(params, self._renames) or None, self.id)

    def _is_logged(self, params: dict[str, Any], meta: dict[str, Any]) -> bool:
        """2026-07-28 logs only for requests that ask for it."""
        if self.era is Era.HANDSHAKE:
            return True
        wanted, level = meta.get(LOG_LEVEL), params.get("level")
        if wanted not in LOG_LEVELS or level not in LOG_LEVELS:
            return False
        return LOG_LEVELS.index(level) >= LOG_LEVELS.index(wanted)

    def _for_subscription(self, params: Any) -> dict[str, Any]:
        params = params if isinstance(params, dict) else {}
        meta = params.get("_meta") if isinstance(params.get("_meta"), dict) else {}
        return {**params, "_meta": {**meta, SUBSCRIPTION_ID: self.id}}

    async def follow(self, call: RecordedCall) -> None:
        """What the server said on its own after this call."""
        for number, step in enumerate(call.trailing):
            await self.server.give_way(self.client.peer, number)
            if step.kind == "answer":
                continue
            await self.server.wait(step.after_s)
            method, params = question_of(step)
            if self.era is Era.STATELESS:
                self.server.publish(method, params)
            elif step.kind == "notification":
                self.client.notify(method, params or None, None)
            elif CAPABILITY_OF.get(method, "") in self.client.capabilities:
                await self.client.ask(method, params, None)

    # -- questions of 2026-07-28 ---------------------------------------------------------------

    def _require_input(
        self, method: str, params: dict[str, Any], question: Step, call: RecordedCall
    ) -> None:
        place = {"seq": call.seq, "step": call.steps.index(question)}
        state = base64.urlsafe_b64encode(msgspec.json.encode(place)).decode()
        asked = {"method": method, "params": params} if params else {"method": method}
        result = {
            "resultType": "input_required",
            "inputRequests": {"question": asked},
            "requestState": state,
        }
        info = self.server.introduction.get("server_info") or {}
        self.give(convert_result(result, self.method, self.era, info) | result)

    async def go_on(self, places: Sequence[int]) -> None:
        """Go on after the question that `requestState` names.

        Raises:
            NotRecorded: there is no such question, or it was answered in another way.
        """
        seq, at = _read_state(self.params.get("requestState"))
        loaded = (self.server.recording.load(place) for place in places)
        call = next((one for one in loaded if one.seq == seq), None)
        if call is None or not 0 <= at < len(call.steps) or call.steps[at].kind != _QUESTION:
            raise NotRecorded(f"requestState of {self.method} is not one that this mock gave")
        responses = self.params.get("inputResponses")
        result = responses.get("question") if isinstance(responses, dict) else None
        elsewhere = self._accept(call, at, {"result": result}, places)
        if elsewhere is not None:
            call, at = elsewhere
        await self.play(call, places, at + 1)


def _asks(frame: Any) -> bool:
    if not isinstance(frame, Frame) or b"input_required" not in frame.raw:
        return False
    value = frame.value()
    return isinstance(value, dict) and value.get("resultType") == "input_required"


def _read_state(state: Any) -> tuple[int, int]:
    try:
        place = msgspec.json.decode(base64.urlsafe_b64decode(state))
        return int(place["seq"]), int(place["step"])
    except (TypeError, ValueError, KeyError, binascii.Error, msgspec.DecodeError):
        return -1, -1


def method_missing(method: str, known: list[str]) -> NotRecorded:
    """No call of this method was recorded."""
    from difflib import get_close_matches

    near = get_close_matches(method, known, 1, 0.0)
    hint = f"; the nearest recorded method is {near[0]}" if near else ""
    nearest = near[0] if near else None
    return NotRecorded(f"{method} was not recorded{hint}", nearest, METHOD_NOT_FOUND)
