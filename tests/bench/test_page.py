"""The page of the benchmarks: measured anew in part, it keeps the rest."""

from bench.measure import FULL
from bench.report import PAGE, Report, page
from bench.sections import SECTIONS


def test_tables_that_are_not_measured_stay_on_the_page() -> None:
    kept = page(Report(FULL), SECTIONS, ())
    rows = [line for line in PAGE.read_text().splitlines() if line.startswith("|")]
    assert rows
    assert [line for line in kept.splitlines() if line.startswith("|")] == rows
