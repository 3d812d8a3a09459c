"""The requests of one side of a tapped conversation that wait for an answer.

Pure. Used by conversation.py, once for the client and once for the server.
"""

from __future__ import annotations

from typing import Final, TypeGuard

import msgspec

from mcplens.protocol.frames import RequestId

# Requests without an answer that are remembered; older ones count as unknown.
MAX_OPEN: Final = 10_000

_ASIDE: Final = frozenset({"heartbeat", "listening"})


class OpenRequest(msgspec.Struct, frozen=True, gc=False):
    """A request that waits for its answer."""

    id: RequestId
    seq: int
    method: str
    call_id: str | None
    purpose: str | None
    token: object
    started: float
    is_over: bool = False  # the side that asked does not wait any more, but an answer may come


class OpenRequests:
    """The requests of one side that wait for an answer."""

    def __init__(self) -> None:
        self._by_id: dict[RequestId, OpenRequest] = {}

    def __repr__(self) -> str:
        return f"<OpenRequests {len(self._by_id)} requests>"

    def add(self, request: OpenRequest) -> None:
        # An id that is used again: the newer request is the one that an answer is for.
        by_id, identity = self._by_id, request.id
        if identity in by_id:
            del by_id[identity]
        by_id[identity] = request
        if len(by_id) > MAX_OPEN:
            del by_id[next(iter(by_id))]

    def get(self, identity: object) -> OpenRequest | None:
        return self._by_id.get(identity) if _is_id(identity) else None

    def answered(self, identity: RequestId | None) -> OpenRequest | None:
        return None if identity is None else self._by_id.pop(identity, None)

    def take(self, identity: RequestId | None) -> OpenRequest | None:
        """The request that this answers, which is then open no more; None if nobody waits."""
        request = None if identity is None else self._by_id.get(identity)
        if request is None or request.is_over:
            return None
        del self._by_id[request.id]
        return request

    def end(self, request: OpenRequest) -> bool:
        """The side that asked does not wait any more; False if it did not before."""
        if request.is_over or self._by_id.get(request.id) is not request:
            return False
        self._by_id[request.id] = msgspec.structs.replace(request, is_over=True)
        return True

    def with_purpose(self, purpose: str) -> list[OpenRequest]:
        return [one for one in self._by_id.values() if one.purpose == purpose]

    def with_token(self, token: object) -> OpenRequest | None:
        if not _is_id(token):
            return None
        same = self._by_id.get(token)
        if same is not None and same.token == token:
            return same
        return next((one for one in self._by_id.values() if one.token == token), None)

    def only_call(self) -> OpenRequest | None:
        """The only request in flight, heartbeats and listening aside."""
        calls = [
            one for one in self._by_id.values() if one.purpose not in _ASIDE and not one.is_over
        ]
        return calls[0] if len(calls) == 1 else None


def _is_id(value: object) -> TypeGuard[RequestId]:
    return isinstance(value, int | str) and not isinstance(value, bool)
