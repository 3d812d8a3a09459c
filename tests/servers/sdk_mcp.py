"""A server on the official SDK (mcp 2.x), in both eras as the SDK has it.

python -m tests.servers.sdk_mcp --transport stdio|http|sse [--json] [--port 0]
"""

import argparse
import asyncio
from typing import Annotated

import uvicorn
from mcp.server import MCPServer
from mcp.server.mcpserver import Context, Elicit, ListRoots, Resolve, Sample
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import CreateMessageResult, ListRootsResult, SamplingMessage, TextContent
from pydantic import BaseModel

from .process import announce, bind, exit_with_stdin

server = MCPServer("sdk-mcp", version="1.0.0", log_level="WARNING")


class Sum(BaseModel):
    sum: int


@server.tool()
def echo(text: str) -> str:
    """Returns its text."""
    return text


@server.tool()
def add(a: int, b: int) -> Sum:
    """Adds two numbers."""
    return Sum(sum=a + b)


@server.tool()
def fail() -> str:
    """Fails."""
    raise ToolError("it failed, as it should")


@server.tool()
async def slow_progress(steps: int, ctx: Context) -> str:
    """Reports progress, step by step."""
    for step in range(1, steps + 1):
        await ctx.report_progress(step, steps, f"step {step}")
        await asyncio.sleep(0.01)
    return f"{steps} steps"


class Person(BaseModel):
    name: str


def ask_name() -> Elicit[Person]:
    return Elicit("Who are you?", Person)


def ask_model(person: Annotated[Person, Resolve(ask_name)]) -> Sample:
    greeting = TextContent(type="text", text=f"Greet {person.name}.")
    return Sample([SamplingMessage(role="user", content=greeting)], max_tokens=20)


def ask_roots() -> ListRoots:
    return ListRoots()


@server.tool()
def introduce(
    person: Annotated[Person, Resolve(ask_name)],
    greeting: Annotated[CreateMessageResult, Resolve(ask_model)],
    roots: Annotated[ListRootsResult, Resolve(ask_roots)],
) -> str:
    """Asks for a name and the roots, then for a greeting of that name."""
    words = getattr(greeting.content, "text", "")
    return f"{person.name} has {len(roots.roots)} roots and is greeted: {words}"


@server.resource("memo://text")
def memo() -> str:
    """A text."""
    return "the memo"


@server.resource("memo://item/{name}")
def item(name: str) -> str:
    """One item."""
    return f"item {name}"


@server.prompt()
def greet(name: str) -> str:
    """Greets a person."""
    return f"Hello, {name}!"


async def serve_web(transport: str, port: int, *, json_response: bool) -> None:
    listener = bind(port)
    path = "/mcp" if transport == "http" else "/sse"
    app = (
        server.streamable_http_app(json_response=json_response)
        if transport == "http"
        else server.sse_app()
    )
    announce("http", listener, path)  # already listening: a client that is too quick just waits
    config = uvicorn.Config(app, log_level="warning", access_log=False)
    await uvicorn.Server(config).serve(sockets=[listener])


def main() -> None:
    parser = argparse.ArgumentParser(prog="tests.servers.sdk_mcp", description=__doc__)
    parser.add_argument("--transport", choices=("stdio", "http", "sse"), default="stdio")
    parser.add_argument("--json", action="store_true", help="JSON answers instead of SSE")
    parser.add_argument("--port", type=int, default=0)
    args = parser.parse_args()
    if args.transport == "stdio":
        server.run("stdio")
        return
    exit_with_stdin()
    asyncio.run(serve_web(args.transport, args.port, json_response=args.json))


if __name__ == "__main__":
    main()
