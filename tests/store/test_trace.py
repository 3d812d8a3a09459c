"""Trace files: nothing is lost on the way out and in, and broken files are named line by line."""

from __future__ import annotations

import io
import itertools
import json
import stat
from pathlib import Path
from typing import Any

import pytest

from mcplens import events
from mcplens.bus import Bus, Publisher
from mcplens.clock import ManualClock, SystemClock
from mcplens.errors import CancelledRequest, ConfigurationError
from mcplens.protocol.frames import encode_notification, encode_request, encode_result
from mcplens.store import trace as trace_file
from mcplens.store import trace_transfer
from mcplens.store.filters import Filter
from mcplens.store.history import History
from mcplens.store.recorder import Recorder
from mcplens.store.trace_transfer import ImportResult, export_trace, import_trace
from tests.store.samples import (
    BROKEN,
    call,
    publish_all,
    publish_frames,
    received,
    sent,
    stored_events,
)


def exported(path: Path, wanted: Filter | None = None) -> bytes:
    file = io.BytesIO()
    with History(path) as history:
        export_trace(history, file, wanted)
    return file.getvalue()


def lines(data: bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in data.splitlines()]


def odd_frames(bus: Bus) -> None:
    publish = Publisher(bus, "odd")
    for raw in (
        BROKEN,
        b"",
        b"\x00\xff",
        b"plain text",
        b'[{"jsonrpc":"2.0","id":1,"result":{}}]',
        b'{"jsonrpc":"2.0","id":"\\ud800","result":{"x":"\\ud800"}}',
        b'{"jsonrpc":"2.0","id":123456789012345678901234567890,"result":1}',
        b'{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"m"}}',
        b'  {"jsonrpc":"2.0" , "id":1,"result":{ }}\t',
        '{"jsonrpc":"2.0","method":"\u2028"}'.encode(),
    ):
        publish(received(raw), len(raw))
        publish(sent(raw), len(raw))
    publish(
        events.LogReceived(
            level="info",
            logger=None,
            data={"text": "\ud800", "n": 1 << 70},
            request_seq=None,
            call_id=None,
            frame_seq=None,
        )
    )
    command = ["npx", "https://h/mcp?key=abc", "Authorization: Bearer x"]
    publish(events.ProcessStarted(pid=5, argv=command, cwd=None, env_names=[]))
    error = {"code": "SERVER_EXITED", "details": {"command": command}}
    publish(events.StateChanged(old="a", new="b", transition="c", error=error))


def test_export_import_export_is_the_same_byte_for_byte(bus: Bus, tmp_path: Path) -> None:
    first, second, trace = tmp_path / "a", tmp_path / "b", tmp_path / "trace.jsonl"
    with Recorder(bus, first, title="ünïcode", version="0.1"):
        publish_all(bus)
        odd_frames(bus)
        for number in range(100):
            call(bus, number)
    other = Bus(SystemClock())
    with Recorder(other, first):
        publish_frames(other, 10)
    trace.write_bytes(exported(first))
    imported = import_trace(trace, second)
    assert imported == ImportResult(
        [bus.run_id, other.run_id], bus.last_seq + other.last_seq, 0, []
    )
    assert exported(second) == trace.read_bytes()
    assert stored_events(second) == stored_events(first)
    with History(first) as one, History(second) as two:
        titles = [(run.run_id, run.title, run.version, run.started) for run in one.runs()]
        assert [(run.run_id, run.title, run.version, run.started) for run in two.runs()] == titles


def test_a_live_trace_is_what_an_export_of_the_same_run_is(bus: Bus, tmp_path: Path) -> None:
    path, trace = tmp_path / "recording", tmp_path / "trace.jsonl"
    with Recorder(bus, path, trace=trace, title="t"):
        publish_all(bus)
        odd_frames(bus)
    assert trace.read_bytes() == exported(path)


