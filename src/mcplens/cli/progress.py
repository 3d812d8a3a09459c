"""The progress line of a call: bar, message, elapsed time."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from collections.abc import Callable, Iterator
from typing import Final

from mcplens.cli import output
from mcplens.session.queue import Progress

# A call that is over in a moment shows nothing.
_PATIENCE_S: Final = 1.0
# How often the elapsed time is drawn anew.
_TICK_S: Final = 0.5
_BAR_WIDTH: Final = 20


@contextlib.contextmanager
def progress_line(name: str, *, is_shown: bool) -> Iterator[Callable[[Progress], None] | None]:
    """Shown only on a terminal: on the first progress report, or when a call takes long."""
    if not is_shown or not sys.stderr.isatty():
        yield None
        return
    line = _Line(name)
    try:
        yield line.on_progress
    finally:
        line.stop()


class _Line:
    def __init__(self, name: str) -> None:
        self._name = name
        self._report: Progress | None = None
        self._loop = asyncio.get_running_loop()
        self._start = self._loop.time()
        self._timer = self._loop.call_later(_PATIENCE_S, self._tick)

    def __repr__(self) -> str:
        return f"<_Line {self._name!r} {self._report}>"

    def on_progress(self, report: Progress) -> None:
        self._report = report
        self._draw()

    def stop(self) -> None:
        self._timer.cancel()
        output.show_status("")

    def _tick(self) -> None:
        self._draw()
        self._timer = self._loop.call_later(_TICK_S, self._tick)

    def _draw(self) -> None:
        elapsed_s = self._loop.time() - self._start
        output.show_status(describe(self._name, self._report, elapsed_s))


def describe(name: str, report: Progress | None, elapsed_s: float) -> str:
    """The progress of a call in one line; the most important part first."""
    elapsed = f"{elapsed_s:.0f} s"
    if report is None:
        return f"{name}: waiting, {elapsed}"
    message = f" {report.message}" if report.message else ""
    if not report.total or report.total <= 0:
        return f"{name}: {report.progress:g}, {elapsed}{message}"
    share = min(1.0, max(0.0, report.progress / report.total))
    bar = "#" * round(share * _BAR_WIDTH)
    return f"{name} [{bar:.<{_BAR_WIDTH}}] {share:4.0%}, {elapsed}{message}"
