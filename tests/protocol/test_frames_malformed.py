"""Malformed is a value: the bytes, a reason that a person understands, and the ids in them."""

from __future__ import annotations

import pytest

from mcplens.protocol.frames import Batch, Malformed, parse, too_long

# Deeper than any supported Python's C code recurses: 1,000 levels in 3.11, 10,000 from 3.12 on.
LEVELS = 100_000
DEEP = b"[" * LEVELS + b"]" * LEVELS


def malformed(data: bytes) -> Malformed:
    message = parse(data)
    assert isinstance(message, Malformed), message
    assert message.raw == data
    return message


@pytest.mark.parametrize(
    ("data", "reason", "ids"),
    [
        (b'{"jsonrpc":"2.0","id":1,"result":{}', "not valid JSON", (1,)),
        (b'{"jsonrpc":"2.0","id":1,"result":{]}}', "not valid JSON", (1,)),
        (b"{'jsonrpc':'2.0','id':1}", "not valid JSON", ()),
        (b'{"jsonrpc":"2.0","id":1,"result":{}} x', "not valid JSON", (1,)),
        (b'{"jsonrpc":"2.0","id":1,"result":NaN}', "not valid JSON", (1,)),
        (b'{"jsonrpc":"2.0","id":1,"result":["\\u00e9",NaN]}', "not valid JSON", (1,)),
        (b'{"jsonrpc":"2.0","id":1,"result":["\\ud800",Infinity]}', "not valid JSON", (1,)),
        (b'{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":""}}', "both", (1,)),
        (b'{"jsonrpc":"2.0","id":1}', "neither", (1,)),
        (b'{"jsonrpc":"2.0","id":1,"error":{"message":"no code"}}', "`code`", (1,)),
        (b'{"jsonrpc":"2.0","id":1,"error":{"code":"x","message":""}}', "error object", (1,)),
        (b'{"jsonrpc":"2.0","id":1,"error":"oops"}', "error object", (1,)),
        (b'{"jsonrpc":"2.0","id":1,"error":null}', "error object", (1,)),
        (b'{"jsonrpc":"1.0","id":1,"result":{}}', '"1.0" instead of "2.0"', (1,)),
        (b'{"id":1,"result":{}}', "missing", (1,)),
        (b'{"jsonrpc":2.0,"id":1,"result":{}}', "$.jsonrpc", (1,)),
        (b'\xef\xbb\xbf{"jsonrpc":"2.0","id":1,"result":{}}', "byte order mark", (1,)),
        (b'{"jsonrpc":"2.0","id":1,"result":"a\0b"}\0', "NUL", (1,)),
        (b'{"jsonrpc":"2.0","id":1,\0"result":{}}', "NUL", (1,)),
        (b'\0{"jsonrpc":"2.0","id":1,"result":{}}', "NUL", (1,)),
        (b'{"jsonrpc":"2.0","result":{}}', 'without an "id"', ()),
        (b'{"jsonrpc":"2.0","id":null,"result":{}}', '"id" is null', ()),
        (b'{"jsonrpc":"2.0","id":1.5,"result":{}}', "$.id", ()),
        (b'{"jsonrpc":"2.0","id":true,"result":{}}', "$.id", ()),
        (b'{"jsonrpc":"2.0","id":{"n":1},"result":{}}', "$.id", ()),
        (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', "null", ()),
        (b'{"jsonrpc":"2.0","id":1,"method":"m","result":{}}', '"method" together', ()),
        (b'{"jsonrpc":"2.0","id":1,"method":7}', "$.method", ()),
        (b'{"jsonrpc":"2.0","id":"\xff","result":{}}', "UTF-8", ()),
        (b"", "empty", ()),
        (b" \r\n", "empty", ()),
        (b"[]", "empty array", ()),
        (b"[1,", "array", ()),
        (b'[[{"jsonrpc":"2.0","id":1,"result":{}}]]', "array inside a batch", (1,)),
        (b"{}", "not a JSON-RPC message", ()),
        (b'{"level":"info","msg":"started"}', "not a JSON-RPC message", ()),
        (b"null", "`object`", ()),
        (b"Listening on port 3000", "not a JSON object", ()),
    ],
)
def test_each_fault_is_named_and_the_id_is_found(
    data: bytes, reason: str, ids: tuple[int | str, ...]
) -> None:
    message = malformed(data)
    assert reason in message.reason
    assert message.ids == ids


@pytest.mark.parametrize(
    "data",
    [
        b'{"jsonrpc":"2.0","id":7,"result":' + DEEP + b"}",
        b'{"jsonrpc":"2.0","result":' + DEEP + b',"id":7}',
        b'{"jsonrpc":"2.0","result":' + b'{"a":' * LEVELS + b"1" + b"}" * LEVELS + b',"id":7}',
    ],
    ids=["id first", "id last", "objects"],
)
def test_100000_levels_of_nesting_are_refused_with_the_id_found_by_a_scan(data: bytes) -> None:
    message = malformed(data)
    assert "nested too deeply" in message.reason
    assert message.ids == (7,)
    assert message.is_reply_like


@pytest.mark.parametrize("levels", [1, 2, 50, 200, 250, 333, 400, 900, 1_000, 5_000, 100_000])
def test_arrays_in_arrays_are_a_value_at_any_depth(levels: int) -> None:
    assert isinstance(parse(b"[" * levels + b"]" * levels), Malformed)


def test_a_batch_that_holds_an_array_is_malformed_as_a_whole() -> None:
    message = malformed(b'[{"jsonrpc":"2.0","id":4,"result":{}},[]]')
    assert message.reason == "an array inside a batch"
    assert message.ids == (4,)


def test_a_batch_with_one_bad_member_shows_which_one() -> None:
    batch = parse(b'[{"jsonrpc":"2.0","id":1,"result":{}},{"jsonrpc":"2.0","id":2}]')
    assert isinstance(batch, Batch)
    assert isinstance(batch.members[1], Malformed)
    assert batch.members[1].ids == (2,)


@pytest.mark.parametrize(
    "data",
    [
        b"npm warn deprecated",
        b"DEBUG {'a': 1}",
        b'{"level":"info","message":"an error occurred"}',
        b"",
        b"null",
        b'{"jsonrpc":"1.0","method":"notifications/message"}',
        b'{"jsonrpc":"2.0","method":"notifications/message","params":{]}}',
        b'{"jsonrpc":"2.0","method":"notifications/message","params":{"data":"\xff"}',
        b'{"jsonrpc":"2.0","id":null,"method":"ping"}',
    ],
)
def test_a_stray_line_or_a_broken_notification_is_not_taken_for_an_answer(data: bytes) -> None:
    message = malformed(data)
    assert not message.is_reply_like
    assert message.ids == ()


@pytest.mark.parametrize(
    "data",
    [
        b'{"jsonrpc":"2.0","resul',
        b'{"jsonrpc":"2.0","id":1.5,"result":{}}',
        b'{"jsonrpc":"2.0","result":{}}',
        b'{"jsonrpc":"2.0","id":[],"error":{"code":1,"message":""}}',
        b'{"jsonrpc":"2.0","result":{"method":"not top level"}',
    ],
)
def test_what_may_be_an_answer_is_known_as_such(data: bytes) -> None:
    assert malformed(data).is_reply_like


def test_the_id_of_a_broken_request_is_not_taken_for_an_answers() -> None:
    message = malformed(b'{"jsonrpc":"2.0","id":1,"method":"roots/list","params":{]}')
    assert message.ids == ()


def test_a_message_over_the_limit_keeps_its_start_and_its_id() -> None:
    message = too_long(b'{"jsonrpc":"2.0","id":"a7","result":{"text":"xxxx', 1_000)
    assert "limit of 1000 bytes" in message.reason
    assert message.ids == ("a7",)
    assert message.is_reply_like