def test_a_trace_can_be_written_without_a_recording(bus: Bus, tmp_path: Path) -> None:
    trace = tmp_path / "trace.jsonl"
    with Recorder(bus, None, trace=trace):
        publish_frames(bus, 3)
    assert [file.name for file in tmp_path.iterdir()] == ["trace.jsonl"]
    header, run, *frames = lines(trace.read_bytes())
    assert header == {"format": "mcplens-trace", "version": 2}
    assert (run["type"], run["run_id"]) == ("Run", bus.run_id)
    assert [frame["seq"] for frame in frames] == [1, 2, 3]


def test_a_trace_that_cannot_be_written_is_told_and_the_recording_goes_on(
    bus: Bus, tmp_path: Path
) -> None:
    path, said = tmp_path / "recording", list[str]()
    with Recorder(bus, path, trace=tmp_path / "no" / "where", warn=said.append):
        publish_frames(bus, 3)
    assert said == [f"not recorded: {tmp_path}/no/where: no such file or directory"]
    assert len(stored_events(path)) == 3


def test_text_stands_as_text_and_other_bytes_as_base64(bus: Bus, tmp_path: Path) -> None:
    trace = tmp_path / "trace.jsonl"
    reply = encode_result(1, {"text": "grüße"})
    with Recorder(bus, None, trace=trace):
        for raw in (reply, BROKEN):
            bus.publish(received(raw), "s", len(raw))
        bus.publish(events.StderrLine(pid=5, data=b"\xe4", request_seq=None), "s")
    _, _, good, broken, stderr = lines(trace.read_bytes())
    assert good["message"] == {"kind": "result", "id": 1, "raw": reply.decode()}
    assert set(broken["message"]) == {"kind", "id", "raw_base64", "reason", "ids", "is_reply_like"}
    assert (stderr["pid"], stderr["data_base64"]) == (5, "5A==")


def test_an_export_can_be_narrowed(bus: Bus, tmp_path: Path) -> None:
    path = tmp_path / "recording"
    with Recorder(bus, path):
        call(bus, 1, server_id="a")
        call(bus, 2, server_id="b")
    found = lines(exported(path, Filter(server_id="b")))
    assert [line.get("server_id") for line in found] == [None, None, "b", "b", "b", "b"]


def test_importing_twice_adds_nothing(bus: Bus, tmp_path: Path) -> None:
    path, trace = tmp_path / "recording", tmp_path / "trace.jsonl"
    with Recorder(bus, None, trace=trace):
        publish_frames(bus, 2500)
    assert import_trace(trace, path).event_count == 2500
    again = import_trace(trace, path)
    assert (again.event_count, again.known_count) == (0, 2500)
    assert len(stored_events(path)) == 2500


def test_the_rest_of_a_trace_is_added_to_what_was_imported_before(bus: Bus, tmp_path: Path) -> None:
    path, trace, half = tmp_path / "recording", tmp_path / "trace", tmp_path / "half"
    with Recorder(bus, None, trace=trace):
        publish_frames(bus, 100)
    half.write_bytes(b"".join(trace.read_bytes().splitlines(keepends=True)[:52]))
    assert import_trace(half, path).event_count == 50
    rest = import_trace(trace, path)
    assert (rest.event_count, rest.known_count) == (50, 50)
    assert stored_events(path) == bus.kept()


