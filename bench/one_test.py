"""Cold starts of one test: `mcplens test` beside pytest with the client of fastmcp.

Each is a whole command, from exec to exit, against the same server; the CPU is read as in
command_line.py.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Final

import msgspec

from bench.cold_start import ColdFigures, ColdResults, adopting, cold_ratio, start, wait_for_all
from bench.command_line import clock_of
from bench.measure import STDIO_SERVER

_BIN: Final = Path(sys.executable).parent
_ROOT: Final = str(Path(__file__).parents[1])
_NAMES: Final = {
    "ours": "mcplens test",
    "plugin": "pytest, our fixture",
    "fast": "pytest, fastmcp",
}
# A third of what people pay today.
_AIM: Final = 0.33
HEADINGS: Final = [
    "", "CPU of", *(f"{name} ms" for name in _NAMES.values()),
    f"mcplens test to {_NAMES['fast']}", f"our fixture to {_NAMES['fast']}",
]  # fmt: skip
METHOD: Final = """\
One test that calls one tool over stdio, from exec to exit, without a terminal: `mcplens test` with
a file of one step, its recording on; pytest with `assert_tool` of our plugin; and pytest with
`fastmcp.Client` and pytest-asyncio. "Itself" is the CPU of the command's own process with all its
threads; "with children" adds all that it started except the server. Median of {rounds} runs in
turn."""
_FIXTURE: Final = """\
import pytest

@pytest.mark.mcp_server({server!r}, cwd={root!r})
def test_small(assert_tool):
    assert_tool("small", {{}})
"""
_FAST: Final = """\
import pytest
from fastmcp import Client
from fastmcp.client.transports import StdioTransport

@pytest.mark.asyncio
async def test_small():
    async with Client(StdioTransport({command!r}, {args!r}, cwd={root!r})) as client:
        await client.call_tool("small", {{}})
"""


def run_tests(rounds: int) -> ColdResults:
    """All of them in turn, again and again."""
    results = {name: ColdFigures() for name in _NAMES}
    with tempfile.TemporaryDirectory() as folder, adopting():
        commands = _commands(folder)
        for at in range(rounds + 1):
            for name, command in commands.items():
                own_s, all_s = _run(command, folder)
                if at:  # the first one makes what the others find
                    results[name].own_s.append(own_s)
                    results[name].all_s.append(all_s)
    return results


def _commands(folder: str) -> dict[str, list[str]]:
    """Write the same test three times; gives the commands that run it."""
    server = [*STDIO_SERVER, str(Path(folder, "server"))]
    entry = {"command": server[0], "args": server[1:], "cwd": _ROOT}
    step = {"call": "small"}
    content = msgspec.json.encode({"version": 1, "server": entry, "tests": [step]})
    files = {
        "small.mcp.yaml": content.decode(),
        "test_fixture.py": _FIXTURE.format(server=server, root=_ROOT),
        "test_fast.py": _FAST.format(command=server[0], args=server[1:], root=_ROOT),
        "pytest.ini": "[pytest]\nasyncio_mode = strict\naddopts = -p no:cacheprovider\n",
    }
    for name, text in files.items():
        Path(folder, name).write_text(text)
    pytest = [sys.executable, "-m", "pytest", "-q", "--rootdir", folder]
    return {
        "ours": [str(_BIN / "mcplens"), "test", "--yes", str(Path(folder, "small.mcp.yaml"))],
        "plugin": [*pytest, str(Path(folder, "test_fixture.py"))],
        "fast": [*pytest, str(Path(folder, "test_fast.py"))],
    }


def _run(command: list[str], folder: str) -> tuple[float, float]:
    server_s = Path(folder, "server")
    environ = os.environ | {"MCPLENS_STATE_DIR": folder}
    pid, _ = start(command, False, environ)
    ended = os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    own_s = time.clock_gettime(clock_of(pid))
    all_s = sum(wait_for_all().values())
    if ended is None or ended.si_status or not server_s.exists():
        raise RuntimeError(f"{command} did not come to its end")
    all_s -= float(server_s.read_text())
    server_s.unlink()
    return own_s, all_s


def one_test_rows(results: ColdResults) -> list[list[str]]:
    """CPU of each, and the ratios to what people use today."""
    from bench.report import judged

    rows = []
    for what, label in (("own_s", "itself"), ("all_s", "with children")):
        row = ["one test", label]
        for name in _NAMES:
            row.append(f"{statistics.median(getattr(results[name], what)) * 1e3:,.0f}")
        for name in ("ours", "plugin"):
            is_aim = what == "own_s" and name == "ours"
            value = cold_ratio(results, name, "fast", what)
            row.append(judged(value, _AIM if is_aim else None))
        rows.append(row)
    return rows


if __name__ == "__main__":
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    for cells in [HEADINGS, *one_test_rows(run_tests(5))]:
        print("  ".join(cell.ljust(18) for cell in cells))
