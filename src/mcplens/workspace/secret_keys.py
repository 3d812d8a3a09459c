"""The secret keys of each server, by the current configuration.

Used by everything that saves traffic: the recorder (on its own thread), exports, pins, examples. A
key that was secret once stays secret while the workspace is open, even if its entry is removed or
the file cannot be read for a moment.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from mcplens.config.connect_options import learn_secrets
from mcplens.config.model import Configuration, ServerEntry
from mcplens.config.secret_keys import problem_of_keys
from mcplens.errors import InspectorError


class SecretKeys:
    """Secret keys by server."""

    def __init__(self, is_trusted: Callable[[ServerEntry], bool]) -> None:
        self._is_trusted = is_trusted
        self.problem: InspectorError | None = None  # why not all of them could be read
        self._wide: tuple[str, ...] = ()
        self._own: dict[str, tuple[str, ...]] = {}

    def __repr__(self) -> str:
        return f"<SecretKeys, {len(self._wide)} for all, more for {len(self._own)} servers>"

    def learn(self, configuration: Configuration, entries: Iterable[ServerEntry]) -> None:
        """Add the keys of a configuration that was read again."""
        self.problem = problem_of_keys(configuration)
        self._wide = _united(self._wide, configuration.settings.secret_keys)
        for entry in entries:
            self.add(entry)

    def add(self, entry: ServerEntry) -> None:
        """Add the keys of one server; its secrets are masked wherever they come back.

        Not those of a server that nobody has confirmed: whoever wrote it could choose what is
        masked in everything that is shown.
        """
        if self._is_trusted(entry):
            learn_secrets(entry)
        if entry.secret_keys:
            self._own[entry.name] = _united(self._own.get(entry.name, ()), entry.secret_keys)

    def of(self, server_id: str) -> tuple[str, ...]:
        """The keys whose values are secret in the traffic of a server.

        Of no server: a message of a gateway's client, which may hold those of any.
        """
        if not server_id:
            return _united(self._wide, (key for keys in [*self._own.values()] for key in keys))
        own = self._own.get(server_id)
        return (*self._wide, *own) if own else self._wide

    def known_of(self, server_id: str) -> tuple[str, ...]:
        """As `of`, for exports.

        Raises:
            InspectorError: not all of them could be read.
        """
        if self.problem is not None:
            raise self.problem
        return self.of(server_id)


def _united(known: tuple[str, ...], keys: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*known, *keys)))
