"""That `make bench` runs and prints every row; what it measures is nobody's test."""

from __future__ import annotations

import asyncio
import re
import sys
from pathlib import Path

import pytest

# The checks read its types, and it is run whenever figures are wanted.
pytestmark = pytest.mark.soak

ROOT = Path(__file__).parents[2]


@pytest.mark.timeout(330)  # a dozen programs start, one after the other
async def test_a_quick_run_prints_every_row() -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "bench", "--quick", "--no-write", cwd=ROOT, stdout=-1, stderr=-1
    )
    async with asyncio.timeout(320):
        out, err = await process.communicate()
    assert process.returncode == 0, err.decode()
    lines = out.decode().splitlines()
    calls = lines[: lines.index("Cold start")]

    for channel in ("stdio", "HTTP, JSON", "HTTP, SSE"):
        for size in ("200 B", "100 KB"):
            for concurrency in (1, 32):
                assert_rows(calls, rf"{channel} +{size} +{concurrency} ")
    assert_rows(calls, "stdio +20 MB +1 ")
    for where in ("terminal", "no terminal"):
        for what in ("itself", "with children"):
            assert_rows(lines, f"cold start, {where} +{what} ", count=1)
            assert_rows(lines, f"list tools, {where} +{what} ", count=1)
    for what in ("itself", "with children"):
        assert_rows(lines, f"one test +{what} ", count=1)
    for case in ("stdio +200 B +1", "stdio +200 B +32", "HTTP, JSON +200 B +1", "stdio +100 KB +1"):
        assert_rows(lines, rf"{case} .* -?\d\.\d\d \(≤ 0\.15: ", count=1)
    assert_rows(lines, "more after all .* MB ", count=1, figures=1)
    for what in ("text in one call", "text that is nowhere", "one request by its id"):
        assert_rows(lines, rf"search: {what} +\d\.\d\d +s ", count=1, figures=1)
    assert_rows(lines, r"mcplens history search +\d\.\d\d +s ", count=1, figures=1)
    for transport in ("stdio", "http", "sse", "ws"):
        assert_rows(lines, rf"{transport} +\d+\.\d +\d+\.\d ", count=1)
    for channel in ("stdio", "HTTP, JSON"):
        for case in ("200 B +1", "200 B +32", "100 KB +1"):
            assert_rows(lines, rf"{channel} +{case} .*≤ 0\.02: ", count=1)
    assert_rows(lines, r"50 waiting calls +[\d.]+ +MB ", count=1, figures=2)
    assert_rows(lines, r"more beside dead servers +-?[\d.]+ +ms ", count=1, figures=2)
    assert_rows(lines, r"idle with 20 servers +[\d.]+ +% ", count=1, figures=2)
    for what in ("one replica, state in memory", "two replicas, the other: it forwards"):
        assert_rows(lines, rf"{what} +[\d,]+ +µs CPU", count=1, figures=1)
    assert_rows(lines, r"what a forward adds to a call, median +-?[\d.]+ +ms ", count=1, figures=2)
    assert_rows(lines, r"50 idle sessions, each with Redis +-?[\d.]+ +kB", count=1, figures=1)
    for channel in ("stdio", "HTTP"):
        for between in ("nothing", "relay", "tap, not recording", "tap "):
            assert_rows(lines, rf"{channel} +{between} +\d\.\d+ +\d", count=1, figures=3)
    assert_rows(lines, r"stdio +cat +\d\.\d+ ", count=1, figures=3)
    for in_flight in (1, 32):
        row = rf"mcplens mock +{in_flight} +\d+ .*≤ 1: "
        assert_rows(lines, row, count=1, figures=4)
        assert_rows(lines, rf"handwritten +{in_flight} +\d+ ", count=1, figures=3)
    assert_rows(lines, r"JavaScript of the first screen +\d+ .* kB ", count=1, figures=2)
    for what in ("from navigation to rows", "memory of the page", "reload"):
        assert_rows(lines, rf"100 tools: {what} +[\d.,]+ ", count=1, figures=2)
    for what in ("from navigation to all there", "memory of the page"):
        assert_rows(lines, rf"50 frames: {what} +[\d.,]+ ", count=1, figures=2)
    assert_rows(lines, r"5 MB of JSON shown +[\d,]+ .* ms ", count=1, figures=2)


def assert_rows(lines: list[str], pattern: str, count: int = 2, figures: int = 4) -> None:
    """Once among the figures of CPU and once among those of speed, each contender with a figure."""
    rows = [line for line in lines if re.match(pattern, line)]
    assert len(rows) == count, pattern
    for row in rows:
        assert len(re.findall(r"\d[\d.,]*", row)) >= figures
