"""`mcplens call`: call a tool, with arguments in any of the usual styles."""

from __future__ import annotations

from typing import Any

import click

from mcplens.cli import exit_codes, output
from mcplens.cli.arguments import collect, parse_object, read_words
from mcplens.cli.command_options import CommandOptions, Seconds, name_option, shared_options
from mcplens.cli.command_runner import run
from mcplens.cli.completion_candidates import complete_words
from mcplens.cli.known_names import remember
from mcplens.cli.named_items import find_item
from mcplens.cli.progress import progress_line
from mcplens.cli.saved_content import SavedContent, save_option
from mcplens.cli.target_resolution import split_tool
from mcplens.protocol.result_types import Tool
from mcplens.protocol.tasks import Task
from mcplens.session.client import Client


@click.command("call")
@click.argument(
    "words",
    nargs=-1,
    metavar="[TARGET] TOOL [ARGUMENTS]...",
    shell_complete=complete_words,
)
@click.option("--args", "whole", metavar="JSON", help="All arguments: JSON, @file, or - for stdin.")
@click.option("--params", "params", metavar="JSON", help="The same as --args.")
@click.option("--tool-arg", "pairs", multiple=True, metavar="KEY=VALUE", help="One argument.")
@click.option("--meta", metavar="JSON", help="The _meta of the call.")
@click.option("--task", "is_task", is_flag=True, help="Run it as a background task.")
@click.option("--ttl", type=Seconds(), metavar="S", help="Time to keep the task's result (60 s).")
@click.option("--detach", is_flag=True, help="Start the task, print it, and return at once.")
@save_option
@name_option
@shared_options
def command(
    flags: CommandOptions,
    words: tuple[str, ...],
    whole: str | None,
    params: str | None,
    pairs: tuple[str, ...],
    meta: str | None,
    is_task: bool,
    ttl: float | None,
    detach: bool,
    folder: str | None,
) -> None:
    """Call a tool. If the tool reports an error, the exit code is 5.

    \b
    mcplens call demo add a=2 b:=3
    mcplens call demo add '{"a":2, "b":3}'
    mcplens call demo.echo text=hello
    mcplens call demo content-image \\
        --save .
    mcplens call add a=2 -- node server.js
    """
    target, tool, rest = split_tool(flags, words)
    given = whole if whole is not None else params
    arguments_given = parse_object(given, "--args") if given is not None else None
    typed = read_words([*rest, *pairs])
    extra = parse_object(meta, "--meta") if meta is not None else None

    async def work(client: Client) -> int:
        is_typed = bool(rest or pairs or given is None)
        schema = await _schema(client, flags, target, tool, is_typed=is_typed)
        arguments = collect(
            typed, whole=arguments_given, schema=schema, is_forced=bool(flags.force)
        )
        if detach:
            lifetime = 60.0 if ttl is None else ttl
            started = await client.start_tool_task(
                tool, arguments, lifetime, timeout_s=flags.call_timeout_s, meta=extra
            )
            _show_started(flags, client, started)
            return exit_codes.DONE
        task = ttl if ttl is not None else is_task or None
        with progress_line(tool, is_shown=not flags.is_quiet and not flags.is_json) as on_progress:
            result = await client.call_tool(
                tool,
                arguments,
                timeout_s=flags.call_timeout_s,
                on_progress=on_progress,
                meta=extra,
                task=task,
            )
        saved = SavedContent(folder, tool)
        saved.save_blocks(result.content, is_told=bool(flags.is_json))
        if flags.is_json:
            output.write_raw(result.raw)
        else:
            output.tool_result(result, saved.paths)
        return exit_codes.REFUSED if result.is_error else exit_codes.DONE

    run(flags, target, work)


def _show_started(flags: CommandOptions, client: Client, task: Task) -> None:
    from mcplens.cli.tasks import show_task

    show_task(flags, task)
    if client.describe().get("transport") == "stdio" and not flags.is_in_shell:
        text = "mcplens: the server stops when this command ends, and the task with it"
        output.note(text, fg="yellow")


async def _schema(
    client: Client, flags: CommandOptions, target: str | None, tool: str, *, is_typed: bool
) -> dict[str, Any] | None:
    """What the tool takes, to read and check the arguments by; None if that cannot be had."""
    if flags.force and not is_typed:
        return None  # it is sent as it is
    tools = await _list(client)
    if tools is None:
        return None
    remember(flags, target, "tools", tools)
    if (flags.force or not is_typed) and all(known.name != tool for known in tools):
        return None  # one that is not listed can be called by force, or with JSON alone
    listed: Tool = find_item(tools, tool, "tool")
    return None if listed.problem else listed.input_schema


async def _list(client: Client) -> list[Tool] | None:
    """The tools; None if the list fails, which must not keep a tool from being called."""
    from mcplens.errors import ProtocolError, ServerError

    try:
        return await client.list_tools()
    except (ProtocolError, ServerError):
        return None
