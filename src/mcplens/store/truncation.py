"""Methods and ids as rows have them: never long, whatever a server sent.

Rows keep both by the thousand, here and in the browser; the bytes of a message are kept whole. What
is short already stays as it is, so that a row may pass here twice. Pure; called by rows.py,
trace.py and web/event_rows.py.
"""

from __future__ import annotations

from typing import Final, TypeVar

from mcplens.protocol.frames import RequestId

# No method and no id of a server that means well is longer.
MOST_CHARACTERS: Final = 200
# What is left of a long id, beside a digest of all of it.
_BEGINNING: Final = 150


def short_method(method: str | None) -> str | None:
    """The method, cut where it is too long."""
    if type(method) is str and len(method) > MOST_CHARACTERS:
        return method[: MOST_CHARACTERS - 1] + "…"
    return method


Id = TypeVar("Id", RequestId, RequestId | None)


def short_id(identity: Id) -> Id:
    """The id, cut where it is too long; two that differ still do."""
    if type(identity) is str and len(identity) > MOST_CHARACTERS:
        import hashlib  # 4 ms, and hardly ever needed

        digest = hashlib.sha256(identity.encode("utf-8", "surrogatepass")).hexdigest()
        return f"{identity[:_BEGINNING]}…{digest[:32]}"
    return identity
