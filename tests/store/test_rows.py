"""An event becomes a row and the same event again, whatever it holds."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeVar

import msgspec
import pytest

from mcplens.events import (
    Event,
    FrameReceived,
    FrameSent,
    LogReceived,
    NotificationReceived,
    ProcessStarted,
    Remark,
    RequestEnded,
    RequestStarted,
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
from mcplens.store.row_decoding import decode_row
from mcplens.store.row_encoding import RowEncoder
from mcplens.store.rows import NO_LINKS, Row
from mcplens.store.run_facts import RunFacts
from mcplens.store.truncation import short_id, short_method
from mcplens.web.event_rows import encoded, event_view
from tests.store.samples import KINDS, REPLY, REQUEST, received, sample, sent

REFUSAL = encode_error(1, -32603, "no")


def through_the_store(*given: Event) -> list[Event]:
    """Events as they come back from the bytes of a block."""
    return [decode_row("run", row).event for row in stored_rows(given)]


def stored_rows(batch: Iterable[Event]) -> list[Row]:
    return [row for block in pack(RowEncoder().encode(batch)) for row in unpack(block.data)]


AnEvent = TypeVar("AnEvent", bound=Event)


def at(event: AnEvent, seq: int = 1) -> AnEvent:
    """The event with a place."""
    return msgspec.structs.replace(event, run_id="run", seq=seq, wall=1.0, mono=2.0, server_id="s")


def test_messages_of_servers_and_of_apps_count_as_messages_of_a_run() -> None:
    facts = RunFacts("run")
    for row in stored_rows(sample(kind, seq) for seq, kind in enumerate(KINDS, 1)):
        facts.add(row)
    assert facts.message_count == 4


def test_a_run_says_what_was_called_in_it_and_how_many_errors_came() -> None:
    facts = RunFacts("run")
    asked = [
        ("tools/call", {"name": "echo"}),
        ("tools/call", {"name": "echo"}),
        ("resources/read", {"uri": "demo://text"}),
        ("tools/list", {"cursor": "x"}),
        ("prompts/get", {"name": 5}),
    ]
    asking = (sent(encode_request(at, *each)) for at, each in enumerate(asked))
    failed = encode_result(1, {"content": [], "isError": True})
    came = map(received, (failed, encode_result(2, {}), encode_error(3, -32601, "no")))
    for row in stored_rows([*asking, *came]):
        facts.add(row)
    assert facts.called == ["echo", "demo://text"]
    assert (facts.error_count, facts.problem_count) == (2, 0)


def test_there_is_a_sample_of_every_kind_with_every_field() -> None:
    for kind in KINDS:
        for field in msgspec.structs.fields(kind)[5:]:
            assert field.required or getattr(sample(kind), field.name) != field.default


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_an_event_comes_back_as_it_was(kind: type[Event]) -> None:
    assert through_the_store(sample(kind)) == [sample(kind)]


@pytest.mark.parametrize(
    ("kind", "given"),
    [
        (RequestEnded, {"error": None}),
        (FrameSent, {"message": parse(REFUSAL), "size_bytes": len(REFUSAL)}),
        (FrameReceived, {"message": parse(REFUSAL), "size_bytes": len(REFUSAL)}),
    ],
)
def test_an_event_that_its_kind_encodes_in_another_way_comes_back_too(
    kind: type[Event], given: dict[str, Any]
) -> None:
    event = msgspec.structs.replace(sample(kind), **given)
    assert through_the_store(event) == [event]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_fields_that_were_left_to_their_defaults_come_back_as_these(kind: type[Event]) -> None:
    required = [f.name for f in msgspec.structs.fields(kind)[5:] if f.required]
    given = {name: getattr(sample(kind), name) for name in required}
    if not kind.__name__.startswith("Http"):  # an exchange is what those are about, not a link
        given |= {name: NO_LINKS[name] for name in required if name in NO_LINKS}
    if kind in (FrameSent, FrameReceived):
        given["method"] = "tools/call"  # as the message, or the request that it answers
    event = at(kind(**given))
    assert through_the_store(event) == [event]


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
    event = at(received(raw))
    assert through_the_store(event) == [event]


def test_a_message_over_the_limit_is_still_said_to_be_one() -> None:
    message = too_long(b'{"jsonrpc":"2.0","id":4,"result":"aaaa', 10)
    event = at(
        FrameReceived(
            message=message, size_bytes=len(message.raw), exchange_id=None, request_seq=None
        )
    )
    (back,) = through_the_store(event)
    assert back == event
    assert isinstance(back, FrameReceived)
    assert isinstance(back.message, Malformed)
    assert back.message.ids == (4,)


def test_a_request_that_the_session_wrote_comes_back_with_its_params_readable() -> None:
    (back,) = through_the_store(at(frame_sent(Frame(REQUEST, Kind.REQUEST, 1, "tools/call"))))
    assert isinstance(back, FrameSent)
    assert isinstance(back.message, Frame)
    assert (back.message.id, back.message.method, back.method) == (1, "tools/call", "tools/call")
    assert back.message.value()["name"] == "add"


def test_params_nested_too_deeply_to_be_read_back_are_still_a_request() -> None:
    deep = b'{"jsonrpc":"2.0","id":1,"method":"m","params":' + b"[" * 5000 + b"]" * 5000 + b"}"
    (back,) = through_the_store(at(frame_sent(Frame(deep, Kind.REQUEST, 1, "m"))))
    assert isinstance(back, FrameSent)
    assert back.message == Frame(deep, Kind.REQUEST, 1, "m")


def frame_sent(message: Frame) -> FrameSent:
    return FrameSent(
        message=message, size_bytes=len(message.raw), method=message.method, exchange_id=None,
        request_seq=None,
    )  # fmt: skip


def test_a_reply_has_the_method_that_its_event_says() -> None:
    batch = [
        at(sent(REQUEST), 1),
        at(received(encode_request(1, "roots/list")), 2),
        at(received(REPLY, request_seq=1, method="tools/call"), 3),
        at(sent(encode_result(1, {"roots": []}), request_seq=2, method="roots/list"), 4),
        at(received(encode_error(1, -1, "x"), request_seq=1, method="tools/call"), 5),
        at(received(encode_result("1", {})), 6),
    ]
    methods = [row.method for row in stored_rows(batch)]
    assert methods == ["tools/call", "roots/list", "tools/call", "roots/list", "tools/call", None]
    assert through_the_store(*batch) == batch


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
    event = at(
        LogReceived(
            level="info", logger=None, data=value, request_seq=None, call_id=None, frame_seq=None
        )
    )
    assert through_the_store(event) == [event]


def notification(params: Any) -> NotificationReceived:
    return NotificationReceived(method="m", params=params, request_seq=None, frame_seq=None)


def test_a_value_that_cannot_be_stored_spoils_nothing_else() -> None:
    class Odd:
        def __str__(self) -> str:
            return "odd one"

    loop: list[Any] = []
    loop.append(loop)
    first = at(notification({"odd": Odd()}), 1)
    second = at(notification({"loop": loop, "\udfff": 1}), 2)
    third = at(Remark(message="still here"), 3)
    back = through_the_store(first, second, third)
    assert [event.seq for event in back] == [1, 2, 3]
    assert back[2] == third
    assert isinstance(back[0], NotificationReceived)
    assert back[0].params == {"odd": "odd one"}


def test_an_event_of_a_kind_from_the_future_keeps_what_all_events_have() -> None:
    row = Row(4, 1.0, 2.0, "s", "Teleported", detail={"x": 1})
    assert decode_row("run", row).event == at(Event(), 4)


def test_fields_from_the_future_are_passed_over() -> None:
    row = Row(4, 1.0, 2.0, "s", "Remark", detail={"message": "m", "mood": "?"})
    assert decode_row("run", row).event == at(Remark(message="m"), 4)


def packed(*columns: Any) -> bytes:
    """A block of one row with these columns after those that every row has."""
    return msgspec.msgpack.encode([[1, 1.0, 2.0, "s", "FrameSent", *columns]])


def test_a_row_of_the_version_before_has_no_links() -> None:
    (row,) = unpack(packed("m", 1, "request", {"channel": 1}, b"{}"))
    assert row == Row(1, 1.0, 2.0, "s", "FrameSent", "m", 1, "request", {"channel": 1}, b"{}")
    assert (row.exchange_id, row.request_seq, row.call_id, row.purpose) == (None,) * 4


def test_columns_of_a_later_version_are_passed_over() -> None:
    links = (3, None, None, False, "c1", "call")
    (row,) = unpack(packed("m", 1, "request", None, b"{}", *links, "from the future", {"x": 1}))
    assert (row.exchange_id, row.call_id, row.purpose) == (3, "c1", "call")


def test_a_link_that_is_none_is_not_there() -> None:
    (row,) = unpack(packed("m", 1, "request", None, b"{}", "three", [1], 2, None, 5, {}))
    links = (row.exchange_id, row.request_seq, row.caused_by_seq, row.call_id, row.purpose)
    assert links == (None, None, 2, None, None)
    assert row.is_inferred is False


@pytest.mark.parametrize("identity", ["\ud800", 1 << 80, -(1 << 70)])
def test_odd_ids_and_odd_values_beside_them_come_back_with_their_links(identity: Any) -> None:
    log = LogReceived(level="info", logger=None, data={"text": "\ud800", "n": 1 << 80},
                      request_seq=5, is_inferred=True, call_id="c1", frame_seq=4)  # fmt: skip
    started = RequestStarted(request_id=identity, method="\udfff", request_seq=5)
    batch = [at(log, 6), at(started, 7), at(sent(REQUEST, request_seq=5, inbound_seq=3), 8)]
    assert through_the_store(*batch) == batch


def test_a_large_payload_has_a_block_of_its_own() -> None:
    raws = [REPLY, REPLY, encode_result(2, "x" * 100_000), REPLY, REPLY]
    batch = [at(received(raw), n + 1) for n, raw in enumerate(raws)]
    blocks = list(pack(RowEncoder().encode(batch)))
    assert [(block.first_seq, block.last_seq) for block in blocks] == [(1, 2), (3, 3), (4, 5)]


def test_secrets_in_a_command_are_masked_and_marked() -> None:
    argv = ["npx", "mcp-remote", "https://u:p@h/mcp?key=abc", "--header", "Authorization: Bearer x"]
    event = at(ProcessStarted(pid=1, argv=argv, cwd=None, env_names=[]))
    (row,) = RowEncoder().encode([event])
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
    method = f"tools/{LONG}"
    answer = sent(encode_result(ids[1], {}), request_seq=2, method=method)
    batch = [at(received(requests[0]), 1), at(received(requests[1]), 2), at(answer, 3)]
    rows = RowEncoder().encode(batch)

    assert all(len(str(row.method)) <= 200 and len(str(row.request_id)) <= 200 for row in rows)
    assert rows[0].request_id != rows[1].request_id == rows[2].request_id
    assert rows[2].method == rows[1].method
    assert str(rows[1].method).startswith("tools/xxx")
    assert [row.payload for row in rows[:2]] == requests  # the recording has them whole


def test_an_event_with_a_long_id_comes_back_with_its_message_whole() -> None:
    event = at(sent(encode_request(LONG, "m")))
    assert through_the_store(event) == [event]


def test_a_row_that_was_cut_once_is_not_cut_again() -> None:
    identity, method = short_id(LONG), short_method(LONG)
    assert short_id(identity) == identity
    assert short_method(method) == method


def test_a_row_on_the_page_has_no_long_method_or_id_of_an_older_recording() -> None:
    row = Row(1, 1.0, 1.0, "s", "FrameReceived", LONG, LONG, "request", None, b"{}")
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
    row = Row(1, 1.0, 1.0, "s", "FrameReceived", "tools/call", 1, "result", None, data)
    assert event_view("run", row).is_error is expected
