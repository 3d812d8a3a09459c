"""Definitions that users' own sessions list (`auth.perUser`), and that wait for approval.

A definition belongs to its server. It comes up once, by its canonical form, whoever's session
listed it first, and nothing says whose that was. It still waits when the session has ended: who
approves is seldom there at the same time as the user. Owned by approvals.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import msgspec

from mcplens.gateway.pinned_definitions import PinnedDefinition, Subject

# A resource is what the user has there: its name is for no operator to read.
NOT_SHOWN: Final = frozenset({"resources"})
# A server that still lists it brings it up again; one that does not is not waited for for ever.
KEPT_S: Final = 7 * 86_400.0
# Of all definitions together; a server may list others for each user. The oldest are dropped first.
_MOST_BYTES: Final = 16 * 1024 * 1024


class UserDefinitions:
    """What waits, by subject; the newest last."""

    def __init__(self) -> None:
        self._kept: dict[Subject, tuple[PinnedDefinition, int]] = {}
        self._size = 0

    def __repr__(self) -> str:
        return f"<UserDefinitions {len(self._kept)}>"

    def add(self, one: PinnedDefinition) -> bool:
        """Have a definition wait; False if it does so already."""
        known = self._kept.get(one.subject)
        if known is not None and known[0].sha256 == one.sha256:
            return False
        self._take_out(one.subject)
        size = len(msgspec.json.encode(one.definition))
        self._kept[one.subject] = one, size
        self._size += size
        while self._size > _MOST_BYTES:
            self._take_out(next(iter(self._kept)))
        return True

    def waiting(self, still_waits: Callable[[PinnedDefinition], bool]) -> list[PinnedDefinition]:
        """What still waits; the rest is forgotten."""
        for one, _ in list(self._kept.values()):
            if not still_waits(one):
                self._take_out(one.subject)
        return [one for one, _ in self._kept.values()]

    def _take_out(self, subject: Subject) -> None:
        _, size = self._kept.pop(subject, (None, 0))
        self._size -= size
