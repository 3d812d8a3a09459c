"""A trace of half a gigabyte, cut off at its end: served, checked, compared, without holding it."""

import resource
import subprocess
from pathlib import Path

import pytest

from mcplens.cli import exit_codes
from tests.cli.shell import MCPLENS, Ran, Shell
from tests.mocking.traces import Trace

SIZE_BYTES = 500_000_000
RESULT_CHARACTERS = 100_000
# What mcplens itself needs, the calls that are in memory, and the largest message a few times.
MOST_MEMORY_KB = 400_000


def large_trace(path: Path) -> int:
    """Write the trace in pieces; gives how many calls it has."""
    trace, text, count = Trace(), "x" * RESULT_CHARACTERS, 0
    trace.introduce()
    tool = {"name": "get", "description": "Gets a page.", "inputSchema": {"type": "object"}}
    trace.request("list", "tools/list")
    trace.reply("list", {"tools": [tool]})
    with path.open("w") as file:
        while file.tell() < SIZE_BYTES:
            for _ in range(100):
                trace.call(count, "get", {"page": count}, f"page {count} {text}")
                count += 1
            file.write("\n".join(trace.lines) + "\n")
            trace.lines.clear()
        file.write('{"type":"FrameSent","run_id":"8c2b')
    return count


def run(shell: Shell, *words: str) -> Ran:
    """A command that has the time to read it."""
    done = subprocess.run(
        [MCPLENS, *words],
        cwd=shell.home, env=shell.environment, capture_output=True, timeout=600, check=False,
    )  # fmt: skip
    return Ran(done.returncode, done.stdout, done.stderr.decode())


@pytest.mark.soak
@pytest.mark.timeout(1800)
def test_half_a_gigabyte_is_read_as_a_stream(shell: Shell) -> None:
    path = shell.home / "large.jsonl"
    count = large_trace(path)
    page = count - 1
    words = ("call", "get", f"page:={page}", "-q", "--connect-timeout", "500")
    called = run(shell, *words, "--", MCPLENS, "mock", str(path))
    assert called.code == exit_codes.DONE, called.err
    assert called.text.startswith(f"page {page} ")
    linted = run(shell, "lint", str(path), "--fail-on", "never")
    assert linted.code == exit_codes.DONE, linted.err
    assert f"{count}×  get" in linted.text
    compared = run(shell, "diff", str(path), str(path))
    assert (compared.code, compared.text) == (exit_codes.DONE, "s: no changes\n"), compared.err
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss < MOST_MEMORY_KB
