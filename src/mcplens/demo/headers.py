"""Arguments that HTTP headers repeat (2026-07-28, `x-mcp-header`), for routing proxies."""

from __future__ import annotations

from mcplens.demo.registry import Json, text, tool
from mcplens.demo.request_context import RequestContext


@tool(
    "header-region",
    "Over HTTP in 2026-07-28 the region, the shard and the flag are sent as headers too "
    "(Mcp-Param-Region …); the server refuses a call whose headers say something else.",
    {
        "region": {"type": "string", "x-mcp-header": "Region", "default": "eu-west"},
        "where": {
            "type": "object",
            "properties": {"shard": {"type": "integer", "x-mcp-header": "Shard"}},
        },
        "urgent": {"type": "boolean", "x-mcp-header": "Urgent"},
        "query": {"type": "string", "description": "This one is in the body alone."},
    },
)
async def region(context: RequestContext) -> Json:
    given = context.arguments
    return text(f"{given.get('query', 'nothing')} in {given.get('region', 'no region')}")
