"""Printing: results to stdout, everything else to stderr.

Readable with colour on a terminal, plain when piped; `--json` prints what the server sent and
nothing else. If the reader of a pipe exits, the command ends quietly. What is printed is harmless
to a terminal (terminal_text.py): callers need not clean what a server wrote.
"""

from __future__ import annotations

import contextlib
import os
import sys
import textwrap
from collections.abc import Iterator, Mapping
from typing import Any, Final, TextIO

from mcplens.cli.terminal_text import Styled as Styled
from mcplens.cli.terminal_text import one_line as one_line
from mcplens.cli.terminal_text import visible as visible
from mcplens.cli.terminal_text import visible_json as visible_json
from mcplens.cli.terminal_text import without_colours as without_colours
from mcplens.cli.terminal_text import write_sequence, write_text
from mcplens.known_secrets import known_secrets
from mcplens.protocol.result_types import Content, ToolResult

# Below this width columns do not help: one item per line.
_NARROW: Final = 60
# What is shown of base64 data.
_SHOWN_DATA: Final = 40
# Width where the output is not a terminal.
_WIDTH: Final = 100
_is_one_line = False
_status = ""
_prompt: str | Styled = ""


class CannotWrite(Exception):
    """The output cannot be written (disk full); not raised for a closed pipe."""


def style(text: str, **how: Any) -> Styled:
    """Text with a style; add it to other text, since an f-string leaves the style out."""
    return Styled((text, how))


def use_json_lines() -> None:
    """From here on JSON has no newlines inside: a reader takes each line for one object."""
    global _is_one_line
    _is_one_line = True


def write_raw(data: bytes) -> None:
    """Print bytes and a newline: unchanged, unless a terminal could be harmed by them."""
    if _is_one_line:  # in JSON a newline is never part of a text
        data = data.replace(b"\n", b" ").replace(b"\r", b" ")
    with _above():
        write_bytes(data)
        write_bytes(b"\n")
        flush()


def write_bytes(data: bytes) -> None:
    """Bytes as they are; on a terminal harmful characters are escaped as in JSON."""
    with _telling():
        sys.stdout.buffer.write(data)


def flush() -> None:
    """Everything printed is on its way when this returns."""
    with _telling():
        sys.stdout.flush()


@contextlib.contextmanager
def _above() -> Iterator[None]:
    """Print above the status line or prompt, if stdout is where that is."""
    bottom = _prompt or _status
    if not bottom or not sys.stdout.isatty():
        yield
        return
    _draw("")
    yield
    _draw(bottom)


@contextlib.contextmanager
def _telling() -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as problem:
        raise CannotWrite(f"the output cannot be written: {problem.strerror}") from None


def write_json(value: Any) -> None:
    """A value of ours as one line of JSON."""
    import msgspec

    write_raw(msgspec.json.encode(value, enc_hook=_plain))


def say(text: str | Styled = "", **how: Any) -> None:
    """A line of the result, for a person."""
    with _above(), _telling():
        write_text(sys.stdout, style(str(text), **how) if how else text)


def note(text: str | Styled, **how: Any) -> None:
    """A line beside the result; the status line or prompt, if there is one, stays below it.

    Secrets that are known are masked in it: it may be what a server wrote.
    """
    if known_secrets:
        text = (style("") + text).changed(known_secrets.mask_text)
    bottom = _prompt or _status
    try:
        write_text(sys.stderr, style(str(text), **how) if how else text, erases=bool(bottom))
    except OSError:  # only the result matters
        _discard(sys.stderr)
    if bottom:
        _draw(bottom)


def show_status(text: str) -> None:
    """Show a status line that the next one replaces; an empty one removes it."""
    global _status
    if _prompt:  # a person is typing there
        return
    text = one_line(text)[: width() - 1]
    if text or _status:
        _draw(text)
    _status = text


def show_prompt(prompt: str, typed: str) -> None:
    """A line that is being typed, and what is typed of it; the status line is away meanwhile."""
    global _status, _prompt
    _status, _prompt = "", style(prompt, bold=True) + typed
    _draw(_prompt)


def end_prompt(prompt: str, typed: str) -> None:
    """The line is typed, or no longer wanted: it stays as it was, in full."""
    global _prompt
    _draw(style(prompt, bold=True) + typed, end="\n")
    _prompt = ""


def _draw(text: str | Styled, end: str = "") -> None:
    with contextlib.suppress(OSError):
        write_text(sys.stderr, text, end=end, erases=True, is_line=True)


def width() -> int:
    # As shutil.get_terminal_size, which loads four compression libraries.
    chosen = os.environ.get("COLUMNS", "")
    if chosen.isdecimal() and int(chosen):
        return int(chosen)
    try:
        return os.get_terminal_size(sys.__stdout__.fileno()).columns or _WIDTH  # type: ignore[union-attr]
    except (AttributeError, ValueError, OSError):
        return _WIDTH


