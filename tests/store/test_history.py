"""Reading a recording: filters, pages, text."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest

from mcplens import events
from mcplens.bus import Bus
from mcplens.clock import ManualClock
from mcplens.errors import CancelledRequest, ConfigurationError
from mcplens.store.history import Filter, History
from mcplens.store.recorder import Recorder
from tests.store.samples import BROKEN, KINDS, call, publish_all, publish_frames, received


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "recording.sqlite3"


@pytest.fixture
def bus(path: Path) -> Bus:
    """Two calls and much else, spread over two servers and 1,000 seconds; recorded at the end."""
    clock = ManualClock(0.0)
    bus = Bus(clock)
    with Recorder(bus, path, clock=clock):
        for number in range(1, 601):
            clock._now += 1.0
            call(bus, number, f"text {number}", "even" if number % 2 == 0 else "odd")
        bus.publish(received(BROKEN), "odd")
        bus.publish(received(b'{"jsonrpc":"2.0","id":9,"error":{"code":1}}'), "odd")
        publish_all(bus)
    return bus


@pytest.fixture
def history(bus: Bus, path: Path) -> Iterator[History]:
    with History(path) as history:
        yield history


@pytest.mark.parametrize(
    ("wanted", "count"),
    [
        (Filter(), 2400 + 2 + len(KINDS)),
        (Filter(server_id="even"), 1200),
        (Filter(server_id="nobody"), 0),
        (Filter(method="tools/call", kinds=frozenset({"FrameReceived"})), 601),
        (Filter(method="tools/list"), 0),
        (Filter(direction="sent"), 602),
        (Filter(direction="received", kinds=frozenset({"FrameReceived"})), 603),
        (Filter(status="malformed"), 2),
        (Filter(status="error", kinds=frozenset({"FrameReceived"})), 1),
        (Filter(status="completed"), 600),
        (Filter(status=200), 1),
        (Filter(request_id=77), 4),
        (Filter(request_id="77"), 0),
        (Filter(request_id="q"), 2),
        (Filter(since=600.0), 4 + 2 + len(KINDS)),
        (Filter(until=10.0), 40),
        (Filter(since=100.0, until=101.0), 8),
        (Filter(text="text 123"), 2),
        (Filter(text="TEXT 123"), 0),
        (Filter(text="TEXT 123", ignore_case=True), 2),
        (Filter(text="fallback to SSE"), 1),
        (Filter(text="tools/call", method="initialize"), 0),
        (Filter(kinds=frozenset()), 0),
        (Filter(run_id="another"), 0),
        (Filter(request_seq=5), 4),
        (Filter(request_seq=2397), 4),
        (Filter(request_seq=6), 0),
        (Filter(request_seq=5, kinds=frozenset({"RequestEnded"})), 1),
        (Filter(call_id="c7"), 2),
        (Filter(call_id="c1", server_id="server"), 8),
        (Filter(call_id="c0"), 0),
        (Filter(purpose="call"), 1803),
        (Filter(purpose="heartbeat"), 0),
        (Filter(exchange_id=3), 6),
        (Filter(exchange_id=300), 0),
    ],
    ids=lambda value: str(value) if isinstance(value, int) else repr(value).replace("=None", ""),
)
def test_a_filter_finds_what_it_names(history: History, wanted: Filter, count: int) -> None:
    assert len(history.events(wanted, limit=10_000)) == count


@pytest.mark.parametrize("newest_first", [False, True])
@pytest.mark.parametrize("size", [1, 7, 500])
def test_pages_follow_each_other_without_gap_or_overlap(
    history: History, newest_first: bool, size: int
) -> None:
    wanted = Filter(kinds=frozenset({"FrameSent", "Remark"}), since=500.0)
    everything = history.events(wanted, limit=10_000, newest_first=newest_first)
    place = None
    paged = []
    while True:
        page = history.events(
            wanted,
            after=None if newest_first else place,
            before=place if newest_first else None,
            newest_first=newest_first,
            limit=size,
        )
        if not page:
            break
        paged += page
        place = (page[-1].run_id, page[-1].seq)
    assert paged == everything
    seqs = [entry.seq for entry in paged]
    assert seqs == sorted(seqs, reverse=newest_first)


def test_pages_go_on_from_run_to_run(path: Path) -> None:
    for _ in range(3):
        bus = Bus(ManualClock())
        with Recorder(bus, path):
            publish_frames(bus, 5)
    with History(path) as history:
        first = history.events(limit=7)
        rest = history.events(after=(first[-1].run_id, first[-1].seq), limit=100)
        assert len({entry.run_id for entry in first}) == 2
        assert len(rest) == 8
        assert history.events(after=("nobody", 1)) == []


def test_a_reply_is_found_by_its_requests_method(history: History) -> None:
    found = history.events(Filter(method="tools/call", status="result"), limit=1)
    assert found[0].head.startswith(b'{"jsonrpc":"2.0","id":1,"result"')


def test_a_malformed_message_is_listed_with_its_reason(history: History) -> None:
    first, _ = history.events(Filter(status="malformed"))
    assert first.reason == "not valid JSON: invalid character (byte 33)"
    assert (first.request_id, first.head) == (7, BROKEN)


@pytest.mark.parametrize("text", ['say "hi"', "zwölf\n", "back\\slash", "日本"])
@pytest.mark.parametrize("is_ascii", [True, False])
def test_text_is_found_however_json_writes_it(path: Path, text: str, is_ascii: bool) -> None:
    import json

    bus = Bus(ManualClock())
    message = {"jsonrpc": "2.0", "method": "m", "params": {"text": f"before {text} after"}}
    with Recorder(bus, path):
        bus.publish(received(json.dumps(message, ensure_ascii=is_ascii).encode()), "s")
        bus.publish(events.Remark(message=f"a remark: {text}"), "s")
        bus.publish(events.Remark(message="another"), "s")
    with History(path) as history:
        assert [entry.seq for entry in history.events(Filter(text=text))] == [1, 2]
        assert len(history.events(Filter(text=text, ignore_case=True))) == 2


def test_text_across_two_messages_is_no_match(path: Path) -> None:
    bus = Bus(ManualClock())
    with Recorder(bus, path):
        publish_frames(bus, 2)
    with History(path) as history:
        assert history.events(Filter(text="FrameReceived")) == []


def test_one_event_is_read_whole(history: History, bus: Bus) -> None:
    for event in bus.kept()[::97]:
        stored = history.event(bus.run_id, event.seq)
        assert stored is not None
        assert stored.event == event
    assert history.event(bus.run_id, 999_999) is None
    assert history.event("nobody", 1) is None


def test_a_run_is_found_by_the_beginning_of_its_id(history: History, bus: Bus) -> None:
    run = history.run(bus.run_id[:5])
    assert run is not None
    assert run.run_id == bus.run_id
    assert history.run("zzz") is None
    assert history.run("") is None


def test_a_recording_that_is_not_there_is_an_error_that_says_so(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="nothing has been recorded yet"):
        History(tmp_path / "none")
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_is_no_recording_is_an_error_that_says_so(tmp_path: Path) -> None:
    file = tmp_path / "x"
    file.write_text("hello" * 1000)
    with pytest.raises(ConfigurationError, match="is damaged"):
        History(file)


def test_a_scan_may_be_left_in_its_middle(history: History) -> None:
    scan = history.scan()
    taken = list(itertools.islice(scan, 3))
    assert [row.seq for _, row in taken] == [1, 2, 3]
    history.close()
    scan.close()  # type: ignore[attr-defined]
    with pytest.raises(ConfigurationError, match="closed"):
        history.runs()


def test_a_search_can_be_called_off(history: History, path: Path) -> None:
    blocks = itertools.count()
    with History(path, lambda: next(blocks) > 5) as stopped, pytest.raises(CancelledRequest):
        list(stopped.scan(Filter(text="stands nowhere")))
    assert next(blocks) < 10
