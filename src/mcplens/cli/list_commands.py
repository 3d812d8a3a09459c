"""`mcplens tools`, `resources`, `templates` and `prompts`: the lists of a server, or one item."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

import click

from mcplens.cli import item_details, output
from mcplens.cli.command_options import CommandOptions, name_option, shared_options
from mcplens.cli.command_runner import run
from mcplens.cli.completion_candidates import complete_words
from mcplens.cli.known_names import remember
from mcplens.cli.named_items import find_item
from mcplens.cli.target_resolution import split_target
from mcplens.session.catalog import METHODS
from mcplens.session.client import Client
from mcplens.session.results import LIST_KEYS


class _Kind(NamedTuple):
    """One kind of list: how its items are named and shown, and the command that uses one."""

    kind: str
    what: str
    keys: tuple[str, ...]
    row: Callable[[Any], tuple[str, str]]
    show: Callable[[Any, str], None]
    used_by: str


_TOOLS: Final = _Kind(
    "tools", "tool", ("name",), item_details.tool_row, item_details.show_tool, "call"
)
_RESOURCES: Final = _Kind(
    "resources",
    "resource",
    ("uri", "name"),
    item_details.resource_row,
    item_details.show_resource,
    "read",
)
_TEMPLATES: Final = _Kind(
    "resource_templates",
    "resource template",
    ("uri_template", "name"),
    item_details.template_row,
    item_details.show_template,
    "read",
)
_PROMPTS: Final = _Kind(
    "prompts", "prompt", ("name",), item_details.prompt_row, item_details.show_prompt, "prompt"
)


def _list_command(name: str, kind: _Kind, metavar: str, doc: str) -> click.Command:
    """A command that prints one of the lists, or one item of it in full."""

    @click.command(name, help=doc)
    @click.argument(
        "words",
        nargs=-1,
        metavar=f"[TARGET] [{metavar}]",
        shell_complete=complete_words,
    )
    @click.option("--cursor", metavar="CURSOR", help="Only the page at this cursor.")
    @click.option("--first-page", is_flag=True, help="Only the first page.")
    @name_option
    @shared_options
    def command(
        flags: CommandOptions, words: tuple[str, ...], cursor: str | None, first_page: bool
    ) -> None:
        target, rest = split_target(flags, words)
        if len(rest) > 1:
            raise click.UsageError(f"expected [TARGET] [{metavar}], got: {' '.join(words)}")

        async def work(client: Client) -> None:
            if cursor is not None or first_page:
                await _show_page(client, flags, kind, cursor)
                return
            pages = await _all_pages(client, kind.kind)
            items = [item for page in pages for item in page.items]
            remember(flags, target, kind.kind, items)
            if rest:
                _show_one(flags, target, kind, find_item(items, rest[0], kind.what, kind.keys))
            elif flags.is_json:
                output.write_raw(_joined(pages, LIST_KEYS[METHODS[kind.kind][0]]))
            else:
                _print(items, kind)

        run(flags, target, work)

    return command


async def _show_page(
    client: Client, flags: CommandOptions, kind: _Kind, cursor: str | None
) -> None:
    page = await client.list_page(kind.kind, cursor)
    if flags.is_json:
        output.write_raw(page.raw)
        return
    _print(page.items, kind)
    if page.next_cursor is not None:
        output.note(f"more with --cursor {page.next_cursor!r}")


def _show_one(flags: CommandOptions, target: str | None, kind: _Kind, item: Any) -> None:
    if flags.is_json:
        output.write_raw(item.raw)
        return
    from mcplens.cli.example_calls import command_line, example_words

    kind.show(item, command_line(flags, target, kind.used_by, example_words(item)))


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


def _print(items: list[Any], kind: _Kind) -> None:
    if not items:
        output.note(f"the server has no {kind.what}s")
    rows = []
    for item in items:
        name, text = kind.row(item)
        if item.problem:
            text = f"{text}  ! broken: {item.problem}".strip()
        rows.append((name or "(no name)", text))
    output.columns(rows)


tools = _list_command(
    "tools",
    _TOOLS,
    "NAME",
    """List the tools of a server with their arguments, or show one in full.

    \b
    mcplens tools demo
    mcplens tools demo add
    mcplens tools https://example.com/mcp
    mcplens tools -- python server.py
    """,
)

resources = _list_command(
    "resources",
    _RESOURCES,
    "URI",
    """List the resources of a server, or show one in full.

    \b
    mcplens resources demo
    mcplens resources demo demo://text
    """,
)

templates = _list_command(
    "templates",
    _TEMPLATES,
    "TEMPLATE",
    """List the resource templates of a server, or show one with its variables.

    \b
    mcplens templates demo
    mcplens templates demo greeting
    """,
)

prompts = _list_command(
    "prompts",
    _PROMPTS,
    "NAME",
    """List the prompts of a server, or show one in full.

    \b
    mcplens prompts demo
    mcplens prompts demo translate
    """,
)
