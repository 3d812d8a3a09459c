"""Results of 2026-07-28 that are `input_required`: the server asks before it answers.

Parses the questions and keeps the state as raw bytes. session/input_rounds.py decides who answers
and when the request is sent again; a task's questions are parsed here too.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec
from msgspec import Raw

from mcplens.protocol.frames import decode_value
from mcplens.protocol.json_recovery import top_level_spans

# The methods that may be answered like this, and those that a server may ask for.
MAY_ASK: Final = frozenset({"tools/call", "prompts/get", "resources/read"})
ASKABLE: Final = ("elicitation/create", "sampling/createMessage", "roots/list")
# Nobody can answer more questions at once.
MOST_QUESTIONS: Final = 1_000

_NULL: Final = b"null"


class InputProblem(ValueError):
    """Questions that cannot be asked, with what is wrong with them."""


class InputRequest(msgspec.Struct, frozen=True):
    """One question; `raw` is how the server wrote it."""

    key: str
    method: str
    params: Any
    raw: bytes


class InputRequired(msgspec.Struct, frozen=True):
    """The questions, and the state that goes back untouched; None where there is none."""

    requests: tuple[InputRequest, ...]
    state: Raw | None


def read_input_required(body: Raw | bytes) -> InputRequired:
    """The questions of an `input_required` result.

    Raises:
        InputProblem: it asks nothing, or something that cannot be asked.
    """
    fields = members(body, "the result")
    state = fields.get("requestState")
    if state is not None and bytes(state) == _NULL:
        state = None
    requests = read_input_requests(fields.get("inputRequests"))
    if not requests and state is None:
        raise InputProblem("input_required with neither inputRequests nor requestState")
    return InputRequired(requests, state)


def read_input_requests(raw: Raw | bytes | None) -> tuple[InputRequest, ...]:
    """The questions of an `inputRequests` member.

    Raises:
        InputProblem: it is not an object of questions.
    """
    if raw is None or bytes(raw) == _NULL:
        return ()
    fields = members(raw, "inputRequests")
    if len(fields) > MOST_QUESTIONS:
        raise InputProblem(
            f"inputRequests has {len(fields)} questions; the limit is {MOST_QUESTIONS}"
        )
    return tuple(_read_request(key, bytes(value)) for key, value in fields.items())


def _read_request(key: str, raw: bytes) -> InputRequest:
    where = f"inputRequests[{key!r}]"
    try:
        value = decode_value(raw)[0]
    except ValueError as problem:
        raise InputProblem(f"{where} cannot be read: {problem}") from None
    if not isinstance(value, dict):
        raise InputProblem(f"{where} must be an object, not {type(value).__name__}")
    method, params = value.get("method"), value.get("params")
    if method not in ASKABLE:
        raise InputProblem(f"{where} asks for {method!r}; only {', '.join(ASKABLE)} can be asked")
    if params is not None and not isinstance(params, dict):
        raise InputProblem(f"the params of {where} must be an object, not {type(params).__name__}")
    return InputRequest(key, method, params or {}, raw)


def members(raw: Raw | bytes, what: str) -> dict[str, Raw]:
    """The members of an object, each as its raw bytes.

    Raises:
        InputProblem: it is not an object.
    """
    try:
        return _decode_members(raw)
    except msgspec.ValidationError:
        raise InputProblem(f"{what} is not an object") from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        # JSON that is unusual but valid, such as a lone surrogate, is not refused.
        data = bytes(raw).strip()
    if not data.startswith(b"{"):
        raise InputProblem(f"{what} is not an object")
    return {key: Raw(data[slice(*span)].strip()) for key, span in top_level_spans(data).items()}


_decode_members = msgspec.json.Decoder(dict[str, Raw]).decode
