"""Truncates methods and ids in rows, since a server may send very long ones.

Thousands of rows are kept, here and in the browser; the bytes of a message are kept whole. A
truncated value is not truncated again. Pure; called by row_encoding.py, trace.py and
web/event_rows.py.
"""

from __future__ import annotations

from typing import Final, TypeVar

from mcplens.protocol.frames import RequestId

# Longer than any real method or id.
MOST_CHARACTERS: Final = 200
# Characters kept of a long id, before a digest of all of it.
_BEGINNING: Final = 150


def short_method(method: str | None) -> str | None:
    """The method, truncated if it is too long."""
    if type(method) is str and len(method) > MOST_CHARACTERS:
        return method[: MOST_CHARACTERS - 1] + "…"
    return method


Id = TypeVar("Id", RequestId, RequestId | None)


def short_id(identity: Id) -> Id:
    """The id, truncated if it is too long; different ids stay different."""
    if type(identity) is str and len(identity) > MOST_CHARACTERS:
        import hashlib  # 4 ms, and hardly ever needed

        digest = hashlib.sha256(identity.encode("utf-8", "surrogatepass")).hexdigest()
        return f"{identity[:_BEGINNING]}…{digest[:32]}"
    return identity
