"""Makes text harmless before a terminal sees it; the only module that writes escape sequences.

A server can put characters into any text of its own that move the cursor, rewrite what is on the
screen, set the clipboard or reverse the reading order. `guard_streams()`, called by main.py, puts
streams in place of stdout and stderr that escape these, whoever prints. Colours are therefore not
characters of a text but a value, `Styled`, and only `write_text()` turns them into escape
sequences. Used by output.py, which has the functions for commands.
"""

from __future__ import annotations

import codecs
import io
import os
import re
import sys
from collections.abc import Callable
from typing import Any, BinaryIO, Final, TextIO, cast

import click

# To the start of the line, and what is on it gone.
_ERASE: Final = "\r\x1b[K"

# Unicode's control and format characters, lone surrogates, line and paragraph separators, and what
# is never shown. Format characters that have a shape of their own (of Arabic, say) are not here.
_CONTROLS: Final = r"\x00-\x08\x0b-\x1f\x7f-\x9f"
_INVISIBLE: Final = (
    r"\xad\u034f\u061c\u115f\u1160\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164"
    r"\ud800-\udfff\ufdd0-\ufdef\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff"
    r"\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e00ff\U000e01f0-\U000e0fff"
)
# These patterns are large, so each is compiled when it is first needed: by `re`, which keeps it.
_HARMFUL: Final = f"[{_CONTROLS}{_INVISIBLE}]"
_HARMFUL_IN_A_LINE: Final = f"[\n\t{_CONTROLS}{_INVISIBLE}]"
# A joiner stays between two emoji, and between two letters of scripts that are spelt with it.
_JOINED: Final = (
    r"[\u2190-\u2bff\ufe0f\U0001f000-\U0001faff]\u200d[\u2190-\u2bff\U0001f000-\U0001faff]"
    r"|[\u0600-\u109f\u1780-\u17ff][\u200c\u200d][\u0600-\u109f\u1780-\u17ff]"
)
_COLOURS: Final = r"\x1b\[[0-9;:]*m"


def visible(text: str) -> str:
    """The text with harmful characters escaped (`\\x1b`, `\\u202e`); newline and tab stay."""
    text = text.replace("\r\n", "\n")
    return text if _is_plain(text) else re.sub(_HARMFUL, _escaped, text)


def one_line(text: str) -> str:
    """As `visible()`, with newlines and tabs escaped too."""
    is_plain = text.isascii() and text.isprintable()
    return text if is_plain else re.sub(_HARMFUL_IN_A_LINE, _escaped, text)


def visible_json(text: str) -> str:
    """JSON text whose harmful characters are escaped as JSON does it: the value is the same."""
    text = text.replace("\r\n", "\n")
    return text if _is_plain(text) else re.sub(_HARMFUL, _escaped_in_json, text)


def without_colours(text: str) -> str:
    """Text without codes for colours, which many programs print whether or not they are asked."""
    return re.sub(_COLOURS, "", text) if "\x1b" in text else text


def _is_plain(text: str) -> bool:
    """Whether this is printable ASCII in lines, as most text is."""
    return text.isascii() and text.replace("\n", "").replace("\t", "").isprintable()


def _escaped(match: re.Match[str]) -> str:
    found = match.group()
    return found if _joins(match) else found.encode("unicode_escape").decode()


def _escaped_in_json(match: re.Match[str]) -> str:
    found = match.group()
    if _joins(match):
        return found
    units = found.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))


def _joins(match: re.Match[str]) -> bool:
    around = match.string[max(match.start() - 1, 0) : match.end() + 1]
    return bool(match.start() and re.match(_JOINED, around))


class Styled:
    """Text with colours, made of parts. As a plain string it has no colours."""

    __slots__ = ("_parts",)

    def __init__(self, *parts: tuple[str, dict[str, Any]]) -> None:
        self._parts = parts

    def __repr__(self) -> str:
        return f"Styled({str(self)!r})"

    def __str__(self) -> str:
        return "".join(text for text, _ in self._parts)

    def __add__(self, other: str | Styled) -> Styled:
        return Styled(*self._parts, *_parts_of(other))

    def __radd__(self, other: str) -> Styled:
        return Styled(*_parts_of(other), *self._parts)

    def changed(self, change: Callable[[str], str]) -> Styled:
        """The same parts with other text."""
        return Styled(*((change(text), how) for text, how in self._parts))

    def rendered(self, *, has_colours: bool, is_line: bool) -> str:
        """Harmless text, with our own escape sequences around the parts that have a style."""
        clean = one_line if is_line else visible
        return "".join(
            click.style(clean(text), **how) if how and has_colours else clean(text)
            for text, how in self._parts
        )


def _parts_of(text: str | Styled) -> tuple[tuple[str, dict[str, Any]], ...]:
    return text._parts if isinstance(text, Styled) else ((text, {}),)


def write_text(
    stream: TextIO,
    text: str | Styled,
    *,
    end: str = "\n",
    erases: bool = False,
    is_line: bool = False,
) -> None:
    """Write harmless text with its colours, if the stream shows any; optionally over this line."""
    has_colours = (
        stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    )
    rendered = Styled(*_parts_of(text)).rendered(has_colours=has_colours, is_line=is_line)
    ours = (_ERASE if erases else "") + rendered + end
    write_own(stream, ours)
    stream.flush()


def write_sequence(stream: TextIO, sequence: str) -> None:
    """Write an escape sequence of ours, made of nothing that a server wrote."""
    write_own(stream, sequence + "\n")
    stream.flush()


def write_own(stream: TextIO, text: str) -> None:
    """Write text as it is: with escape sequences of ours, and nothing harmful of a server's."""
    if isinstance(stream, GuardedStream):
        stream.write_own(text)
    else:
        stream.write(text)


class GuardedStream(io.TextIOWrapper):
    """A stream that escapes harmful characters in what is printed.

    Its `buffer` takes bytes as they are, unless the stream is a terminal. What the locale cannot
    encode is escaped.
    """

    def __init__(self, stream: io.TextIOWrapper) -> None:
        super().__init__(
            stream.buffer,
            encoding=stream.encoding,
            errors="backslashreplace",
            line_buffering=stream.line_buffering,
            write_through=stream.write_through,
        )
        self._replaced = stream  # which closes the file when it is collected
        self._bytes = cast(BinaryIO, _TerminalBytes(self)) if stream.isatty() else None

    @property
    def buffer(self) -> BinaryIO:
        return cast(BinaryIO, super().buffer) if self._bytes is None else self._bytes

    def write(self, text: str, /) -> int:
        super().write(visible(text))
        return len(text)

    def write_own(self, text: str) -> None:
        """Text with escape sequences of ours; for the function `write_own()` alone."""
        super().write(text)


class _TerminalBytes(io.RawIOBase):
    """Takes bytes for a terminal: most are JSON, so they are escaped as JSON does it."""

    def __init__(self, stream: GuardedStream) -> None:
        self._stream = stream
        self._decoder = codecs.getincrementaldecoder("utf-8")("backslashreplace")

    def writable(self) -> bool:
        return True

    def write(self, data: Any, /) -> int:
        self._stream.write_own(visible_json(self._decoder.decode(bytes(data))))
        return len(data)

    def flush(self) -> None:
        if not self.closed:
            self._stream.flush()


def guard_streams() -> None:
    """From here on everything printed is harmless."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        # Not what a test has put there.
        if type(stream) is io.TextIOWrapper:
            stream.flush()
            setattr(sys, name, GuardedStream(stream))
