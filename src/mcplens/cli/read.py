"""`mcplens read`: read a resource."""

from __future__ import annotations

import base64
import binascii
import sys

import click

from mcplens.cli import output
from mcplens.cli.arguments import collect, read_words
from mcplens.cli.command_options import CommandOptions, shared_options
from mcplens.cli.command_runner import run
from mcplens.cli.completion_candidates import complete_words
from mcplens.cli.saved_content import SavedContent, save_option
from mcplens.cli.target_resolution import split_tool
from mcplens.protocol.result_types import ResourceContents
from mcplens.session.client import Client


@click.command("read")
@click.argument(
    "words",
    nargs=-1,
    required=True,
    metavar="[TARGET] URI|TEMPLATE [VARIABLES]...",
    shell_complete=complete_words,
)
@save_option
@shared_options
def command(flags: CommandOptions, words: tuple[str, ...], folder: str | None) -> None:
    """Read a resource; a pipe or a file gets the content as it came, binary parts as bytes.

    \b
    mcplens read demo demo://greeting/Ada
    mcplens read demo demo://image > a.png
    mcplens read demo \\
      'demo://greeting/{name}' name=Ada
    """
    target, uri, given = split_tool(flags, words)
    uri = _filled(uri, given, is_forced=bool(flags.force))

    async def work(client: Client) -> None:
        result = await client.read_resource(uri, timeout_s=flags.call_timeout_s)
        saved = SavedContent(folder, uri.partition("://")[2] or uri)
        saved.save_parts(result.contents, is_told=folder is not None)
        if flags.is_json:
            output.write_raw(result.raw)
            return
        for part in result.contents if folder is None else ():
            _print(part)

    run(flags, target, work)


def _filled(template: str, words: list[str], *, is_forced: bool) -> str:
    """The URI; a template with its variables filled in."""
    from mcplens.protocol.uri_templates import expand, variables_of

    variables = variables_of(template)
    if not variables and words:
        raise click.UsageError(f"{template} has no {{variables}}, but got: {' '.join(words)}")
    if not variables or (is_forced and not words):
        return template  # by force as it stands, braces and all
    text = ["string", "number", "boolean"]  # of JSON, numbers and booleans are written as text
    text_or_list = {"type": [*text, "array"], "items": {"type": text}}
    schema = {"properties": {one.name: text_or_list for one in variables}}
    values = collect(read_words(words), schema=schema, is_forced=is_forced, owner="template")
    missing = [one.name for one in variables if not one.is_optional and one.name not in values]
    if missing and not is_forced:
        needed = " ".join(f"{name}=…" for name in missing)
        raise click.UsageError(f"{template} needs {needed}\n--force reads it without")
    texts = {
        key: [str(one) for one in value] if isinstance(value, list) else str(value)
        for key, value in values.items()
    }
    return expand(template, texts)


def _print(part: ResourceContents) -> None:
    is_shown = sys.stdout.isatty()
    if part.text is not None and is_shown:
        output.say(output.without_colours(part.text))
        return
    if part.text is not None:  # a copy, so exactly what came
        output.write_raw(part.text.encode("utf-8", "surrogatepass"))
        return
    data = part.blob or ""
    if is_shown:
        kind = part.mime_type or "binary"
        is_drawn = kind.startswith("image/") and output.draw_image(data, kind)
        hint = "" if is_drawn else "; pipe it to a file, or use --save DIR"
        output.say(f"[{kind}, {output.decoded_size(data)} bytes{hint}]")
        return
    try:
        output.write_bytes(base64.b64decode(data, validate=True))
    except binascii.Error as problem:
        output.note(f"{part.uri}: the blob is not valid base64 ({problem}); shown as received:")
        output.say(data)
