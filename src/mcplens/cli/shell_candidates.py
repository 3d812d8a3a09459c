"""What Tab offers in `mcplens shell`: commands, tools, arguments, prompts, URIs, values.

Lists are those that the client keeps, fetched on first use; values of prompts and templates are
the server's own suggestions. Knows nothing of the terminal: shell_prompt.py shows the candidates.
"""

from __future__ import annotations

import contextlib
import shlex
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import click

from mcplens.cli import output
from mcplens.cli.completion_candidates import TASK_ACTIONS
from mcplens.cli.known_names import LISTS
from mcplens.errors import InspectorError
from mcplens.protocol.result_types import Prompt
from mcplens.protocol.schema_types import (
    alternatives,
    object_shape,
    options_of,
    shown_value,
    type_name,
    type_of,
)
from mcplens.protocol.uri_templates import variables_of
from mcplens.session.client import Client

# A server that thinks for long is not worth waiting for while somebody types.
_TIMEOUT_S: Final = 5.0
# Behind these the same word goes on; a word that is complete is followed by a space.
_OPEN_ENDS: Final = ("=", "/", " ")
_KEYS: Final = {"resources": "uri", "resource_templates": "uri_template"}


class Candidate(NamedTuple):
    """A word that may be meant, as it is typed, and a few words on it."""

    text: str
    about: str = ""


class Candidates:
    """Candidates for the word at the end of a line."""

    def __init__(self, client: Client, commands: list[str]) -> None:
        self._client = client
        self._commands = commands

    def __repr__(self) -> str:
        return f"<Candidates from {self._client!r}>"

    async def find(self, line: str) -> tuple[int, list[Candidate]]:
        """How many characters of the line they replace, and the candidates."""
        words, typed, quote = split_line(line)
        start = _unquoted(typed)
        found: list[Candidate] = []
        with contextlib.suppress(InspectorError):  # nothing to offer, and nothing to disturb
            found = [one async for one in self._candidates(words, start)]
        shown = [one for one in found if one.text.startswith(start)]
        # A name that cannot be shown as it is cannot be typed either.
        shown = [one for one in shown if output.one_line(one.text) == one.text]
        found = [Candidate(_quoted(text, quote), output.one_line(about)) for text, about in shown]
        if len(found) == 1 and not found[0].text.endswith(_OPEN_ENDS):
            found[0] = found[0]._replace(text=f"{found[0].text} ")
        return len(typed), found

    async def _candidates(self, words: list[str], start: str) -> Any:
        if not words:
            for name in self._commands:
                yield Candidate(f"{name} ")
        elif start.startswith("-"):
            for one in _options(words[0]):
                yield one
        elif len(words) == 1 and words[0] == "help":
            for name in self._commands:
                yield Candidate(name)
        elif len(words) == 1 and words[0] == "tasks":
            for name in TASK_ACTIONS:
                yield Candidate(f"{name} ")
        elif len(words) == 2 and words[0] == "tasks":
            for task in self._client.tracked_client_tasks:
                yield Candidate(task.task_id, task.status)
        elif len(words) == 1:
            for one in await self._items(words[0]):
                yield one
        else:
            for one in await self._arguments(words, start):
                yield one

    async def _items(self, command: str) -> list[Candidate]:
        found = []
        for kind in LISTS.get(command, ()):
            key = _KEYS.get(kind, "name")
            for item in await self._list(kind):
                about = output.first_line(getattr(item, "title", None) or item.description)
                found.append(Candidate(str(getattr(item, key)), about))
        return found

    async def _list(self, kind: str) -> list[Any]:
        known = self._client.catalog.known(kind)
        if known is not None:
            return known
        fetch = getattr(self._client, f"list_{kind}")
        with contextlib.suppress(InspectorError):
            return list(await fetch(timeout_s=_TIMEOUT_S))
        return []

    async def _arguments(self, words: list[str], start: str) -> list[Candidate]:
        """Names of arguments that are not there yet, or values of the one that is typed."""
        command, name, *given = words
        key, mark, value = start.partition("=")
        if command == "call":
            tools = [tool for tool in await self._list("tools") if tool.name == name]
            schema = tools[0].input_schema if tools else {}
            properties = object_shape(schema).properties
            if mark:
                return _values(key, properties.get(key), schema)
            names = {one: type_name(part, schema) for one, part in properties.items()}
        elif command in ("prompt", "read", "complete"):
            if mark:
                return await self._suggestions(name, key, value, given)
            names = await self._variables(name)
        else:
            return []
        taken = {word.partition("=")[0].rstrip(":") for word in given}
        return [Candidate(f"{one}=", about) for one, about in names.items() if one not in taken]

    async def _variables(self, name: str) -> dict[str, str]:
        """The arguments of a prompt, or the variables of a template."""
        if "{" in name:
            return {
                one.name: "optional" if one.is_optional else "required"
                for one in variables_of(name)
            }
        prompts: list[Prompt] = [one for one in await self._list("prompts") if one.name == name]
        arguments = (prompts[0].arguments or []) if prompts else []
        return {one.name: output.first_line(one.description or one.title) for one in arguments}

    async def _suggestions(
        self, name: str, key: str, value: str, given: list[str]
    ) -> list[Candidate]:
        """What the server suggests for a value."""
        if "completions" not in self._client.capabilities:
            return []
        ref = {"type": "ref/prompt", "name": name}
        if "{" in name:
            ref = {"type": "ref/resource", "uri": name}
        pairs = [word.partition("=") for word in given]
        context = {one: text for one, mark, text in pairs if mark}
        found = await self._client.complete(ref, key, value, context or None, timeout_s=_TIMEOUT_S)
        return [Candidate(f"{key}={text}") for text in found.completion.values]


def split_line(line: str) -> tuple[list[str], str, str]:
    """The words before the last one, the last one as typed, and the quote that is open in it."""
    at, quote, is_escaped = 0, "", False
    for place, character in enumerate(line):
        if is_escaped:
            is_escaped = False
        elif character == "\\" and quote != "'":
            is_escaped = True
        elif quote:
            quote = "" if character == quote else quote
        elif character in "'\"":
            quote = character
        elif character.isspace():
            at = place + 1
    try:
        words = shlex.split(line[:at])
    except ValueError:
        words = []
    return words, line[at:], quote


def _unquoted(typed: str) -> str:
    for closing in ("", "'", '"'):
        try:
            return "".join(shlex.split(typed + closing))
        except ValueError:
            continue
    return typed


def _quoted(text: str, quote: str) -> str:
    """A word as it must be typed; what goes on behind it stays open."""
    body, end = (text[:-1], text[-1]) if text.endswith((" ", "=")) else (text, "")
    if quote and quote not in body:
        return f"{quote}{body}{quote}{end}"
    key, mark, value = body.partition("=")
    if mark and shlex.quote(key) == key:
        return f"{key}={shlex.quote(value)}{end}"
    return shlex.quote(body) + end


def _options(name: str) -> Iterator[Candidate]:
    from mcplens.cli.shell import find_command

    with contextlib.suppress(click.UsageError):
        for option in find_command(name).params:
            if isinstance(option, click.Option) and not option.hidden:
                yield Candidate(option.opts[-1], option.help or "")


def _values(key: str, schema: Any, root: Any) -> list[Candidate]:
    """The values that a schema names."""
    found: list[str] = []
    for flat in alternatives(schema, root):
        found += [shown_value(value) for value in options_of(flat)]
        found += ["true", "false"] if type_of(flat) == "boolean" else []
    return [Candidate(f"{key}={text}") for text in dict.fromkeys(found)]
