"""What must be confirmed before it is started: a project's servers, and what was imported.

A project's are config/trust.py's. An imported server goes into the user's own file, so that it is
remembered here, until somebody has seen its command and said yes. What a person typed himself
needs no confirmation: it has another fingerprint. Each look reads the file, since another process
may write it. Called by the web UI and the command line.
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
    """Which entries wait for a person's yes."""

    def __init__(self, here: Environment) -> None:
        self._trust = TrustStore(here=here)
        self._path = here.join(user_state_folder(here), _FILE_NAME)

    def __repr__(self) -> str:
        return f"<Confirmations, {len(self._read())} imported servers wait>"

    def is_needed(self, entry: ServerEntry) -> bool:
        """Whether an entry may not be started yet."""
        waiting = self._read()
        if waiting and fingerprint(entry) in waiting:
            return True
        return not self._trust.is_trusted(entry)

    def confirm(self, entry: ServerEntry) -> None:
        """Somebody has seen what it starts.

        Raises:
            ConfigurationError: it could not be remembered.
        """
        if not self._trust.is_trusted(entry):
            self._trust.trust(entry)
        waiting = self._read()
        if fingerprint(entry) in waiting:
            self._write(waiting - {fingerprint(entry)})

    def imported(self, entries: Iterable[ServerEntry]) -> None:
        """These came from elsewhere: they are not started before they are confirmed.

        Raises:
            ConfigurationError: it could not be remembered.
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
