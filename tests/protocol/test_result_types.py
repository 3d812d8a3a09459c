"""Results as typed values: tolerant of the unknown, strict about the known, nothing hidden."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from msgspec import Raw

from mcplens.protocol.result_types import (
    Completion,
    DiscoverResult,
    InitializeResult,
    Prompt,
    PromptResult,
    ReadResult,
    Resource,
    ResourceTemplate,
    ShapeError,
    Tool,
    decode_item,
    decode_page,
    decode_result,
    decode_tool_result,
)


def raw(value: Any) -> Raw:
    return Raw(msgspec.json.encode(value))


def tool(value: Any) -> Tool:
    return decode_item(raw(value), Tool)


def test_a_tool_has_its_fields_and_its_bytes() -> None:
    sent = b'{ "name":"add", "title":"Add","inputSchema":{"type":"object"},"x-new":[1], "_meta":{}}'
    item = decode_item(Raw(sent), Tool)
    assert (item.name, item.title, item.input_schema) == ("add", "Add", {"type": "object"})
    assert item.raw == sent
    assert item.problem is None
    assert item.value()["x-new"] == [1]


@pytest.mark.parametrize(
    ("broken", "name", "about"),
    [
        ({"name": "a"}, "a", "inputSchema"),
        ({"name": "a", "inputSchema": None}, "a", "inputSchema"),
        ({"name": "a", "inputSchema": []}, "a", "inputSchema"),
        ({"name": "a", "inputSchema": {}, "description": 5}, "a", "description"),
        ({"inputSchema": {}}, "", "name"),
        ({"name": 5, "inputSchema": {}}, "", "name"),
        ("not an object", "", "object"),
        (None, "", "object"),
        ([], "", "object"),
    ],
)
def test_a_broken_tool_keeps_what_can_be_kept_and_says_what_is_wrong(
    broken: Any, name: str, about: str
) -> None:
    item = tool(broken)
    assert item.name == name
    assert item.problem is not None
    assert about in item.problem
    assert item.value() == broken


def test_a_broken_field_does_not_take_the_good_ones_away() -> None:
    item = tool({"name": "a", "inputSchema": {"type": "object"}, "title": "T", "icons": 7})
    assert (item.title, item.input_schema) == ("T", {"type": "object"})
    assert item.problem is not None


def test_a_server_cannot_forge_our_own_fields() -> None:
    item = tool({"name": "a", "inputSchema": {}, "problem": "x", "raw": "y", "$mcplens.problem": 5})
    assert item.raw.startswith(b'{"name"')
    item = tool({"name": "a", "inputSchema": {}, "$mcplens.problem": "forged"})
    assert item.problem is None


@pytest.mark.parametrize(
    ("shape", "broken", "kept"),
    [
        (Resource, {"uri": "file:///a"}, ("uri", "file:///a")),
        (ResourceTemplate, {"uriTemplate": "x://{y}", "name": 1}, ("uri_template", "x://{y}")),
        (Prompt, {"name": "p", "arguments": "none"}, ("name", "p")),
    ],
)
def test_the_other_lists_salvage_their_items_too(
    shape: Any, broken: dict[str, Any], kept: tuple[str, str]
) -> None:
    item = decode_item(raw(broken), shape)
    assert item.problem
    assert getattr(item, kept[0]) == kept[1]


def test_a_page_has_its_items_raw_and_its_cursor() -> None:
    page = decode_page(raw({"tools": [1, {"a": 2}], "nextCursor": ""}), "tools")
    assert [bytes(item) for item in page.items] == [b"1", b'{"a":2}']
    assert page.next_cursor == ""  # a cursor like any other
    assert decode_page(raw({"tools": []}), "tools").next_cursor is None


@pytest.mark.parametrize(
    "broken",
    [{}, {"tools": {}}, {"tools": None}, [], None, "tools", 7],
)
def test_a_result_that_is_no_page_says_so(broken: Any) -> None:
    with pytest.raises(ShapeError):
        decode_page(raw(broken), "tools")


def test_a_cursor_of_a_wrong_type_does_not_take_the_items_away() -> None:
    page = decode_page(raw({"tools": [1], "nextCursor": {"a": 1}}), "tools")
    assert [bytes(item) for item in page.items] == [b"1"]
    assert page.next_cursor is None
    assert page.problem is not None
    assert page.problem.startswith("nextCursor: Expected `str | null`")


@pytest.mark.parametrize("half", [rb"\ud83d", rb"\uDC00", rb"\\\ud83d", rb"\ud83d\ud83d\ude00"])
def test_half_an_emoji_does_not_take_a_page_away(half: bytes) -> None:
    first, second = b'{"name":"\\ud83d\\ude00 \\\\ud83d"}', b'{"name":"cut ' + half + b'"}'
    body = b'{"a":"' + half + b'","tools":[' + first + b", " + second + b'],"nextCursor":"c"}'
    page = decode_page(msgspec.Raw(body), "tools")
    assert [bytes(item) for item in page.items] == [first, second]
    assert page.next_cursor == "c"
    kept = decode_item(page.items[1], Tool)
    assert kept.name.startswith("cut ")
    assert kept.raw == second


def test_a_tool_result_has_content_structure_and_its_bytes() -> None:
    body = raw({"content": [{"type": "text", "text": "hi", "x": 1}], "structuredContent": [1]})
    result = decode_tool_result(body)
    assert (result.content[0].type, result.content[0].text) == ("text", "hi")
    assert result.structured_content == [1]
    assert not result.is_error
    assert result.raw == bytes(body)


def test_a_content_type_that_we_do_not_know_is_kept() -> None:
    assert decode_tool_result(raw({"content": [{"type": "hologram", "beam": 1}]})).content


@pytest.mark.parametrize(
    ("broken", "about"),
    [
        ({}, "content"),
        ({"content": None}, "content"),
        ({"content": {"type": "text"}}, "content"),
        ({"content": ["text"]}, "content[0]"),
        ({"content": [{"text": "no type"}]}, "type"),
        ({"content": [{"type": "text"}]}, "content[0] of type text has no text"),
        ({"content": [{"type": "image", "data": "x"}]}, "mime_type"),
        ({"content": [{"type": "audio", "mimeType": "x"}]}, "data"),
        ({"content": [{"type": "resource"}]}, "resource"),
        ({"content": [{"type": "resource_link", "uri": "x"}]}, "name"),
        ({"content": [], "isError": "yes"}, "isError"),
        ([1, 2], "array"),
        (None, "null"),
        ("text", "str"),
    ],
)
def test_a_tool_result_that_breaks_its_shape_says_where(broken: Any, about: str) -> None:
    with pytest.raises(ShapeError) as problem:
        decode_tool_result(raw(broken))
    assert about in str(problem.value)


@pytest.mark.parametrize(
    ("shape", "good"),
    [
        (ReadResult, {"contents": [{"uri": "a", "text": "t"}, {"uri": "b", "blob": "AA=="}]}),
        (PromptResult, {"messages": [{"role": "user", "content": {"type": "text", "text": ""}}]}),
        (Completion, {"completion": {"values": ["a"], "total": 1, "hasMore": False}}),
        (InitializeResult, {"protocolVersion": "x", "capabilities": {}, "serverInfo": {}}),
        (DiscoverResult, {"supportedVersions": [], "capabilities": {}}),
    ],
)
def test_each_result_fits_its_shape_and_nothing_else_does(shape: Any, good: Any) -> None:
    assert decode_result(raw(good | {"unknown": 1}), shape)
    misfits: tuple[Any, ...] = ({}, [], None, 5, dict.fromkeys(good, 5))
    for broken in misfits:
        with pytest.raises(ShapeError):
            decode_result(raw(broken), shape)


def test_a_result_nested_too_deeply_is_refused_clearly() -> None:
    deep = b'{"content":[],"structuredContent":' + b"[" * 100_000 + b"]" * 100_000 + b"}"
    with pytest.raises(ShapeError, match="nested too deeply"):
        decode_tool_result(Raw(deep))
