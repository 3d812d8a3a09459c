"""Servers and connections, shared by the tests of one module: starting some of them takes seconds.

A test that changes a connection for good (handlers, a crash) opens its own with `door.connect()`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

import mcplens

from .targets import TARGETS, Door, Pool, Target


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the tests of one target side by side; pytest would by their place in each test's list."""
    ours = [place for place, item in enumerate(items) if _target_of(item) is not None]
    modules = list(dict.fromkeys(items[place].path for place in ours))
    grouped = sorted(
        (items[place] for place in ours),
        key=lambda item: (modules.index(item.path), TARGETS.index(_target_of(item))),  # type: ignore[arg-type]
    )
    for place, item in zip(ours, grouped, strict=True):
        items[place] = item


def _target_of(item: pytest.Item) -> Target | None:
    target = item.callspec.params.get("door") if hasattr(item, "callspec") else None
    return target if isinstance(target, Target) else None


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def pool(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Pool]:
    async with Pool(tmp_path_factory.mktemp("folder")) as running:
        yield running


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def door(request: pytest.FixtureRequest, pool: Pool) -> Door:
    """The way in to the target that the test is parametrised with."""
    return await pool.open(request.param)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def client(door: Door) -> AsyncIterator[mcplens.Client]:
    """A connection that all tests of one target share."""
    async with door.connect() as connected:
        yield connected
