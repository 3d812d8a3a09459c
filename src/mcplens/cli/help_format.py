"""Layout of help texts: click's, or one column on narrow terminals."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import click

from mcplens.cli import output

# Narrower than this, two columns leave no room for the second.
_NARROW: Final = 60
# Longer lines are hard to read.
_WIDEST: Final = 100


class Formatter(click.HelpFormatter):
    """Writes the text of a help page."""

    def write_dl(
        self, rows: Iterable[tuple[str, str]], col_max: int = 30, col_spacing: int = 2
    ) -> None:
        if self.width >= _NARROW:
            super().write_dl(rows, col_max, col_spacing)
            return
        for name, text in rows:
            self.write(f"{'':>{self.current_indent}}{name}\n")
            with self.indentation(), self.indentation():
                self.write_text(text)


class Context(click.Context):
    """One command being run."""

    formatter_class = Formatter

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.terminal_width = min(output.width(), _WIDEST)
