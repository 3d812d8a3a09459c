"""The request queue: first in, first out, serial by default, with a history.

The queue decides when a request starts; what starting means is the owner's (the connection sends
a frame, `create_request_queue` runs any coroutine). An entry is settled once, by anybody.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Generator
from enum import Enum
from typing import Any, Final

import msgspec

from mcplens.clock import Clock, SystemClock, Timer
from mcplens.errors import CancelledRequest, InspectorError, TimeoutExpired, classify
from mcplens.events import FrameSent, Purpose
from mcplens.protocol.deadlines import NEVER, Deadline
from mcplens.protocol.frames import Frame, Message, RequestId

# Requests and results kept in the history, beside the limit on their number.
HISTORY_MAX_BYTES: Final = 4 * 1024 * 1024


class RequestStatus(Enum):
    __hash__ = object.__hash__  # Enum's own is written in Python; each call asks for it

    PENDING = "pending"
    IN_PROGRESS = "in_progress"
    COMPLETED = "completed"
    CANCELLED = "cancelled"
    ERROR = "error"


# Before Python 3.12 each look into an enum costs as much as a small frame's encoding.
_PENDING: Final = RequestStatus.PENDING
_IN_PROGRESS: Final = RequestStatus.IN_PROGRESS
_COMPLETED: Final = RequestStatus.COMPLETED


class Progress(msgspec.Struct, frozen=True):
    """One progress notification of a request."""

    progress: float
    total: float | None = None
    message: str | None = None


class QueueStatus(msgspec.Struct, frozen=True):
    """How many requests stand where."""

    pending: int
    in_progress: int
    completed: int
    failed: int
    cancelled: int


class CallTag(msgspec.Struct, eq=False, kw_only=True):
    """What the requests of one operation have in common; it travels with their queue entries.

    `first_seq` is the frame that carried its first request, or what caused it; `last_sent` that of
    its newest.
    `on_request` is called with each entry as it is made, before it is sent.
    """

    call_id: str | None = None
    purpose: Purpose = "call"
    inbound_seq: int | None = None
    on_request: Callable[[QueueEntry], None] | None = None
    first_seq: int | None = None
    last_sent: FrameSent | None = None

    @property
    def last_seq(self) -> int | None:
        return None if self.last_sent is None else self.last_sent.seq

    def is_same_call(self, other: CallTag) -> bool:
        return self is other or (self.call_id is not None and self.call_id == other.call_id)

    def for_polling(self) -> CallTag:
        """The same call, for the polls of the task that it became."""
        return CallTag(
            call_id=self.call_id,
            purpose="task_polling",
            inbound_seq=self.inbound_seq,
            first_seq=self.first_seq,
        )


class QueueEntry(msgspec.Struct, eq=False):
    """One request on its way through the queue; await it for the result."""

    id: RequestId
    method: str
    params: Any
    created_at: float
    tag: CallTag = msgspec.field(default_factory=CallTag)
    timeout_s: float | None = None
    on_progress: Callable[[Progress], None] | None = None
    headers: dict[str, str] | None = None
    on_settled: Callable[[QueueEntry], None] | None = None
    on_answered: Callable[[QueueEntry], None] | None = None  # for who does not await it
    is_quiet: bool = False
    sent: FrameSent | None = None  # the frame that first carried it
    status: RequestStatus = _PENDING
    started_at: float | None = None
    started_mono: float = 0.0
    completed_at: float | None = None
    result: Any = None
    error: InspectorError | None = None
    future: asyncio.Future[Any] = msgspec.field(default_factory=asyncio.Future)
    deadline: Deadline | None = None
    late_reply: Message | None = None
    evidence: list[bytes] = []  # malformed bytes that came while this request waited
    caused_questions: int = 0  # questions of the server's that a person is answering
    bytes_before: int = 0  # what the history had been given before it

    def __repr__(self) -> str:
        return f"<QueueEntry {self.id!r} {self.method} {self.status.value}>"

    def __await__(self) -> Generator[Any, None, Any]:
        return self.future.__await__()

    @property
    def is_settled(self) -> bool:
        return self.completed_at is not None

    @property
    def request_bytes(self) -> int:
        """What the request keeps in memory: its params, and the frame that carried them."""
        return 0 if self.sent is None else 2 * self.sent.size_bytes

    @property
    def is_waiting_on_user(self) -> bool:
        """A person is answering a question of the server's; the clocks stand still."""
        return self.caused_questions > 0

    def resolve(self, value: Any) -> None:
        """Settle with a result."""
        if self.completed_at is None:
            self.result = value
            self._settle(_COMPLETED)
            future = self.future
            if not future.done():
                future.set_result(value)
            if self.on_answered is not None:
                self._tell()

    def reject(self, error: InspectorError) -> None:
        """Settle with an error."""
        if self.completed_at is None:
            self.error = error
            is_cancelled = error.category == "cancelled"
            self._settle(RequestStatus.CANCELLED if is_cancelled else RequestStatus.ERROR)
            if not self.future.done():
                self.future.set_exception(error)
                self.future.exception()  # marks it as retrieved; `error` has it too
            if self.on_answered is not None:
                self._tell()

    def _tell(self) -> None:
        on_answered, self.on_answered = self.on_answered, None
        if on_answered is not None:
            on_answered(self)

    def _settle(self, status: RequestStatus) -> None:
        self.status = status
        self.completed_at = 0.0  # the owner knows the time and puts it in
        if self.on_settled is not None:
            self.on_settled(self)


