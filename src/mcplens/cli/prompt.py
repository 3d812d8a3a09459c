"""`mcplens prompt`: get a prompt with its arguments filled in."""

from __future__ import annotations

from typing import Any

import click

from mcplens.cli import output
from mcplens.cli.arguments import collect, parse_object, read_words
from mcplens.cli.command_options import CommandOptions, name_option, shared_options
from mcplens.cli.command_runner import run
from mcplens.cli.completion_candidates import complete_words
from mcplens.cli.known_names import remember
from mcplens.cli.saved_content import SavedContent, save_option
from mcplens.cli.target_resolution import split_tool
from mcplens.session.client import Client


@click.command("prompt")
@click.argument(
    "words",
    nargs=-1,
    metavar="[TARGET] PROMPT [ARGUMENTS]...",
    shell_complete=complete_words,
)
@click.option("--args", "whole", metavar="JSON", help="All arguments: JSON, @file, or - for stdin.")
@save_option
@name_option
@shared_options
def command(
    flags: CommandOptions, words: tuple[str, ...], whole: str | None, folder: str | None
) -> None:
    """Get a prompt and print its messages with their roles.

    \b
    mcplens prompt demo conversation \\
      name=Ada
    """
    target, name, rest = split_tool(flags, words)
    given = parse_object(whole, "--args") if whole is not None else None
    typed = read_words(rest)

    async def work(client: Client) -> None:
        schema = None if flags.force else await _schema(client, flags, target, name)
        arguments = collect(
            typed, whole=given, schema=schema, is_forced=bool(flags.force), owner="prompt"
        )
        result = await client.get_prompt(
            name, {key: value if isinstance(value, str) else output.pretty(value)
                   for key, value in arguments.items()},
            timeout_s=flags.call_timeout_s,
        )  # fmt: skip
        saved = SavedContent(folder, name)
        blocks = [message.content for message in result.messages]
        saved.save_blocks(blocks, is_told=bool(flags.is_json))
        if flags.is_json:
            output.write_raw(result.raw)
            return
        for place, message in enumerate(result.messages, 1):
            output.say(f"{message.role}:", bold=True)
            output.content(message.content, saved.paths.get(place))

    run(flags, target, work)


async def _schema(
    client: Client, flags: CommandOptions, target: str | None, name: str
) -> dict[str, Any] | None:
    """The names that the prompt takes, as a schema; None if they cannot be had.

    Of any type: a value that is not a text is sent as its JSON.
    """
    from mcplens.errors import ProtocolError, ServerError

    try:
        prompts = await client.list_prompts()
    except (ProtocolError, ServerError):
        return None  # that must not keep a prompt from being got
    remember(flags, target, "prompts", prompts)
    listed = next((one for one in prompts if one.name == name), None)
    if listed is None or listed.problem:
        return None  # the server says what is wrong
    arguments = listed.arguments or []
    return {
        "type": "object",
        "properties": {one.name: {} for one in arguments},
        "required": [one.name for one in arguments if one.required],
        "additionalProperties": False,
    }
