"""Asks the person at the terminal the server's questions, one after the other.

Everything is printed to stderr, so that stdout has only the result. Invalid input is reported and
asked for again. A question that is withdrawn ends at once, as on Ctrl-C.
"""

from __future__ import annotations

import asyncio
import json
import textwrap
from functools import cache
from typing import Any, Final

import msgspec

from mcplens.cli import output
from mcplens.cli.line_editor import terminal_reader
from mcplens.protocol import elicitation, sampling
from mcplens.protocol.form_fields import Field, fields_of, from_text
from mcplens.session.question_handler import REJECTED, Forced, ServerRequest

# Of what a server sends with its question.
_SHOWN_CHARACTERS: Final = 2_000
_MODEL: Final = "a person"
_CALL: Final = "/call "
_ACTIONS: Final = {"a": "accept", "d": "decline", "c": "cancel", "": "cancel"}


@cache
def interactive_answers() -> InteractiveAnswers:
    """The only instance: there is one terminal."""
    return InteractiveAnswers()


class _Dismissed(Exception):
    """The person gives no answer; the text is the action to send."""


class InteractiveAnswers:
    """A profile that asks the person at the terminal."""

    name = "person"

    def __init__(self) -> None:
        self._waiting = 0
        self._keyboard = terminal_reader()

    def __repr__(self) -> str:
        return f"<InteractiveAnswers {self._waiting} waiting>"

    async def answer(self, request: ServerRequest) -> Any:
        self._count(1)
        if self._keyboard.is_at_prompt:
            output.note(
                "? The server asks something: press Enter to see it", fg="yellow", bold=True
            )
        try:
            async with self._keyboard.turn:
                with self._keyboard.opened():
                    return await self._ask(request)
        finally:
            self._count(-1)

    def _count(self, change: int) -> None:
        self._waiting += change
        self._keyboard.prefix = f"({self._waiting} wait) " if self._waiting > 1 else ""
        self._keyboard.redraw()

    async def _ask(self, request: ServerRequest) -> Any:
        try:
            if request.method == "sampling/createMessage":
                return await self._complete(request.params)
            if elicitation.mode_of(request.params) == "url":
                return await self._visit(request.params)
            return await self._fill(request.params)
        except asyncio.CancelledError:
            _tell("(the server no longer waits for this answer)", dim=True)
            raise

    # -- a completion --------------------------------------------------------------------------

    async def _complete(self, params: dict[str, Any]) -> Any:
        _head("The server asks for a completion", "sampling/createMessage")
        for line in described_sampling(params):
            _tell(line)
        call = "/call NAME {JSON} calls a tool; " if sampling.offered_tools(params) else ""
        _tell(f"({call}an empty line refuses)", dim=True)
        while True:
            try:
                text = await self._read("Answer> ")
            except _Dismissed:
                text = ""
            if not text:
                from mcplens.errors import ServerError

                raise ServerError(REJECTED, "the user rejected the request")
            try:
                result = _completion(params, text)
            except ValueError as problem:
                _tell(str(problem), fg="red")
                continue
            findings = sampling.answer_findings(params, result)
            if not findings:
                return result
            if await self._insists(findings):
                return Forced(result)

    # -- input ---------------------------------------------------------------------------------

    async def _visit(self, params: dict[str, Any]) -> Any:
        url = params.get("url")
        _head("The server asks you to open a page", "elicitation/create")
        _tell(_text(params.get("message")))
        output.note(f"  {_in_one_line(_brief(url))}", bold=True)  # in one piece, to be copied
        _tell(f"It opens {elicitation.host_of(url) or 'no host'}.")
        for warning in elicitation.url_warnings(url):
            _tell(f"Careful: {warning}", fg="red")
        return await self._decide("Opened it (a), decline (d), cancel (c)? [c] ")

    async def _decide(self, prompt: str) -> Any:
        while True:
            try:
                word = (await self._read(prompt)).lower()
            except _Dismissed as dismissed:
                return {"action": str(dismissed)}
            action = _ACTIONS.get(word[:1])
            if action is not None:
                return {"action": action}
            _tell("Type a, d or c.", fg="red")

    async def _fill(self, params: dict[str, Any]) -> Any:
        schema = params.get("requestedSchema")
        fields = fields_of(schema)
        _head("The server asks for input", "elicitation/create")
        _tell(_text(params.get("message")))
        if (problem := elicitation.unjudged(params)) is not None:
            _tell(f"Answers are not checked: {problem}", fg="red")
        if not fields:
            decided = await self._decide("Accept (a), decline (d), cancel (c)? [c] ")
            return decided | ({"content": {}} if decided["action"] == "accept" else {})
        _tell(
            "(* is required; an empty line uses the default or skips the field; /decline refuses, "
            "/cancel dismisses the form)",
            dim=True,
        )
        try:
            while True:
                content: dict[str, Any] = {}
                for field in fields:
                    await self._ask_for(field, content)
                content = elicitation.with_defaults(schema, content)
                result = {"action": "accept", "content": content}
                findings = elicitation.answer_findings(params, result)
                if not findings:
                    return result
                if await self._insists(findings):
                    return Forced(result)
        except _Dismissed as dismissed:
            return {"action": str(dismissed)}

    async def _ask_for(self, field: Field, content: dict[str, Any]) -> None:
        for line in described_field(field):
            _tell(line)
        default = f" [{_in_one_line(_as_typed(field.default))}]" if field.has_default else ""
        prompt = f"{_in_one_line(field.label)}{'*' if field.is_required else ''}{default}> "
        while True:
            text = await self._read(prompt)
            if not text:
                if field.has_default or not field.is_required:
                    return
                _tell("This field is required.", fg="red")
                continue
            try:
                value = from_text(field, text)
            except ValueError as problem:
                _tell(str(problem), fg="red")
                continue
            if findings := elicitation.value_findings(field, value):
                _tell("; ".join(findings), fg="red")
                continue
            content[field.name] = value
            return

    # -- the person ----------------------------------------------------------------------------

    async def _insists(self, findings: tuple[str, ...]) -> bool:
        """Whether to send an invalid answer anyway: that can be the purpose of a test."""
        for finding in findings:
            _tell(finding, fg="red")
        try:
            word = await self._read("Send it anyway? [y/N] ")
        except _Dismissed:
            return False
        return word.lower() in ("y", "yes")

    async def _read(self, prompt: str) -> str:
        """A line of the person's.

        Raises:
            _Dismissed: the input ended, or the person declined or cancelled.
        """
        line = await self._keyboard.read_line(prompt)
        if line is None or line in ("/decline", "/cancel"):
            raise _Dismissed("cancel" if line is None else line[1:])
        return line


