"""The results of MCP methods as typed values, and what is wrong with an invalid result.

Decoding is tolerant of unknown fields and strict about known ones; every value keeps its raw bytes.
One broken item of a list never hides the others: it becomes an item with `problem` set.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, TypeVar

import msgspec
from msgspec import Raw

from mcplens.protocol.frames import decode_value


class ShapeError(Exception):
    """A result that violates its method's schema."""


class Content(msgspec.Struct, rename="camel", omit_defaults=True):
    """One content block of any type; fields that the type does not have are None."""

    type: str
    text: str | None = None
    data: str | None = None
    mime_type: str | None = None
    resource: Any = None
    uri: str | None = None
    name: str | None = None
    title: str | None = None
    description: str | None = None
    size: int | None = None
    annotations: Any = None
    meta: Any = msgspec.field(default=None, name="_meta")


# What each content type must have, by the schemas of both revisions.
_REQUIRED = {
    "text": ("text",),
    "image": ("data", "mime_type"),
    "audio": ("data", "mime_type"),
    "resource": ("resource",),
    "resource_link": ("uri", "name"),
}


class ToolResult(msgspec.Struct, rename="camel", kw_only=True):
    """The result of tools/call; `is_error` is the tool's own failure and is never raised."""

    content: list[Content]
    structured_content: Any = None
    is_error: bool = False
    meta: Any = msgspec.field(default=None, name="_meta")
    raw: bytes = msgspec.field(default=b"", name="$mcplens.raw")
    findings: tuple[str, ...] = msgspec.field(default=(), name="$mcplens.findings")


class Item(msgspec.Struct, kw_only=True):
    """What the items of every list share: the bytes as sent, and what is wrong with them."""

    raw: bytes = msgspec.field(default=b"", name="$mcplens.raw")
    problem: str | None = msgspec.field(default=None, name="$mcplens.problem")

    def value(self) -> Any:
        """The item as the server sent it, decoded."""
        return decode_value(self.raw)[0]


class Tool(Item, rename="camel", kw_only=True):
    """A tool as listed; a broken definition has `problem` set and can still be called by name."""

    name: str
    title: str | None = None
    description: str | None = None
    input_schema: dict[str, Any]
    output_schema: Any = None
    annotations: dict[str, Any] | None = None
    execution: dict[str, Any] | None = None
    icons: list[dict[str, Any]] | None = None
    meta: Any = msgspec.field(default=None, name="_meta")


class Resource(Item, rename="camel", kw_only=True):
    """A resource as listed."""

    uri: str
    name: str
    title: str | None = None
    description: str | None = None
    mime_type: str | None = None
    size: int | None = None
    annotations: dict[str, Any] | None = None
    icons: list[dict[str, Any]] | None = None
    meta: Any = msgspec.field(default=None, name="_meta")


class ResourceTemplate(Item, rename="camel", kw_only=True):
    """A resource template as listed."""

    uri_template: str
    name: str
    title: str | None = None
    description: str | None = None
    mime_type: str | None = None
    annotations: dict[str, Any] | None = None
    icons: list[dict[str, Any]] | None = None
    meta: Any = msgspec.field(default=None, name="_meta")


class PromptArgument(msgspec.Struct):
    name: str
    title: str | None = None
    description: str | None = None
    required: bool = False


class Prompt(Item, rename="camel", kw_only=True):
    """A prompt as listed."""

    name: str
    title: str | None = None
    description: str | None = None
    arguments: list[PromptArgument] | None = None
    icons: list[dict[str, Any]] | None = None
    meta: Any = msgspec.field(default=None, name="_meta")


class ResourceContents(msgspec.Struct, rename="camel"):
    """One part of a resource: text or base64 `blob`."""

    uri: str
    mime_type: str | None = None
    text: str | None = None
    blob: str | None = None
    meta: Any = msgspec.field(default=None, name="_meta")


class ReadResult(msgspec.Struct, kw_only=True):
    """The result of resources/read."""

    contents: list[ResourceContents]
    raw: bytes = msgspec.field(default=b"", name="$mcplens.raw")


class PromptMessage(msgspec.Struct):
    role: str
    content: Content


class PromptResult(msgspec.Struct, kw_only=True):
    """The result of prompts/get."""

    messages: list[PromptMessage]
    description: str | None = None
    raw: bytes = msgspec.field(default=b"", name="$mcplens.raw")


class CompletionValues(msgspec.Struct, rename="camel"):
    values: list[str]
    total: int | None = None
    has_more: bool | None = None


class Completion(msgspec.Struct, kw_only=True):
    """The result of completion/complete."""

    completion: CompletionValues
    raw: bytes = msgspec.field(default=b"", name="$mcplens.raw")


class InitializeResult(msgspec.Struct, rename="camel"):
    """The server's side of the handshake."""

    protocol_version: str
    capabilities: dict[str, Any]
    server_info: dict[str, Any]
    instructions: str | None = None


class DiscoverResult(msgspec.Struct, rename="camel"):
    """The server's answer to server/discover in 2026-07-28."""

    supported_versions: list[str]
    capabilities: dict[str, Any]
    instructions: str | None = None
    meta: dict[str, Any] = msgspec.field(default_factory=dict, name="_meta")


R = TypeVar("R")
I = TypeVar("I", bound=Item)  # noqa: E741

