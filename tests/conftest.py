"""What holds for every test, wherever and however the run was started."""

from __future__ import annotations

from .signals import stop_inheriting_ignored_signals


def pytest_configure() -> None:
    stop_inheriting_ignored_signals()
