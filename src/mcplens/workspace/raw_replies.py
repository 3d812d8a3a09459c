"""What comes back for bytes whose answer has no request to go to: a batch, or what is no message.

Whatever was sent raw is worth waiting for a moment: servers reply to most of it, by an error
without an id if nothing else. Called by requests.py.
"""

from __future__ import annotations

import contextlib
from typing import Final

import msgspec

from mcplens.clock import within
from mcplens.events import ReplyUnmatched, StateChanged
from mcplens.protocol.frames import Batch, Frame, Kind, Malformed, Message, RequestId, request_ids
from mcplens.session.client import Client
from mcplens.workspace.calls import Outcome

# Servers reply at once to what they do not understand; some never do.
REPLY_WAIT_S: Final = 2.0


async def replies_to(client: Client, message: Message, after_seq: int) -> Outcome:
    """The replies to what was sent after this event: all that are due, or those of two seconds."""
    ids, due = request_ids(message), _due(message)
    found: list[Frame | Malformed] = []

    async def collect() -> None:
        async for event in client.events(after_seq):
            if isinstance(event, StateChanged):
                return  # nothing more comes
            reply = event.message if isinstance(event, ReplyUnmatched) else None
            if not isinstance(reply, Frame | Malformed) or not _may_answer(reply, ids):
                continue
            found.append(reply)
            is_for_all = isinstance(reply, Malformed) or reply.id is None
            if is_for_all or len(found) >= due:
                return

    if due:
        with contextlib.suppress(TimeoutError):  # what came until then is what there is
            await within(client.connection.clock, REPLY_WAIT_S, collect())
    return _outcome(found)


def _due(message: Message) -> int:
    """How many replies may come; none to a notification or to an answer."""
    if isinstance(message, Batch):
        is_broken = [isinstance(member, Malformed) for member in message.members]
        return len(request_ids(message)) + sum(is_broken)
    return 1 if isinstance(message, Malformed) else len(request_ids(message))


def _may_answer(reply: Frame | Malformed, ids: list[RequestId]) -> bool:
    """Whether it answers one of these; what names no id may answer anything."""
    if isinstance(reply, Malformed):
        return not reply.ids or not ids or any(identity in ids for identity in reply.ids)
    return reply.id is None or not ids or reply.id in ids


def _outcome(replies: list[Frame | Malformed]) -> Outcome:
    """One reply as it is, several as an array."""
    if not replies:
        return Outcome()
    written = [_as_json(reply.raw) for reply in replies]
    raw = written[0] if len(written) == 1 else b"[" + b",".join(written) + b"]"
    is_error = all(isinstance(reply, Frame) and reply.kind is Kind.ERROR for reply in replies)
    findings = tuple(reply.reason for reply in replies if isinstance(reply, Malformed))
    return Outcome(raw, is_error, findings)


def _as_json(raw: bytes) -> bytes:
    try:
        msgspec.json.decode(raw)
    except (ValueError, RecursionError):
        return msgspec.json.encode(raw.decode("utf-8", "backslashreplace"))
    return raw
