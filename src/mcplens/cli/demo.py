"""`mcplens demo`: the web UI on the bundled server; `--list`: what it offers and two calls."""

from __future__ import annotations

import textwrap

import click

from mcplens.cli import output
from mcplens.cli.command_options import CommandOptions, shared_options
from mcplens.cli.command_runner import run
from mcplens.cli.target_resolution import DEMO
from mcplens.cli.web import WebOptions, show, web_options
from mcplens.session.client import Client

_CALLS: tuple[tuple[str, dict[str, object]], ...] = (
    ("echo", {"text": "hello"}),
    ("add", {"a": 2, "b": 3}),
)


@click.command("demo")
@click.option(
    "--list", "is_list", is_flag=True, help="List and call its tools in the terminal instead."
)
@web_options
@shared_options
def command(flags: CommandOptions, is_list: bool, serving: WebOptions) -> None:
    """Open the web UI on the bundled demo server.

    \b
    mcplens demo
    mcplens demo --list
    """
    if is_list:
        run(flags, DEMO, _show)
    show(flags, DEMO, serving)


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
