"""Well-formed frames: what kind each is, ids as sent, bytes as they came."""

from __future__ import annotations

import json

import pytest

from mcplens.protocol.frames import (
    ABSENT,
    Batch,
    Frame,
    Kind,
    Malformed,
    decode_value,
    encode_error,
    encode_notification,
    encode_request,
    encode_result,
    parse,
)


def frame(data: bytes) -> Frame:
    message = parse(data)
    assert isinstance(message, Frame), message
    return message


def test_a_request_has_its_id_its_method_and_its_params_undecoded() -> None:
    message = frame(b'{"jsonrpc":"2.0","id":1,"method":"roots/list","params":{"a": 1.50}}')
    assert message.kind is Kind.REQUEST
    assert (message.id, message.method) == (1, "roots/list")
    assert bytes(message.body) == b'{"a": 1.50}'
    assert message.value() == {"a": 1.5}


def test_a_notification_has_no_id() -> None:
    message = frame(b'{"jsonrpc":"2.0","method":"notifications/message"}')
    assert message.kind is Kind.NOTIFICATION
    assert message.id is None
    assert message.body is ABSENT
    assert message.value() is None


def test_a_result_keeps_its_body_byte_for_byte() -> None:
    body = b'{ "n":1.0,"e":1E5 ,\t"s":"\\u00e9\xc3\xa9", "k":1, "k":2 }'
    message = frame(b'{"jsonrpc":"2.0","id":3,"result":' + body + b"}")
    assert message.kind is Kind.RESULT
    assert bytes(message.body) == body


def test_an_error_reply_has_code_message_and_data() -> None:
    message = frame(
        b'{"jsonrpc":"2.0","id":3,"error":{"code":-32602,"message":"no","data":{"x":[1]}}}'
    )
    assert message.kind is Kind.ERROR
    assert message.error is not None
    assert (message.error.code, message.error.message) == (-32602, "no")
    assert message.error.data == {"x": [1]}


def test_an_error_reply_may_lack_its_id_or_have_a_null_one() -> None:
    for identity in (b"", b'"id":null,'):
        message = frame(b'{"jsonrpc":"2.0",' + identity + b'"error":{"code":-32700,"message":""}}')
        assert message.kind is Kind.ERROR
        assert message.id is None


@pytest.mark.parametrize(
    ("sent", "read"),
    [
        (b"7", 7),
        (b'"7"', "7"),
        (b"0", 0),
        (b"-1", -1),
        (b'""', ""),
        (b'"a\\u0000b"', "a\0b"),
        (b"18446744073709551616", 18446744073709551616),
    ],
)
def test_an_id_is_read_as_it_was_sent(sent: bytes, read: int | str) -> None:
    identity = frame(b'{"jsonrpc":"2.0","id":' + sent + b',"result":{}}').id
    assert identity == read
    assert type(identity) is type(read)


@pytest.mark.parametrize(
    "data",
    [
        b'{"jsonrpc":"2.0","id":1,"result":{}}',
        b' \t{ "id" : 1 ,\r\n"result" :{ },"jsonrpc":"2.0" } ',
        b'{"extra":{"deep":[1,2]},"jsonrpc":"2.0","id":"x","result":null}',
        b'{"jsonrpc":"2.0","id":1,"result":"bad utf-8 \xff stays"}',
        b'{"jsonrpc":"2.0","id":1,"result":"lone \\ud800 surrogate"}',
        b"{not json",
        b"\xef\xbb\xbf{}",
        b"[]",
        b"",
    ],
)
def test_the_bytes_are_kept_exactly_whatever_they_are(data: bytes) -> None:
    assert parse(data).raw == data


def test_a_null_result_is_a_result_and_not_a_missing_one() -> None:
    message = frame(b'{"jsonrpc":"2.0","id":1,"result":null}')
    assert message.kind is Kind.RESULT
    assert message.body is not ABSENT
    assert message.value() is None


