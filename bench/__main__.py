"""`python -m bench [--quick] [--no-write]`: prints the figures, and writes the page."""

from __future__ import annotations

import argparse
import os

from bench import command_line, million, recording
from bench import page as browser_page
from bench.cold_start import run_cold
from bench.flood import HEADINGS as FLOOD_HEADINGS
from bench.flood import flood_rows, run_flood
from bench.measure import CASES, FULL, HUGE, QUICK, Stand, http_server, run_case, workers
from bench.report import (
    PAGE,
    Report,
    case_row,
    cold_headings,
    cold_rows,
    headings,
    machine,
    page,
    plain,
    speed_row,
)

_WIDTHS = (10, 6, 9, 9, 10, 13, 17, 21, 20)
_FLOOD_WIDTHS = (10, 12, 14, 18, 10)
_COLD_WIDTHS = (23, 13, 8, 10, 13, 21, 20)
_COMMAND_WIDTHS = (23, 13, 9, 16, 15, 18, 15, 18, 18)
_RECORDING_WIDTHS = (10, 6, 9, 6, 6, 10, 19, 16)
_MILLION_WIDTHS = (36, 7, 15, 14)
_PAGE_WIDTHS = (44, 9, 9, 4, 14)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="see that it works; figures are noise")
    parser.add_argument("--no-write", action="store_true", help=f"leave {PAGE.name} alone")
    options = parser.parse_args()
    # Whatever starts here starts compiled, as what is installed does.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    effort = QUICK if options.quick else FULL
    report = Report(effort)

    for line in machine():
        print(line)
    print("\nCPU per call; ratios of mcplens to the floor and to mcp.Client, with their aims")
    print(plain(headings(), _WIDTHS), flush=True)
    with http_server("--one-core") as one, http_server() as other, workers() as contenders:
        stands = (Stand(True, one), Stand(False, other))
        for case in (*CASES, HUGE):
            results = report.cases[case] = run_case(case, contenders, stands, effort)
            print(plain(case_row(case, results), _WIDTHS), flush=True)

    print("\nCalls per second")
    for case, results in report.cases.items():
        print(plain(speed_row(case, results), _WIDTHS))

    print("\nCPU of a cold start")
    print(plain(cold_headings(), _COLD_WIDTHS), flush=True)
    for has_terminal in (True, False):
        cold = report.cold[has_terminal] = run_cold(effort.cold_rounds, has_terminal=has_terminal)
        for row in cold_rows(has_terminal, cold):
            print(plain(row, _COLD_WIDTHS), flush=True)

    print("\nCPU of a cold start of a command")
    print(plain(command_line.HEADINGS, _COMMAND_WIDTHS), flush=True)
    for has_terminal in (True, False):
        commands = command_line.run_commands(effort.cold_rounds, has_terminal=has_terminal)
        report.commands[has_terminal] = commands
        for row in command_line.command_rows(has_terminal, commands):
            print(plain(row, _COMMAND_WIDTHS), flush=True)

    print("\nCPU per call without and with recording")
    print(plain(recording.HEADINGS, _RECORDING_WIDTHS), flush=True)
    report.recording = recording.run_recording(effort)
    for row in recording.recording_rows(report.recording):
        print(plain(row, _RECORDING_WIDTHS), flush=True)

    print(f"\n{effort.frames:,} frames recorded")
    report.million = million.run_million(effort.frames)
    for row in million.million_rows(report.million):
        print(plain(row, _MILLION_WIDTHS), flush=True)

    print("\nCalls on one server while another floods")
    print(plain(FLOOD_HEADINGS, _FLOOD_WIDTHS), flush=True)
    report.flood = run_flood(effort.flood_calls)
    for row in flood_rows(report.flood):
        print(plain(row, _FLOOD_WIDTHS))

    print("\nThe web UI in a browser")
    print(plain(browser_page.HEADINGS, _PAGE_WIDTHS), flush=True)
    report.page = browser_page.run_page(effort)
    for row in browser_page.page_rows(report.page, effort):
        print(plain(row, _PAGE_WIDTHS))

    if not options.no_write:
        PAGE.parent.mkdir(parents=True, exist_ok=True)
        PAGE.write_text(page(report))
        print(f"\nWritten to {PAGE}")


if __name__ == "__main__":
    main()