_decoders: dict[Any, msgspec.json.Decoder[Any]] = {}


def decode_result(raw: Raw | bytes, shape: type[R]) -> R:
    """A result as its type.

    Raises:
        ShapeError: the result is invalid; the message says where.
    """
    return _decode_result(raw, shape)[0]


def _decode_result(raw: Raw | bytes, shape: type[R]) -> tuple[R, tuple[str, ...]]:
    """A result as its type, and findings about its JSON."""
    decoder = _decoders.get(shape)
    if decoder is None:
        decoder = _decoders[shape] = msgspec.json.Decoder(shape)
    try:
        result: R = decoder.decode(raw)
    except (msgspec.ValidationError, RecursionError) as problem:
        raise ShapeError(_explain(problem)) from None
    except (msgspec.DecodeError, UnicodeDecodeError) as problem:
        return _decode_leniently(bytes(raw), shape, problem)
    return result, ()


def _decode_leniently(raw: bytes, shape: type[R], problem: Exception) -> tuple[R, tuple[str, ...]]:
    """Decodes the rest despite a lone surrogate or a byte that is not UTF-8."""
    try:
        value, findings = decode_value(raw)
        return msgspec.convert(value, shape), findings
    except (ValueError, msgspec.ValidationError):
        raise ShapeError(_explain(problem)) from None


_decode_tool_result: Final = msgspec.json.Decoder(ToolResult).decode


def decode_tool_result(raw: Raw) -> ToolResult:
    """A tool's result, its content blocks checked.

    Raises:
        ShapeError: the result is invalid; the message says where.
    """
    findings: tuple[str, ...] = ()
    try:
        result = _decode_tool_result(raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        result, findings = _decode_result(raw, ToolResult)  # it says what is wrong
    for index, block in enumerate(result.content):
        if block.text is not None and block.type == "text":
            continue
        for field in _REQUIRED.get(block.type, ()):
            if getattr(block, field) is None:
                raise ShapeError(f"content[{index}] of type {block.type} has no {field}")
    result.raw = bytes(raw)
    if findings:
        result.findings = findings
    return result


class Page(msgspec.Struct):
    """One page of a list, items still raw; `problem` is what is wrong with its cursor."""

    items: list[Raw]
    next_cursor: str | None
    problem: str | None = None


def decode_page(raw: Raw, key: str) -> Page:
    """One page of `tools`, `resources`, `resourceTemplates` or `prompts`.

    Raises:
        ShapeError: it is not an object with a list under `key`.
    """
    try:
        return _decode_page(raw, key)
    except ShapeError:
        data = bytes(raw)
        readable = _without_lone_surrogates(data)
        if readable == data:
            raise
    page = _decode_page(Raw(readable), key)
    page.items = list(_same_places(page.items, readable, data))
    return page


def _decode_page(raw: Raw, key: str) -> Page:
    fields = decode_result(raw, dict[str, Raw])
    if key not in fields:
        raise ShapeError(f"the result has no {key!r}")
    try:
        items = msgspec.json.decode(fields[key], type=list[Raw])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as problem:
        raise ShapeError(f"{key}: {_explain(problem)}") from None
    try:
        cursor = msgspec.json.decode(fields.get("nextCursor", Raw(b"null")), type=str | None)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as problem:
        return Page(items, None, f"nextCursor: {_explain(problem)}")
    return Page(items, cursor)


def _without_lone_surrogates(data: bytes) -> bytes:
    """The same length, with lone surrogates replaced, which msgspec cannot even skip."""
    import re  # only broken lists pay for it

    pair = rb"u[dD][89abAB]..\\u[dD][c-fC-F].."
    escape = re.compile(rb"\\(?:" + pair + rb"|(u[dD][89a-fA-F]..)|.)", re.DOTALL)
    return escape.sub(lambda match: rb"\ufffd" if match[1] else match[0], data)


def _same_places(items: list[Raw], readable: bytes, data: bytes) -> Iterator[Raw]:
    """The original bytes at the positions where the items were found."""
    at = 0
    for item in map(bytes, items):
        at = readable.index(item, at)
        yield Raw(data[at : at + len(item)])
        at += len(item)


def decode_item(raw: Raw, shape: type[I]) -> I:
    """One item of a list; a broken one keeps what can be kept and says what is wrong."""
    data = bytes(raw)
    try:
        item = decode_result(data, shape)
        item.problem = None
    except ShapeError as problem:
        item = _salvage(data, shape, str(problem))
    item.raw = data
    return item


def _salvage(data: bytes, shape: type[I], problem: str) -> I:
    try:
        value = decode_value(data)[0]
    except ValueError:
        value = None
    known = value if isinstance(value, dict) else {}
    kept: dict[str, Any] = {}
    for field in msgspec.structs.fields(shape):
        given = known.get(field.encode_name)
        try:
            kept[field.name] = msgspec.convert(given, field.type)
        except msgspec.ValidationError:
            if field.required:
                kept[field.name] = {} if field.name == "input_schema" else ""
    kept["problem"] = problem
    return shape(**kept)


def _explain(problem: Exception) -> str:
    if isinstance(problem, RecursionError):
        return "nested too deeply to be decoded"
    if isinstance(problem, UnicodeDecodeError):
        return f"not UTF-8: byte 0x{problem.object[problem.start]:02x} at {problem.start}"
    return str(problem)