def columns(rows: list[tuple[str, str]], indent: int = 0) -> None:
    """Names and their descriptions, side by side where there is room."""
    room = width() - indent
    before = " " * indent
    rows = [(one_line(name), visible(text)) for name, text in rows]
    longest = max((len(name) for name, _ in rows), default=0)
    if room < _NARROW or longest > room // 2:
        for name, text in rows:
            say(before + style(name, bold=True))
            _wrapped(text, before + "  ", room)
        return
    for name, text in rows:
        lines = _wrap(text, room - longest - 2) or [""]
        padding = " " * (longest - len(name) + 2) if lines[0] else ""
        say(before + style(name, bold=True) + padding + lines[0])
        for line in lines[1:]:
            say(before + " " * (longest + 2) + line)


def _wrapped(text: str, indent: str, room: int) -> None:
    for line in _wrap(text, room - len(indent)):
        say(indent + line)


def _wrap(text: str, room: int) -> list[str]:
    # A path or a URL stays in one piece, so that it can be copied.
    return textwrap.wrap(text, max(20, room), break_on_hyphens=False, break_long_words=False)


def fitted(text: str, stream: TextIO, indent: int = 0) -> list[str]:
    """The lines of a text; on a terminal as long as there is room, with no word broken."""
    lines = visible(text).split("\n")
    if not stream.isatty():
        return lines
    room = max(20, width() - indent)
    return [
        part
        for line in lines
        for part in textwrap.wrap(line, room, break_long_words=False, break_on_hyphens=False)
        or [""]
    ]


def paragraph(text: str) -> None:
    """A text of the result, with its own lines, wrapped to the terminal."""
    for line in fitted(text, sys.stdout):
        say(line)


def is_narrow() -> bool:
    """Whether columns help nobody here."""
    return width() < _NARROW


def first_line(text: str | None) -> str:
    """The start of a description that may be an essay."""
    lines = (text or "").strip().splitlines()
    return lines[0].strip() if lines else ""


def tool_result(result: ToolResult, saved: Mapping[int, str] | None = None) -> None:
    """A tool's result for a person; of some blocks, the files that they were saved in."""
    if result.is_error:
        note("the tool failed:", fg="red", bold=True)
    for place, block in enumerate(result.content, 1):
        content(block, (saved or {}).get(place))
    if result.structured_content is not None and not _is_told(result):
        say(pretty(result.structured_content))
    for finding in result.findings:
        note(f"note: {finding}", fg="yellow")


def _is_told(result: ToolResult) -> bool:
    """Servers repeat structured content as text for older clients.

    Structured content has to be an object, so an SDK puts a text or a list that a tool returns
    into one member of it.
    """
    import json

    value = result.structured_content
    forms = [value]
    if isinstance(value, dict) and len(value) == 1:
        forms += value.values()
    for block in result.content:
        if block.type != "text" or block.text is None:
            continue
        if block.text in forms:
            return True
        if block.text.lstrip()[:1] in "{[":
            try:
                if json.loads(block.text) in forms:
                    return True
            except ValueError:
                continue
    return False


def content(block: Content, saved: str | None = None) -> None:
    """One content block for a person, and the file that it was saved in."""
    match block.type:
        case "text":
            say(without_colours(block.text or ""))
        case "image" | "audio":
            data = block.data or ""
            size = decoded_size(data)
            drawn = block.type == "image" and draw_image(data, block.mime_type)
            shown = f": saved as {saved}" if saved else "" if drawn else f": {data[:_SHOWN_DATA]}…"
            say(f"[{block.type} {block.mime_type}, {size} bytes{shown}]")
        case "resource_link":
            say(f"[resource {block.uri} {block.name or ''}]".replace(" ]", "]"))
        case "resource":
            resource = block.resource if isinstance(block.resource, dict) else {}
            text, blob = resource.get("text"), str(resource.get("blob", ""))
            kind = resource.get("mimeType") or "binary"
            say(f"[resource {resource.get('uri')}{f': saved as {saved}' if saved else ''}]")
            if saved is None or not isinstance(text, str):
                size = decoded_size(blob)
                say(text if isinstance(text, str) else f"[{kind}, {size} bytes]")
        case _:
            say(f"[{block.type}]")


def draw_image(data: str, kind: str | None) -> bool:
    """Show an image (base64) where the terminal can draw it; says whether it did."""
    if not sys.stdout.isatty():
        return False
    from mcplens.cli.terminal_images import image_sequence

    sequence = image_sequence(data, kind)
    if sequence is not None:
        with _above(), _telling():
            write_sequence(sys.stdout, sequence)
    return sequence is not None


def decoded_size(data: str) -> int:
    """How many bytes this base64 stands for."""
    return len(data) * 3 // 4 - data[-2:].count("=")


def pretty(value: Any) -> str:
    """JSON for a person."""
    import json

    return json.dumps(value, indent=2, ensure_ascii=False)


def end_quietly() -> None:
    """The reader of our output is gone: print nothing more."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            _discard(stream)


def _discard(stream: TextIO) -> None:
    """Discard what is still to be written, by us or by the interpreter at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    return str(value)
