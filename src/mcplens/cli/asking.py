"""Asks the person at the terminal what the server wants to know, one question after the other.

Everything is shown on stderr, so that stdout has the result alone. Lines are read as the loop's
other events are: a call that ends, or Ctrl-C, ends the asking too.
"""

from __future__ import annotations

import asyncio
import os
import sys
from functools import cache
from typing import Any, Final

from mcplens.cli import output
from mcplens.protocol import elicitation, sampling
from mcplens.protocol.forms import Field, fields_of, from_text
from mcplens.session.handler import REJECTED, ServerRequest

# Of what a server sends with its question.
_SHOWN_CHARACTERS: Final = 2_000


@cache
def ask_in_place() -> AskInPlace:
    """The one asker: there is one terminal."""
    return AskInPlace()


class _Dismissed(Exception):
    """The person wants to answer no field of this form."""


class AskInPlace:
    """A profile that is a person."""

    name = "person"

    def __init__(self) -> None:
        self._turn = asyncio.Lock()
        self._waiting = 0
        self._typed = b""

    def __repr__(self) -> str:
        return f"<AskInPlace {self._waiting} waiting>"

    async def answer(self, request: ServerRequest) -> Any:
        self._waiting += 1
        try:
            async with self._turn:
                more = f" ({self._waiting} wait)" if self._waiting > 1 else ""
                output.note(f"\n? {request.method}{more}", fg="yellow", bold=True)
                if request.method == "sampling/createMessage":
                    return await self._complete(request.params)
                if elicitation.mode_of(request.params) == "url":
                    return await self._visit(request.params)
                return await self._fill(request.params)
        finally:
            self._waiting -= 1

    # -- a completion --------------------------------------------------------------------------

    async def _complete(self, params: dict[str, Any]) -> Any:
        from mcplens.errors import ServerError

        for line in described_sampling(params):
            output.note(line)
        tools = sampling.offered_tools(params)
        if tools:
            output.note("  (/call NAME {JSON} calls a tool; an empty line refuses)", dim=True)
        else:
            output.note("  (an empty line refuses)", dim=True)
        text = await self._read("Answer> ")
        if not text:
            raise ServerError(REJECTED, "the user rejected the request")
        if not text.startswith("/call "):
            return sampling.text_answer(text, model="a person")
        name, _, values = text.removeprefix("/call ").partition(" ")
        from mcplens.cli.arguments import parse_object

        arguments = parse_object(values or "{}", "/call")
        ids = sampling.fresh_ids(params)
        return sampling.tool_use_answer([(name, arguments)], model="a person", ids=ids)

    # -- input ---------------------------------------------------------------------------------

    async def _visit(self, params: dict[str, Any]) -> Any:
        url = params.get("url")
        output.note(f"  {params.get('message', '')}")
        output.note(f"  {url}", bold=True)
        output.note(f"  The server wants you to open this at {elicitation.host_of(url)}.")
        for warning in elicitation.url_warnings(url):
            output.note(f"  Careful: {warning}", fg="red")
        return await self._decide("You opened it (a), you decline (d), or cancel (c)? [c] ")

    async def _decide(self, prompt: str) -> Any:
        actions = {"a": "accept", "d": "decline", "c": "cancel", "": "cancel"}
        while True:
            word = (await self._read(prompt)).lower()
            action = actions.get(word[:1])
            if action is not None:
                return {"action": action}

    async def _fill(self, params: dict[str, Any]) -> Any:
        output.note(f"  {params.get('message', '')}")
        output.note("  (/decline says no, /cancel says nothing)", dim=True)
        content: dict[str, Any] = {}
        try:
            for field in fields_of(params.get("requestedSchema")):
                await self._ask_for(field, content)
        except _Dismissed as dismissed:
            return {"action": str(dismissed)}
        return {"action": "accept", "content": content}

    async def _ask_for(self, field: Field, content: dict[str, Any]) -> None:
        for line in described_field(field):
            output.note(line)
        default = f" [{_brief(field.default)}]" if field.has_default else ""
        while True:
            text = await self._read(f"{field.label}{'*' if field.is_required else ''}{default}> ")
            if text in ("/decline", "/cancel"):
                raise _Dismissed(text[1:])
            if not text:
                if field.has_default or not field.is_required:
                    return  # the default is put in by who sends the answer
                output.note("  This is required.", fg="red")
                continue
            try:
                value = from_text(field, text)
            except ValueError as problem:
                output.note(f"  {problem}", fg="red")
                continue
            if findings := elicitation.value_findings(field, value):
                output.note(f"  {'; '.join(findings)}", fg="red")
                continue
            content[field.name] = value
            return

    # -- the terminal --------------------------------------------------------------------------

    async def _read(self, prompt: str) -> str:
        """A line of the person's; the end of the input is an empty one."""
        output.show_prompt(prompt)
        try:
            while b"\n" not in self._typed:
                data = await _readable()
                self._typed += data or b"\n"
        finally:
            output.end_prompt()
        line, _, self._typed = self._typed.partition(b"\n")
        return line.decode("utf-8", "replace").strip()


