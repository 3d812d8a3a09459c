"""Which keys are secret, as the configuration says now: for all servers, and for each.

Read by whatever writes down what servers and clients say: the recorder on its own thread, exports,
pins, examples. What was secret once stays so for as long as the workspace does, also when its
entry is gone, or the file cannot be read for a moment.
"""

from __future__ import annotations

from collections.abc import Iterable

from mcplens.config.model import Configuration, ServerEntry
from mcplens.config.secret_keys import problem_of_keys
from mcplens.errors import InspectorError


class SecretKeys:
    """Secret keys by server."""

    def __init__(self) -> None:
        self.problem: InspectorError | None = None  # why they cannot all be known
        self._wide: tuple[str, ...] = ()
        self._own: dict[str, tuple[str, ...]] = {}

    def __repr__(self) -> str:
        return f"<SecretKeys, {len(self._wide)} for all, more for {len(self._own)} servers>"

    def learn(self, configuration: Configuration, entries: Iterable[ServerEntry]) -> None:
        """The configuration was read again."""
        self.problem = problem_of_keys(configuration)
        self._wide = _united(self._wide, configuration.settings.secret_keys)
        for entry in entries:
            self.add(entry)

    def add(self, entry: ServerEntry) -> None:
        """The own keys of a server."""
        if entry.secret_keys:
            self._own[entry.name] = _united(self._own.get(entry.name, ()), entry.secret_keys)

    def of(self, server_id: str) -> tuple[str, ...]:
        """The keys that are secret in what a server is told and tells."""
        own = self._own.get(server_id)
        return (*self._wide, *own) if own else self._wide

    def known_of(self, server_id: str) -> tuple[str, ...]:
        """As `of`, for what leaves this machine.

        Raises:
            InspectorError: they cannot all be known.
        """
        if self.problem is not None:
            raise self.problem
        return self.of(server_id)


def _united(known: tuple[str, ...], keys: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*known, *keys)))
