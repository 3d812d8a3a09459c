"""What a received message belongs to: decided here, once, and published with its frame.

The wire decides first: the id of a reply, a progress token, the task that `_meta` names, the answer
to the POST that carried the message. Where it does not say (a question, a log line or an
unattributable reply on a pipe), one rule decides: it belongs to the only call that has a request in
flight, heartbeats and listening aside, for a question also the lists that mcplens fetches on its
own; and the link is marked as inferred. Owned by the session.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from typing import Any, Final, Protocol, TypeGuard

import msgspec

from mcplens.events import FrameSent
from mcplens.protocol.correlation import Correlation
from mcplens.protocol.eras import SUBSCRIPTION_ID
from mcplens.protocol.frames import Batch, Frame, Kind, Malformed, Message, RequestId, request_ids
from mcplens.protocol.tasks import RELATED_TASK, related_task_of
from mcplens.session.queue import QueueEntry
from mcplens.transports.base import Outgoing

# Raw requests that no caller waits for, and unanswered questions, whose frames are
# remembered; older ones count as unknown.
MAX_REMEMBERED: Final = 1_000
# Of one id that was sent raw again and again.
MAX_SAME_ID: Final = 100

_MARKS: Final = (RELATED_TASK.encode(), SUBSCRIPTION_ID.encode())
_ASIDE: Final = frozenset({"heartbeat", "listening"})
# No server asks a person something in order to list its tools.
_ASIDE_OF_QUESTIONS: Final = _ASIDE | {"catalog"}


class TaskRequests(Protocol):
    """Knows the requests that became tasks."""

    def request_of(self, task_id: str) -> FrameSent | None:
        """The request that became this task."""

    def request_with_token(self, token: RequestId) -> FrameSent | None:
        """The request that became a task and has this progress token."""


class Link(msgspec.Struct, frozen=True):
    """The request that a message belongs to, by the frame that first carried it."""

    request_seq: int | None = None
    request_id: RequestId | None = None
    method: str | None = None
    call_id: str | None = None
    purpose: str | None = None
    is_inferred: bool = False


class Received(msgspec.Struct, frozen=True):
    """How a message came: its frame, its link, and the request whose HTTP answer carried it."""

    seq: int
    link: Link
    carrier_id: RequestId | None = None


NOWHERE: Final = Link()


def request_seq(sent: FrameSent) -> int:
    """The seq by which others refer to the request that this frame carries."""
    return sent.seq if sent.request_seq is None else sent.request_seq


def link_to(sent: FrameSent, *, is_inferred: bool = False) -> Link:
    """The link to a request of ours."""
    identity = sent.message.id if isinstance(sent.message, Frame) else None
    return Link(request_seq(sent), identity, sent.method, sent.call_id, sent.purpose, is_inferred)


class Attribution:
    """Finds the request that a message belongs to."""

    def __init__(self, correlation: Correlation[QueueEntry], tasks: TaskRequests) -> None:
        self._correlation = correlation
        self._tasks = tasks
        self._raw: dict[RequestId, list[FrameSent]] = {}
        self._asked: dict[RequestId, Link] = {}

    def __repr__(self) -> str:
        return f"<Attribution, {len(self._raw)} raw requests, {len(self._asked)} questions>"

    # -- what is remembered ----------------------------------------------------------------------

    def sent_raw(self, message: Message, sent: FrameSent) -> None:
        """Requests were sent as bytes, and no caller waits for their answers."""
        for identity in request_ids(message):
            same = self._raw.setdefault(identity, [])
            same.append(sent)
            del same[:-MAX_SAME_ID]
        while len(self._raw) > MAX_REMEMBERED:
            del self._raw[next(iter(self._raw))]

    def raw_answered(self, identity: RequestId, seq: int | None) -> None:
        """A request that was sent raw has its answer."""
        same = [sent for sent in self._raw.get(identity, ()) if sent.seq != seq]
        if same:
            self._raw[identity] = same
        else:
            self._raw.pop(identity, None)

    def asked(self, identity: RequestId, question: Link) -> None:
        """The server asked something; `question` links to the frame that did."""
        self._asked[identity] = question
        if len(self._asked) > MAX_REMEMBERED:
            del self._asked[next(iter(self._asked))]

    def answered(self, identity: RequestId) -> Link:
        """The link to a question that is answered now, and forgotten."""
        return self._asked.pop(identity, NOWHERE)

    # -- what a message belongs to ----------------------------------------------------------------

    def of_reply(self, identity: RequestId, carrier: Outgoing | None) -> Link:
        """The request that a reply with this id answers."""
        is_carried = carrier is not None and identity in request_ids(carrier.message)
        if is_carried and carrier is not None and carrier.sent is not None:
            return link_to(carrier.sent)
        entry = self._correlation.waiting.get(identity) or self._correlation.given_up(identity)
        if entry is not None and entry.sent is not None:
            return link_to(entry.sent)
        raw = self._raw.get(identity)
        return NOWHERE if raw is None else link_to(raw[0])

    def of(self, message: Message, carrier: Outgoing | None) -> Link:
        """What a message other than a plain result belongs to."""
        if isinstance(message, Batch):
            return self._of_batch(message, carrier)
        if isinstance(message, Malformed):
            return self._of_malformed(message, carrier)
        if message.kind in (Kind.RESULT, Kind.ERROR):
            if message.id is not None:
                return self.of_reply(message.id, carrier)
            return _carried(carrier) or self.inferred()
        if message.method == "notifications/progress":
            return self._of_progress(_fields(message)) or _carried(carrier) or NOWHERE
        named = self._cancelled(message) or self._named(message)
        if named is not None:
            return named
        carried = _carried(carrier)
        if carried is not None:
            return carried
        if message.kind is Kind.REQUEST:
            return self.inferred(_ASIDE_OF_QUESTIONS)
        return self.inferred() if message.method == "notifications/message" else NOWHERE

    def inferred(self, aside: Set[str] = _ASIDE) -> Link:
        """The rule where the wire does not say: the only call that has a request in flight, except
        for these purposes."""
        found: QueueEntry | None = None
        for entry in self._correlation.waiting.values():
            if entry.tag.purpose in aside:
                continue
            if found is not None and not entry.tag.is_same_call(found.tag):
                return NOWHERE
            found = found or entry
        if found is None or found.sent is None:
            return NOWHERE
        return link_to(found.sent, is_inferred=True)

    def _of_batch(self, batch: Batch, carrier: Outgoing | None) -> Link:
        """The request of all its members, if they have the same."""
        carried = _carried(carrier)
        if carried is not None:
            return carried
        links = [self.of(member, None) for member in batch.members]
        seqs = {link.request_seq for link in links}
        return links[0] if len(seqs) == 1 else NOWHERE

    def _of_malformed(self, message: Malformed, carrier: Outgoing | None) -> Link:
        for identity in message.ids:
            link = self.of_reply(identity, carrier)
            if link.request_seq is not None:
                return link
        carried = _carried(carrier)
        if carried is not None:
            return carried
        return self.inferred() if message.is_reply_like else NOWHERE

    def _of_progress(self, fields: Mapping[str, Any]) -> Link | None:
        token = fields.get("progressToken")
        entry = self.with_token(token)
        if entry is not None and entry.sent is not None:
            return link_to(entry.sent)
        sent = self._tasks.request_with_token(token) if _is_id(token) else None
        return None if sent is None else link_to(sent)

    def with_token(self, token: object) -> QueueEntry | None:
        """The request in flight that has this progress token."""
        if not _is_id(token):
            return None
        waiting = self._correlation.waiting
        return waiting.get(token) or _with_own_token(waiting.values(), token)

    def _cancelled(self, message: Frame) -> Link | None:
        """The question that the server withdraws, or the stream of ours that it ends."""
        if message.method != "notifications/cancelled":
            return None
        identity = _fields(message).get("requestId")
        if not _is_id(identity):
            return None
        if identity in self._asked:
            return self._asked[identity]
        entry = self._correlation.waiting.get(identity)
        return None if entry is None or entry.sent is None else link_to(entry.sent)

    def _named(self, message: Frame) -> Link | None:
        """The request that a message names itself: by a task, or by a subscription."""
        is_status = message.method.startswith("notifications/tasks")
        if not is_status and not any(mark in message.raw for mark in _MARKS):
            return None
        fields = _fields(message)
        task_id = fields.get("taskId") if is_status else related_task_of(fields)
        if isinstance(task_id, str):
            sent = self._tasks.request_of(task_id) or self._waiting_for(task_id)
            if sent is not None:
                return link_to(sent)
        meta = fields.get("_meta")
        subscription = meta.get(SUBSCRIPTION_ID) if isinstance(meta, Mapping) else None
        entry = self._correlation.waiting.get(subscription) if _is_id(subscription) else None
        return None if entry is None or entry.sent is None else link_to(entry.sent)

    def _waiting_for(self, task_id: str) -> FrameSent | None:
        """The tasks/result of a caller that polls by itself; questions of the task come with it."""
        for entry in self._correlation.waiting.values():
            if _is_result_of(entry, task_id):
                return entry.sent
        return None


def _is_result_of(entry: QueueEntry, task_id: str) -> bool:
    return (
        entry.method == "tasks/result"
        and isinstance(entry.params, Mapping)
        and entry.params.get("taskId") == task_id
    )


def _carried(carrier: Outgoing | None) -> Link | None:
    """The request whose HTTP answer carries a message; a notification of ours has none."""
    if carrier is None or carrier.sent is None:
        return None
    is_asking = carrier.is_request or bool(request_ids(carrier.message))
    is_asking = is_asking or isinstance(carrier.message, Malformed)
    return link_to(carrier.sent) if is_asking else None


def _is_id(value: object) -> TypeGuard[RequestId]:
    return isinstance(value, int | str) and not isinstance(value, bool)


def _fields(message: Frame) -> Mapping[str, Any]:
    try:
        value = message.value()
    except ValueError:
        return {}
    return value if isinstance(value, Mapping) else {}


def _with_own_token(entries: Iterable[QueueEntry], token: RequestId) -> QueueEntry | None:
    """The request whose caller chose this progress token."""
    for entry in entries:
        meta = entry.params.get("_meta") if isinstance(entry.params, Mapping) else None
        if isinstance(meta, Mapping) and meta.get("progressToken") == token:
            return entry
    return None
