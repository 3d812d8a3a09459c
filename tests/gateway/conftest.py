from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.gateway.era_pairs import PAIRS, Pair, gateway_between
from tests.gateway.harness import RunningGateway


@pytest.fixture(params=PAIRS, ids=str)
def pair(request: pytest.FixtureRequest) -> Pair:
    found: Pair = request.param
    return found


@pytest_asyncio.fixture
async def gateway(pair: Pair) -> AsyncIterator[RunningGateway]:
    async with gateway_between(pair) as running:
        yield running
