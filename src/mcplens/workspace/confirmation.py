"""Which servers must be confirmed before they are started: those of a project, and imported ones.

config/trust.py handles those of a project. An imported server is written to the user's own file, so
its fingerprint is remembered here until a person has reviewed its command and confirmed it. What
the person typed needs no confirmation. The file is read each time, since another process may write
it. Called by the web UI and the command line.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import msgspec

from mcplens.config.environment import Environment, user_state_folder
from mcplens.config.files import write_text
from mcplens.config.model import ServerEntry
from mcplens.config.trust import TrustStore, fingerprint

_FILE_NAME: Final = "imported.json"


class Confirmations:
    """The entries that wait for confirmation."""

    def __init__(self, here: Environment, *, trusts_all: bool = False) -> None:
        self._trusts_all = trusts_all  # the person said so for this run (--yes)
        self._trust = TrustStore(here=here)
        self._path = here.join(user_state_folder(here), _FILE_NAME)

    def __repr__(self) -> str:
        return f"<Confirmations, {len(self._read())} imported servers wait>"

    def is_needed(self, entry: ServerEntry) -> bool:
        """Whether an entry must be confirmed before it is started."""
        if self._trusts_all:
            return False
        waiting = self._read()
        if waiting and fingerprint(entry) in waiting:
            return True
        return not self._trust.is_trusted(entry)

    def confirm(self, entry: ServerEntry) -> None:
        """A person has reviewed and confirmed what the entry starts.

        Raises:
            ConfigurationError: the file cannot be written.
        """
        if not self._trust.is_trusted(entry):
            self._trust.trust(entry)
        waiting = self._read()
        if fingerprint(entry) in waiting:
            self._write(waiting - {fingerprint(entry)})

    def imported(self, entries: Iterable[ServerEntry]) -> None:
        """Require confirmation for entries that were imported.

        Raises:
            ConfigurationError: the file cannot be written.
        """
        self._write(self._read() | {fingerprint(entry) for entry in entries})

    def _read(self) -> frozenset[str]:
        try:
            with open(self._path, "rb") as file:
                return frozenset(msgspec.json.decode(file.read(), type=list[str]))
        except (OSError, msgspec.DecodeError):
            return frozenset()

    def _write(self, waiting: frozenset[str]) -> None:
        text = msgspec.json.encode(sorted(waiting)).decode() + "\n"
        write_text(self._path, text, is_private=True)
