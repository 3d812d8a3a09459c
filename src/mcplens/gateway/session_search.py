"""The search for the replica that has a session: what was asked so far, and how it may end.

Pure. Used by shared_sessions.py and session_handover.py.
"""

from __future__ import annotations

from typing import Final

from mcplens.inbound.refusal import HTTP_REFUSAL, INTERNAL_ERROR, Refusal
from mcplens.protocol.frames import Batch, Frame, Kind, RequestId, encode_error, parse

# Requests that change nothing: after a takeover they are simply asked again.
_REPEATABLE: Final = frozenset({
    "ping", "tools/list", "prompts/list", "prompts/get", "resources/list", "resources/read",
    "resources/templates/list", "resources/subscribe", "resources/unsubscribe",
    "completion/complete", "logging/setLevel", "tasks/get", "tasks/list", "tasks/result",
})  # fmt: skip


class SessionSearch:
    """How far the search for the owner of a session has come."""

    def __init__(self, session_id: str, first: str, requests: list[Frame], path: str = "") -> None:
        self.session_id = session_id
        self.path = path
        self.first = first
        self.refused: set[str] = set()  # replicas that do not have it, or did not answer
        self.alive: set[str] = set()  # those of them that may still have it
        self.requests = [one.id for one in requests if one.id is not None]
        self.may_be_repeated = all(one.method in _REPEATABLE for one in requests)


def requests_in(body: bytes) -> list[Frame]:
    message = parse(body) if body else None
    members = message.members if isinstance(message, Batch) else [message]
    return [one for one in members if isinstance(one, Frame) and one.kind is Kind.REQUEST]


def may_have_run(request_id: RequestId) -> bytes:
    """The answer to a request that was under way at a replica which is gone."""
    text = (
        "the replica of the gateway that served this request is gone, and the request may have "
        "been carried out; check before you repeat it"
    )
    data = {"code": "CONNECTION_LOST", "mayHaveRun": True}
    return encode_error(request_id, INTERNAL_ERROR, text, data)


def later(text: str, search: SessionSearch) -> Refusal:
    """The refusal of a request that was not begun."""
    return Refusal(
        503,
        HTTP_REFUSAL,
        f"{text}; nothing was begun, try again",
        request_id=search.requests[0] if len(search.requests) == 1 else None,
        headers={"Retry-After": "1"},
    )


def no_session() -> Refusal:
    return Refusal(404, HTTP_REFUSAL, "there is no such session, or it has ended")
