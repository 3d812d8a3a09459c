"""Traces as tables of calls: what belongs to a call, what is the same call, which is nearest."""

import json
from pathlib import Path
from typing import Any

import pytest

from mcplens.mocking import RecordedServer, RecordingUnclear, read_trace_file
from mcplens.mocking.recorded_calls import describe
from mcplens.store.trace import BrokenLine
from tests.mocking.traces import Trace, mask


def texts(recording: RecordedServer, method: str, params: Any) -> list[str]:
    places = recording.find(method, params)[1]
    replies = [json.loads(recording.load(place).reply or b"{}") for place in places]
    return [reply["result"]["content"][0]["text"] for reply in replies]


def tool(name: str, arguments: Any, **more: Any) -> dict[str, Any]:
    return {"name": name, "arguments": arguments, **more}


def test_the_same_call_is_found_whatever_its_keys_numbers_and_envelope_look_like(
    tmp_path: Path,
) -> None:
    trace = Trace()
    trace.call(1, "add", {"a": 1, "b": 2.0}, "first")
    trace.call(2, "add", {"b": 2, "a": 1}, "second")
    trace.call(3, "now", {}, "noon")
    meta = {"progressToken": 7, "io.modelcontextprotocol/protocolVersion": "2026-07-28"}
    with read_trace_file(trace.write(tmp_path)) as found:
        given = tool("add", {"b": 2, "a": 1.0}, _meta=meta)
        assert texts(found, "tools/call", given) == ["first", "second"]
        assert texts(found, "tools/call", {"name": "now"}) == ["noon"]
        assert texts(found, "tools/call", tool("add", {"a": 1, "b": "2"})) == []
        odd = tool("add", {"a": 10**30, "b": "\ud800", "c": 1e400})
        assert texts(found, "tools/call", odd) == []
        assert found.nearest("tools/call", odd) is not None
        near = found.nearest("tools/call", tool("add", {"a": 1, "b": 3}))
        assert near is not None
        assert describe(near) == 'tools/call {"arguments":{"a":1,"b":2.0},"name":"add"}'


@pytest.mark.parametrize("version", [1, 2])
def test_a_call_has_its_notifications_questions_and_answers_and_what_follows(
    tmp_path: Path, version: int
) -> None:
    trace = Trace(version)
    params = tool("ask", {}, _meta={"progressToken": "p"})
    asked = trace.request(1, "tools/call", params)
    progress = {"method": "notifications/progress", "params": {"progressToken": "p", "progress": 1}}
    trace.frame("FrameReceived", progress, after_s=0.5, request_seq=asked)
    question = {"id": "q", "method": "roots/list"}
    trace.frame("FrameReceived", question, after_s=0.25, caused_by_seq=asked)
    trace.frame("FrameSent", {"id": "q", "result": {"roots": []}}, after_s=3.0)
    trace.reply(1, {"content": []}, after_s=1.0)
    trace.frame("FrameReceived", {"method": "notifications/tools/list_changed"}, after_s=2.0)
    trace.request(2, "tools/list")
    with read_trace_file(trace.write(tmp_path)) as found:
        call, unanswered = found.calls()
    assert [(step.kind, step.after_s) for step in call.steps] == [
        ("notification", 0.5), ("question", 0.25), ("answer", 3.0),
    ]  # fmt: skip
    assert call.reply_after_s == 1.0
    assert [(step.kind, step.after_s) for step in call.trailing] == [("notification", 2.0)]
    assert (unanswered.method, unanswered.reply) == ("tools/list", None)


def test_a_masked_value_equals_every_value_of_its_kind(tmp_path: Path) -> None:
    trace = Trace()
    arguments = {"user": "ada", "password": "*****", "note": "it is *** here", "pin": 9999}
    message = {"id": 1, "method": "tools/call", "params": tool("log-in", arguments)}
    marks = [
        *mask(message, "*****", "password"), *mask(message, "*** here", None)[:1],
        *mask(message, "9999", "pin"),
    ]  # fmt: skip
    marks[1]["end"] -= len(" here")
    trace.request(1, "tools/call", tool("log-in", arguments), masked=marks)
    trace.reply(1, {"content": [{"type": "text", "text": "welcome"}]})
    with read_trace_file(trace.write(tmp_path)) as found:

        def found_with(**changes: Any) -> list[str]:
            given = {"user": "ada", "password": "x", "note": "it is xyz here", "pin": 1}
            return texts(found, "tools/call", tool("log-in", given | changes))

        assert found_with() == ["welcome"]
        assert found_with(user="bob") == []
        assert found_with(password=5) == []
        assert found_with(note="it was there") == []
        assert found_with(pin="1") == []


