"""One demo server for the tests of a module, and one connection for each way to it."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

import mcplens

from .doors import WAYS, House, Way, opened


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def house() -> AsyncIterator[House]:
    async with opened() as running:
        yield running


@pytest.fixture(scope="module", params=WAYS, ids=str)
def way(request: pytest.FixtureRequest) -> Way:
    way: Way = request.param
    return way


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def client(house: House, way: Way) -> AsyncIterator[mcplens.Client]:
    """A connection that all tests of one way share."""
    async with house.connect(way) as connected:
        yield connected
