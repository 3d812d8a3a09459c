"""Whether a recording is whole, and waiting for what a recorder writes, within a bound."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable
from pathlib import Path

BOUND_S = 20


def integrity(path: Path) -> str:
    with sqlite3.connect(path) as connection:
        (result,) = connection.execute("PRAGMA integrity_check").fetchone()
    connection.close()
    return str(result)


def wait_until(condition: Callable[[], bool]) -> None:
    """Look again and again at what another thread does, for a bounded time."""
    pause = threading.Event()
    for _ in range(BOUND_S * 100):
        if condition():
            return
        pause.wait(0.01)
    raise AssertionError("it did not happen in time")
