"""Cold starts: whole programs from exec to exit, with a terminal as a person has it, and without.

Without a terminal mcplens asks the user's login shell for PATH, which is why both are measured.
The processes that a program leaves behind come to us (PR_SET_CHILD_SUBREAPER), so that all that it
started can be counted; the server's part is taken off.
"""

from __future__ import annotations

import ctypes
import os
import pty
import statistics
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from bench.measure import STDIO_SERVER

PROGRAMS: Final = ("floor", "ours", "sdk")
_PR_SET_CHILD_SUBREAPER: Final = 36


@dataclass
class ColdFigures:
    """One program: CPU of its own process, and of all that it started but the server."""

    own_s: list[float] = field(default_factory=list)
    all_s: list[float] = field(default_factory=list)


ColdResults = dict[str, ColdFigures]


def cold_ratio(results: ColdResults, of: str, to: str, what: str = "own_s") -> float:
    """The median of the ratios of each round."""
    pairs: zip[tuple[float, float]] = zip(
        getattr(results[of], what), getattr(results[to], what), strict=True
    )
    return statistics.median(one / other for one, other in pairs)


def run_cold(rounds: int, *, has_terminal: bool) -> ColdResults:
    """All programs in turn, again and again."""
    results = {name: ColdFigures() for name in PROGRAMS}
    with adopting():
        for _ in range(rounds):
            for name in PROGRAMS:
                own_s, all_s = _run(name, has_terminal)
                results[name].own_s.append(own_s)
                results[name].all_s.append(all_s)
    return results


@contextmanager
def adopting() -> Iterator[None]:
    """What a program leaves behind comes to us."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    try:
        yield
    finally:
        libc.prctl(_PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)


def _run(name: str, has_terminal: bool) -> tuple[float, float]:
    program = str(Path(__file__).parent / "cold" / f"{name}.py")
    with tempfile.TemporaryDirectory() as folder:
        children, server = Path(folder, "children"), Path(folder, "server")
        command = [sys.executable, program, str(children), *STDIO_SERVER, str(server)]
        pid, terminal = start(command, has_terminal)
        spent = wait_for_all()
        if terminal >= 0:
            os.close(terminal)
        if not children.exists() or not server.exists():
            raise RuntimeError(f"{program} did not come to its end")
        own_s = spent[pid] - float(children.read_text())
        all_s = sum(spent.values()) - float(server.read_text())
    return own_s, all_s


def start(
    command: list[str], has_terminal: bool, environ: Mapping[str, str] = os.environ
) -> tuple[int, int]:
    """Run it, in a session of its own; gives its process and our end of its terminal."""
    if has_terminal:
        pid, terminal = pty.fork()
    else:
        pid, terminal = os.fork(), -1
    if pid:
        return pid, terminal
    try:
        if not has_terminal:
            os.setsid()
            nowhere = os.open(os.devnull, os.O_RDWR)
            for number in range(3):
                os.dup2(nowhere, number)
        os.execve(command[0], command, environ)
    finally:
        os._exit(127)


def wait_for_all() -> dict[int, float]:
    """CPU of every process below us, each with the children that it waited for itself."""
    spent: dict[int, float] = {}
    while True:
        try:
            pid, _, usage = os.wait4(-1, 0)
        except ChildProcessError:
            return spent
        spent[pid] = usage.ru_utime + usage.ru_stime
