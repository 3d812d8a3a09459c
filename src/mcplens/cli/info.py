"""`mcplens info`: a server's description, and the negotiated revision and capabilities."""

from __future__ import annotations

import json
import sys

import click

from mcplens.cli import output
from mcplens.cli.command_options import CommandOptions, shared_options
from mcplens.cli.command_runner import run
from mcplens.cli.completion_candidates import complete_target
from mcplens.session.client import Client


@click.command("info")
@click.argument("target", required=False, shell_complete=complete_target)
@shared_options
def command(flags: CommandOptions, target: str | None) -> None:
    """Show what a server is, which revision it speaks and what it offers.

    \b
    mcplens info demo
    mcplens info https://example.com/mcp
    """

    async def work(client: Client) -> None:
        introduction = client.connection.introduction
        facts = {
            "protocolVersion": client.protocol_version,
            "reason": introduction.reason if introduction is not None else None,
            "serverInfo": client.server_info,
            "capabilities": client.capabilities,
            "instructions": client.instructions,
            "connection": client.describe(),
        }
        if flags.is_json:
            output.write_json(facts)
            return
        info = client.server_info
        title = f" ({info['title']})" if info.get("title") else ""
        heading = f"{info.get('name', '?')} {info.get('version', '')}{title}".strip()
        for line in output.fitted(heading, sys.stdout):
            output.say(line, bold=True)
        output.columns(_rows(client, facts["reason"]))
        if client.instructions:
            output.say()
            output.paragraph(client.instructions)

    run(flags, target, work)


def _rows(client: Client, reason: object) -> list[tuple[str, str]]:
    info = client.server_info
    rows = [("revision", f"{client.protocol_version}{f' ({reason})' if reason else ''}")]
    rows += [("website", str(info["websiteUrl"]))] if info.get("websiteUrl") else []
    capabilities = client.capabilities
    rows.append(("offers", ", ".join(_offers(capabilities)) or "nothing"))
    for key in ("extensions", "experimental"):
        rows += [(key, _named(capabilities[key]))] if capabilities.get(key) else []
    for key, value in client.describe().items():
        if value not in (None, [], "") and key != "stderr":
            text = " ".join(map(str, value)) if isinstance(value, list) else str(value)
            rows.append((key, text))
    return rows


def _offers(capabilities: dict[str, object]) -> list[str]:
    shown = []
    for name, value in capabilities.items():
        if name in ("extensions", "experimental"):  # named in rows of their own
            continue
        flags = [key for key, on in value.items() if on] if isinstance(value, dict) else []
        shown.append(f"{name} ({', '.join(flags)})" if flags else name)
    return shown


def _named(capabilities: object) -> str:
    """The names of capabilities, with their settings if they have any."""
    if not isinstance(capabilities, dict):
        return output.pretty(capabilities)
    return ", ".join(
        f"{name} {json.dumps(value, ensure_ascii=False)}" if value else name
        for name, value in capabilities.items()
    )
