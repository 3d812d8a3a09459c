"""An event becomes a row and the same event again, whatever it holds."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from mcplens.bus import Published
from mcplens.events import (
    Event,
    FrameReceived,
    FrameSent,
    LogReceived,
    NotificationReceived,
    ProcessStarted,
    Remark,
)
from mcplens.protocol.frames import (
    Frame,
    Kind,
    Malformed,
    encode_error,
    encode_request,
    encode_result,
    parse,
    too_long,
)
from mcplens.store.blocks import pack, unpack
from mcplens.store.decoding import decode_row
from mcplens.store.names import short_id, short_method
from mcplens.store.rows import Row, RowEncoder, published
from mcplens.web.rows import encoded, event_view
from tests.store.samples import FIELDS, KINDS, REPLY, REQUEST, sample


def through_the_store(*given: Event | Published) -> list[Event]:
    """Events as they come back from the bytes of a block."""
    batch = [published(event) if isinstance(event, Event) else event for event in given]
    return [decode_row("run", row).event for row in stored_rows(batch)]


def stored_rows(batch: list[Published]) -> list[Row]:
    return [row for block in pack(RowEncoder().encode(batch)) for row in unpack(block.data)]


def frame(
    kind: type[FrameSent] | type[FrameReceived], raw: bytes, channel: Any = None, seq: int = 1
) -> Event:
    return kind("run", seq, 1.0, 2.0, "s", parse(raw), len(raw), channel)


def test_there_is_a_sample_of_every_kind_with_every_field() -> None:
    for kind in KINDS:
        assert len(sample(kind).__struct_fields__) == 5 + len(FIELDS[kind.__name__])


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_an_event_comes_back_as_it_was(kind: type[Event]) -> None:
    assert through_the_store(sample(kind)) == [sample(kind)]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_fields_that_were_left_to_their_defaults_come_back_as_these(kind: type[Event]) -> None:
    required = [f for f in msgspec.structs.fields(kind)[5:] if f.required]
    fields = FIELDS[kind.__name__][: len(required)]
    event = kind("run", 1, 1.0, 2.0, "s", *fields)
    assert through_the_store((kind, "s", 1, 1.0, 2.0, fields, 0)) == [event]


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"\x00\x01\x02",
        b"Listening on port 8080",
        b'{"jsonrpc":"2.0","id":1,"result":\xff}',
        b'\xef\xbb\xbf{"jsonrpc":"2.0","id":1,"result":{}}',
        b'[{"jsonrpc":"2.0","id":1,"result":{}},{"jsonrpc":"2.0","id":2}]',
        b'{"jsonrpc":"2.0","id":"\\ud800","result":{}}',
        b'{"jsonrpc":"2.0","id":123456789012345678901234567890,"result":{"n":1}}',
        b'{"jsonrpc":"2.0","method":"\\udfff","id":5}',
        encode_error(3, -32601, "no such method", {"x": 1}),
        encode_error(None, -32700, "parse error"),
    ],
)
def test_a_message_keeps_every_byte_and_what_it_was_taken_for(raw: bytes) -> None:
    event = frame(FrameReceived, raw)
    assert through_the_store(event) == [event]


def test_a_message_over_the_limit_is_still_said_to_be_one() -> None:
    message = too_long(b'{"jsonrpc":"2.0","id":4,"result":"aaaa', 10)
    event = FrameReceived("run", 1, 1.0, 2.0, "s", message, len(message.raw))
    (back,) = through_the_store(event)
    assert back == event
    assert isinstance(back, FrameReceived)
    assert isinstance(back.message, Malformed)
    assert back.message.ids == (4,)


def test_a_request_that_the_session_wrote_comes_back_with_its_params_readable() -> None:
    sent = FrameSent("run", 1, 1.0, 2.0, "s", Frame(REQUEST, Kind.REQUEST, 1, "tools/call"), 9, 1)
    (back,) = through_the_store(sent)
    assert isinstance(back, FrameSent)
    assert isinstance(back.message, Frame)
    assert (back.message.id, back.message.method, back.channel) == (1, "tools/call", 1)
    assert back.message.value()["name"] == "add"


def test_params_nested_too_deeply_to_be_read_back_are_still_a_request() -> None:
    deep = b'{"jsonrpc":"2.0","id":1,"method":"m","params":' + b"[" * 5000 + b"]" * 5000 + b"}"
    sent = FrameSent("run", 1, 1.0, 2.0, "s", Frame(deep, Kind.REQUEST, 1, "m"), len(deep), 1)
    (back,) = through_the_store(sent)
    assert isinstance(back, FrameSent)
    assert back.message == Frame(deep, Kind.REQUEST, 1, "m")


def test_a_raw_request_that_nobody_waits_for_has_no_channel() -> None:
    sent = frame(FrameSent, REQUEST)
    assert through_the_store(sent) == [sent]


def test_a_reply_is_found_by_the_method_of_its_request() -> None:
    batch = [
        published(frame(FrameSent, REQUEST, 1, seq=1)),
        published(frame(FrameReceived, encode_request(1, "roots/list"), seq=2)),
        published(frame(FrameReceived, REPLY, seq=3)),
        published(frame(FrameSent, encode_result(1, {"roots": []}), seq=4)),
        published(frame(FrameReceived, encode_error(1, -1, "x"), seq=5)),
        published(frame(FrameReceived, encode_result("1", {}), seq=6)),
    ]
    methods = [row[5] for row in stored_rows(batch)]
    assert methods == ["tools/call", "roots/list", "tools/call", "roots/list", "tools/call", None]


def test_a_reply_finds_its_method_among_thousands_of_requests_and_when_it_comes_twice() -> None:
    asked = [frame(FrameSent, encode_request(n, f"m{n}", {}), n) for n in range(2_000)]
    answered = [frame(FrameReceived, encode_result(n, {})) for n in range(2_000)]
    rows = RowEncoder().encode([published(event) for event in (*asked, *answered, *answered)])
    assert [row[5] for row in rows] == [f"m{n}" for n in range(2_000)] * 3


def test_a_method_is_forgotten_after_thousands_of_other_requests() -> None:
    encoder = RowEncoder()
    for n in range(10_000):
        encoder.encode([published(frame(FrameSent, encode_request(n, "m", {}), n))])
    (early,) = encoder.encode([published(frame(FrameReceived, encode_result(1, {})))])
    (late,) = encoder.encode([published(frame(FrameReceived, encode_result(9_999, {})))])
    assert (early[5], late[5]) == (None, "m")


@pytest.mark.parametrize(
    "value",
    [
        {"text": "\ud800 alone"},
        {"n": 1 << 80, "m": -(1 << 90)},
        [float("inf"), 1e308, 0.1],
        {"deep": [[[{"a": "ü"}]]]},
        "x" * 100_000,
    ],
)
def test_odd_values_come_back_as_they_were(value: Any) -> None:
    event = LogReceived("run", 1, 1.0, 2.0, "s", "info", None, value)
    assert through_the_store(event) == [event]


def test_a_value_that_cannot_be_stored_spoils_nothing_else() -> None:
    class Odd:
        def __str__(self) -> str:
            return "odd one"

    loop: list[Any] = []
    loop.append(loop)
    first = NotificationReceived("run", 1, 1.0, 2.0, "s", "m", {"odd": Odd()})
    second = NotificationReceived("run", 2, 1.0, 2.0, "s", "m", {"loop": loop, "\udfff": 1})
    third = Remark("run", 3, 1.0, 2.0, "s", "still here")
    back = through_the_store(first, second, third)
    assert [event.seq for event in back] == [1, 2, 3]
    assert back[2] == third
    assert isinstance(back[0], NotificationReceived)
    assert back[0].params == {"odd": "odd one"}


def test_an_event_of_a_kind_from_the_future_keeps_what_all_events_have() -> None:
    row: Row = (4, 1.0, 2.0, "s", "Teleported", None, None, None, {"x": 1}, None)
    assert decode_row("run", row).event == Event("run", 4, 1.0, 2.0, "s")


def test_fields_from_the_future_are_passed_over() -> None:
    row: Row = (4, 1.0, 2.0, "s", "Remark", None, None, None, {"message": "m", "mood": "?"}, None)
    assert decode_row("run", row).event == Remark("run", 4, 1.0, 2.0, "s", "m")


def test_a_large_payload_has_a_block_of_its_own() -> None:
    raws = [REPLY, REPLY, encode_result(2, "x" * 100_000), REPLY, REPLY]
    batch = [published(frame(FrameReceived, raw, seq=n + 1)) for n, raw in enumerate(raws)]
    blocks = list(pack(RowEncoder().encode(batch)))
    assert [(block.first_seq, block.last_seq) for block in blocks] == [(1, 2), (3, 3), (4, 5)]


def test_secrets_in_a_command_are_masked_and_marked() -> None:
    argv = ["npx", "mcp-remote", "https://u:p@h/mcp?key=abc", "--header", "Authorization: Bearer x"]
    event = ProcessStarted("run", 1, 1.0, 2.0, "s", 1, argv, None, [])
    (row,) = RowEncoder().encode([published(event)])
    stored = decode_row("run", row)
    assert isinstance(stored.event, ProcessStarted)
    shown = " ".join(stored.event.argv)
    assert "abc" not in shown
    assert "Bearer" not in shown
    assert "Authorization: ‹masked, 8 characters›" in shown
    assert [mark.field for mark in stored.masked] == ["argv"]


LONG = "x" * 10_000_000


def test_rows_keep_no_long_methods_and_ids() -> None:
    ids = [f"{LONG}{n}" for n in range(2)]
    requests = [encode_request(one, f"tools/{LONG}") for one in ids]
    batch = [frame(FrameReceived, requests[0]), frame(FrameReceived, requests[1], seq=2)]
    batch.append(frame(FrameSent, encode_result(ids[1], {}), seq=3))
    encoder = RowEncoder()
    rows = encoder.encode([published(event) for event in batch])

    assert all(len(str(column)) <= 200 for row in rows for column in row[5:7])
    assert rows[0][6] != rows[1][6] == rows[2][6]
    assert rows[2][5] == rows[1][5]
    assert str(rows[1][5]).startswith("tools/xxx")
    assert [row[9] for row in rows[:2]] == requests  # the recording has them whole
    kept = encoder._theirs.recent
    assert all(len(str(key[1])) + len(method) <= 400 for key, method in kept.items())


def test_an_event_with_a_long_id_comes_back_with_its_message_whole() -> None:
    raw = encode_request(LONG, "m")
    (found,) = through_the_store(frame(FrameSent, raw, LONG))
    assert found == frame(FrameSent, raw, LONG)


def test_a_row_that_was_cut_once_is_not_cut_again() -> None:
    identity, method = short_id(LONG), short_method(LONG)
    assert short_id(identity) == identity
    assert short_method(method) == method


def test_a_row_on_the_page_has_no_long_method_or_id_of_an_older_recording() -> None:
    row: Row = (1, 1.0, 1.0, "s", "FrameReceived", LONG, LONG, "request", None, b"{}")
    assert len(encoded(event_view("run", row))) < 1000


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        (b'{"content":[],"isError" : true}', True),
        (b'{"content":[{"type":"text","text":"\xff"}],"isError":true}', True),
        (b'{"isError":false}', False),
        (b'{"structuredContent":{"isError":true}}', False),
        (b'{"content":[{"text":"\\"isError\\":true"}]}', False),
        (b'{"isError":true', False),
    ],
)
def test_a_row_on_the_page_says_whether_a_result_is_an_error(result: bytes, expected: bool) -> None:
    data = b'{"jsonrpc":"2.0","id":1,"result":' + result + b"}"
    row: Row = (1, 1.0, 1.0, "s", "FrameReceived", "tools/call", 1, "result", None, data)
    assert event_view("run", row).is_error is expected
