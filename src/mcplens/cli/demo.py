"""`mcplens demo`: the engine on the bundled server, what it offers and two calls shown."""

from __future__ import annotations

import textwrap

import click

from mcplens.cli import output
from mcplens.cli.running import run
from mcplens.cli.state import State, shared_options
from mcplens.cli.target import DEMO
from mcplens.session.client import Client

_CALLS: tuple[tuple[str, dict[str, object]], ...] = (
    ("echo", {"text": "hello"}),
    ("add", {"a": 2, "b": 3}),
)


@click.command("demo")
@shared_options
def command(state: State) -> None:
    """List and call the tools of the bundled demo server.

    \b
    mcplens demo
    """
    run(state, DEMO, _show)


async def _show(client: Client) -> None:
    info = client.server_info
    output.say(f"{info.get('name')} {info.get('version')}, MCP {client.protocol_version}")
    tools = await client.list_tools()
    names = ", ".join(tool.name for tool in tools)
    for line in textwrap.wrap(f"tools: {names}", output.width(), subsequent_indent="  ",
                              break_on_hyphens=False):  # fmt: skip
        output.say(line)
    output.say()
    for name, arguments in _CALLS:
        result = await client.call_tool(name, arguments)
        shown = " ".join(block.text or f"[{block.type}]" for block in result.content)
        given = ", ".join(f"{key}={value!r}" for key, value in arguments.items())
        output.say(f"{name}({given}) -> {shown}")