def test_an_array_as_result_is_a_frame_whose_shape_is_judged_later() -> None:
    assert frame(b'{"jsonrpc":"2.0","id":1,"result":[1,2]}').value() == [1, 2]


def test_unknown_members_of_the_envelope_do_no_harm() -> None:
    assert frame(b'{"jsonrpc":"2.0","id":1,"result":{},"took_ms":3}').kind is Kind.RESULT


@pytest.mark.parametrize("surrogate", [b"\\ud800", b"\\udfff", b"ok \\ud83d end"])
def test_a_lone_surrogate_is_legal_json_and_comes_through(surrogate: bytes) -> None:
    data = b'{"jsonrpc":"2.0","id":"7","result":{"t":"' + surrogate + b'"}}'
    message = frame(data)
    assert (message.kind, message.id) == (Kind.RESULT, "7")
    assert message.raw == data
    value, findings = decode_value(message.body)
    assert value == json.loads(data)["result"]
    assert findings  # shown beside the value


def test_lone_surrogates_come_through_in_requests_and_notifications_too() -> None:
    request = frame(b'{"jsonrpc":"2.0","id":5,"method":"x","params":{"t":"\\ud800"}}')
    assert (request.kind, request.id, request.method) == (Kind.REQUEST, 5, "x")
    notification = frame(b'{"jsonrpc":"2.0","method":"n","params":{"t":"\\ud800"}}')
    assert (notification.kind, notification.id) == (Kind.NOTIFICATION, None)
    assert notification.value() == {"t": "\ud800"}


def test_a_lone_surrogate_in_a_broken_envelope_is_still_malformed() -> None:
    both = parse(b'{"jsonrpc":"2.0","id":5,"result":"\\ud800","error":{"code":1,"message":""}}')
    assert isinstance(both, Malformed)
    assert both.ids == (5,)


def test_a_batch_keeps_the_order_of_its_members_and_their_faults() -> None:
    data = (
        b'[{"jsonrpc":"2.0","id":1,"result":{}},'
        b' {"jsonrpc":"2.0","method":"n"}, 5,'
        b' {"jsonrpc":"2.0","id":"2","error":{"code":-1,"message":"m"}}]'
    )
    batch = parse(data)
    assert isinstance(batch, Batch)
    assert batch.raw == data
    kinds = [m.kind if isinstance(m, Frame) else None for m in batch.members]
    assert kinds == [Kind.RESULT, Kind.NOTIFICATION, None, Kind.ERROR]
    assert batch.members[0].raw == b'{"jsonrpc":"2.0","id":1,"result":{}}'


def test_a_value_that_is_not_utf_8_is_decoded_with_the_fault_beside_it() -> None:
    value, findings = decode_value(b'{"t":"a\xffb"}')
    assert value == {"t": "a\ufffdb"}
    assert findings == ("not UTF-8: byte 0xff at 7",)


def test_a_value_that_is_no_json_is_refused() -> None:
    with pytest.raises(ValueError, match="property name"):
        decode_value(b"{]")


def test_a_value_nested_too_deeply_is_refused_clearly() -> None:
    with pytest.raises(ValueError, match="nested too deeply"):
        decode_value(b"[" * 100_000 + b"]" * 100_000)


def test_what_we_write_is_what_we_would_read() -> None:
    request = frame(encode_request("a", "tools/call", {"name": "é"}))
    assert (request.kind, request.id, request.value()) == (Kind.REQUEST, "a", {"name": "é"})
    assert frame(encode_notification("n")).kind is Kind.NOTIFICATION
    assert frame(encode_result(4, [])).value() == []
    refusal = frame(encode_error(4, -32601, "no", {"why": 1}))
    assert refusal.error is not None
    assert refusal.error.data == {"why": 1}


def test_params_that_are_none_are_left_out() -> None:
    assert encode_request(1, "ping") == b'{"jsonrpc":"2.0","id":1,"method":"ping"}'
    assert encode_notification("n") == b'{"jsonrpc":"2.0","method":"n"}'
