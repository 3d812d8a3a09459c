"""Whether a client answered a recorded question as it was answered in the recording. Pure.

Called by playback.py. Errors are compared by their codes. A task of the client's own has another id
each time, so `renames` maps the recorded ids to today's.
"""

from __future__ import annotations

from typing import Any, Final

from mcplens.contracts.canonical import decode
from mcplens.mocking.params_matching import shown
from mcplens.mocking.recorded_calls import RecordedCall, Step
from mcplens.protocol.json_comparison import is_same

# The capability that a client needs to be asked.
CAPABILITY_OF: Final = {
    "sampling/createMessage": "sampling",
    "elicitation/create": "elicitation",
    "roots/list": "roots",
}
_EMPTY: Final[tuple[Any, ...]] = (None, {})


def question_of(step: Step) -> tuple[str, dict[str, Any]]:
    """Method and params of a recorded question or notification, as they are sent: what was masked
    in them is masked text."""
    message = decode(step.raw)
    params = message.get("params")
    return str(message.get("method")), params if isinstance(params, dict) else {}


def answer_to(call: RecordedCall, question: Step) -> Any:
    """The recorded answer to a question, as a message; None if there is none."""
    for step in call.steps:
        if step.kind == "answer" and step.id == question.id and type(step.id) is type(question.id):
            return step.value()
    return None


def recorded_answers(call: RecordedCall) -> list[Any]:
    """The recorded answers to all questions of a call."""
    return [answer_to(call, question) for question in call.questions]


def why_different(recorded: Any, given: Any) -> str | None:
    """How an answer differs from the recorded one, both as messages; None if it does not."""
    if recorded is None:
        return None
    expected, found = recorded.get("error"), given.get("error")
    if expected is not None or found is not None:
        codes = [one.get("code") if isinstance(one, dict) else None for one in (expected, found)]
        return None if codes[0] == codes[1] else f"{_shown(recorded)} was recorded"
    if is_task(recorded) and is_task(given):
        return None
    before, now = _content(recorded.get("result")), _content(given.get("result"))
    return None if is_same(before, now) else f"{_shown(recorded)} was recorded"


def is_task(message: Any) -> bool:
    """Whether a client answered with a task of its own, which it answers by later."""
    result = message.get("result")
    return isinstance(result, dict) and isinstance(result.get("task"), dict)


def task_id_of(message: Any) -> str | None:
    """The id of that task."""
    identity = message["result"]["task"].get("taskId") if is_task(message) else None
    return identity if isinstance(identity, str) else None


def status_of_task(message: Any) -> Any:
    """The status in the answer to tasks/get; None for anything else."""
    result = message.get("result") if isinstance(message, dict) else None
    return result.get("status") if isinstance(result, dict) else None


def renamed(value: Any, renames: dict[str, str]) -> Any:
    """A value with every recorded id of a task replaced by today's."""
    if not renames:
        return value
    if isinstance(value, str):
        return renames.get(value, value)
    if isinstance(value, dict):
        return {key: renamed(item, renames) for key, item in value.items()}
    if isinstance(value, list):
        return [renamed(item, renames) for item in value]
    return value


def _content(result: Any) -> Any:
    if not isinstance(result, dict):
        return result
    return {
        name: item
        for name, item in result.items()
        if name not in ("_meta", "resultType") and item not in _EMPTY
    }


def _shown(message: Any) -> str:
    error = message.get("error")
    return shown(error if error is not None else message.get("result"))[:300]