async def _readable() -> bytes:
    """Whatever was typed next."""
    loop = asyncio.get_running_loop()
    descriptor = sys.stdin.fileno()
    ready: asyncio.Future[bytes] = loop.create_future()

    def read() -> None:
        if not ready.done():
            ready.set_result(os.read(descriptor, 65_536))

    try:
        loop.add_reader(descriptor, read)
    except (NotImplementedError, PermissionError):  # Windows; a plain file as input
        return await loop.run_in_executor(None, os.read, descriptor, 65_536)
    try:
        return await ready
    finally:
        loop.remove_reader(descriptor)


# -- what is shown -----------------------------------------------------------------------------


def described_sampling(params: dict[str, Any]) -> list[str]:
    """What the server wants completed, line by line."""
    lines = []
    if isinstance(params.get("systemPrompt"), str):
        lines.append(f"  [system] {_cut(params['systemPrompt'])}")
    messages = params.get("messages")
    for message in messages if isinstance(messages, list) else []:
        role = message.get("role") if isinstance(message, dict) else "?"
        content = message.get("content") if isinstance(message, dict) else message
        for block in content if isinstance(content, list) else [content]:
            lines.append(f"  [{role}] {_described_block(block)}")
    wishes = [
        f"{label} {_brief(params[key])}"
        for key, label in (
            ("maxTokens", "max tokens"),
            ("temperature", "temperature"),
            ("stopSequences", "stop at"),
            ("includeContext", "context"),
            ("toolChoice", "tool choice"),
        )
        if params.get(key) is not None
    ]
    preferences = params.get("modelPreferences")
    hints = preferences.get("hints") if isinstance(preferences, dict) else None
    names = [str(hint.get("name")) for hint in hints or () if isinstance(hint, dict)]
    if names:
        wishes.insert(0, f"model {', '.join(names)}")
    if wishes:
        lines.append(f"  {'; '.join(wishes)}")
    for tool in sampling.offered_tools(params):
        lines.append(f"  tool {tool['name']}: {output.first_line(tool.get('description'))}")
    return lines


def _described_block(block: Any) -> str:
    if not isinstance(block, dict):
        return _brief(block)
    kind = block.get("type")
    if kind == "text":
        return _cut(str(block.get("text", "")))
    if kind in ("image", "audio"):
        return f"({kind}, {block.get('mimeType', 'unknown type')})"
    if kind == "tool_use":
        return f"calls {block.get('name')} {_brief(block.get('input'))}"
    if kind == "tool_result":
        return f"result of {block.get('toolUseId')}: {_brief(block.get('content'))}"
    return _brief(block)


def described_field(field: Field) -> list[str]:
    """What may be typed for a field."""
    lines = []
    if field.description:
        lines.append(f"  {_cut(field.description)}")
    for number, (value, title) in enumerate(field.options, 1):
        shown = title if title == str(value) else f"{value}: {title}"
        lines.append(f"    {number}. {shown}")
    if field.kind == "choices":
        lines.append("    (several, separated by commas)")
    return lines


def _brief(value: Any) -> str:
    import msgspec

    return _cut(value if isinstance(value, str) else msgspec.json.encode(value).decode())


def _cut(text: str) -> str:
    more = len(text) - _SHOWN_CHARACTERS
    return text if more <= 0 else f"{text[:_SHOWN_CHARACTERS]}… ({more} more characters)"
