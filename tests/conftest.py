"""What holds for every test, wherever and however the run was started."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from mcplens.known_secrets import known_secrets

from .signals import stop_inheriting_ignored_signals
from .suite import order


def pytest_configure() -> None:
    stop_inheriting_ignored_signals()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: order(item.nodeid))


@pytest.fixture(autouse=True)
def forgotten_secrets() -> Iterator[None]:
    """The secrets of one test are not masked in the next: they are known to the whole process."""
    yield
    known_secrets.forget()
