"""Ids that name their first owner, signed: a replica finds it without asking the store.

Sessions have them, tasks, and the states of suspended calls. The owner in an id is a hint, and the
store's word counts: after a takeover another replica has the session. An id that none of our keys
signed is nobody's. Used by gateway/shared_sessions.py.
"""

from __future__ import annotations

import hashlib
import re
import secrets
from typing import Final

from mcplens.replicas.signatures import Purpose, SigningKeys

# 192 random bits, the replica, and the signature of both.
_ID: Final = re.compile(r"([A-Za-z0-9_-]{32})\.([0-9a-f]{16})\.([A-Za-z0-9_-]{43})")


class OwnedIds:
    """Makes and reads ids of one kind."""

    def __init__(self, keys: tuple[str, ...], kind: Purpose, replica_id: str) -> None:
        self._keys = SigningKeys(keys, kind)
        self._replica_id = replica_id

    def __repr__(self) -> str:
        return f"<OwnedIds of {self._replica_id}>"

    def new(self) -> str:
        """An id that cannot be guessed, of this replica."""
        text = secrets.token_urlsafe(24)
        signature = self._keys.sign(text.encode(), self._replica_id.encode())
        return f"{text}.{self._replica_id}.{signature}"

    def first_owner(self, session_id: str) -> str | None:
        """The replica that made an id; None if the id is not one of ours."""
        found = _ID.fullmatch(session_id)
        if found is None:
            return None
        text, owner, signature = found.groups()
        is_ours = self._keys.is_signed(signature, text.encode(), owner.encode())
        return owner if is_ours else None

    def is_of_another(self, owned_id: str) -> bool:
        """Whether another replica made an id."""
        return self.first_owner(owned_id) not in (None, self._replica_id)


def key_of(session_id: str) -> str:
    """How the store knows a session: who reads the keys of the store cannot use it."""
    return hashlib.sha256(session_id.encode()).hexdigest()[:40]