def test_a_trace_that_was_cut_off_has_the_calls_before_and_says_so(tmp_path: Path) -> None:
    trace = Trace()
    trace.call(1, "a", {}, "whole")
    trace.call(2, "b", {}, "cut")
    broken: list[BrokenLine] = []
    with read_trace_file(trace.write(tmp_path, cut=True), broken=broken) as found:
        assert texts(found, "tools/call", {"name": "a"}) == ["whole"]
        assert [call.reply is None for call in found.calls()] == [False, True]
    assert [line.reason for line in broken] == ["cut off"]


def test_odd_messages_and_marks_in_a_trace_do_no_harm(tmp_path: Path) -> None:
    trace = Trace()
    spans = [(None, None), (-3, 2), (5, 9_999), (9, 5)]
    odd = [{"field": "message", "start": start, "end": end} for start, end in spans]
    trace.call(1, "a", {}, "one", masked=odd)
    trace.frame("FrameSent", {"id": 2, "method": "\ud800"})
    trace.frame("FrameSent", {"id": 10**30, "method": "x"})
    trace.frame("FrameReceived", {"id": 77, "result": {}})
    trace.call(3, "b", {}, "two")
    with read_trace_file(trace.write(tmp_path)) as found:
        assert texts(found, "tools/call", {"name": "a"}) == ["one"]
        assert texts(found, "tools/call", {"name": "b"}) == ["two"]


def test_equal_calls_are_not_copied_for_each_request(tmp_path: Path) -> None:
    trace = Trace()
    for number in range(3):
        trace.call(number, "a", {}, "one")
    with read_trace_file(trace.write(tmp_path)) as found:
        _, places = found.find("tools/call", {"name": "a"})
        assert (len(places), found.find("tools/call", {"name": "a"})[1] is places) == (3, True)


def test_messages_of_runs_that_will_not_be_served_are_not_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept: list[str] = []
    monkeypatch.setattr(RecordedServer, "add", lambda table, call: kept.append(table.run_id))
    trace = Trace(run_id="aaaa1111")
    trace.call(1, "x", {}, "one")
    trace.call(2, "x", {}, "two")
    for run_id in ("bbbb2222", "cccc3333"):
        trace.begin(run_id)
        for number in range(10):
            trace.call(number, "x", {}, "more")
    with pytest.raises(RecordingUnclear, match="s in run bbbb2222, s in run cccc3333"):
        read_trace_file(trace.write(tmp_path))
    assert kept == ["aaaa1111"]


def test_it_must_be_clear_which_run_and_server_is_meant(tmp_path: Path) -> None:
    trace = Trace(run_id="aaaa1111")
    trace.call(1, "x", {}, "one")
    trace.server_id = "other"
    trace.call(2, "x", {}, "two")
    trace.begin("bbbb2222")
    trace.call(3, "x", {}, "three")
    path = trace.write(tmp_path)
    choices: list[tuple[dict[str, Any], str]] = [
        ({}, "s in run aaaa1111, other in run aaaa1111, other in run bbbb2222. Choose one"),
        ({"server": "other"}, "other in run aaaa1111, other in run bbbb2222"),
        ({"server": "nobody"}, "no request to 'nobody'; servers in it: other, s"),
        ({"run": "cccc"}, "no request in run cccc"),
    ]
    for choice, words in choices:
        with pytest.raises(RecordingUnclear) as caught:
            read_trace_file(path, **choice)
        assert words in str(caught.value)
    with read_trace_file(path, run="bbbb") as found:
        assert texts(found, "tools/call", {"name": "x"}) == ["three"]
    with read_trace_file(path, server="s") as found:
        assert texts(found, "tools/call", {"name": "x"}) == ["one"]
