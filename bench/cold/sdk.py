"""The cold start of `mcp.Client`."""

import asyncio
import sys

sys.path.insert(0, sys.path[0].removesuffix("/bench/cold"))

from mcp import Client, StdioServerParameters

from bench.cold.account import close_account


async def main() -> None:
    server = StdioServerParameters(command=sys.argv[2], args=sys.argv[3:])
    async with Client(server) as client:
        assert len((await client.list_tools()).tools) == 4


asyncio.run(main())
close_account(sys.argv[1])
