"""`python -m bench [--quick] [--no-write] [--only WORDS]`: prints the figures, writes the page."""

from __future__ import annotations

import argparse
import os

from bench.measure import FULL, QUICK
from bench.report import PAGE, Report, machine, page, plain
from bench.sections import SECTIONS, Section


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="see that it works; figures are noise")
    parser.add_argument("--no-write", action="store_true", help=f"leave {PAGE.name} alone")
    parser.add_argument(
        "--only",
        action="append",
        default=[],
        metavar="WORDS",
        help="a table with these words in its title; the others stay as they are on the page",
    )
    options = parser.parse_args()
    # Whatever starts here starts compiled, as what is installed does.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    report = Report(QUICK if options.quick else FULL)
    for line in machine():
        print(line)
    wanted = [words.lower() for words in options.only]
    chosen = [
        section
        for section in SECTIONS
        if not wanted or any(words in section.title(report.effort).lower() for words in wanted)
    ]
    if not chosen:
        titles = ", ".join(section.title(report.effort) for section in SECTIONS)
        parser.error(f"no table has these words in its title; there are: {titles}")
    for section in chosen:
        measure(section, report)
    if not options.no_write:
        PAGE.parent.mkdir(parents=True, exist_ok=True)
        PAGE.write_text(page(report, SECTIONS, chosen))
        print(f"\nWritten to {PAGE}")


def measure(section: Section, report: Report) -> None:
    """Measure what is in a table, and print each row once it is there."""
    print(f"\n{section.title(report.effort)}")
    print(plain(section.headings, section.widths), flush=True)
    printed = 0
    for _ in section.measure(report):
        rows = section.rows(report)
        for row in rows[printed:]:
            print(plain(row, section.widths), flush=True)
        printed = len(rows)


if __name__ == "__main__":
    main()