def test_a_cut_last_line_is_told_and_the_rest_is_read(bus: Bus, tmp_path: Path) -> None:
    path, trace = tmp_path / "recording", tmp_path / "trace"
    with Recorder(bus, None, trace=trace):
        publish_frames(bus, 5)
    trace.write_bytes(trace.read_bytes()[:-20])
    imported = import_trace(trace, path)
    assert imported.event_count == 4
    (broken,) = imported.broken
    assert (broken.line, broken.reason, broken.is_cut) == (7, "cut off", True)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"not json", "Expecting value"),
        (b"[1,2]", "not a JSON object"),
        (b'{"type":"Nonsense"}', "the type 'Nonsense' is not known"),
        (b'{"type":"Remark","run_id":"r","seq":1}', "'wall' is missing"),
        (
            b'{"type":"Remark","run_id":"r","seq":1,"wall":1,"mono":1,"server_id":"s"}',
            "fields of Remark are missing",
        ),
        (
            b'{"type":"Remark","run_id":"r","seq":0,"wall":1,"mono":1,"server_id":"s"}',
            "seq a number of at least 1",
        ),
        (
            b'{"type":"Remark","run_id":"r","seq":1099511627776,"wall":1,"mono":1,"server_id":"s"}',
            "seq must be 1099511627775 at most",
        ),
        (
            b'{"type":"Remark","run_id":"r","seq":1,"wall":NaN,"mono":1,"server_id":"s"}',
            "wall and mono must be numbers",
        ),
        (b'{"type":"Run"}', "missing required field"),
        (b"\xff\xfe", "can't decode byte 0xff"),
        (b'{"type":"FrameSent","run_id":"r","seq":1,"wall":1,"mono":1,"server_id":"s"}', "message"),
        (
            b'{"type":"StderrLine","run_id":"r","seq":1,"wall":1,"mono":1,"server_id":"s","pid":1,'
            b'"data_base64":"?"}',
            "",
        ),
    ],
)
def test_a_broken_line_is_named_with_its_number_and_the_rest_is_read(
    bus: Bus, tmp_path: Path, line: bytes, reason: str
) -> None:
    path, trace = tmp_path / "recording", tmp_path / "trace"
    with Recorder(bus, None, trace=trace):
        publish_frames(bus, 5)
    good = trace.read_bytes().splitlines(keepends=True)
    trace.write_bytes(b"".join([*good[:4], line + b"\n", b"\n", *good[4:]]))
    imported = import_trace(trace, path)
    assert imported.event_count == 5
    (broken,) = imported.broken
    assert (broken.line, broken.is_cut) == (5, False)
    assert reason in broken.reason