class RequestQueue:
    """Requests in order; at most `concurrency` at a time."""

    def __init__(
        self,
        start: Callable[[QueueEntry], None],
        *,
        clock: Clock,
        next_id: Callable[[], RequestId],
        concurrency: int = 1,
        history_limit: int = 200,
    ) -> None:
        if concurrency < 1:
            raise ValueError("concurrency must be at least 1")
        self.concurrency = concurrency
        self._start = start
        self._clock = clock
        self._wall = clock.wall
        self._next_id = next_id
        self._pending: deque[QueueEntry] = deque()
        self._timers: dict[RequestId, Timer] = {}  # of those that wait and have a deadline
        self._in_progress: dict[RequestId, QueueEntry] = {}
        self._history: deque[QueueEntry] = deque(maxlen=history_limit)
        self._bytes_remembered = 0  # of all that the history was ever given
        self._counts = dict.fromkeys(RequestStatus, 0)
        self.on_abort: Callable[[QueueEntry, str], None] | None = None
        self.on_failed: Callable[[QueueEntry, InspectorError], None] | None = None
        self.is_held = False
        self._is_starting = False

    def __repr__(self) -> str:
        return f"<RequestQueue {self.get_status()}>"

    def enqueue(
        self,
        method: str,
        params: Any = None,
        *,
        timeout_s: float | None = None,
        on_progress: Callable[[Progress], None] | None = None,
        headers: dict[str, str] | None = None,
        tag: CallTag | None = None,
        deadline: Deadline | None = None,
    ) -> QueueEntry:
        """Add a request; it starts when its turn comes. Await the entry for its result.

        Its timeout, or the deadline of the call that it belongs to, covers the wait for its turn.
        """
        tag = CallTag() if tag is None else tag
        entry = QueueEntry(
            self._next_id(),
            method,
            params,
            self._wall(),
            tag,
            timeout_s,
            on_progress,
            headers,
            self._settled,
        )
        if deadline is not None:
            entry.deadline = deadline
        elif timeout_s is not None:
            entry.deadline = Deadline(self._clock.monotonic(), timeout_s, None)
        if tag.on_request is not None:
            tag.on_request(entry)
        if len(self._in_progress) < self.concurrency and not self._pending and not self.is_held:
            self._begin(entry, entry.created_at)
        else:
            self._pending.append(entry)
            self._watch(entry)
        return entry

    def cancel(self, request_id: RequestId) -> bool:
        """Cancel a request that has not started; False for any other."""
        for entry in self._pending:
            if entry.id == request_id:
                self._pending.remove(entry)
                entry.reject(CancelledRequest("cancelled before it was sent"))
                return True
        return False

    def abort(self, request_id: RequestId, reason: str = "cancelled by the user") -> bool:
        """Cancel a request in any state; one in progress is cancelled on the server too."""
        entry = self._in_progress.get(request_id)
        if entry is None:
            return self.cancel(request_id)
        if self.on_abort is not None:
            self.on_abort(entry, reason)
        entry.reject(CancelledRequest(reason))
        return True

    def clear_pending(self, reason: str | InspectorError) -> None:
        """Reject everything that waits or runs, as on disconnect."""
        error = CancelledRequest(reason) if isinstance(reason, str) else reason
        waiting = list(self._pending)
        self._pending.clear()
        for entry in [*self._in_progress.values(), *waiting]:
            entry.reject(error.copy())

    def hold(self) -> None:
        """Start nothing until `release`: the session is being opened again."""
        self.is_held = True

    def release(self) -> None:
        self.is_held = False
        self._start_more()

    def get_status(self) -> QueueStatus:
        counts = self._counts
        return QueueStatus(
            pending=len(self._pending),
            in_progress=len(self._in_progress),
            completed=counts[RequestStatus.COMPLETED],
            failed=counts[RequestStatus.ERROR],
            cancelled=counts[RequestStatus.CANCELLED],
        )

    def get_history(self, limit: int | None = None) -> list[QueueEntry]:
        """Settled requests, newest last."""
        entries = list(self._history)
        return entries if limit is None else entries[max(0, len(entries) - limit) :]

    def limit_history(self, limit: int) -> None:
        """Keep so many settled requests from now on; 0: none."""
        self._history = deque(self._history, limit)

    def in_progress(self) -> list[QueueEntry]:
        return list(self._in_progress.values())

    def _begin(self, entry: QueueEntry, now: float) -> None:
        entry.status = _IN_PROGRESS
        entry.started_at = now
        self._in_progress[entry.id] = entry
        try:
            self._start(entry)
        except Exception as problem:  # whatever it is belongs to this request alone
            entry.reject(classify(problem, f"sending {entry.method}"))

    # -- the wait for its turn -------------------------------------------------------------------

    def _watch(self, entry: QueueEntry) -> None:
        """Expire a request that waits, when its deadline is due."""
        due = NEVER if entry.deadline is None else entry.deadline.due()
        if due != NEVER:
            self._timers[entry.id] = self._clock.call_at(due, lambda: self._check(entry))

    def _check(self, entry: QueueEntry) -> None:
        del self._timers[entry.id]
        if entry.deadline is not None and entry.deadline.due() > self._clock.monotonic():
            self._watch(entry)
            return
        self._pending.remove(entry)
        entry.reject(self._not_started(entry))

    def _not_started(self, entry: QueueEntry) -> TimeoutExpired:
        now = self._wall()
        waited_s = now - entry.created_at
        if self.is_held:
            why = "the connection is being opened again"
        else:
            running = ", ".join(
                f"{each.method} for {now - (each.started_at or now):.3g} s"
                for each in self._in_progress.values()
            )
            why = f"{running} in progress, and `concurrency` allows {self.concurrency} at a time"
        return TimeoutExpired(
            "REQUEST_TIMEOUT",
            f"{entry.method} waited in the queue for {waited_s:.3g} s and was not sent: {why}",
            details={"phase": "queue", "method": entry.method, "elapsed_s": round(waited_s, 3)},
        )

    def _stop_watching(self, entry: QueueEntry) -> None:
        timer = self._timers.pop(entry.id, None)
        if timer is not None:
            timer.cancel()

    def _settled(self, entry: QueueEntry) -> None:
        entry.completed_at = self._wall()
        self._in_progress.pop(entry.id, None)
        if self._timers:
            self._stop_watching(entry)
        self._counts[entry.status] += 1
        self._remember(entry)
        if self._pending:
            self._start_more()

    def _remember(self, entry: QueueEntry) -> None:
        history, result = self._history, entry.result
        size_bytes = entry.request_bytes
        if type(result) is Frame:
            size_bytes += len(result.raw)
        elif entry.error is not None:
            if self.on_failed is not None:
                self.on_failed(entry, entry.error)
            size_bytes += entry.error.size_bytes
        entry.bytes_before = self._bytes_remembered
        total = self._bytes_remembered = entry.bytes_before + size_bytes
        history.append(entry)
        while len(history) > 1 and total - history[0].bytes_before > HISTORY_MAX_BYTES:
            history.popleft()

    def _start_more(self) -> None:
        if self._is_starting:  # a request that failed to start; the loop below goes on
            return
        self._is_starting = True
        try:
            while self._pending and not self.is_held and len(self._in_progress) < self.concurrency:
                entry = self._pending.popleft()
                self._stop_watching(entry)
                self._begin(entry, self._wall())
        finally:
            self._is_starting = False


