"""Heads of events: how a message begins, without what all messages have."""

from __future__ import annotations

import json

import pytest

from mcplens.events import FrameReceived
from mcplens.protocol.eras import HEADER_MISMATCH, UNSUPPORTED_VERSION
from mcplens.protocol.frames import parse
from mcplens.store.row_encoding import RowEncoder
from mcplens.web.event_rows import event_view, without_meta


def test_a_head_has_the_arguments_and_not_the_meta_before_them() -> None:
    meta = {"io.modelcontextprotocol/clientInfo": {"name": "x" * 500}}
    for name in ("params", "result"):
        message = {"jsonrpc": "2.0", "id": 1, name: {"_meta": meta, "kept": {"_meta": 1}}}
        trimmed = without_meta(json.dumps(message).encode())
        assert json.loads(trimmed)[name] == {"kept": {"_meta": 1}}


def test_a_head_keeps_numbers_as_they_were_written() -> None:
    data = b'{"id":12345678901234567890,"params":{"_meta":{},"a":1.10}}'
    assert without_meta(data) == b'{"id":12345678901234567890,"params":{"a":1.10}}'


@pytest.mark.parametrize(
    "data",
    [
        b'{"params":{"a":1}}',
        b'{"params":{"_meta":1',
        b'["_meta"]',
        b'"_meta" is what it printed',
        b'{"params":["_meta"]}',
        b'{"params":{"_meta":"' + b"x" * 300_000 + b'"}}',
    ],
)
def test_a_message_that_has_no_meta_or_cannot_be_parsed_is_left_as_it_is(data: bytes) -> None:
    assert without_meta(data) == data


@pytest.mark.parametrize(
    ("code", "method", "purpose", "is_expected"),
    [
        (-32601, "server/discover", "handshake", True),
        (UNSUPPORTED_VERSION, "server/discover", "handshake", True),
        (HEADER_MISMATCH, "server/discover", "handshake", False),
        (-32601, "server/discover", "raw", False),
        (-32601, "initialize", "handshake", False),
    ],
)
def test_a_server_of_an_older_revision_is_expected_to_refuse_the_question_for_its_revision(
    code: int, method: str, purpose: str, is_expected: bool
) -> None:
    data = b'{"jsonrpc":"2.0","id":1,"error":{"code":%d,"message":"no"}}' % code
    refused = FrameReceived(
        message=parse(data),
        size_bytes=len(data),
        method=method,
        exchange_id=None,
        request_seq=1,
        purpose=purpose,
    )
    (row,) = RowEncoder().encode([refused])
    assert event_view("run", row).is_expected is is_expected
