"""The floor's cold start."""

import asyncio
import sys

sys.path.insert(0, sys.path[0].removesuffix("/bench/cold"))

import msgspec

from bench.cold.account import close_account
from bench.contenders.floor import connect_stdio


async def main() -> None:
    async with connect_stdio(sys.argv[2:]) as client:
        tools = msgspec.json.decode(await client.request("tools/list", {}))["tools"]
        assert len(tools) == 4


asyncio.run(main())
close_account(sys.argv[1])