def test_of_many_broken_lines_the_first_are_told_and_all_are_counted(tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    unknown = b'{"type":"' + b"x" * 10_000 + b'"}\n'
    trace.write_bytes(b'{"format":"mcplens-trace","version":2}\n' + unknown + b"broken\n" * 5_000)
    imported = import_trace(trace, tmp_path / "recording")
    assert (len(imported.broken), imported.broken_count) == (100, 5_001)
    assert len(imported.broken[0].reason) == 200
    assert imported.broken[-1].line == 101


def test_a_line_that_is_too_long_is_broken_and_the_rest_is_read(
    bus: Bus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trace_file, "MOST_LINE_BYTES", 2_000)
    path, trace = tmp_path / "recording", tmp_path / "trace"
    with Recorder(bus, None, trace=trace):
        publish_frames(bus, 5)
    good = trace.read_bytes().splitlines(keepends=True)
    for size in (2_000, 2_001, 9_999):
        trace.write_bytes(b"".join([*good[:4], b"x" * size + b"\n", *good[4:], b"y" * size]))
        imported = import_trace(trace, path)
        assert imported.event_count + imported.known_count == 5
        assert [one.line for one in imported.broken] == [5, len(good) + 2]
        assert "longer than" in imported.broken[0].reason


def test_links_stand_as_fields_and_are_left_out_where_there_are_none(
    bus: Bus, tmp_path: Path
) -> None:
    trace = tmp_path / "trace"
    asked, answer = encode_request(1, "tools/call"), encode_result(1, {})
    links = {"exchange_id": 4, "call_id": "c1", "purpose": "call"}
    with Recorder(bus, None, trace=trace):
        seq = bus.publish(sent(asked, **links), "s")
        bus.publish(received(answer, request_seq=seq, method="tools/call", **links), "s")
        bus.publish(received(encode_notification("n")), "s")
    _, _, *frames = lines(trace.read_bytes())
    shared = {"type", "run_id", "seq", "wall", "mono", "server_id", "message", "size_bytes"}
    told = [{name: line[name] for name in line if name not in shared} for line in frames]
    assert told == [links, {"method": "tools/call", "request_seq": seq} | links, {}]


def test_the_inbound_request_of_a_message_is_recorded_and_traced(bus: Bus, tmp_path: Path) -> None:
    path, trace, again = tmp_path / "recording", tmp_path / "trace", tmp_path / "again"
    with Recorder(bus, path, trace=trace):
        bus.publish(sent(encode_request(1, "tools/call"), inbound_seq=17, purpose="call"), "s")
    assert lines(trace.read_bytes())[-1]["inbound_seq"] == 17
    import_trace(trace, again)
    for recording in (path, again):
        (event,) = stored_events(recording)
        assert isinstance(event, events.FrameSent)
        assert (event.inbound_seq, event.purpose) == (17, "call")
    assert stored_events(again) == bus.kept()


def test_a_trace_of_version_1_loads_without_links(tmp_path: Path) -> None:
    place = {"run_id": "r", "wall": 5, "mono": 0, "server_id": "s"}
    request = {"kind": "request", "id": 1, "method": "m", "raw": '{"jsonrpc":"2.0","id":1}'}
    trace = tmp_path / "trace"
    old = [
        {"format": "mcplens-trace", "version": 1},
        {"type": "FrameSent", "seq": 1, "message": request, "size_bytes": 24} | place,
        {"type": "StderrLine", "seq": 2, "pid": 1, "data": "x"} | place,
        {"type": "ServerRequestReceived", "seq": 3, "request_id": 1, "method": "m",
         "caused_by": 7} | place,
        {"type": "RequestPaused", "seq": 4, "request_ids": [1], "question_id": 2} | place,
    ]  # fmt: skip
    trace.write_text("\n".join(json.dumps(line) for line in old))
    imported = import_trace(trace, tmp_path / "recording")
    assert (imported.event_count, imported.broken) == (4, [])
    frame, stderr, question, paused = stored_events(tmp_path / "recording")
    assert isinstance(frame, events.FrameSent)
    assert (frame.method, frame.exchange_id, frame.call_id) == ("m", None, None)
    assert isinstance(stderr, events.StderrLine)
    assert stderr.request_seq is None
    assert isinstance(question, events.ServerRequestReceived)
    assert (question.request_seq, question.caused_by_seq) == (None, None)
    assert isinstance(paused, events.RequestPaused)
    assert (paused.request_seqs, paused.question_seq) == ([], None)


@pytest.mark.parametrize(
    ("link", "reason"),
    [
        ('"request_seq":"1"', "request_seq must be a number"),
        ('"request_seq":[1]', "request_seq must be a number"),
        ('"exchange_id":true', "exchange_id must be a number"),
        ('"call_id":5', "call_id must be text"),
        ('"is_inferred":1', "is_inferred must be true or false"),
    ],
)
def test_a_link_that_can_lead_nowhere_is_a_broken_line(
    tmp_path: Path, link: str, reason: str
) -> None:
    trace = tmp_path / "trace"
    trace.write_text(
        '{"format":"mcplens-trace","version":2}\n{"type":"FrameSent","run_id":"r","seq":1,'
        f'"wall":1,"mono":1,"server_id":"s","message":{{"kind":"batch","raw":"[]"}},{link}}}\n'
    )
    (broken,) = import_trace(trace, tmp_path / "recording").broken
    assert reason in broken.reason


def test_a_trace_can_be_read_by_its_owner_alone(bus: Bus, tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    with Recorder(bus, None, trace=trace):
        publish_frames(bus, 1)
    assert stat.S_IMODE(trace.stat().st_mode) == 0o600


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "its first line is not"),
        (b'{"log":{}}\n', "its first line is not"),
        (b"\x00\xff binary", "its first line is not"),
        (
            b'{"format":"mcplens-trace","version":3}\n',
            "its version is 3; this mcplens reads 1 and 2",
        ),
    ],
)
def test_a_file_that_is_no_trace_is_refused(tmp_path: Path, content: bytes, reason: str) -> None:
    trace = tmp_path / "trace"
    trace.write_bytes(content)
    with pytest.raises(ConfigurationError, match=reason):
        import_trace(trace, tmp_path / "recording")
    with pytest.raises(ConfigurationError, match="no such file"):
        import_trace(tmp_path / "none", tmp_path / "recording")


