"""Reads typed lines while the command runs and other lines are printed above.

The terminal's own line editing would be disturbed by log output, so keys are read one by one and
output.py draws the line. Input that is not a terminal is read line by line. Used by
interactive_questions.py, and by the shell for commands from a file or a pipe.
"""

from __future__ import annotations

import asyncio
import codecs
import contextlib
import os
import sys
import unicodedata
from collections.abc import Iterator
from functools import cache
from typing import Final

from mcplens.cli import output

_ENTER: Final = "\n"
_END: Final = "\x04"  # Ctrl-D
_BACKSPACES: Final = "\x7f\b"
_KILL_LINE: Final = "\x15"  # Ctrl-U
_KILL_WORD: Final = "\x17"  # Ctrl-W
_ESCAPE: Final = "\x1b"
# What is always left of a line for what is typed.
_LEAST_ROOM: Final = 12


@cache
def terminal_reader() -> TerminalReader:
    """The only instance: there is one stdin, and whoever reads it may read ahead."""
    return TerminalReader()


class TerminalReader:
    """Reads one line at a time from the terminal or another input."""

    def __init__(self) -> None:
        self.prefix = ""  # before every prompt
        self.turn = asyncio.Lock()  # held by whoever reads
        self.is_at_prompt = False  # the shell's, where somebody may be typing a command
        self._is_terminal = False
        self._unread = b""
        self._editor: LineEditor | None = None

    def __repr__(self) -> str:
        return f"<TerminalReader {'reading' if self._editor else 'idle'}>"

    @contextlib.contextmanager
    def opened(self) -> Iterator[None]:
        """Start reading; input typed before the question is discarded."""
        descriptor = sys.stdin.fileno()
        self._is_terminal = False
        if not (sys.stdin.isatty() and sys.stderr.isatty()):
            yield
            return
        try:
            import termios
        except ImportError:  # Windows
            yield
            return
        before = termios.tcgetattr(descriptor)
        changed = termios.tcgetattr(descriptor)
        changed[3] &= ~(termios.ICANON | termios.ECHO)  # Ctrl-C goes on to be a signal
        self._is_terminal, self._unread = True, b""
        termios.tcsetattr(descriptor, termios.TCSAFLUSH, changed)
        how = termios.TCSAFLUSH  # half a line for a withdrawn question is discarded
        try:
            yield
            how = termios.TCSADRAIN
        finally:
            with contextlib.suppress(termios.error):  # the terminal is gone
                termios.tcsetattr(descriptor, how, before)

    def redraw(self) -> None:
        """Show a new prefix."""
        if self._editor is not None:
            self._editor.draw(self.prefix)

    async def read_line(self, prompt: str, *, is_hidden: bool = False) -> str | None:
        """The text up to Enter; None at the end of the input. `is_hidden` shows dots instead."""
        if not self._is_terminal:
            output.note(self.prefix + prompt)
            return await self.read_plain_line()
        editor = self._editor = LineEditor(prompt, is_hidden=is_hidden)
        editor.draw(self.prefix)
        try:
            while not editor.is_done:
                data = self._unread or await _readable()
                self._unread = editor.feed(data)
                editor.draw(self.prefix)
        finally:
            self._editor = None
            output.end_prompt(editor.prompt, editor.shown)
        return editor.line

    async def read_plain_line(self) -> str | None:
        """The next line of an input that is not a terminal; None at its end."""
        while b"\n" not in self._unread:
            data = await _readable()
            if not data:
                if not self._unread:
                    return None
                data = b"\n"
            self._unread += data
        line, _, self._unread = self._unread.partition(b"\n")
        return line.decode("utf-8", "replace").strip()


class LineEditor:
    """One line being typed; keys in, no I/O but the drawing of it."""

    def __init__(self, prompt: str, *, is_hidden: bool = False) -> None:
        self.prompt = prompt
        self.is_hidden = is_hidden
        self.text = ""
        self.is_done = False
        self.line: str | None = None
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._escape = ""  # a key that sends several characters, so far

    def __repr__(self) -> str:
        return f"<LineEditor {self.prompt!r} {len(self.text)} typed>"

    @property
    def shown(self) -> str:
        return "•" * len(self.text) if self.is_hidden else self.text

    def feed(self, data: bytes) -> bytes:
        """Process typed text; returns what follows the end of the line."""
        if not data:
            self.is_done = True
            return b""
        for at in range(len(data)):
            for key in self._decoder.decode(data[at : at + 1]):
                self._press(key)
            if self.is_done:
                return data[at + 1 :]
        return b""

    def _press(self, key: str) -> None:
        if self._escape:
            self._escape += key
            # ESC, one more, and after [ or O up to a letter or ~: arrows and their kin.
            if self._escape[1] not in "[O" or (len(self._escape) > 2 and "@" <= key <= "~"):
                self._escape = ""
        elif key == _ENTER:
            self.is_done, self.line = True, self.text.strip()
        elif key == _END:
            self.is_done = not self.text
        elif key in _BACKSPACES:
            self.text = self.text[:-1]
        elif key == _KILL_LINE:
            self.text = ""
        elif key == _KILL_WORD:
            self.text = self.text.rstrip().rpartition(" ")[0]
            self.text += " " if self.text else ""
        elif key == _ESCAPE:
            self._escape = key
        elif key == "\t":
            self.text += " "
        elif unicodedata.category(key) != "Cc":  # the other control keys do nothing
            self.text += key

    def draw(self, prefix: str = "") -> None:
        """One row of the terminal, whatever its width: of a long line the end is shown."""
        room = output.width() - 1
        prompt = _start_of(prefix + self.prompt, room - _LEAST_ROOM)
        output.show_prompt(prompt, _end_of(self.shown, room - _cells(prompt)))


def _cells(text: str) -> int:
    """How many columns of a terminal a text takes."""
    return sum(_cells_of(character) for character in text)


def _cells_of(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def _start_of(text: str, room: int) -> str:
    if _cells(text) <= room:
        return text
    while text and _cells(text) > room - 3:
        text = text[:-1]
    return f"{text}…> "


def _end_of(text: str, room: int) -> str:
    if _cells(text) <= room:
        return text
    text = text[-room:]
    while text and _cells(text) > room - 1:
        text = text[1:]
    return f"…{text}"


async def _readable() -> bytes:
    """Whatever was typed next; nothing at the end of the input."""
    loop = asyncio.get_running_loop()
    descriptor = sys.stdin.fileno()
    ready: asyncio.Future[None] = loop.create_future()

    def is_ready() -> None:
        if not ready.done():
            ready.set_result(None)

    try:
        loop.add_reader(descriptor, is_ready)
    except (NotImplementedError, PermissionError):  # Windows; a plain file as input
        return await loop.run_in_executor(None, os.read, descriptor, 65_536)
    try:
        await ready
        return os.read(descriptor, 65_536)
    except OSError:  # the terminal was closed
        return b""
    finally:
        loop.remove_reader(descriptor)
