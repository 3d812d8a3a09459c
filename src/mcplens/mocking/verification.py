"""Sends the calls of a recording to a live server, and compares the answers.

One call after the other, in the recorded order; questions of the server get the recorded answers.
What differs from run to run is left out by the rules of snapshots. Called by `mcplens verify`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping
from typing import Any, Final, Literal

import msgspec

from mcplens.collections.shown_values import ValueMasker
from mcplens.collections.snapshots import comparable
from mcplens.errors import InspectorError, ServerError, TimeoutExpired
from mcplens.mocking.answer_comparison import (
    OPAQUE,
    Difference,
    compared_parts,
    differences,
    is_plain,
)
from mcplens.mocking.answers import is_task, question_of, recorded_answers
from mcplens.mocking.params_matching import MaskedValue, decode_masked, own_params, shown
from mcplens.mocking.recorded_calls import RecordedCall, RecordedServer
from mcplens.protocol.frames import RequestId, encode_error
from mcplens.session.client import Client
from mcplens.session.question_handler import REJECTED, ServerRequest

Status = Literal["same", "different", "skipped"]

# Methods that belong to a connection, not to what a server answers.
_OF_CONNECTION: Final = frozenset(
    {
        "initialize", "server/discover", "ping", "logging/setLevel", "subscriptions/listen",
        "resources/subscribe", "resources/unsubscribe",
    }
)  # fmt: skip
# Methods that change nothing.
_READING: Final = frozenset(
    {
        "tools/list", "resources/list", "resources/templates/list", "prompts/list",
        "resources/read", "prompts/get", "completion/complete", "skills/list", "skills/get",
        "resources/directory/read",
    }
)  # fmt: skip
_WRITES: Final = "not marked read-only; --allow-writes sends it"


class CallOutcome(msgspec.Struct):
    """What became of one recorded call."""

    seq: int
    method: str
    call: str
    status: Status
    reason: str | None = None
    differences: list[Difference] = []
    reply_seq: int | None = None
    # The live answer as a message with the recorded id, for --update.
    reply: bytes | None = None


class RecordedAnswers:
    """Answers what the live server asks as it was answered in the recording."""

    name = "the recording"
    is_forced = True

    def __init__(self) -> None:
        self._left: list[tuple[str, Any]] = []
        self._roots: Any = None

    def __repr__(self) -> str:
        return f"<RecordedAnswers, {len(self._left)} left>"

    def prepare(self, call: RecordedCall) -> None:
        """The answers of this call are wanted next."""
        methods = [question_of(question)[0] for question in call.questions]
        answers = list(zip(methods, recorded_answers(call), strict=True))
        # Where the client answered by a task, the answer itself is the result of that task.
        results = iter([answer for method, answer in answers if method == "tasks/result"])
        self._left = [
            (method, next(results, None) if answer is not None and is_task(answer) else answer)
            for method, answer in answers
        ]

    async def answer(self, request: ServerRequest) -> Any:
        return self.give(request.method)

    async def answer_roots(self, params: Any) -> Any:
        """The recorded roots: servers ask for them whenever they like."""
        if not any(method == "roots/list" for method, _ in self._left) and self._roots is not None:
            return self._roots
        self._roots = self.give("roots/list")
        return self._roots

    def learn_roots(self, calls: Iterator[RecordedCall]) -> None:
        """The first recorded roots, for a server that asks before any call."""
        for call in calls:
            for step in (*call.steps, *call.trailing):
                value = step.value() if step.kind == "answer" and b'"roots"' in step.raw else {}
                result = value.get("result")
                if isinstance(result, dict) and "roots" in result and is_plain(result):
                    self._roots = result
                    return

    def give(self, method: str) -> Any:
        """The recorded answer.

        Raises:
            ServerError: none was recorded, it was an error, or it was masked.
        """
        found = next((one for one in self._left if one[0] == method and one[1] is not None), None)
        if found is None:
            raise ServerError(REJECTED, f"the recording has no answer to {method} here")
        self._left.remove(found)
        error = found[1].get("error")
        if isinstance(error, dict):
            raise ServerError(int(error.get("code", REJECTED)), str(error.get("message", "")))
        result = found[1].get("result")
        if not is_plain(result):
            raise ServerError(REJECTED, f"the recorded answer to {method} is masked")
        if isinstance(result, dict):
            result = {name: item for name, item in result.items() if name != "_meta"}
        return result


class Verification:
    """One comparison of a recording with a live server."""

    def __init__(
        self,
        recording: RecordedServer,
        *,
        allow_writes: bool = False,
        ignore: tuple[str, ...] = (),
        secrets: Mapping[str, Any] | None = None,
        secret_keys: tuple[str, ...] = (),
        timeout_s: float | None = None,
    ) -> None:
        self.answers = RecordedAnswers()
        self.answers.learn_roots(recording.calls())
        self._recording = recording
        self._allow_writes = allow_writes
        self._ignore = ignore
        self._secrets = secrets or {}
        self._masker = ValueMasker((*secret_keys, *self._secrets))
        self._timeout_s = timeout_s
        # What the live server gave in place of recorded cursors and states.
        self._opaque: dict[str, Any] = {}
        self._read_only: dict[str, bool] = {}

    def __repr__(self) -> str:
        return f"<Verification of {self._recording!r}>"

    def capabilities(self) -> dict[str, Any]:
        """What the recorded client declared."""
        calls = self._recording.calls()
        if (first := self._recording.of_method("initialize")) is not None:
            calls = iter([first])
        for call in calls:
            params = call.params
            params = params if isinstance(params, dict) else {}
            meta = params.get("_meta")
            meta = meta if isinstance(meta, dict) else {}
            declared = params.get("capabilities") if call.method == "initialize" else None
            declared = declared or meta.get("io.modelcontextprotocol/clientCapabilities")
            if isinstance(declared, dict):
                return declared
        return {}

    def calls(self) -> Iterator[RecordedCall]:
        """The calls that are compared."""
        for call in self._recording.calls():
            is_ours = call.method in _OF_CONNECTION or call.purpose in ("heartbeat", "task_polling")
            is_task = call.method.startswith("tasks/")
            if call.id is not None and not is_ours and not is_task and call.reply is not None:
                yield call

    async def run(self, client: Client) -> AsyncIterator[CallOutcome]:
        """Send all calls; gives each outcome when it is known.

        Raises:
            InspectorError: the connection was lost.
        """
        if not self._allow_writes and any(call.method == "tools/call" for call in self.calls()):
            tools = await client.list_tools()
            self._read_only = {
                tool.name: (tool.annotations or {}).get("readOnlyHint") is True for tool in tools
            }
        for call in self.calls():
            yield await self._verify(client, call)

    async def _verify(self, client: Client, call: RecordedCall) -> CallOutcome:
        outcome = CallOutcome(call.seq, call.method, _name(call), "same", reply_seq=call.reply_seq)
        try:
            params = self._params(call)
        except _Masked as masked:
            outcome.status, outcome.reason = "skipped", str(masked)
            return outcome
        reason = self._why_skipped(call.method, params)
        if reason is not None:
            outcome.status, outcome.reason = "skipped", reason
            return outcome
        self.answers.prepare(call)
        recorded = decode_masked(call.reply or b"", call.reply_masked)
        live = await self._ask(client, call, params, outcome)
        if live is not None:
            self._learn_opaque(recorded, live)
            outcome.differences = self._compare(recorded, live)
        if outcome.differences or outcome.reason:
            outcome.status = "different"
        return outcome

    def _params(self, call: RecordedCall) -> dict[str, Any]:
        params = own_params(call.method, call.params)
        original = call.params if isinstance(call.params, dict) else {}
        if "task" in original:
            params["task"] = original["task"]
        found: dict[str, Any] = _filled(params, self._secrets)
        for name in ("requestState", "cursor"):
            if isinstance(found.get(name), str):
                found[name] = self._opaque.get(found[name], found[name])
        return found

    def _why_skipped(self, method: str, params: dict[str, Any]) -> str | None:
        if "task" in params:
            return "it ran as a task"
        if self._allow_writes or method in _READING:
            return None
        if method == "tools/call":
            return None if self._read_only.get(str(params.get("name"))) else _WRITES
        return "it is not known whether it changes something; --allow-writes sends it"

    async def _ask(
        self, client: Client, call: RecordedCall, params: dict[str, Any], outcome: CallOutcome
    ) -> dict[str, Any] | None:
        """The live answer as a message; None if there is none."""
        try:
            reply = await client.request(call.method, params or None, timeout_s=self._timeout_s)
        except ServerError as error:
            outcome.reply = encode_error(call.id, error.rpc_code, error.rpc_message, error.data)
            return {"error": {"code": error.rpc_code, "message": error.rpc_message}}
        except TimeoutExpired as problem:
            outcome.reason = problem.message
            return None
        except InspectorError as problem:
            if problem.category == "transport":
                raise
            outcome.reason = problem.message
            return None
        outcome.reply = _reply(call.id, reply.raw)
        return {"result": reply.value}

    def _learn_opaque(self, recorded: Any, live: Any) -> None:
        before, now = recorded.get("result"), live.get("result")
        if isinstance(before, dict) and isinstance(now, dict):
            for name in OPAQUE:
                if isinstance(before.get(name), str) and now.get(name) is not None:
                    self._opaque[before[name]] = now[name]

    def _compare(self, recorded: Any, live: Any) -> list[Difference]:
        before, now = compared_parts(recorded, live)
        before = comparable(before, self._masker, self._ignore)
        now = comparable(now, self._masker, self._ignore)
        return list(differences(before, now))


class _Masked(Exception):
    """A call cannot be sent: a value in it was masked."""


def _filled(value: Any, secrets: Mapping[str, Any]) -> Any:
    """A value with today's secrets in place of masked ones.

    Raises:
        _Masked: one has no value today.
    """
    if isinstance(value, MaskedValue):
        if value.pattern is None and value.key is not None and secrets.get(value.key) is not None:
            return secrets[value.key]
        name = f"the value of {value.key}" if value.key else "a value"
        raise _Masked(f"{name} was masked; give it in secretKeys of the server")
    if isinstance(value, dict):
        return {key: _filled(item, secrets) for key, item in value.items()}
    if isinstance(value, list):
        return [_filled(item, secrets) for item in value]
    return value


def _reply(identity: RequestId | None, body: bytes) -> bytes:
    return b'{"jsonrpc":"2.0","id":' + msgspec.json.encode(identity) + b',"result":' + body + b"}"


def _name(call: RecordedCall) -> str:
    """A call for a person: the method, what it is about, and the arguments."""
    try:
        params = own_params(call.method, call.params)
    except ValueError:
        return call.method
    for name in ("name", "uri"):
        if isinstance(params.get(name), str):
            about = params.pop(name)
            arguments = (
                params.get("arguments", {}) if list(params) in ([], ["arguments"]) else params
            )
            return f"{call.method} {about}" + (f" {shown(arguments)}" if arguments else "")
    return f"{call.method} {shown(params)}" if params else call.method
