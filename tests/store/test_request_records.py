"""A request with all that belongs to it, found by the links that its events carry."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from mcplens import events
from mcplens.bus import Bus, Publisher
from mcplens.clock import ManualClock
from mcplens.protocol.frames import encode_notification, encode_request, encode_result
from mcplens.store import request_records
from mcplens.store.filters import Filter, SeqRanges
from mcplens.store.har import export_har
from mcplens.store.history import Entry, History, RequestRecord
from mcplens.store.recorder import Recorder
from tests.store.samples import call, received, sent

ASKED = encode_request(1, "tools/call", {})
ANSWER = encode_result(1, {"content": []})
WHOLE = ["HttpRequestSent", "HttpResponseReceived", "HttpBytesReceived", "HttpExchangeEnded"]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "recording.sqlite3"


@pytest.fixture
def bus() -> Bus:
    return Bus(ManualClock())


@contextmanager
def recorded(bus: Bus, path: Path) -> Iterator[Publisher]:
    with Recorder(bus, path):
        yield Publisher(bus, "server")


def exchange_of(path: Path, bus: Bus, seq: int) -> RequestRecord:
    with History(path) as history:
        found = history.request_record(bus.run_id, seq)
    assert found is not None
    return found


def kinds(entries: list[Entry]) -> list[str]:
    return [entry.kind for entry in entries]


def start(publish: Publisher, raw: bytes = ASKED, **links: Any) -> int:
    """A request of ours begins."""
    seq = publish(sent(raw, **links))
    publish(events.RequestStarted(request_id=1, method="tools/call", request_seq=seq))
    return seq


def end(publish: Publisher, seq: int, status: str = "completed") -> None:
    publish(
        events.RequestEnded(
            request_id=1,
            method="tools/call",
            status=status,
            elapsed_s=0.1,
            request_seq=seq,
            purpose="call",
        )
    )


def answer(publish: Publisher, seq: int, **links: Any) -> None:
    publish(received(ANSWER, request_seq=seq, method="tools/call", **links))
    end(publish, seq)


def begin_http(
    publish: Publisher, exchange_id: int, method: str = "POST", body: bytes = b""
) -> None:
    publish(
        events.HttpRequestSent(
            exchange_id=exchange_id, method=method, url="http://h/", headers=[], body=body
        )
    )


def respond(publish: Publisher, exchange_id: int) -> None:
    publish(
        events.HttpResponseReceived(
            exchange_id=exchange_id, status=200, reason="OK", headers=[], elapsed_s=0.1
        )
    )


def stream(publish: Publisher, exchange_id: int, data: bytes) -> None:
    publish(events.HttpBytesReceived(exchange_id=exchange_id, data=data))


def end_http(publish: Publisher, exchange_id: int, body: bytes = b"") -> None:
    publish(events.HttpExchangeEnded(exchange_id=exchange_id, elapsed_s=0.2, body=body))


def ask(publish: Publisher, question: str, cause: int | None, **links: Any) -> int:
    """The server asks, and is answered; the same id each time, as some servers do."""
    seq = publish(received(encode_request(1, question), caused_by_seq=cause, **links))
    publish(
        events.ServerRequestReceived(
            request_id=1, method=question, request_seq=seq, caused_by_seq=cause, call_id=None
        )
    )
    publish(sent(encode_result(1, {}), request_seq=seq, method=question))
    publish(
        events.ServerRequestEnded(
            request_id=1, method=question, outcome="answered", request_seq=seq
        )
    )
    return seq


def test_it_is_found_from_any_of_its_events(bus: Bus, path: Path) -> None:
    with recorded(bus, path):
        seqs = [call(bus, number) for number in range(600)]
    first = seqs[299]
    for seq in range(first, first + 4):
        exchange = exchange_of(path, bus, seq)
        assert kinds(exchange.entries) == [
            "FrameSent", "RequestStarted", "FrameReceived", "RequestEnded",
        ]  # fmt: skip
        assert (exchange.request_id, exchange.method, exchange.is_ours) == (299, "tools/call", True)
        assert [entry.seq for entry in exchange.entries] == list(range(first, first + 4))
        assert not exchange.is_cut


def test_an_event_that_is_about_no_request_belongs_to_none(bus: Bus, path: Path) -> None:
    with recorded(bus, path) as publish:
        publish(events.Remark(message="x"))
        publish(sent(encode_notification("notifications/x")))
        publish(received(ANSWER))
    with History(path) as history:
        assert [history.request_record(bus.run_id, seq) for seq in (1, 2, 3, 10**9)] == [None] * 4


def test_questions_stand_beneath_the_request_that_caused_them(bus: Bus, path: Path) -> None:
    with recorded(bus, path) as publish:
        seq = start(publish)
        ask(publish, "roots/list", None)
        sampling = ask(publish, "sampling/createMessage", seq)
        publish(
            events.ProgressReceived(request_id=1, progress=0.5, request_seq=seq, frame_seq=None)
        )
        ask(publish, "elicitation/create", sampling)
        last = ask(publish, "elicitation/create", seq)
        answer(publish, seq)
        call(bus, 2)
    exchange = exchange_of(path, bus, seq)
    assert kinds(exchange.entries) == [
        "FrameSent", "RequestStarted", "ProgressReceived", "FrameReceived", "RequestEnded",
    ]  # fmt: skip
    caused = [(inner.method, inner.is_ours) for inner in exchange.caused]
    assert caused == [("sampling/createMessage", False), ("elicitation/create", False)]
    assert kinds(exchange.caused[1].entries) == [
        "FrameReceived", "ServerRequestReceived", "FrameSent", "ServerRequestEnded",
    ]  # fmt: skip
    assert exchange.caused[1].entries[0].seq == last
    assert [inner.method for inner in exchange.caused[0].caused] == ["elicitation/create"]


def test_a_question_to_a_person_is_opened_and_closed_within_its_request(
    bus: Bus, path: Path
) -> None:
    with recorded(bus, path) as publish:
        seq = start(publish)
        opened = publish(
            events.QuestionOpened(
                question_id="q1",
                method="elicitation/create",
                request_seq=None,
                caused_by_seq=seq,
                call_id="c1",
                origin="input_required",
            )
        )
        for kind in (events.RequestPaused, events.RequestResumed):
            publish(
                kind(request_ids=[1], question_id="q1", request_seqs=[seq], question_seq=opened)
            )
        publish(
            events.QuestionClosed(
                question_id="q1",
                method="elicitation/create",
                outcome="answered",
                opened_seq=opened,
            )
        )
        answer(publish, seq)
    assert kinds(exchange_of(path, bus, seq).entries)[2:6] == [
        "QuestionOpened", "RequestPaused", "RequestResumed", "QuestionClosed",
    ]  # fmt: skip


def test_equal_requests_have_each_their_own_http_side(bus: Bus, path: Path) -> None:
    with recorded(bus, path) as publish:
        first = start(publish, exchange_id=7)
        second = start(publish, exchange_id=8)
        for exchange_id in (8, 7):
            begin_http(publish, exchange_id, body=ASKED)
        for exchange_id, seq in ((8, second), (7, first)):
            respond(publish, exchange_id)
            stream(publish, exchange_id, b"data: " + ANSWER + b"\n\n")
            answer(publish, seq, exchange_id=exchange_id)
        end_http(publish, 7)
        end_http(publish, 8)
    for seq, exchange_id in ((first, 7), (second, 8)):
        exchange = exchange_of(path, bus, seq)
        assert kinds(exchange.http) == WHOLE
        assert {entry.exchange_id for entry in exchange.http} == {exchange_id}


def test_a_request_that_was_sent_again_has_both_exchanges(bus: Bus, path: Path) -> None:
    with recorded(bus, path) as publish:
        seq = start(publish, exchange_id=1)
        begin_http(publish, 1, body=ASKED)
        end_http(publish, 1)
        again = publish(sent(ASKED, exchange_id=2, request_seq=seq))
        begin_http(publish, 2, body=ASKED)
        answer(publish, seq, exchange_id=2)
        end_http(publish, 2)
    for place in (seq, again):
        exchange = exchange_of(path, bus, place)
        assert [entry.exchange_id for entry in exchange.http] == [1, 1, 2, 2]
        assert [entry.seq for entry in exchange.entries if entry.kind == "FrameSent"] == [
            seq, again,
        ]  # fmt: skip


@pytest.mark.parametrize("is_before", [True, False])
def test_of_a_stream_that_brought_the_reply_only_the_head_is_shown(
    bus: Bus, path: Path, is_before: bool
) -> None:
    with recorded(bus, path) as publish:
        if is_before:
            begin_http(publish, 1, "GET")
            respond(publish, 1)
        stream(publish, 1, b": hello\n\n")
        for number in range(2, 300):
            call(bus, number)
        seq = start(publish, exchange_id=2)
        begin_http(publish, 2, body=ASKED)
        end_http(publish, 2)
        if not is_before:  # the stream of the answer was cut, and resumed
            begin_http(publish, 1, "GET")
            respond(publish, 1)
        stream(publish, 1, b"data: " + ANSWER + b"\n\n")
        answer(publish, seq, exchange_id=1)
        stream(publish, 1, b": more\n\n")
    http = [(entry.exchange_id, entry.kind) for entry in exchange_of(path, bus, seq).http]
    head = [(1, "HttpRequestSent"), (1, "HttpResponseReceived")]
    own = [(2, "HttpRequestSent"), (2, "HttpExchangeEnded")]
    assert http == (head + own if is_before else own + head)


def test_a_late_reply_still_belongs_to_its_request(bus: Bus, path: Path) -> None:
    with recorded(bus, path) as publish:
        seq = start(publish)
        end(publish, seq, "error")
        for number in range(2, 600):
            call(bus, number)
        publish(received(ANSWER, request_seq=seq, method="tools/call"))
    assert kinds(exchange_of(path, bus, seq).entries) == [
        "FrameSent", "RequestStarted", "RequestEnded", "FrameReceived",
    ]  # fmt: skip


@pytest.mark.parametrize("is_ended", [True, False])
def test_the_search_ends_though_nothing_says_that_the_request_did(
    bus: Bus, path: Path, monkeypatch: pytest.MonkeyPatch, is_ended: bool
) -> None:
    monkeypatch.setattr(request_records, "MOST_EVENTS", 1_000)
    monkeypatch.setattr(request_records, "AFTERMATH_EVENTS", 100)
    with recorded(bus, path) as publish:
        seq = start(publish)
        if is_ended:
            answer(publish, seq)
        for number in range(2, 1_000):
            call(bus, number)
        publish(received(ANSWER, request_seq=seq, method="tools/call"))
    looked_at = 0

    class Counting(History):
        def scan(self, *args: Any, **options: Any) -> Iterator[Any]:
            nonlocal looked_at
            for found in super().scan(*args, **options):
                looked_at += 1
                yield found

    with Counting(path) as history:
        exchange = history.request_record(bus.run_id, seq)
    assert exchange is not None
    assert exchange.is_cut is not is_ended
    assert len(exchange.entries) == (4 if is_ended else 2)
    assert looked_at <= (120 if is_ended else 1_010)


def test_links_that_lead_to_what_is_not_recorded_are_left_out(bus: Bus, path: Path) -> None:
    with recorded(bus, path) as publish:
        # As of a run whose beginning was forgotten, or that was exported in part.
        answer(publish, 1_000_000, exchange_id=99)
        question = publish(
            events.ServerRequestEnded(
                request_id=5, method="roots/list", outcome="answered", request_seq=1_000_001
            )
        )
    with History(path) as history:
        assert history.request_record(bus.run_id, 1_000_000) is None
        forgotten = history.request_record(bus.run_id, 1)
        assert history.request_record(bus.run_id, question) is not None
    # Links lead back: what claims to belong to a later event is not looked for.
    assert forgotten is not None
    assert (forgotten.entries, forgotten.http) == ([], [])


def test_what_is_left_of_a_request_is_shown_without_its_frame(bus: Bus, path: Path) -> None:
    with recorded(bus, path) as publish:
        publish(events.Remark(message="in place of the frame"))
        answer(publish, 1, exchange_id=99)
    exchange = exchange_of(path, bus, 3)
    assert (exchange.request_seq, exchange.method, exchange.request_id) == (1, "tools/call", 1)
    assert exchange.is_ours
    assert kinds(exchange.entries) == ["FrameReceived", "RequestEnded"]
    assert exchange.http == []


def har_of(path: Path, seqs: list[int]) -> list[dict[str, Any]]:
    file = io.BytesIO()
    with History(path) as history:
        bounds = [bound for seq in seqs for bound in (seq, seq)]
        export_har(history, file, Filter(seqs=SeqRanges(bounds)))
    entries: list[dict[str, Any]] = json.loads(file.getvalue())["log"]["entries"]
    return entries


def test_of_equal_messages_the_exchange_that_carried_the_chosen_one_is_exported(
    bus: Bus, path: Path
) -> None:
    with recorded(bus, path) as publish:
        frames = [publish(sent(ASKED, exchange_id=number)) for number in range(1, 201)]
        for number in range(200, 0, -1):
            begin_http(publish, number, body=ASKED)
        for number in range(1, 201):
            end_http(publish, number, b"%d" % number)
    found = har_of(path, [frames[4], frames[99]])
    assert [entry["response"]["content"]["text"] for entry in found] == ["5", "100"]
    assert har_of(path, [10**6]) == []
