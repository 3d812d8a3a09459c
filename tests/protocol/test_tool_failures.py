"""Whether a result says that a tool failed, and in which words."""

from __future__ import annotations

import json

import pytest

from mcplens.protocol.tool_failures import tool_failure


def test_a_tool_that_failed_is_known_by_its_words() -> None:
    blocks = [{"type": "text", "text": "no such file"}, {"type": "image"}, {"text": "try another"}]
    result = json.dumps({"content": blocks, "isError": True}).encode()
    assert tool_failure(result) == "no such file\ntry another"


@pytest.mark.parametrize("content", ["", ', "content": 7', ', "content": [7, {"text": 8}]'])
def test_a_tool_that_failed_without_words_failed_nevertheless(content: str) -> None:
    assert tool_failure(b'{"isError" : true' + content.encode() + b"}") is not None


def test_what_a_tool_says_is_bounded() -> None:
    result = json.dumps({"content": [{"text": "x" * 10_000}], "isError": True}).encode()
    assert len(tool_failure(result) or "") < 3_000


@pytest.mark.parametrize(
    "result",
    [
        b'{"content":[]}',
        b'{"isError":false}',
        b'{"structuredContent":{"isError":true}}',
        b'{"isError":true',
        b'"isError":true',
        b"7",
    ],
)
def test_no_other_result_is_a_failure(result: bytes) -> None:
    assert tool_failure(result) is None


def test_a_member_of_the_same_name_further_up_hides_nothing() -> None:
    inner = b'{"meta":{"isError":false},"content":[{"type":"text","text":"no"}],'
    assert tool_failure(inner + b'"isError":true}') == "no"
    assert tool_failure(inner + b'"isError":false}') is None


def test_a_result_is_searched_in_the_message_that_it_came_in() -> None:
    failed = b'{"content":[{"type":"text","text":"no"}],"isError":true}'
    fine = b'{"content":[{"type":"text","text":"yes"}],"isError":false}'
    for result, said in ((failed, "no"), (b'{"content":[]}', None), (fine, None)):
        message = b'{"jsonrpc":"2.0","id":1,"result":' + result + b"}"
        assert tool_failure(result, message) == said
