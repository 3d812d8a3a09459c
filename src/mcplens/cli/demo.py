"""`mcplens demo`: the engine on the bundled server, every step shown."""

from __future__ import annotations

import asyncio
import sys

import click

from mcplens.app import connect
from mcplens.errors import InspectorError


@click.command("demo")
def command() -> None:
    """List and call the tools of the bundled demo server."""
    try:
        asyncio.run(_show())
    except InspectorError as error:
        click.echo(f"mcplens: {error.message}\nSee {error.help_url}", err=True)
        sys.exit(4)


async def _show() -> None:
    async with connect([sys.executable, "-m", "mcplens.demo"], server_id="demo") as client:
        info = client.server_info
        click.echo(f"{info.get('name')} {info.get('version')}, MCP {client.protocol_version}\n")
        tools = await client.list_tools()
        width = max(len(tool.name) for tool in tools)
        for tool in tools:
            click.echo(f"  {tool.name.ljust(width)}  {tool.description}")
        click.echo()
        for name, arguments in (("echo", {"text": "hello"}), ("add", {"a": 2, "b": 3})):
            result = await client.call_tool(name, arguments)
            shown = " ".join(block.text or f"[{block.type}]" for block in result.content)
            given = ", ".join(f"{key}={value!r}" for key, value in arguments.items())
            click.echo(f"{name}({given}) -> {shown}")
