"""`mcplens tools`, `resources`, `templates` and `prompts`: the lists of a server."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from mcplens.cli import output
from mcplens.cli.command_options import CommandOptions, shared_options
from mcplens.cli.command_runner import run
from mcplens.cli.completion_candidates import complete_target, remember_tools
from mcplens.protocol.result_types import Prompt, Resource, ResourceTemplate, Tool
from mcplens.session.catalog import METHODS
from mcplens.session.client import Client
from mcplens.session.results import LIST_KEYS


def list_command(name: str, kind: str, row: Callable[[Any], tuple[str, str]], doc: str) -> Any:
    """A command that prints one of the lists."""

    @click.command(name, help=doc)
    @click.argument("target", required=False, shell_complete=complete_target)
    @click.option("--cursor", metavar="CURSOR", help="Only the page at this cursor.")
    @click.option("--first-page", is_flag=True, help="Only the first page.")
    @shared_options
    def command(
        flags: CommandOptions, target: str | None, cursor: str | None, first_page: bool
    ) -> None:
        async def work(client: Client) -> None:
            if cursor is not None or first_page:
                page = await client.list_page(kind, cursor)
                if flags.is_json:
                    output.write_raw(page.raw)
                    return
                _print(page.items, row, kind)
                if page.next_cursor is not None:
                    output.note(f"more with --cursor {page.next_cursor!r}")
                return
            pages = await _all_pages(client, kind)
            if kind == "tools":
                names = [item.name for page in pages for item in page.items if item.name]
                remember_tools(flags, target, names)
            if flags.is_json:
                output.write_raw(_joined(pages, LIST_KEYS[METHODS[kind][0]]))
            else:
                _print([item for page in pages for item in page.items], row, kind)

        run(flags, target, work)

    return command


async def _all_pages(client: Client, kind: str) -> list[Any]:
    pages = [await client.list_page(kind)]
    seen: set[str] = set()
    while (cursor := pages[-1].next_cursor) is not None and cursor not in seen:
        seen.add(cursor)
        pages.append(await client.list_page(kind, cursor))
    return pages


def _joined(pages: list[Any], key: str) -> bytes:
    """One page as it came; several as one list of items, each as it came."""
    if len(pages) == 1:
        return bytes(pages[0].raw)
    items = b",".join(item.raw for page in pages for item in page.items)
    return b'{"' + key.encode() + b'":[' + items + b"]}"


def _print(items: list[Any], row: Callable[[Any], tuple[str, str]], kind: str) -> None:
    if not items:
        output.note(f"the server has no {kind.replace('_', ' ')}")
    rows = []
    for item in items:
        name, text = row(item)
        if item.problem:
            text = f"{text}  ! broken: {item.problem}".strip()
        rows.append((name or "(no name)", text))
    output.columns(rows)


def tool_row(tool: Tool) -> tuple[str, str]:
    flags = _flags(tool.annotations or {})
    text = output.first_line(tool.description or tool.title)
    return tool.name, f"{text} {flags}".strip()


def _flags(annotations: dict[str, Any]) -> str:
    known = {
        "readOnlyHint": "read-only",
        "destructiveHint": "destructive",
        "idempotentHint": "idempotent",
        "openWorldHint": "open world",
    }
    shown = [word for key, word in known.items() if annotations.get(key) is True]
    return f"[{', '.join(shown)}]" if shown else ""


def resource_row(resource: Resource) -> tuple[str, str]:
    kind = f" ({resource.mime_type})" if resource.mime_type else ""
    return resource.uri, f"{resource.title or resource.name}{kind}"


def template_row(template: ResourceTemplate) -> tuple[str, str]:
    return template.uri_template, template.title or template.name


def prompt_row(prompt: Prompt) -> tuple[str, str]:
    words = [
        argument.name if argument.required else f"[{argument.name}]"
        for argument in prompt.arguments or ()
    ]
    text = output.first_line(prompt.description or prompt.title)
    return prompt.name, f"{' '.join(words)}  {text}".strip()


tools = list_command(
    "tools",
    "tools",
    tool_row,
    """List the tools of a server.

    \b
    mcplens tools demo
    mcplens tools https://example.com/mcp
    mcplens tools -- python server.py
    """,
)

resources = list_command(
    "resources",
    "resources",
    resource_row,
    """List the resources of a server.

    \b
    mcplens resources demo
    """,
)

templates = list_command(
    "templates",
    "resource_templates",
    template_row,
    """List the resource templates of a server.

    \b
    mcplens templates demo
    """,
)

prompts = list_command(
    "prompts",
    "prompts",
    prompt_row,
    """List the prompts of a server.

    \b
    mcplens prompts demo
    """,
)
