"""A person at a terminal: sees what is on the screen, and types.

Knows what our output uses of a terminal: lines, "erase this line", and colours, which it leaves
out.
"""

import contextlib
import fcntl
import os
import pty
import re
import struct
import subprocess
import termios
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO

from tests.cli.shell import MCPLENS, TIMEOUT_S, Shell, read_some

_TOKEN = re.compile(r"\x1b\[[0-9;]*[A-Za-z]|.", re.DOTALL)


class Terminal:
    """One command on a terminal of its own."""

    def __init__(self, process: "subprocess.Popen[bytes]", file: int) -> None:
        self.process = process
        self.lines: list[str] = []  # those that are done
        self.line = ""  # where the cursor is
        self.drawn = ""  # everything, gone again or not
        self._file = file
        self._seen = 0
        self._bytes = b""

    @property
    def text(self) -> str:
        return "\n".join([*self.lines, self.line])

    def until(self, prompt: str) -> list[str]:
        """Wait until this is where the cursor is; gives the lines since the last time."""
        self.read_while(lambda: self.line != prompt, f"the prompt {prompt!r}")
        return self._new_lines()

    def until_line(self, part: str) -> str:
        """Wait until a line that holds this is done."""
        self.read_while(
            lambda: not any(part in line for line in self.lines[self._seen :]), f"a line {part!r}"
        )
        found = next(at for at in range(self._seen, len(self.lines)) if part in self.lines[at])
        self._seen = found + 1
        return self.lines[found]

    def answer(self, prompt: str, text: str) -> list[str]:
        """Type a line at this prompt; gives the lines that led to it."""
        before = self.until(prompt)
        self.type(text + "\n")
        self.until_line(prompt + text)
        return before

    def type(self, text: str) -> None:
        os.write(self._file, text.encode())

    def press_ctrl_c(self) -> None:
        self.type("\x03")

    def end(self) -> int:
        """Read to the end; gives the exit code."""
        with contextlib.suppress(OSError):  # EIO: the other end is closed
            while part := read_some(self._file):
                self._show(part)
        return self.process.wait(TIMEOUT_S)

    def echoes(self) -> bool:
        """Whether the terminal shows by itself what is typed, as it does for a shell."""
        return bool(termios.tcgetattr(self._file)[3] & termios.ECHO)

    def _new_lines(self) -> list[str]:
        new = self.lines[self._seen :]
        self._seen = len(self.lines)
        return new

    def read_while(self, is_missing: Callable[[], bool], what: str) -> None:
        """Read for as long as something is missing; `what` that is, for the failure."""
        deadline = time.monotonic() + TIMEOUT_S
        while is_missing():
            assert time.monotonic() < deadline, f"{what} did not come:\n{self.text}"
            try:
                self._show(read_some(self._file))
            except (AssertionError, OSError) as problem:
                raise AssertionError(f"{what} did not come:\n{self.text}") from problem

    def _show(self, data: bytes) -> None:
        self._bytes += data
        try:
            text = self._bytes.decode()
        except UnicodeDecodeError:  # in the middle of a character
            return
        # A sequence may be cut in two as well.
        cut = text.rfind("\x1b") if re.search(r"\x1b(\[[0-9;]*)?$", text) else len(text)
        self._bytes = text[cut:].encode()
        self.drawn += text[:cut]
        for token in _TOKEN.findall(text[:cut]):
            if token == "\n":
                self.lines.append(self.line)
                self.line = ""
            elif token == "\x1b[K":
                self.line = ""
            elif token != "\r" and not token.startswith("\x1b"):  # we erase after each return
                self.line += token


@contextlib.contextmanager
def terminal(
    shell: Shell,
    *words: str,
    columns: int = 80,
    stdin: BinaryIO | None = None,
    stdout: Path | None = None,
) -> Iterator[Terminal]:
    """Run a command on a terminal of its own; stdin and stdout may be files."""
    out = None if stdout is None else stdout.open("wb")
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    process = subprocess.Popen(
        [MCPLENS, *words],
        cwd=shell.home,
        env=shell.environment,
        stdin=theirs if stdin is None else stdin,
        stdout=theirs if out is None else out,
        stderr=theirs,
        start_new_session=True,
        # Only a session's own terminal turns Ctrl-C into a signal.
        preexec_fn=lambda: fcntl.ioctl(2, termios.TIOCSCTTY, 0),
    )
    os.close(theirs)
    if out is not None:
        out.close()
    try:
        yield Terminal(process, ours)
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
        os.close(ours)
