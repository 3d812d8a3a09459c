"""`mcplens history`: every run is on record, can be searched, sent on, and sent again."""

import json
import os
from pathlib import Path

import pytest

from mcplens.bus import Bus
from mcplens.cli import exit_codes
from mcplens.clock import SystemClock
from mcplens.store import database
from mcplens.store.recorder import Recorder
from tests.cli.shell import Shell
from tests.store.samples import publish_frames

pytestmark = pytest.mark.slow


def call(shell: Shell, text: str, *extra: str) -> None:
    ran = shell.run("call", "demo", "echo", f"text={text}", *extra)
    assert (ran.code, ran.text) == (exit_codes.DONE, f"{text}\n")


def run_ids(shell: Shell) -> list[str]:
    ran = shell.run("history", "list", "--json")
    return [json.loads(line)["run_id"] for line in ran.text.splitlines()]


def test_a_run_is_on_record_and_its_frames_can_be_shown(shell: Shell) -> None:
    call(shell, "hello")
    (run_id,) = run_ids(shell)
    shown = shell.run("history", "show", run_id[:6], "--frames", "-n", "1000")
    assert shown.code == exit_codes.DONE
    assert "-> " in shown.text
    assert "<- " in shown.text


def test_without_a_command_the_newest_runs_are_listed(shell: Shell) -> None:
    call(shell, "hello")
    assert shell.run("history").text == shell.run("history", "list").text != ""


def test_text_is_found_in_what_was_sent_and_received(shell: Shell) -> None:
    call(shell, "a-needle")
    call(shell, "something-else")
    found = shell.run("history", "search", "A-NEEDLE", "-i", "--json")
    kinds = {json.loads(line)["kind"] for line in found.text.splitlines()}
    assert {"FrameSent", "FrameReceived"} <= kinds
    assert shell.run("history", "search", "never-said").text == ""


def test_a_line_of_a_search_shows_what_was_found(shell: Shell) -> None:
    call(shell, "é" * 4000 + "the-needle-at-the-end")
    found = shell.run("history", "search", "needle-at", "--method", "tools/call")
    lines = found.text.splitlines()
    assert len(lines) == 2
    assert all("…" in line and "the-needle-at-the-end" in line for line in lines)
    assert "\\x" not in found.text


def test_one_event_is_shown_byte_for_byte(shell: Shell) -> None:
    call(shell, "exact")
    found = shell.run("history", "search", '"exact"', "--method", "tools/call", "--json")
    sent = [json.loads(line) for line in found.text.splitlines()]
    (request,) = [entry for entry in sent if entry["kind"] == "FrameSent"]
    shown = shell.run("history", "show", request["run_id"], str(request["seq"]))
    message = json.loads(shown.text)
    assert message["params"]["arguments"] == {"text": "exact"}


def test_a_message_whose_file_is_gone_is_said_to_be_not_recorded(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "_OWN_LARGE_BYTES", -1)
    bus = Bus(SystemClock())
    path = shell.state / "recording.sqlite3"
    with Recorder(bus, path):
        publish_frames(bus, 1, text="x" * 100_000)
    path.with_name(f"{path.name}-bodies-1").unlink()
    size = f"{bus.kept()[0].size_bytes:,}"  # type: ignore[attr-defined]
    listed = shell.run("history", "show", bus.run_id)
    assert f"<- {size} bytes are not recorded" in listed.text
    shown = shell.run("history", "show", bus.run_id, "1")
    assert (shown.code, shown.out) == (exit_codes.DONE, b"")
    assert shown.err == f"the message of {size} bytes is not recorded\n"


def test_all_that_belongs_to_a_request_is_shown_from_any_of_its_events(shell: Shell) -> None:
    call(shell, "together")
    found = shell.run("history", "search", '"together"', "--method", "tools/call", "--json")
    request, answer = sorted(
        (json.loads(line) for line in found.text.splitlines()), key=lambda entry: entry["seq"]
    )
    run_id = request["run_id"]
    for event in (request, answer):
        shown = shell.run("history", "show", run_id, str(event["seq"]), "--related", "--json")
        related = [json.loads(line) for line in shown.text.splitlines()]
        kinds = [entry["kind"] for entry in related]
        assert kinds == ["FrameSent", "RequestStarted", "FrameReceived", "RequestEnded"]
        assert {entry["request_seq"] for entry in related} == {None, request["seq"]}
    ask = shell.run("call", "demo", "elicit-form", "--elicit", "accept", "-q")
    assert ask.code == exit_codes.DONE, ask.err
    found = shell.run("history", "search", '"inputResponses"', "--json")
    (second,) = [json.loads(line) for line in found.text.splitlines()]
    shown = shell.run(
        "history", "show", second["run_id"], str(second["seq"]), "--related", "--json"
    )
    rounds = [json.loads(line) for line in shown.text.splitlines()]
    sent = [entry for entry in rounds if entry["kind"] == "FrameSent"]
    assert [entry["method"] for entry in sent] == ["tools/call", "tools/call"]
    assert "QuestionOpened" in [entry["kind"] for entry in rounds]
    alone = shell.run("history", "show", run_id, "1", "--related")
    assert alone.code == exit_codes.USAGE
    assert "belongs to no recorded request" in alone.err
    assert "give a run" in shell.run("history", "show", "--related").err


