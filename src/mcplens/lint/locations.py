"""Where a finding is in a file: the path and the line, for SARIF and annotations."""

from __future__ import annotations

from collections.abc import Callable

import msgspec


class Location(msgspec.Struct, frozen=True):
    """A line of a file, by its path relative to the current folder, with slashes."""

    path: str
    line: int


# The location of a pointer into a server's contract; None if no file has it.
Locate = Callable[[str, str], Location | None]
