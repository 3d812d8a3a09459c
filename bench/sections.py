"""The figures in their order: how each table is measured, what is in it, and how that was done.

The command prints them as they come, and report.py writes the page of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from bench import (
    command_line,
    gateway,
    gateway_limits,
    million,
    mocks,
    one_test,
    recording,
    replicas,
    tap,
)
from bench import page as browser_page
from bench.cold_start import run_cold
from bench.flood import HEADINGS as FLOOD_HEADINGS
from bench.flood import flood_rows, run_flood
from bench.measure import CASES, HUGE, Effort, Stand, http_server, run_case, workers
from bench.report import (
    COLD_METHOD,
    FLOOD_METHOD,
    METHOD,
    Report,
    case_row,
    cold_headings,
    cold_rows,
    headings,
    speed_headings,
    speed_row,
)

Rows = list[list[str]]


@dataclass(frozen=True)
class Section:
    """One table; `measure` puts figures into the report, and yields when there are more rows."""

    title: Callable[[Effort], str]
    headings: Sequence[str]
    widths: Sequence[int]
    measure: Callable[[Report], Iterator[None]]
    rows: Callable[[Report], Rows]
    method: Callable[[Effort], str | None]


def _measure_cases(report: Report) -> Iterator[None]:
    with http_server("--one-core") as one, http_server() as other, workers() as contenders:
        stands = (Stand(True, one), Stand(False, other))
        for case in (*CASES, HUGE):
            report.cases[case] = run_case(case, contenders, stands, report.effort)
            yield


def _measured_before(report: Report) -> Iterator[None]:
    yield


def _measure_cold(report: Report) -> Iterator[None]:
    for has_terminal in (True, False):
        rounds = report.effort.cold_rounds
        report.cold[has_terminal] = run_cold(rounds, has_terminal=has_terminal)
        yield


def _measure_commands(report: Report) -> Iterator[None]:
    for has_terminal in (True, False):
        rounds = report.effort.cold_rounds
        found = command_line.run_commands(rounds, has_terminal=has_terminal)
        report.commands[has_terminal] = found
        yield


def _measure_one_test(report: Report) -> Iterator[None]:
    report.one_test = one_test.run_tests(report.effort.cold_rounds)
    yield


def _measure_recording(report: Report) -> Iterator[None]:
    report.recording = recording.run_recording(report.effort)
    yield


def _measure_million(report: Report) -> Iterator[None]:
    report.million = million.run_million(report.effort.frames)
    yield


def _measure_flood(report: Report) -> Iterator[None]:
    report.flood = run_flood(report.effort.flood_calls)
    yield


def _measure_gateways(report: Report) -> Iterator[None]:
    for case, results in gateway.run_gateways(report.effort):
        report.gateways[case] = results
        yield


def _measure_limits(report: Report) -> Iterator[None]:
    report.limits = gateway_limits.run_limits(report.effort)
    yield


def _measure_replicas(report: Report) -> Iterator[None]:
    report.replicas = replicas.run_replicas(report.effort)
    yield


def _replica_rows(report: Report) -> Rows:
    assert report.replicas is not None
    return replicas.replica_rows(report.replicas, report.effort)


def _measure_tap(report: Report) -> Iterator[None]:
    report.tap = tap.run_tap(report.effort)
    yield


def _measure_mocks(report: Report) -> Iterator[None]:
    report.mocks = mocks.run_mocks(report.effort)
    yield


def _measure_page(report: Report) -> Iterator[None]:
    report.page = browser_page.run_page(report.effort)
    yield


def _cold_rows(report: Report) -> Rows:
    return [row for has, results in report.cold.items() for row in cold_rows(has, results)]


def _command_rows(report: Report) -> Rows:
    found = report.commands.items()
    return [row for has, results in found for row in command_line.command_rows(has, results)]


_CASE_WIDTHS = (10, 6, 9, 9, 10, 13, 17, 21, 20)

SECTIONS = (
    Section(
        lambda effort: "CPU per call",
        headings(),
        _CASE_WIDTHS,
        _measure_cases,
        lambda report: [case_row(case, results) for case, results in report.cases.items()],
        lambda effort: METHOD.format(
            rounds=effort.rounds, round_s=effort.round_s, speed_rounds=effort.speed_rounds
        ),
    ),
    Section(
        lambda effort: "Calls per second",
        speed_headings(),
        _CASE_WIDTHS,
        _measured_before,
        lambda report: [speed_row(case, results) for case, results in report.cases.items()],
        lambda effort: None,
    ),
    Section(
        lambda effort: "Cold start",
        cold_headings(),
        (23, 13, 8, 10, 13, 21, 20),
        _measure_cold,
        _cold_rows,
        lambda effort: COLD_METHOD.format(rounds=effort.cold_rounds),
    ),
    Section(
        lambda effort: "Cold start of a command",
        command_line.HEADINGS,
        (23, 13, 9, 16, 15, 18, 15, 18, 18),
        _measure_commands,
        _command_rows,
        lambda effort: command_line.METHOD.format(rounds=effort.cold_rounds),
    ),
    Section(
        lambda effort: "Cold start of one test",
        one_test.HEADINGS,
        (10, 13, 15, 22, 18, 31, 31),
        _measure_one_test,
        lambda report: one_test.one_test_rows(report.one_test),
        lambda effort: one_test.METHOD.format(rounds=effort.cold_rounds),
    ),
    Section(
        lambda effort: "Recording",
        recording.HEADINGS,
        (10, 6, 9, 6, 6, 10, 19, 16),
        _measure_recording,
        lambda report: recording.recording_rows(report.recording),
        recording.recording_method,
    ),
    Section(
        lambda effort: f"{effort.frames:,} frames recorded",
        million.HEADINGS,
        (36, 7, 15, 14),
        _measure_million,
        lambda report: million.million_rows(report.million),
        lambda effort: million.METHOD.format(frames=effort.frames),
    ),
    Section(
        lambda effort: "While another server floods",
        FLOOD_HEADINGS,
        (10, 12, 14, 18, 10),
        _measure_flood,
        lambda report: flood_rows(report.flood),
        lambda effort: FLOOD_METHOD.format(calls=effort.flood_calls),
    ),
    Section(
        lambda effort: "CPU per call of a gateway",
        gateway.HEADINGS,
        gateway.WIDTHS,
        _measure_gateways,
        lambda report: [gateway.gateway_row(*row) for row in report.gateways.items()],
        gateway.gateway_method,
    ),
    Section(
        lambda effort: "What a gateway bears",
        gateway_limits.HEADINGS,
        gateway_limits.WIDTHS,
        _measure_limits,
        lambda report: gateway_limits.limit_rows(report.limits, report.effort),
        gateway_limits.limit_method,
    ),
    Section(
        lambda effort: "Several replicas",
        replicas.HEADINGS,
        replicas.WIDTHS,
        _measure_replicas,
        _replica_rows,
        replicas.replica_method,
    ),
    Section(
        lambda effort: "Between a client and its server",
        tap.HEADINGS,
        (5, 18, 6, 6, 19, 13, 17),
        _measure_tap,
        lambda report: tap.tap_rows(report.tap),
        tap.tap_method,
    ),
    Section(
        lambda effort: "Replayed calls",
        mocks.HEADINGS,
        mocks.WIDTHS,
        _measure_mocks,
        lambda report: mocks.mock_rows(report.mocks),
        mocks.mock_method,
    ),
    Section(
        lambda effort: "The web UI",
        browser_page.HEADINGS,
        (44, 9, 9, 4, 14),
        _measure_page,
        lambda report: browser_page.page_rows(report.page, report.effort),
        browser_page.page_method,
    ),
)
