"""Skills behind the gateway: one server's pass through untouched; a view of all declares none."""

from __future__ import annotations

import pytest

from mcplens.errors import InspectorError
from tests.gateway.harness import NEW, OLD, STDIO_DEMO, running_gateway

EXTENSION = "io.modelcontextprotocol/skills"


async def test_skills_of_one_server_are_served_and_a_view_declares_none() -> None:
    async with running_gateway({"demo": dict(STDIO_DEMO)}) as gateway:
        for version in (OLD, NEW):
            async with gateway.connect("/servers/demo/mcp", protocol_version=version) as client:
                right, _ = await client.list_skills()
                assert (await client.read_skill_file(right)).is_verified
            async with gateway.connect("/mcp", protocol_version=version) as client:
                assert EXTENSION not in client.capabilities.get("extensions", {})
                with pytest.raises(InspectorError, match="did not declare"):
                    await client.list_skills()
