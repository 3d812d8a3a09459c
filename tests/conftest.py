"""What holds for every test, wherever and however the run was started."""

from __future__ import annotations

import pytest

from .signals import stop_inheriting_ignored_signals
from .suite import order


def pytest_configure() -> None:
    stop_inheriting_ignored_signals()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: order(item.nodeid))
