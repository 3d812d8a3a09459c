"""Which request a message of a tapped conversation belongs to.

Replies are matched by their ids, progress by its token. Where the wire does not say what a message
of the server's belongs to, the rule of the session holds: the only call of the client's in flight,
marked as inferred. Pure. Used by conversation.py.
"""

from __future__ import annotations

from collections.abc import Iterable

from mcplens.protocol.frames import Batch, Kind, Malformed, Message
from mcplens.tap.message_parts import fields_of, may_infer
from mcplens.tap.open_requests import OpenRequest, OpenRequests


class Links:
    """Finds the request that a message belongs to, among those that are open."""

    def __init__(self, requests: OpenRequests, questions: OpenRequests) -> None:
        self._requests = requests  # of the client's
        self._questions = questions  # of the server's

    def __repr__(self) -> str:
        return f"<Links to {self._requests!r} and {self._questions!r}>"

    def of_client(self, message: Message) -> OpenRequest | None:
        """The request that a message of the client's belongs to, which asks nothing itself."""
        if isinstance(message, Batch):
            return _same([self.of_client(member) for member in message.members])
        if isinstance(message, Malformed):
            return _first(self._questions.get(identity) for identity in message.ids)
        if message.kind is not Kind.NOTIFICATION:
            return self._questions.get(message.id)
        fields = fields_of(message)
        if message.method == "notifications/progress":
            return self._questions.with_token(fields.get("progressToken"))
        if message.method == "notifications/cancelled":
            return self._requests.get(fields.get("requestId"))
        return None

    def of_server(
        self, message: Message, carried: OpenRequest | None
    ) -> tuple[OpenRequest | None, bool]:
        """The request that a message of the server's belongs to, and whether that is inferred.

        `carried` is the request whose HTTP response the message came in.
        """
        told = self._told_by_server(message)
        if told is not None:
            return told, False
        if carried is not None and (request := self._requests.get(carried.id)) is not None:
            return request, False
        if not may_infer(message):
            return None, False
        only = self._requests.only_call()
        return only, only is not None

    def _told_by_server(self, message: Message) -> OpenRequest | None:
        if isinstance(message, Batch):
            return _same([self._told_by_server(member) for member in message.members])
        if isinstance(message, Malformed):
            return _first(self._requests.get(identity) for identity in message.ids)
        if message.kind in (Kind.RESULT, Kind.ERROR):
            return self._requests.get(message.id)
        if message.method == "notifications/progress":
            return self._requests.with_token(fields_of(message).get("progressToken"))
        if message.method == "notifications/cancelled":
            return self._questions.get(fields_of(message).get("requestId"))
        return None


def _first(found: Iterable[OpenRequest | None]) -> OpenRequest | None:
    return next((one for one in found if one is not None), None)


def _same(found: list[OpenRequest | None]) -> OpenRequest | None:
    """The request of all, if it is the same."""
    seqs = {None if one is None else one.seq for one in found}
    return found[0] if len(seqs) == 1 and found else None
