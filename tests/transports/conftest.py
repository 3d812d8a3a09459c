"""A way to run a script in the part of mcplens, and the shells to run the watchdog with."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from .ourselves import Ourselves, Run


@pytest.fixture
def run() -> Iterator[Run]:
    started: list[Ourselves] = []

    def run(script: str, **options: object) -> Ourselves:
        started.append(Ourselves(script, **options))  # type: ignore[arg-type]
        return started[-1]

    yield run
    for ourselves in started:
        ourselves.close()


@pytest.fixture(params=["dash", "bash"])
def shell(request: pytest.FixtureRequest) -> str:
    path = f"/bin/{request.param}"
    if not os.access(path, os.X_OK):
        pytest.skip(f"there is no {path} here")
    return path
