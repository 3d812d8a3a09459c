"""The prompt of `mcplens shell`: line editing, history and completion by prompt_toolkit.

The only module that imports it: that takes a tenth of a second, and shells on a pipe need none of
it. What is printed meanwhile (logs, stderr) stays above the prompt.
"""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncGenerator, Iterable
from typing import TextIO

from prompt_toolkit import PromptSession
from prompt_toolkit.application import create_app_session
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.data_structures import Size
from prompt_toolkit.document import Document
from prompt_toolkit.history import History
from prompt_toolkit.output import Output, create_output
from prompt_toolkit.patch_stdout import patch_stdout

from mcplens.cli import output
from mcplens.cli.shell_candidates import Candidates
from mcplens.cli.shell_history import HistoryFile, SecretMask


class Prompt:
    """Reads one line at a time from the person at the terminal."""

    def __init__(
        self, name: str, candidates: Candidates, history_path: str | None, mask: SecretMask
    ) -> None:
        file = None if history_path is None else HistoryFile(history_path, mask)
        # On stderr, as everything but results; past our own stream, which escapes what it draws.
        self._stream = open(os.dup(sys.stderr.fileno()), "w", encoding="utf-8")  # noqa: SIM115
        self._output = _output(self._stream)
        self._session: PromptSession[str] = PromptSession(
            f"{output.one_line(name)}> ",
            history=_History(file),
            completer=_Completer(candidates),
            complete_while_typing=False,
            enable_history_search=True,
            output=self._output,
        )

    def __repr__(self) -> str:
        return f"<Prompt {self._session.message!r}>"

    async def read_line(self) -> str | None:
        """The next line; empty after Ctrl-C, None after Ctrl-D."""
        with create_app_session(output=self._output), patch_stdout(raw=True):
            try:
                return await self._session.prompt_async()
            except KeyboardInterrupt:
                return ""
            except EOFError:
                return None


def _output(stream: TextIO) -> Output:
    if sys.platform == "win32":
        return create_output(stdout=stream)
    from prompt_toolkit.output.vt100 import Vt100_Output

    def size() -> Size:
        found = os.get_terminal_size(stream.fileno())
        return Size(rows=found.lines or 24, columns=found.columns or 80)

    # Without asking for the cursor's position: some terminals answer late, or never.
    return Vt100_Output(stream, size, term=os.environ.get("TERM"), enable_cpr=False)


class _History(History):
    """The history file, if there is one; this session's lines as they were typed."""

    def __init__(self, file: HistoryFile | None) -> None:
        super().__init__()
        self._file = file

    def load_history_strings(self) -> Iterable[str]:
        return reversed(self._file.lines()) if self._file is not None else ()

    def store_string(self, string: str) -> None:
        if self._file is not None:
            self._file.add(string)


class _Completer(Completer):
    """Candidates as prompt_toolkit wants them."""

    def __init__(self, candidates: Candidates) -> None:
        self._candidates = candidates

    def get_completions(
        self, document: Document, complete_event: CompleteEvent
    ) -> Iterable[Completion]:
        return ()

    async def get_completions_async(
        self, document: Document, complete_event: CompleteEvent
    ) -> AsyncGenerator[Completion, None]:
        replaced, found = await self._candidates.find(document.text_before_cursor)
        for text, about in found:
            yield Completion(text, start_position=-replaced, display_meta=about)
