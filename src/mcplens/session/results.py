"""From a result frame to a typed value, or to INVALID_RESPONSE with raw and decoded value.

Called by the client's operations and the catalog.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, Literal, TypeVar

import msgspec

from mcplens.errors import ProtocolError
from mcplens.protocol.frames import Frame, decode_value
from mcplens.protocol.result_types import (
    Completion,
    DiscoverResult,
    InitializeResult,
    PromptResult,
    ReadResult,
    ShapeError,
    Tool,
    ToolResult,
    decode_page,
    decode_result,
    decode_tool_result,
)
from mcplens.protocol.schema_validation import SchemaProblem, Validator

R = TypeVar("R", bound=msgspec.Struct)

# Where the items of each list are in its result.
LIST_KEYS: Final = {
    "tools/list": "tools",
    "resources/list": "resources",
    "resources/templates/list": "resourceTemplates",
    "prompts/list": "prompts",
}

RESULT_TYPES: Final = ("complete", "input_required", "task")


class Reply(msgspec.Struct, frozen=True):
    """What `request` gives: the value, the bytes, and what is wrong with them."""

    value: Any
    raw: bytes
    findings: tuple[str, ...] = ()


_SHAPES: Final[dict[str, type[Any]]] = {
    "initialize": InitializeResult,
    "server/discover": DiscoverResult,
    "resources/read": ReadResult,
    "prompts/get": PromptResult,
    "completion/complete": Completion,
}


def typed(frame: Frame, method: str, shape: type[R], names: Mapping[str, str]) -> R:
    """A result as its type, its bytes kept in `raw`; `names` are the server's, for the error.

    Raises:
        ProtocolError: INVALID_RESPONSE; it breaks the shape.
    """
    try:
        result = decode_result(frame.body, shape)
    except ShapeError as problem:
        raise invalid(method, str(problem), frame).with_details(**names) from None
    result.raw = bytes(frame.body)  # type: ignore[attr-defined]
    return result


# How a result can stand to its tool's output schema, other than matching it.
SchemaVerdict = Literal["broken", "unused"]
_BROKEN: Final = "structuredContent breaks the output schema: "
_MISSING: Final = " promises structuredContent; none came"
_UNUSED: Final = "the output schema was not used: "


def schema_verdict(findings: Iterable[str]) -> SchemaVerdict | None:
    """What findings about a result say of its output schema; None if they say nothing of it."""
    for finding in findings:
        if finding.startswith(_BROKEN) or finding.endswith(_MISSING):
            return "broken"
        if finding.startswith(_UNUSED):
            return "unused"
    return None


class OutputSchemas:
    """The output schemas of tools, compiled when first used."""

    def __init__(self) -> None:
        self._validators: dict[str, Validator | str] = {}

    def __repr__(self) -> str:
        return f"<OutputSchemas of {sorted(self._validators)}>"

    def forget(self) -> None:
        """The tools were listed again."""
        self._validators.clear()

    def judge(self, tool: Tool | None, result: ToolResult) -> tuple[str, ...]:
        """What breaks the promise of the tool's output schema; advice goes to `result.findings`."""
        if tool is None or tool.output_schema is None or result.is_error:
            return ()
        validator = self._validator(tool)
        if isinstance(validator, str):
            result.findings += (validator,)
            return ()
        if result.structured_content is None and b'"structuredContent"' not in result.raw:
            return (tool.name + _MISSING,)
        findings = validator.findings(result.structured_content)
        return tuple(_BROKEN + text for text in findings)

    def _validator(self, tool: Tool) -> Validator | str:
        known = self._validators.get(tool.name)
        if known is None:
            try:
                known = Validator(tool.output_schema)
            except SchemaProblem as problem:
                known = f"{_UNUSED}{problem}"
            self._validators[tool.name] = known
        return known


class _ResultType(msgspec.Struct):
    result_type: Any = msgspec.field(default="complete", name="resultType")


def result_type(frame: Frame, method: str) -> str:
    """What kind of result of 2026-07-28 this is: `complete`, `input_required` or `task`.

    Raises:
        ProtocolError: INVALID_RESPONSE; a type that we do not know is invalid, whatever else is
            in it.
    """
    raw = frame.raw
    if b'"resultType"' not in raw:
        return "complete"
    if b'"resultType":"complete"' in raw and raw.count(b'"resultType"') == 1:
        return "complete"
    try:
        kind = decode_result(frame.body, _ResultType).result_type
    except ShapeError:
        return "complete"  # decoding it will say what is wrong
    if kind not in RESULT_TYPES:
        raise invalid(method, f"unknown resultType {kind!r}", frame)
    return str(kind)


def typed_tool_result(frame: Frame, tool: Tool | None, schemas: OutputSchemas) -> ToolResult:
    """A tool's result, checked against its output schema where that is known.

    Raises:
        ProtocolError: INVALID_RESPONSE; it breaks the shape or the schema.
    """
    try:
        result = decode_tool_result(frame.body)
    except ShapeError as problem:
        raise invalid("tools/call", str(problem), frame) from None
    findings = schemas.judge(tool, result)
    if findings:
        raise invalid("tools/call", "; ".join(findings), frame, findings)
    return result


def invalid(
    method: str, problem: str, frame: Frame, findings: tuple[str, ...] = ()
) -> ProtocolError:
    """INVALID_RESPONSE for a result, with the value as far as it can be decoded."""
    value: Any = None
    try:
        value, unusual = decode_value(frame.body)
        findings = (findings or (problem,)) + unusual
    except ValueError:
        findings = findings or (problem,)
    return ProtocolError(
        "INVALID_RESPONSE",
        f"the result of {method} breaks its shape: {problem}",
        raw=frame.raw,
        value=value,
        findings=findings,
        details={"method": method},
    )


def decode_reply(method: str, frame: Frame) -> tuple[Any, tuple[str, ...]]:
    """The value of a result, and what is unusual about its JSON.

    Raises:
        ProtocolError: INVALID_RESPONSE; it is not JSON.
    """
    try:
        return decode_value(frame.body)
    except ValueError as problem:
        message = f"the answer to {method} cannot be decoded: {problem}"
        details = {"method": method}
        raise ProtocolError("INVALID_RESPONSE", message, raw=frame.raw, details=details) from None


def check_reply(
    method: str,
    frame: Frame,
    value: Any,
    *,
    is_stateless: bool,
    tool: Tool | None,
    schemas: OutputSchemas,
) -> tuple[str, ...]:
    """What is wrong with the result of any method, as advice beside it."""
    if not isinstance(value, dict):
        return (f"the result is not an object but {type(value).__name__}",)
    kind = value.get("resultType", "complete")
    if is_stateless and kind not in RESULT_TYPES:
        return (f"unknown resultType {kind!r}",)
    if kind != "complete":
        return ()
    try:
        if method in LIST_KEYS:
            page = decode_page(frame.body, LIST_KEYS[method])
            return () if page.problem is None else (page.problem,)
        elif method == "tools/call":
            result = decode_tool_result(frame.body)
            return schemas.judge(tool, result) + result.findings
        elif method in _SHAPES:
            decode_result(frame.body, _SHAPES[method])
    except ShapeError as problem:
        return (str(problem),)
    return ()
