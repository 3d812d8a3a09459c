"""Calls that outlive the page that made them: those that run, and the last ones that ended.

Owns the state of each: ids, progress, result. How a call is sent is up to call_execution.py. Ended
calls are kept within bounds; the recording has the rest.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterator
from typing import Any, Final, Literal

import msgspec

from mcplens.background import Background
from mcplens.clock import Clock
from mcplens.errors import CancelledRequest, InspectorError, classify
from mcplens.events import FrameSent
from mcplens.protocol.frames import RequestId
from mcplens.session.client import Client
from mcplens.session.queue import CallTag, Progress, QueueEntry, RequestStatus
from mcplens.workspace.call_specs import CallSpec

# Enough for a long session; older ones are in the recording.
MOST_KEPT: Final = 500
MOST_RESULT_BYTES: Final = 128 * 1024 * 1024
# Requests of one call that are listed; a call with input rounds has ten at most.
MOST_REQUESTS: Final = 100
# More than a person starts by hand: somebody is holding down a key.
MOST_RUNNING: Final = 1_000

CallKind = Literal["tool", "resource", "prompt", "request", "raw"]
CallStatus = Literal["pending", "in_progress", "completed", "cancelled", "error"]
OnProgress = Callable[[Progress], None]


class Outcome(msgspec.Struct, frozen=True):
    """The result of a completed call: its bytes, if there are any.

    `is_error` is an error in place of a result, or a tool that failed; of bytes that were sent raw,
    and of a request by its method, `tool_error` is what that tool said. `error_reply` is the
    JSON-RPC error that bytes were answered with, where that was the only answer.
    """

    raw: bytes | None = None
    is_error: bool = False
    findings: tuple[str, ...] = ()
    tool_error: str | None = None
    error_reply: InspectorError | None = None


# Sends the requests of a call, each with this tag, which marks it as part of the call, and with
# this callback as its `on_progress`.
Work = Callable[[CallTag, OnProgress], Awaitable[Outcome]]


class Call:
    """One call, from its start to long after its end."""

    def __init__(
        self,
        call_id: str,
        client: Client,
        spec: CallSpec,
        kind: CallKind,
        method: str,
        name: str,
        request: bytes,
        clock: Clock,
        changed: Callable[[Call], None],
    ) -> None:
        self.call_id = call_id
        self.server_id = client.server_id
        self.spec = spec  # to make it again
        self.kind: CallKind = kind
        self.method = method
        self.name = name
        self.request = request
        self.started = clock.wall()
        self.elapsed_s: float | None = None
        self.progress: Progress | None = None
        self.progress_at = 0.0
        self.request_ids: list[RequestId] = []
        self.request_seqs: list[int] = []  # the frames that carried them
        self.outcome: Outcome | None = None
        self.size_bytes = 0  # of the result, also after the result was dropped
        self.error: InspectorError | None = None
        self.task_id: str | None = None
        self.question_ids: list[str] = []  # open questions of the server, in order
        self.running: asyncio.Task[None] | None = None
        self._clock = clock
        self._changed = changed
        self._started_mono = clock.monotonic()
        self._entry: QueueEntry | None = None

    def __repr__(self) -> str:
        return f"<Call {self.call_id} {self.method} {self.name} {self.status}>"

    @property
    def status(self) -> CallStatus:
        if self.error is not None:
            return "cancelled" if self.error.category == "cancelled" else "error"
        if self.outcome is not None:
            return "completed"
        is_pending = self._entry is None or self._entry.status is RequestStatus.PENDING
        return "pending" if is_pending and not self.request_seqs else "in_progress"

    @property
    def is_running(self) -> bool:
        return self.elapsed_s is None

    @property
    def is_waiting_on_user(self) -> bool:
        if not self.is_running:
            return False
        is_paused = self._entry is not None and self._entry.is_waiting_on_user
        return is_paused or bool(self.question_ids)

    def progressed(self, progress: Progress) -> None:
        """Update the progress; the `on_progress` of each request."""
        self.progress = progress
        self.progress_at = self._clock.wall()
        self._changed(self)

    def requested(self, entry: QueueEntry) -> None:
        """Add a request of this call; it may still wait in the queue."""
        self._entry = entry
        self.request_ids.append(entry.id)
        self._changed(self)

    async def run(self, work: Work) -> None:
        """Do the work, and keep the outcome or the error."""
        try:
            tag = CallTag(
                call_id=self.call_id,
                purpose="raw" if self.kind == "raw" else "call",
                on_request=self.requested,
                first_seq=self.spec.caused_by_seq,
            )
            self.outcome = await work(tag, self.progressed)
            self.size_bytes = len(self.outcome.raw or b"")
        except asyncio.CancelledError:
            self.error = CancelledRequest("cancelled by the user")
        except Exception as problem:  # an error of one call must not affect others
            error = classify(problem, self.method, server_id=self.server_id)
            self.error = error.shortened()
        self.elapsed_s = self._clock.monotonic() - self._started_mono
        self._entry = None
        self._changed(self)


class Calls:
    """The calls of all servers, newest last."""

    def __init__(
        self, clock: Clock, next_call_id: Callable[[], str], changed: Callable[[str], None]
    ) -> None:
        self._clock = clock
        self._next_call_id = next_call_id
        self._changed = changed
        self._calls: OrderedDict[str, Call] = OrderedDict()
        self._running = Background()

    def __repr__(self) -> str:
        return f"<Calls {len(self._calls)} kept, {len(self._running)} running>"

    def __iter__(self) -> Iterator[Call]:
        return iter(list(self._calls.values()))

    def find(self, call_id: str) -> Call:
        """A call by its id.

        Raises:
            InspectorError: it is not kept.
        """
        call = self._calls.get(call_id)
        if call is None:
            raise InspectorError("INVALID_REQUEST", f"the call {call_id} is no longer kept")
        return call

    def get(self, call_id: str) -> Call | None:
        return self._calls.get(call_id)

    def changed(self, call: Call) -> None:
        """Notify subscribers that the view of a call changed."""
        self._changed(call.call_id)

    def start(
        self,
        client: Client,
        spec: CallSpec,
        kind: CallKind,
        method: str,
        name: str,
        params: Any,
        work: Work,
    ) -> Call:
        """Start a call; it runs whether or not a page is open.

        Raises:
            InspectorError: too many run already.
        """
        if len(self._running) >= MOST_RUNNING:
            raise InspectorError("INVALID_REQUEST", f"{MOST_RUNNING} calls are running already")
        request = params if isinstance(params, bytes) else msgspec.json.encode(params)
        call_id = self._next_call_id()
        changed = self._call_changed
        call = Call(call_id, client, spec, kind, method, name, request, self._clock, changed)
        self._calls[call_id] = call
        call.running = self._running.start(call.run(work), f"call {method} {name}")
        self._call_changed(call)
        return call

    def cancel(self, call_id: str) -> Call:
        """Cancel a call, on the server too; one that has ended stays as it is."""
        call = self.find(call_id)
        if call.is_running and call.running is not None:
            call.running.cancel()
        return call

    async def end(self) -> None:
        await self._running.end()

    def sent(self, event: FrameSent) -> None:
        """If the frame carried a request of a call, add its seq to the call."""
        call = None if event.call_id is None else self._calls.get(event.call_id)
        if call is not None and event.request_seq is None and event.purpose in ("call", "raw"):
            call.request_seqs.append(event.seq)
            del call.request_seqs[:-MOST_REQUESTS]
            self._changed(call.call_id)

    def _call_changed(self, call: Call) -> None:
        self._changed(call.call_id)
        if not call.is_running:
            self._shrink()

    def _shrink(self) -> None:
        """Drop the oldest ended calls, and results beyond the limit of bytes."""
        ended = [call for call in self._calls.values() if not call.is_running]
        for call in ended[: max(0, len(ended) - MOST_KEPT)]:
            self._drop(call)
        total = 0
        for call in reversed(ended):
            outcome = call.outcome
            if outcome is None or outcome.raw is None:
                continue
            total += len(outcome.raw)
            if total > MOST_RESULT_BYTES and call is not ended[-1]:
                call.outcome = msgspec.structs.replace(outcome, raw=None)
                self._changed(call.call_id)

    def _drop(self, call: Call) -> None:
        del self._calls[call.call_id]
        self._changed(call.call_id)