def create_request_queue(
    execute: Callable[[str, Any], Awaitable[Any]],
    *,
    concurrency: int = 1,
    history_limit: int = 200,
    timeout_s: float | None = 60.0,
) -> RequestQueue:
    """A queue of its own around any coroutine function of (method, params).

    `timeout_s` is for entries without one, and starts with their turn. When the time of an entry
    is up, its coroutine is cancelled.
    """
    running: dict[RequestId, asyncio.Task[None]] = {}
    clock = SystemClock()
    now = clock.monotonic
    last_id = 0

    def next_id() -> int:
        nonlocal last_id
        last_id += 1
        return last_id

    async def run(entry: QueueEntry) -> None:
        limit = asyncio.timeout(
            timeout_s if entry.deadline is None else entry.deadline.left_s(now())
        )
        try:
            async with limit:
                entry.resolve(await execute(entry.method, entry.params))
        except asyncio.CancelledError:
            entry.reject(CancelledRequest(f"{entry.method} was cancelled"))
            raise
        except Exception as problem:  # any failure of the coroutine is the entry's result
            entry.reject(
                _timed_out(entry, clock) if limit.expired() else classify(problem, entry.method)
            )
        finally:
            running.pop(entry.id, None)

    def start(entry: QueueEntry) -> None:
        task = asyncio.get_running_loop().create_task(run(entry), name=f"queue {entry.method}")
        running[entry.id] = task

    def on_abort(entry: QueueEntry, reason: str) -> None:
        running[entry.id].cancel(reason)

    queue = RequestQueue(
        start,
        clock=clock,
        next_id=next_id,
        concurrency=concurrency,
        history_limit=history_limit,
    )
    queue.on_abort = on_abort
    return queue


def _timed_out(entry: QueueEntry, clock: Clock) -> TimeoutExpired:
    elapsed_s = clock.wall() - (entry.started_at or 0.0)
    return TimeoutExpired(
        "REQUEST_TIMEOUT",
        f"{entry.method} did not end within {elapsed_s:.3g} s, and was cancelled",
        details={"phase": "request", "method": entry.method, "elapsed_s": round(elapsed_s, 3)},
    )
