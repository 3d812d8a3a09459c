"""Server-sent events by the HTML standard, however the stream is cut."""

from __future__ import annotations

import random
from collections.abc import Iterable

import pytest

from mcplens.protocol.sse import SseEvent, SseParser

LIMIT = 1_000_000


def events(chunks: Iterable[bytes], limit_bytes: int = LIMIT) -> list[SseEvent]:
    parser = SseParser(limit_bytes)
    return [event for chunk in chunks for event in parser.feed(chunk)]


def data_of(stream: bytes) -> list[bytes]:
    return [event.data for event in events([stream])]


STREAM = (
    b"\xef\xbb\xbf: hello\n"
    b"event: message\nid: 1\ndata: one\n\n"
    b"data:two\ndata: more\n\n"
    b"id: 3\nretry: 250\n\n"
    b"event: endpoint\ndata:  /x?a=b:c\n\n"
    b"data\n\n"
)
EXPECTED = [
    SseEvent(b"one", "message", "1"),
    SseEvent(b"two\nmore"),
    SseEvent(b"", "message", "3", 250),
    SseEvent(b" /x?a=b:c", "endpoint"),
    SseEvent(b""),
]


@pytest.mark.parametrize("newline", [b"\n", b"\r\n", b"\r"])
def test_events_are_the_same_with_every_newline_cut_at_every_place(newline: bytes) -> None:
    stream = STREAM.replace(b"\n", newline)
    assert events([stream]) == EXPECTED
    assert events(bytes([byte]) for byte in stream) == EXPECTED
    for at in range(len(stream)):
        assert events([stream[:at], stream[at:]]) == EXPECTED
        assert events([stream[:at], b"", stream[at:]]) == EXPECTED


def test_newlines_may_be_mixed_and_cut_anywhere() -> None:
    chance = random.Random(7)
    for _ in range(500):
        parts = STREAM.split(b"\n")
        stream = parts[0]
        for part in parts[1:]:
            # "\r" and then "\n" would be one newline, not two.
            endings = [b"\n", b"\r\n", b"\r"] if not stream.endswith(b"\r") else [b"\r\n", b"\r"]
            stream += chance.choice(endings) + part
        cuts = sorted(chance.sample(range(len(stream) + 1), 6))
        chunks = [stream[a:b] for a, b in zip([0, *cuts], [*cuts, len(stream)], strict=True)]
        assert events(chunks) == EXPECTED


def test_a_blank_line_right_after_a_split_crlf_still_ends_the_event() -> None:
    assert events([b"data: x\r", b"\n", b"\n"]) == [SseEvent(b"x")]


def test_comments_and_unknown_fields_are_passed_over() -> None:
    assert data_of(b": ping\n\n:\n\nfoo: bar\nnonsense\ndata: x\n\n") == [b"x"]


def test_only_one_space_after_the_colon_is_taken_away() -> None:
    assert data_of(b"data:x\n\ndata: x\n\ndata:  x\n\ndata: a: b\n\n") == [
        b"x",
        b"x",
        b" x",
        b"a: b",
    ]


def test_a_byte_order_mark_counts_only_at_the_very_start() -> None:
    assert data_of(b"\xef\xbb\xbfdata: x\n\n\xef\xbb\xbfdata: y\n\n") == [b"x"]


def test_an_id_with_a_nul_is_ignored_and_an_empty_one_is_an_id() -> None:
    assert events([b"id: a\0b\ndata: x\n\n"]) == [SseEvent(b"x", "message", None)]
    assert events([b"id\ndata: x\n\n"]) == [SseEvent(b"x", "message", "")]


@pytest.mark.parametrize(
    ("value", "read"),
    [(b"500", 500), (b"0", 0), (b"-1", None), (b"1.5", None), (b"", None), (b"9" * 5_000, None)],
)
def test_retry_is_read_when_it_is_a_number(value: bytes, read: int | None) -> None:
    (event,) = events([b"retry: " + value + b"\ndata: x\n\n"])
    assert event.retry_ms == read


def test_an_event_without_data_is_told_only_for_its_id_or_retry() -> None:
    assert events([b"event: x\n\n\n\n"]) == []
    assert events([b"id: 9\n\n"]) == [SseEvent(b"", "message", "9")]


def test_the_name_of_an_event_does_not_stay_for_the_next() -> None:
    assert [e.event for e in events([b"event: a\ndata: x\n\ndata: y\n\n"])] == ["a", "message"]


def test_bytes_that_are_no_utf_8_stay_in_the_data() -> None:
    assert data_of(b"data: \xff\xfe\n\n") == [b"\xff\xfe"]


def test_an_event_that_was_never_finished_can_be_shown() -> None:
    parser = SseParser(LIMIT)
    assert list(parser.feed(b'data: {"a":\ndata: 1')) == []
    assert parser.has_partial_event
    assert parser.partial() == b'{"a":\ndata: 1'


def test_after_a_whole_event_nothing_is_left_over() -> None:
    parser = SseParser(LIMIT)
    assert len(list(parser.feed(b"data: x\n\n"))) == 1
    assert not parser.has_partial_event


@pytest.mark.parametrize("chunk_bytes", [1, 13, 4_096, 1_000_000])
def test_an_event_over_the_limit_is_marked_and_the_next_is_well(chunk_bytes: int) -> None:
    stream = b"id: 4\ndata: " + b"x" * 50_000 + b"\n\ndata: next\n\n"
    chunks = [stream[at : at + chunk_bytes] for at in range(0, len(stream), chunk_bytes)]
    long, following = events(chunks, 10_000)
    assert long.is_too_long
    assert long.id == "4"
    assert long.data.startswith(b"xxxx")
    assert following == SseEvent(b"next")


def test_many_data_lines_over_the_limit_are_marked_and_not_hoarded() -> None:
    parser = SseParser(10_000)
    for _ in range(1_000):
        assert list(parser.feed(b"data: " + b"x" * 1_000 + b"\n")) == []
        assert len(parser.partial()) <= 11_000
    (event,) = parser.feed(b"\n")
    assert event.is_too_long


def test_data_lines_without_end_are_marked_and_not_hoarded_even_if_empty() -> None:
    parser = SseParser(10_000)
    assert list(parser.feed(b"data:\n" * 50_000)) == []
    assert len(parser.partial()) <= 11_000
    (event,) = parser.feed(b"\n")
    assert event.is_too_long


def test_a_40_mb_event_in_small_chunks_comes_whole() -> None:
    data = b"x" * (40 * 1024 * 1024)
    stream = b"data: " + data + b"\n\n"
    chunks = (stream[at : at + 65_536] for at in range(0, len(stream), 65_536))
    assert events(chunks, 64 * 1024 * 1024) == [SseEvent(data)]
