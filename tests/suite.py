"""The tests as `make test` and `make quick` run them: how many at once, and what failed once more.

Timing on a busy machine may fail a test that is right. So what failed is run again, alone, and what
passes only then is named at the very end, to be mended.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

# Most of a test is waiting, for a process to start or for a page: one for each core leaves the
# cores idle for more than half of the time, two for a tenth of it.
_WORKERS: Final = 5 * (os.cpu_count() or 1) // 2
# The tests of a file share servers, so a file stays in one worker.
_SPREAD: Final = ("-n", str(_WORKERS), "--dist", "loadfile", "--no-loadscope-reorder")
_QUICK: Final = ("--quiet", "--ignore=tests/e2e", "-m", "not soak and not slow")
# Files that take longest, begun first: at the end they would keep one worker busy and no other.
LONGEST: Final = (
    "tests/faults/test_matrix.py",
    "tests/gateway/test_fault_run.py",
    "tests/cli/test_everything.py",
    "tests/cli/test_real_servers.py",
    "tests/demo/test_conformance.py",
    "tests/conformance/test_conformance.py",
    "tests/interaction/test_everything.py",
    "tests/replicas/test_chaos.py",
    "tests/gateway/test_conformance.py",
    "tests/store/test_processes.py",
    "tests/web/test_everything.py",
    "tests/e2e/test_screens.py",
    "tests/e2e/test_menus.py",
    "tests/e2e/test_traffic.py",
)
_PASSED: Final = 0
_FAILED: Final = 1


def order(name: str) -> int:
    """The place of a test's file: lower comes first, equals stay as they are."""
    file = name.partition("::")[0]
    return LONGEST.index(file) if file in LONGEST else len(LONGEST)


class Run:
    """One run of pytest: how it ended, and the names of the tests that failed."""

    def __init__(self, *arguments: str) -> None:
        # A cache of its own: that of the folder says what failed in the last run of anybody.
        with tempfile.TemporaryDirectory() as cache:
            command = [sys.executable, "-m", "pytest", "-o", f"cache_dir={cache}", *arguments]
            self.exit_code = subprocess.run(command).returncode
            failed = Path(cache, "v", "cache", "lastfailed")
            self.failed: list[str] = list(json.loads(failed.read_text())) if failed.exists() else []

    def __repr__(self) -> str:
        return f"<Run exit code {self.exit_code}, {len(self.failed)} failed>"


def run(*arguments: str) -> int:
    """Run tests, and those that failed once more; the exit code is 0 if all passed in the end."""
    first = Run(*arguments)
    if first.exit_code != _FAILED or not first.failed:
        return first.exit_code
    print("== once more, alone, what failed", flush=True)
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as names:
        names.write("".join(f"{name}\n" for name in first.failed))
        names.flush()
        second = Run("--verbose", f"@{names.name}")
    if second.exit_code in (_PASSED, _FAILED):
        print(*verdict(first.failed, second.failed), sep="\n", flush=True)
    return second.exit_code


def verdict(failed: Sequence[str], failed_again: Sequence[str]) -> list[str]:
    """The last lines of a run in which tests failed: the name of each."""
    lines = []
    for names, what in (
        ([name for name in failed if name not in failed_again], "passed only when run again: mend"),
        (failed_again, "failed twice"),
    ):
        if names:
            lines.append(f"== {len(names)} {'test' if len(names) == 1 else 'tests'} {what}")
            lines += [f"   {name}" for name in names]
    return lines


if __name__ == "__main__":
    sys.exit(run(*_SPREAD, *(_QUICK if sys.argv[1:] == ["quick"] else ())))
