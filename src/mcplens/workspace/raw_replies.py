"""Replies to raw bytes that no pending request matches: to a batch, or to an invalid message.

Servers reply to most of what they are sent, if only with an error without an id, so replies are
awaited for a moment. Called by call_execution.py.
"""

from __future__ import annotations

import contextlib
from typing import Final

import msgspec

from mcplens.clock import within
from mcplens.errors import InspectorError, ServerError
from mcplens.events import ReplyUnmatched, StateChanged
from mcplens.protocol.frames import Batch, Frame, Kind, Malformed, Message, RequestId, request_ids
from mcplens.session.client import Client
from mcplens.workspace.calls import Outcome

# Most servers reject an invalid message at once; some never reply.
REPLY_WAIT_S: Final = 2.0


async def replies_to(client: Client, message: Message, sent_seq: int) -> Outcome:
    """The replies to the message that this frame carried: all that are expected, within two
    seconds. One that the wire links to another request is not among them."""
    ids, expected = request_ids(message), _expected_count(message)
    found: list[Frame | Malformed] = []

    async def collect() -> None:
        async for event in client.events(sent_seq):
            if isinstance(event, StateChanged):
                return  # disconnected: no more replies
            if not isinstance(event, ReplyUnmatched):
                continue
            reply, linked = event.message, None if event.is_inferred else event.request_seq
            if not isinstance(reply, Frame | Malformed) or linked not in (sent_seq, None):
                continue
            if linked is None and not _may_answer(reply, ids):
                continue
            found.append(reply)
            is_for_all = isinstance(reply, Malformed) or reply.id is None
            if is_for_all or len(found) >= expected:
                return

    if expected:
        with contextlib.suppress(TimeoutError):  # return those received so far
            await within(client.connection.clock, REPLY_WAIT_S, collect())
    return _outcome(found)


def _expected_count(message: Message) -> int:
    """How many replies to expect; none to a notification or a response."""
    if isinstance(message, Batch):
        is_broken = [isinstance(member, Malformed) for member in message.members]
        return len(request_ids(message)) + sum(is_broken)
    return 1 if isinstance(message, Malformed) else len(request_ids(message))


def _may_answer(reply: Frame | Malformed, ids: list[RequestId]) -> bool:
    """Whether it answers one of these requests; a reply without an id may answer any."""
    if isinstance(reply, Malformed):
        return not reply.ids or not ids or any(identity in ids for identity in reply.ids)
    return reply.id is None or not ids or reply.id in ids


def _outcome(replies: list[Frame | Malformed]) -> Outcome:
    """One reply as it is, several as a JSON array."""
    if not replies:
        return Outcome()
    written = [_as_json(reply.raw) for reply in replies]
    raw = written[0] if len(written) == 1 else b"[" + b",".join(written) + b"]"
    is_error = all(isinstance(reply, Frame) and reply.kind is Kind.ERROR for reply in replies)
    findings = tuple(reply.reason for reply in replies if isinstance(reply, Malformed))
    return Outcome(raw, is_error, findings, error_reply=_only_error(replies))


def _only_error(replies: list[Frame | Malformed]) -> InspectorError | None:
    [reply, *more] = replies
    if more or isinstance(reply, Malformed) or reply.error is None:
        return None
    error = reply.error
    return ServerError(error.code, error.message, error.data).shortened()


def _as_json(raw: bytes) -> bytes:
    try:
        msgspec.json.decode(raw)
    except (ValueError, RecursionError):
        return msgspec.json.encode(raw.decode("utf-8", "backslashreplace"))
    return raw