def test_traces_may_be_put_one_after_the_other(tmp_path: Path) -> None:
    path, trace = tmp_path / "recording", tmp_path / "trace"
    content = b""
    for _ in range(3):
        bus = Bus(SystemClock())
        with Recorder(bus, None, trace=trace):
            publish_frames(bus, 4)
        content += trace.read_bytes()
    trace.write_bytes(content)
    imported = import_trace(trace, path)
    assert (len(imported.run_ids), imported.event_count, imported.broken) == (3, 12, [])


def test_what_was_masked_is_still_marked_after_an_import(bus: Bus, tmp_path: Path) -> None:
    path, trace = tmp_path / "recording", tmp_path / "trace"
    data = encode_notification("m", {"password": "hunter2"})
    with Recorder(bus, None, trace=trace, secret_keys=["password"]):
        bus.publish(received(data), "s")
    import_trace(trace, path)
    with History(path) as history:
        stored = history.event(bus.run_id, 1)
    assert stored is not None
    (mark,) = stored.masked
    assert isinstance(stored.event, events.FrameReceived)
    assert stored.event.message.raw[mark.start : mark.end] == b"*******"


def test_a_trace_written_by_hand_needs_no_run_line(tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    event = {"type": "Remark", "run_id": "r", "seq": 1, "wall": 5, "mono": 0, "server_id": "s",
             "message": "hello"}  # fmt: skip
    trace.write_text('{"format":"mcplens-trace","version":2}\n' + json.dumps(event))
    assert import_trace(trace, tmp_path / "recording").run_ids == ["r"]
    assert stored_events(tmp_path / "recording") == [
        events.Remark(run_id="r", seq=1, wall=5.0, mono=0.0, server_id="s", message="hello")
    ]


def test_a_time_that_stands_still_is_no_problem(tmp_path: Path) -> None:
    bus = Bus(ManualClock(5))
    with Recorder(bus, tmp_path / "recording"):
        publish_frames(bus, 600)
    assert len(lines(exported(tmp_path / "recording"))) == 602


def test_runs_that_lie_mixed_in_a_trace_are_told_apart(tmp_path: Path) -> None:
    path, trace = tmp_path / "recording", tmp_path / "trace"
    lines = ['{"format":"mcplens-trace","version":2}']
    for seq in range(1, 4):
        for run in ("", "a", "b"):
            event = {"type": "Remark", "run_id": run, "seq": seq, "wall": 5, "mono": 0}
            lines.append(json.dumps(event | {"server_id": "s" + run, "message": f"{run}{seq}"}))
    trace.write_text("\n".join(lines))
    imported = import_trace(trace, path)
    assert (imported.run_ids, imported.event_count) == (["", "a", "b"], 9)
    with History(path) as history:
        runs = {run.run_id: (run.servers, run.event_count) for run in history.runs()}
    assert runs == {"": (["s"], 3), "a": (["sa"], 3), "b": (["sb"], 3)}


def test_a_trace_of_too_many_runs_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trace_transfer, "MOST_RUNS", 3)
    trace = tmp_path / "trace"
    lines = ['{"format":"mcplens-trace","version":2}']
    lines += [json.dumps({"type": "Run", "run_id": f"r{n}", "started": 1}) for n in range(4)]
    trace.write_text("\n".join(lines))
    with pytest.raises(ConfigurationError, match="more than 3 runs"):
        import_trace(trace, tmp_path / "recording")


def test_an_import_can_be_called_off_and_what_was_read_stays(bus: Bus, tmp_path: Path) -> None:
    path, trace = tmp_path / "recording", tmp_path / "trace"
    with Recorder(bus, None, trace=trace):
        publish_frames(bus, 2500)
    lines = itertools.count()
    with pytest.raises(CancelledRequest):
        import_trace(trace, path, lambda: next(lines) > 1500)
    assert len(stored_events(path)) == 1000
    assert import_trace(trace, path).event_count == 1500