def _completion(params: dict[str, Any], text: str) -> Any:
    """The typed text as a sampling answer. Raises ValueError."""
    if not f"{text} ".startswith(_CALL):
        return sampling.text_answer(text, model=_MODEL)
    name, _, given = text.removeprefix(_CALL.strip()).strip().partition(" ")
    if not name:
        raise ValueError("/call needs the name of a tool, and its arguments as JSON")
    try:
        arguments = msgspec.json.decode(given or "{}", type=dict[str, Any])
    except msgspec.ValidationError:
        raise ValueError('the arguments must be a JSON object, such as {"a": 1}') from None
    except msgspec.DecodeError as problem:
        raise ValueError(f"the arguments are not valid JSON: {problem}") from None
    ids = sampling.fresh_ids(params)
    return sampling.tool_use_answer([(name, arguments)], model=_MODEL, ids=ids)


# -- what is shown -----------------------------------------------------------------------------


def _head(text: str, method: str) -> None:
    output.note(f"\n? {text} ({method})", fg="yellow", bold=True)


def _tell(text: str, **how: Any) -> None:
    """Print text of the server, indented so that it cannot pass for our own output."""
    room = max(20, output.width() - 3)
    for line in output.visible(text).splitlines():
        indent = " " * (len(line) - len(line.lstrip()))
        for part in textwrap.wrap(line.strip(), room, break_on_hyphens=False) or [""]:
            output.note(f"  {indent}{part}", **how)


def described_sampling(params: dict[str, Any]) -> list[str]:
    """What the server wants completed, line by line."""
    lines = []
    if isinstance(params.get("systemPrompt"), str):
        lines.append(f"[system] {_cut(params['systemPrompt'])}")
    messages = params.get("messages")
    for message in messages if isinstance(messages, list) else []:
        role = message.get("role") if isinstance(message, dict) else "?"
        content = message.get("content") if isinstance(message, dict) else message
        for block in content if isinstance(content, list) else [content]:
            lines.append(f"[{role}] {_described_block(block)}")
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
    hints = hints if isinstance(hints, list) else []
    names = [str(hint.get("name")) for hint in hints if isinstance(hint, dict)]
    if names:
        wishes.insert(0, f"model {', '.join(names)}")
    if wishes:
        lines.append(f"({'; '.join(wishes)})")
    for tool in sampling.offered_tools(params):
        lines.append(f"tool {tool['name']}: {output.first_line(_text(tool.get('description')))}")
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
        lines.append(_cut(field.description))
    for number, (value, title) in enumerate(field.options, 1):
        shown = title if title == str(value) else f"{value}: {title}"
        lines.append(f"  {number}. {shown}")
    if field.kind == "choices":
        lines.append("  (several, separated by commas)")
    return lines


def _as_typed(default: Any) -> str:
    """A default as a person would type it: several choices are separated by commas."""
    if isinstance(default, list) and default and all(isinstance(one, str) for one in default):
        return _cut(", ".join(default))
    return _brief(default)


def _brief(value: Any) -> str:
    # Not msgspec: it refuses a lone surrogate, which JSON may have.
    if not isinstance(value, str):
        value = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return _cut(value)


def _cut(text: str) -> str:
    more = len(text) - _SHOWN_CHARACTERS
    return text if more <= 0 else f"{text[:_SHOWN_CHARACTERS]}… ({more} more characters)"


def _in_one_line(text: str) -> str:
    return output.one_line(text)


def _text(value: Any) -> str:
    return _cut(value) if isinstance(value, str) else ""