def test_a_recorded_request_can_be_sent_again(shell: Shell) -> None:
    call(shell, "again")
    found = shell.run("history", "search", '"again"', "--method", "tools/call", "--json")
    (request,) = [
        entry
        for line in found.text.splitlines()
        if (entry := json.loads(line))["kind"] == "FrameSent"
    ]
    replayed = shell.run("history", "replay", request["run_id"], str(request["seq"]), "--json")
    assert replayed.code == exit_codes.DONE
    assert json.loads(replayed.text)["content"][0]["text"] == "again"


def test_a_trace_travels_to_another_machine(shell: Shell, tmp_path: Path) -> None:
    call(shell, "travelling")
    trace = tmp_path / "run.jsonl"
    assert shell.run("history", "export", "--output", str(trace)).code == exit_codes.DONE
    other = Shell(tmp_path / "other")
    other.home.mkdir()
    assert "1 run with" in other.run("history", "import", str(trace)).text
    assert run_ids(other) == run_ids(shell)
    again = other.run("history", "export")
    assert again.out == trace.read_bytes()


def test_the_http_side_is_exported_as_har(shell: Shell, url: str) -> None:
    assert shell.run("tools", url).code == exit_codes.DONE
    har = json.loads(shell.run("history", "export", "--har").text)
    assert har["log"]["version"] == "1.2"
    assert any(entry["request"]["url"] == url for entry in har["log"]["entries"])


def test_a_trace_file_is_written_while_it_happens_even_without_a_record(
    shell: Shell, tmp_path: Path
) -> None:
    trace = tmp_path / "live.jsonl"
    call(shell, "live", "--no-record", "--trace", str(trace))
    lines = [json.loads(line) for line in trace.read_text().splitlines()]
    assert lines[0]["format"] == "mcplens-trace"
    assert any(line.get("type") == "FrameReceived" for line in lines)
    assert shell.run("history", "list").code == exit_codes.USAGE  # nothing was recorded


def test_a_state_folder_that_cannot_be_written_is_a_warning_and_the_call_works(
    shell: Shell, tmp_path: Path
) -> None:
    blocked = tmp_path / "a-file-where-a-folder-should-be"
    blocked.write_text("")
    shell.variables["MCPLENS_STATE_DIR"] = str(blocked)
    ran = shell.run("call", "demo", "echo", "text=still")
    assert (ran.code, ran.text) == (exit_codes.DONE, "still\n")
    assert "mcplens:" in ran.err


@pytest.mark.parametrize("words", [["list"], ["show"], ["search", "x"], ["export"]])
def test_before_the_first_run_it_is_said_that_nothing_was_recorded(
    shell: Shell, words: list[str]
) -> None:
    ran = shell.run("history", *words)
    assert (ran.code, ran.text) == (exit_codes.USAGE, "")
    assert ran.err.startswith("Error: nothing has been recorded yet")


def test_a_secret_header_is_never_on_disk(shell: Shell, url: str, tmp_path: Path) -> None:
    secret = "s3cret-" + os.urandom(8).hex()
    assert shell.run("tools", url, "-H", f"Authorization: Bearer {secret}").code == exit_codes.DONE
    for path in tmp_path.rglob("*"):
        if path.is_file():
            assert secret.encode() not in path.read_bytes(), path


def _record(shell: Shell, *run_ids: str) -> None:
    for run_id in run_ids:
        bus = Bus(SystemClock())
        bus.run_id = run_id
        with Recorder(bus, shell.state / "recording.sqlite3", title=f"call of {run_id[-1]}"):
            publish_frames(bus, 1)


def test_an_id_that_no_run_has_is_told_apart_from_one_that_several_have(shell: Shell) -> None:
    _record(shell, "abcdef123401", "abcdef123402", "b")
    none = shell.run("history", "show", "zzzz")
    assert none.code == exit_codes.USAGE
    assert "no run has an id that starts with 'zzzz'" in none.err
    several = shell.run("history", "show", "abc")
    assert several.code == exit_codes.USAGE
    *_, head, second, first = several.err.splitlines()
    assert head == "Error: 2 runs have an id that starts with 'abc':"
    assert [second, first] == ["  abcdef123402  call of 2", "  abcdef123401  call of 1"]
    assert shell.run("history", "show", "abcdef123402").code == exit_codes.DONE


def test_a_list_that_stops_says_how_many_runs_are_not_in_it(shell: Shell) -> None:
    _record(shell, "a1", "b2", "c3")
    cut = shell.run("history", "list", "-n", "1")
    assert (len(cut.text.splitlines()), cut.err) == (
        1,
        "2 older runs are not shown; -n shows more\n",
    )
    whole = shell.run("history", "list", "-n", "3", "--json")
    assert (len(whole.text.splitlines()), whole.err) == (3, "")
