"""mcplens's cold start, as a script writes it."""

import asyncio
import sys

sys.path.insert(0, sys.path[0].removesuffix("/bench/cold"))

import mcplens
from bench.cold.account import close_account


async def main() -> None:
    async with mcplens.connect(sys.argv[2:]) as client:
        assert len(await client.list_tools()) == 4


asyncio.run(main())
close_account(sys.argv[1])
