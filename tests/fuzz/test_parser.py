"""Whatever comes, the parser gives a value that keeps every byte."""

from __future__ import annotations

import contextlib
import faulthandler
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcplens.protocol.frames import (
    ABSENT,
    Batch,
    Frame,
    Kind,
    Malformed,
    Message,
    RequestId,
    decode_value,
    parse,
)
from mcplens.protocol.json_recovery import readable_ids, top_level_spans
from mcplens.protocol.line_splitter import LineSplitter
from mcplens.protocol.sse import SseParser

from .mutator import Mutator

# The same examples in every run; a million others are in the soak.
steady = settings(max_examples=150, deadline=None, derandomize=True, database=None)

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
members = ["jsonrpc", "id", "method", "params", "result", "error", "x"]
envelopes = st.dictionaries(
    st.sampled_from(members),
    json_values | st.sampled_from(["2.0", 1, "1", {"code": 1}]),
    max_size=7,
)


def judge(data: bytes, message: Message) -> None:
    """What holds for every message."""
    assert message.raw == data
    if isinstance(message, Malformed):
        assert message.reason
        assert all(type(identity) in (int, str) for identity in message.ids)
    elif isinstance(message, Batch):
        assert message.members
        for member in message.members:
            judge(member.raw, member)
    else:
        judge_frame(message)


def judge_frame(frame: Frame) -> None:
    assert isinstance(frame.kind, Kind)
    if frame.kind is Kind.NOTIFICATION:
        assert frame.id is None
    elif frame.kind is not Kind.ERROR:
        assert type(frame.id) in (int, str)
    if frame.body is ABSENT:
        return
    assert bytes(frame.body) in frame.raw
    with contextlib.suppress(ValueError):  # it says that it is none, and why
        decode_value(frame.body)


@steady
@given(st.binary(max_size=200))
def test_any_bytes_are_a_message(data: bytes) -> None:
    judge(data, parse(data))
    readable_ids(data)
    top_level_spans(data)


@steady
@given(envelopes)
def test_any_json_object_is_a_message_and_its_id_is_read_as_sent(value: dict[str, Any]) -> None:
    data = msgspec.json.encode(value)
    message = parse(data)
    judge(data, message)
    identity: RequestId | None = message.id if isinstance(message, Frame) else None
    if identity is not None:
        assert value["id"] == identity
        assert type(value["id"]) is type(identity)


@steady
@given(st.lists(envelopes, min_size=1, max_size=4))
def test_any_array_of_objects_is_a_message(values: list[dict[str, Any]]) -> None:
    data = msgspec.json.encode(values)
    message = parse(data)
    judge(data, message)
    assert isinstance(message, Batch)
    assert len(message.members) == len(values)


@steady
@given(envelopes, st.data())
def test_a_message_that_is_cut_off_is_never_taken_for_a_whole_one(
    value: dict[str, Any], data: st.DataObject
) -> None:
    whole = msgspec.json.encode(value)
    cut = whole[: data.draw(st.integers(0, len(whole) - 1))]
    assert isinstance(parse(cut), Malformed)


@steady
@given(st.lists(st.binary(max_size=30).map(lambda line: line.replace(b"\n", b"")), max_size=8),
       st.lists(st.integers(1, 40), min_size=1, max_size=8))  # fmt: skip
def test_lines_come_out_as_they_went_in(lines: list[bytes], sizes: list[int]) -> None:
    stream = b"".join(line + b"\n" for line in lines)
    found: list[bytes | Malformed] = []
    splitter, at = LineSplitter(1_000), 0
    while at < len(stream):
        size = sizes[at % len(sizes)]
        found += splitter.feed(stream[at : at + size])
        at += size
    assert found == lines
    assert splitter.flush() is None


@steady
@given(st.binary(max_size=200), st.integers(1, 50))
def test_any_bytes_give_the_same_events_however_they_are_cut(stream: bytes, size: int) -> None:
    whole = list(SseParser(1_000).feed(stream))
    parser = SseParser(1_000)
    pieces = [stream[at : at + size] for at in range(0, len(stream), size)]
    assert [event for piece in pieces for event in parser.feed(piece)] == whole


def test_20000_mutated_frames_are_messages() -> None:
    for data in Mutator(1).frames(20_000, [1, 2, 3]):
        judge(data, parse(data))


@pytest.mark.soak
@pytest.mark.timeout(1_800)
def test_1000000_mutated_frames_are_messages() -> None:
    faulthandler.cancel_dump_traceback_later()  # it takes minutes by design
    for data in Mutator(2).frames(1_000_000, [1, 2, 3]):
        judge(data, parse(data))
