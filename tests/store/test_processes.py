"""Processes of their own: killed in the middle, two at a time, without the right to write."""

from __future__ import annotations

import contextlib
import json
import random
import resource
import signal
import sqlite3
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from mcplens.bus import Bus
from mcplens.clock import SystemClock
from mcplens.store.history import Filter, History
from mcplens.store.recorder import Recorder
from tests.cli.shell import Shell
from tests.servers.run import ROOT
from tests.store.recordings import integrity
from tests.store.samples import publish_frames, stored_events

pytestmark = pytest.mark.slow

BOUND_S = 60
# All that is needed is loaded before: the Python of a test may be root's alone.
BECOME_NOBODY = "import os, sqlite3, urllib.parse; os.geteuid() or os.seteuid(65534)\n    "


@contextlib.contextmanager
def running(*arguments: str) -> Iterator[subprocess.Popen[str]]:
    """samples.py as a process; killed at the end if it still runs."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.store.samples", *arguments],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        assert process.stdout is not None
        process.stdout.close()


def lines_of(process: subprocess.Popen[str]) -> Iterator[str]:
    assert process.stdout is not None
    for line in process.stdout:
        yield line.rstrip("\n")


@pytest.mark.parametrize(
    ("pause_s", "size"),
    [
        pytest.param("0", "4", id="as fast as it can"),
        pytest.param("0.01", "4", id="with pauses"),
        pytest.param("0.2", "100000", id="large bodies in files of their own"),
    ],
)
def test_kill_9_loses_at_most_the_last_second_and_never_corrupts_the_file(
    tmp_path: Path, pause_s: str, size: str
) -> None:
    path = tmp_path / "recording.sqlite3"
    published: list[tuple[int, float]] = []
    with running(str(path), "server", "0", pause_s, size) as process:
        lines = lines_of(process)
        run_id = next(lines).removeprefix("run ")
        ends_at = time.time() + 3
        for line in lines:
            seq, wall = line.split()
            published.append((int(seq), float(wall)))
            if published[-1][1] > ends_at:
                break
        process.send_signal(signal.SIGKILL)
        killed_at = time.time()
        process.wait()
    assert integrity(path) == "ok"
    with History(path) as history:
        (run,) = history.runs()
        rows = [row for _, row in history.scan()]
    seqs = [row.seq for row in rows]
    has_files = any(tmp_path.glob(f"{path.name}-bodies-*"))
    assert has_files == (int(size) > 4)
    frames = [row.payload or b"" for row in rows if row.kind == "FrameReceived"]
    assert all(b'"%s"' % (b"x" * int(size)) in payload for payload in frames)
    assert (run.run_id, run.ended) == (run_id, None)
    assert seqs == sorted(seqs)
    assert seqs[-1] == run.last_seq
    expected = max(seq for seq, wall in published if wall < killed_at - 1)
    assert run.last_seq >= expected
    bus = Bus(SystemClock())  # and it can be written on
    with Recorder(bus, path):
        publish_frames(bus, 10)
    assert stored_events(path, Filter(run_id=bus.run_id)) == bus.kept()


# A server that never stops talking: a log message every few milliseconds, some of them large.
TALKATIVE = """
import json, sys, threading, time

def talk():
    for number in range(1_000_000):
        data = "x" * (200_000 if number % 50 == 0 else 100)
        params = {"level": "info", "data": f"{number} {data}"}
        say({"method": "notifications/message", "params": params})
        time.sleep(0.003)

lock = threading.Lock()

def say(message):
    with lock:
        print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)

for line in sys.stdin:
    message = json.loads(line)
    if message["method"] == "initialize":
        about = {"protocolVersion": "2025-11-25", "capabilities": {"logging": {}},
                 "serverInfo": {"name": "talkative", "version": "1"}}
        say({"id": message["id"], "result": about})
        threading.Thread(target=talk, daemon=True).start()
    elif "id" in message:
        say({"id": message["id"], "error": {"code": -32601, "message": "no"}})
