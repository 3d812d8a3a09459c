"""What holds for every test, wherever and however the run was started."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

from mcplens.known_secrets import known_secrets

from .signals import stop_inheriting_ignored_signals
from .suite import order

# How long an example takes says more about the machine than about the code.
settings.register_profile(
    "any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("any machine")


def pytest_configure() -> None:
    stop_inheriting_ignored_signals()
    # mcplens asks the user's shell for PATH: start-up files of a person may cost more than a test.
    os.environ["SHELL"] = "/bin/sh"


@pytest.hookimpl(optionalhook=True)  # only where xdist is installed
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> object:
    from .spreading import BothKinds

    return BothKinds(config, log) if config.getoption("dist") == "loadfile" else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: order(item.nodeid))


def pytest_collection_finish() -> None:
    # Thousands of tests and their modules stay to the end: no collection need look at them again.
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def forgotten_secrets() -> Iterator[None]:
    """The secrets of one test are not masked in the next: they are known to the whole process."""
    yield
    known_secrets.forget()
