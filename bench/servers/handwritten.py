"""A mock as people write it by hand: a tool with the official SDK that gives a fixed answer.

`python -m bench.servers.handwritten`, on stdio.
"""

from __future__ import annotations

from mcp.server import MCPServer

from bench.servers.answers import RESULT_BYTES

server = MCPServer("handwritten")
_TEXT = "x" * RESULT_BYTES["small"]


@server.tool(structured_output=False)
def small(number: int) -> str:
    """A fixed answer."""
    return _TEXT


if __name__ == "__main__":
    server.run("stdio")
