"""A server on fastmcp 4, in both eras as fastmcp has it.

python -m tests.servers.sdk_fastmcp --transport stdio|http|sse [--json] [--port 0]
"""

import argparse
import asyncio
import json

from fastmcp import Context, FastMCP
from fastmcp.exceptions import ToolError
from mcp_types import (
    CreateMessageRequest,
    CreateMessageRequestParams,
    ElicitRequest,
    ElicitRequestFormParams,
    InputRequiredResult,
    ListRootsRequest,
    SamplingMessage,
    TextContent,
)
from pydantic import BaseModel

from .process import announce, bind, exit_with_stdin

server = FastMCP("sdk-fastmcp", version="1.0.0")


class Sum(BaseModel):
    sum: int


@server.tool
def echo(text: str) -> str:
    """Returns its text."""
    return text


@server.tool
def add(a: int, b: int) -> Sum:
    """Adds two numbers."""
    return Sum(sum=a + b)


@server.tool
def fail() -> str:
    """Fails."""
    raise ToolError("it failed, as it should")


@server.tool
async def slow_progress(steps: int, ctx: Context) -> str:
    """Reports progress, step by step."""
    for step in range(1, steps + 1):
        await ctx.report_progress(step, steps, f"step {step}")
        await asyncio.sleep(0.01)
    return f"{steps} steps"


FORM = ElicitRequest(
    params=ElicitRequestFormParams(
        message="Who are you?",
        requested_schema={"type": "object", "properties": {"name": {"type": "string"}}},
    )
)


@server.tool
def introduce(ctx: Context) -> str | InputRequiredResult:
    """Asks for a name and the roots, then for a greeting of that name."""
    answers = ctx.input_responses or {}
    if "name" in answers:
        form = getattr(answers["name"], "content", None)
        if not form:
            raise ToolError("no name was given")
        known = {"name": form["name"], "roots": len(getattr(answers["roots"], "roots", ()))}
        text = TextContent(type="text", text=f"Greet {known['name']}.")
        message = SamplingMessage(role="user", content=text)
        greeting = CreateMessageRequestParams(messages=[message], max_tokens=20)
        return InputRequiredResult(
            input_requests={"greeting": CreateMessageRequest(params=greeting)},
            request_state=json.dumps(known),
        )
    if "greeting" in answers:
        known = json.loads(ctx.request_state or "{}")
        words = getattr(getattr(answers["greeting"], "content", None), "text", "")
        return f"{known['name']} has {known['roots']} roots and is greeted: {words}"
    return InputRequiredResult(input_requests={"name": FORM, "roots": ListRootsRequest()})


@server.resource("memo://text")
def memo() -> str:
    """A text."""
    return "the memo"


@server.resource("memo://item/{name}")
def item(name: str) -> str:
    """One item."""
    return f"item {name}"


@server.prompt
def greet(name: str) -> str:
    """Greets a person."""
    return f"Hello, {name}!"


def main() -> None:
    parser = argparse.ArgumentParser(prog="tests.servers.sdk_fastmcp", description=__doc__)
    parser.add_argument("--transport", choices=("stdio", "http", "sse"), default="stdio")
    parser.add_argument("--json", action="store_true", help="JSON answers instead of SSE")
    parser.add_argument("--port", type=int, default=0)
    args = parser.parse_args()
    if args.transport == "stdio":
        server.run("stdio", show_banner=False, log_level="WARNING")
        return
    exit_with_stdin()
    listener = bind(args.port)
    path = "/mcp" if args.transport == "http" else "/sse"
    announce("http", listener, path)  # already listening: a client that is too quick just waits
    server.run(
        args.transport,
        show_banner=False,
        path=path,
        json_response=args.json,
        log_level="WARNING",
        sockets=[listener],
        uvicorn_config={"access_log": False, "log_level": "warning"},
    )


if __name__ == "__main__":
    main()