"""


def kill_after(shell: Shell, seconds: float, *, is_up: bool) -> tuple[str, int]:
    """Let mcplens record, kill it so long after its start, or after its first event if it is to be
    up, and say which run it was and what must have been written."""
    words = ["watch", "--json", "-q", "--protocol", "2025-11-25", "--", sys.executable, "-c"]
    with shell.start(*words, TALKATIVE, stderr=subprocess.DEVNULL) as process:
        assert process.stdout is not None
        timer = threading.Timer(seconds, process.kill)
        first = [process.stdout.readline()] if is_up else []
        timer.start()
        lines = first + process.stdout.readlines()  # until it is dead
        timer.join()
        killed_at = time.time()
    events = [json.loads(line) for line in lines if line.endswith(b"\n")]
    run_id = events[0]["run_id"] if events else ""
    return run_id, max((one["seq"] for one in events if one["wall"] < killed_at - 1), default=0)


@pytest.mark.parametrize("kills", [6, pytest.param(30, marks=pytest.mark.soak)])
def test_mcplens_killed_at_any_moment_leaves_a_file_that_the_next_one_goes_on_with(
    tmp_path: Path, kills: int
) -> None:
    shell = Shell(tmp_path)
    path = shell.state / "recording.sqlite3"
    moments = random.Random(9)
    survived = 0
    for number in range(kills):
        is_up = number % 3 > 0  # how long it takes to start is the machine's matter
        run_id, expected = kill_after(shell, moments.uniform(0.3, 2.5), is_up=is_up)
        if not path.exists():
            continue  # killed before it had come to that
        assert integrity(path) == "ok"
        with History(path) as history:
            run = history.run(run_id)
            seqs = [row.seq for _, row in history.scan(Filter(run_id=run_id))] if run else []
        assert seqs == list(range(1, len(seqs) + 1))
        assert len(seqs) >= expected
        survived += bool(seqs)
    assert survived > kills // 3
    ran = shell.run("call", "demo", "echo", "text=after")
    assert (ran.code, ran.text, ran.err) == (0, "after\n", "")
    assert shell.run("history", "search", '"after"', "--method", "tools/call").text.count("\n") == 2
    assert len(shell.run("history", "list").text.splitlines()) > survived


def test_two_processes_record_into_one_file_at_once(tmp_path: Path) -> None:
    path = tmp_path / "recording.sqlite3"
    with (
        running(str(path), "one", "20000", "0.001") as first,
        running(str(path), "two", "20000", "0.001") as second,
    ):
        outputs = [list(lines_of(process)) for process in (first, second)]
        assert [process.wait(BOUND_S) for process in (first, second)] == [0, 0]
    for output, server_id in zip(outputs, ("one", "two"), strict=True):
        run_id = output[0].removeprefix("run ")
        assert output[-1] == "missed 0"
        events = stored_events(path, Filter(run_id=run_id))
        assert [event.seq for event in events] == list(range(1, 20_001))
        assert {event.server_id for event in events} == {server_id}
    assert integrity(path) == "ok"


def test_many_processes_can_make_the_file_at_the_same_moment(tmp_path: Path) -> None:
    path = tmp_path / "new" / "recording.sqlite3"
    with contextlib.ExitStack() as stack:
        processes = [
            stack.enter_context(running(str(path), f"s{number}", "50", "0")) for number in range(6)
        ]
        for process in processes:
            output = list(lines_of(process))
            assert output[-1] == "missed 0", output
            assert process.wait(BOUND_S) == 0
    with History(path) as history:
        assert [run.event_count for run in history.runs()] == [50] * 6


def run_program(
    program: str,
    *arguments: str,
    preexec: Callable[[], None] | None = None,
) -> str:
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program), *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=BOUND_S,
        check=False,
        preexec_fn=preexec,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


RECORD = """
    import sys
    from mcplens.bus import Bus
    from mcplens.clock import SystemClock
    from mcplens.store.recorder import Recorder
    from tests.store.samples import publish_frames
    bus = Bus(SystemClock())
    recorder = Recorder(bus, sys.argv[1], warn=print)
    for _ in range(200):
        publish_frames(bus, 100)
    recorder.close()
    print(len(bus.kept()), "events happened")
"""


def test_a_program_that_forgets_to_close_its_recorder_loses_nothing(tmp_path: Path) -> None:
    path = tmp_path / "recording.sqlite3"
    run_program(RECORD.replace("recorder.close()", ""), str(path))
    assert len(stored_events(path)) == 20_000


def test_a_program_that_dies_of_an_exception_loses_nothing(tmp_path: Path) -> None:
    path = tmp_path / "recording.sqlite3"
    program = RECORD.replace("recorder.close()", "sys.exit(0)")
    run_program(program, str(path))
    assert len(stored_events(path)) == 20_000


def test_a_disk_that_fills_up_ends_the_recording_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "recording.sqlite3"

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))

    output = run_program(RECORD, str(path), preexec=limit)
    warning, happened = output.splitlines()
    assert warning.startswith(f"not recorded: {path}: ")
    assert happened == "20000 events happened"
    assert integrity(path) == "ok"


@pytest.fixture
def fixed_folder() -> Iterator[Path]:
    """A folder that can be read by all and written by none but root."""
    # Any run of pytest that begins meanwhile closes pytest's own folder to other users.
    with tempfile.TemporaryDirectory() as outer:
        Path(outer).chmod(0o755)
        folder = Path(outer) / "fixed"
        folder.mkdir()
        yield folder
        folder.chmod(0o755)


def test_a_folder_that_cannot_be_written_ends_the_recording_and_nothing_else(
    fixed_folder: Path,
) -> None:
    path = fixed_folder / "recording.sqlite3"
    fixed_folder.chmod(0o555)
    output = run_program(RECORD.replace("bus = Bus", BECOME_NOBODY + "bus = Bus"), str(path))
    assert output.splitlines() == [
        f"not recorded: {path}: permission denied",
        "20000 events happened",
    ]


def test_a_recording_can_be_read_where_nothing_can_be_written(fixed_folder: Path) -> None:
    path = fixed_folder / "recording.sqlite3"
    bus = Bus(SystemClock())
    with Recorder(bus, path):
        publish_frames(bus, 7)
    path.chmod(0o644)
    fixed_folder.chmod(0o555)
    program = f"""
    import sys
    from mcplens.store.history import History
    {BECOME_NOBODY}
    with History(sys.argv[1]) as history:
        print(len(history.events()))
    """
    assert run_program(program, str(path)) == "7\n"


def test_the_file_is_a_plain_sqlite_file_after_the_last_one_left(tmp_path: Path) -> None:
    path = tmp_path / "recording.sqlite3"
    bus = Bus(SystemClock())
    with Recorder(bus, path):
        publish_frames(bus, 7)
    assert [file.name for file in tmp_path.iterdir()] == ["recording.sqlite3"]
    with sqlite3.connect(path) as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    connection.close()
