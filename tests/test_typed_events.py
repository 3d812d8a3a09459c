"""An event with a wrong, a missing or an unknown field is refused by the type checker."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

# The first two are right; each of the others has one mistake, named by its comment.
PROGRAM = """\
from mcplens.bus import Bus, Publisher
from mcplens.events import PingUnanswered, RequestStarted


def publish(bus: Bus, to: Publisher) -> int:
    to(RequestStarted(request_id=1, method="ping", request_seq=None))
    to(PingUnanswered(in_a_row=1, timeout_s=0.1, request_seq=4))
    to(RequestStarted(request_id="m", method=1, request_seq=4))  # swapped
    to(RequestStarted(request_id=1, method="ping", request_seq=4, channel=1))  # one too many
    to(RequestStarted(request_id=1, method="ping"))  # one is missing
    to(RequestStarted(1, "ping", 4))  # by position
    to(RequestStarted, 1, "ping", 4)  # as it was done before
    return bus.publish(RequestStarted(request_id=1, method="ping", request_seq=4), "server")
"""
MISTAKES = ("swapped", "one too many", "one is missing", "by position", "as it was done before")
TIMEOUT_S = 120


def test_mistakes_in_publishing_fail_under_mypy_strict(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    checked = subprocess.run(
        [
            sys.executable, "-m", "mypy", "--strict", "--config-file=", "--no-error-summary",
            "--follow-imports=silent", f"--cache-dir={tmp_path / 'cache'}", str(program),
        ],
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        cwd=tmp_path,
    )  # fmt: skip
    lines = PROGRAM.splitlines()
    found = {int(line.split(":")[1]) for line in checked.stdout.splitlines() if ": error:" in line}
    assert [lines[number - 1].partition("# ")[2] for number in sorted(found)] == list(MISTAKES), (
        checked.stdout + checked.stderr
    )
