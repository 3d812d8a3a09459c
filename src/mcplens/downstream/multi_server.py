"""Many servers at once: what all of them offer, and their tools under prefixed names."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping

import msgspec

from mcplens.downstream.capabilities_cache import ServerCapabilities
from mcplens.downstream.result import Result, Success
from mcplens.downstream.server_connection import ServerConnection
from mcplens.protocol.result_types import Tool


class PrefixedTool(msgspec.Struct, frozen=True):
    """A tool of one of many servers; `name` is `server:tool`."""

    name: str
    server_id: str
    tool: Tool


class MultiServerClient:
    """Asks many servers in parallel; one that fails holds up no other."""

    def __init__(self, connections: Iterable[ServerConnection]) -> None:
        self.connections = {each.server_id: each for each in connections}

    def __repr__(self) -> str:
        return f"<MultiServerClient {list(self.connections)}>"

    async def fetch_all_capabilities(
        self, force_refresh: bool = False
    ) -> dict[str, ServerCapabilities]:
        """What each server offers; those that cannot be asked are left out."""
        found = await fetch_all_capabilities(self.connections, force_refresh=force_refresh)
        return {name: each.value for name, each in found.items() if isinstance(each, Success)}

    async def list_prefixed_tools(
        self, capabilities: Mapping[str, ServerCapabilities] | None = None
    ) -> list[PrefixedTool]:
        """The tools of all servers, named `server:tool`."""
        if capabilities is None:
            capabilities = await self.fetch_all_capabilities()
        return [
            PrefixedTool(f"{server_id}:{tool.name}", server_id, tool)
            for server_id, each in capabilities.items()
            for tool in each.tools
        ]

    async def close(self) -> None:
        """Close all connections."""
        await asyncio.gather(*(each.close() for each in self.connections.values()))


async def fetch_all_capabilities(
    connections: Mapping[str, ServerConnection], *, force_refresh: bool = False
) -> dict[str, Result[ServerCapabilities]]:
    """What each server offers, or why it cannot be asked; in parallel."""
    asked = (each.get_capabilities(force_refresh) for each in connections.values())
    return dict(zip(connections, await asyncio.gather(*asked), strict=True))
