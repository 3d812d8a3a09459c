"""Requests to one downstream server with undecoded bodies, under one time limit.

The limit covers the queue, connecting and the call, and the error says which of them it was. Also
decides what may be repeated after a loss. Held by server_connection.py.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final, TypeVar

import msgspec

from mcplens.clock import Clock
from mcplens.config.model import ServerEntry
from mcplens.downstream.options import CallOptions, StartedRequest
from mcplens.downstream.server_lists import ServerLists
from mcplens.downstream.sessions import Sessions
from mcplens.errors import InspectorError, TimeoutExpired
from mcplens.protocol.deadlines import Deadline
from mcplens.protocol.frames import Frame
from mcplens.session.call_hooks import WaitingHooks
from mcplens.session.client import Client
from mcplens.session.config import MAX_TOTAL_S
from mcplens.session.queue import CallTag

T = TypeVar("T")
# An operation of a client, for a call, that may take so many seconds.
TypedOperation = Callable[[Client, CallTag, float | None], Awaitable[T]]

# Methods that change nothing on the server, or nothing more when repeated.
_REPEATABLE: Final = frozenset({
    "tools/list", "resources/list", "resources/templates/list", "resources/read", "prompts/list",
    "prompts/get", "completion/complete", "ping", "server/discover", "tasks/get", "tasks/list",
    "tasks/result", "tasks/cancel", "logging/setLevel",
})  # fmt: skip
# What was going on when the time was up, by phase.
_DOING: Final = {
    "queue": "it waited in the queue",
    "connect": "connecting",
    "input": "the server required input",
    "request": "the server worked on it",
}


class RawRequests:
    """Sends requests to one server."""

    def __init__(
        self,
        sessions: Callable[[], Sessions],
        lists: ServerLists,
        clock: Clock,
        *,
        entry: Callable[[], ServerEntry],
        new_call_id: Callable[[], str],
    ) -> None:
        self._sessions = sessions
        self._lists = lists
        self._clock = clock
        self._entry = entry
        self._new_call_id = new_call_id
        self._held: asyncio.Event | None = None

    def __repr__(self) -> str:
        return f"<RawRequests of {self._entry().name}>"

    async def send(
        self,
        method: str,
        params: Mapping[str, Any] | None,
        options: CallOptions,
        budget_s: float | None,
    ) -> Frame:
        """Send a request; see `ServerConnection.request`."""
        started = options.started
        began = self._clock.monotonic()
        if started is not None:
            tag = started.entry.tag
            began -= self._clock.wall() - started.entry.created_at
            deadline = started.entry.deadline or self.deadline(began, budget_s)
        else:
            if self._held is not None:
                await self._held.wait()
                began = self._clock.monotonic()
            began -= options.waited_s
            deadline = self.deadline(began, budget_s)
            call_id = options.call_id or self._new_call_id()
            tag = CallTag(call_id=call_id, inbound_seq=options.inbound_seq)

        def send(client: Client) -> Awaitable[Frame]:
            nonlocal started
            if started is not None:
                sent, started = started, None
                return sent.client.raw_calls.answer_of(sent.entry, method)
            return client.raw_calls.send(
                method,
                params,
                tag=tag,
                deadline=deadline,
                hooks=options.hooks,
                wants_progress=options.wants_progress,
                headers=options.headers,
                client_capabilities=options.client_capabilities,
                answers_input=options.answers_input,
            )

        is_repeatable = options.is_repeatable
        if is_repeatable is None:
            is_repeatable = method in _REPEATABLE or self._is_repeatable_call(method, params)
        try:
            begun_by = None if started is None else started.client
            return await self._sessions().run(send, deadline, tag, is_repeatable, begun_by)
        except TimeoutExpired as error:
            raise self._timed_out(error, method, budget_s, began) from None
        except InspectorError as error:
            error.with_details(server_id=self._entry().name, method=method)
            raise

    def send_now(
        self,
        method: str,
        params: Mapping[str, Any] | None,
        hooks: WaitingHooks,
        budget_s: float | None,
        *,
        inbound_seq: int,
        wants_progress: bool,
        headers: Mapping[str, str] | None,
    ) -> StartedRequest | None:
        """Send a request without waiting; see `ServerConnection.request_now`."""
        client = self.ready_client()
        if client is None:
            return None
        entry = client.raw_calls.start(
            method,
            params,
            tag=CallTag(call_id=self._new_call_id(), inbound_seq=inbound_seq),
            deadline=self.deadline(self._clock.monotonic(), budget_s),
            hooks=hooks,
            wants_progress=wants_progress,
            headers=headers,
        )
        return StartedRequest(entry, client)

    def ready_client(self) -> Client | None:
        """The client of a session that is open and stays so; None if there is none."""
        return None if self._held is not None else self._sessions().ready_client

    async def run(
        self, operation: TypedOperation[T], budget_s: float | None, *, is_repeatable: bool = True
    ) -> T:
        """Run any operation of a client under a time limit.

        Raises:
            InspectorError: it failed, or there is no connection.
        """
        if self._held is not None:
            await self._held.wait()
        began = self._clock.monotonic()
        deadline = self.deadline(began, budget_s)
        tag = CallTag(call_id=self._new_call_id())

        def run(client: Client) -> Awaitable[T]:
            return operation(client, tag, deadline.left_s(self._clock.monotonic()))

        try:
            return await self._sessions().run(run, deadline, tag, is_repeatable)
        except TimeoutExpired as error:
            method = str(error.details.get("method", "connect"))
            raise self._timed_out(error, method, budget_s, began) from None
        except InspectorError as error:
            error.with_details(server_id=self._entry().name)
            raise

    def hold(self) -> None:
        """Send nothing until `release`: the session is that of a former entry."""
        self._held = self._held or asyncio.Event()

    def release(self) -> None:
        if self._held is not None:
            self._held.set()
            self._held = None

    def is_repeatable_tool(self, name: str) -> bool:
        """Whether a tool is marked as idempotent or read-only."""
        tool = self._lists.tool(name)
        hints = (None if tool is None else tool.annotations) or {}
        return hints.get("readOnlyHint") is True or hints.get("idempotentHint") is True

    def deadline(self, now: float, budget_s: float | None) -> Deadline:
        """Progress extends it, up to the server's maximum."""
        entry = self._entry()
        resets = entry.progress_resets_timeout is not False
        own_s = entry.max_total_timeout_s
        if own_s == 0 or (own_s is None and budget_s is None):
            return Deadline(now, budget_s, None, resets)
        maximum_s = max(MAX_TOTAL_S if own_s is None else own_s, budget_s or 0.0)
        return Deadline(now, budget_s, maximum_s, resets)

    def _is_repeatable_call(self, method: str, params: Mapping[str, Any] | None) -> bool:
        if method != "tools/call" or params is None or "task" in params:
            return False
        name = params.get("name")
        if isinstance(name, msgspec.Raw):
            name = msgspec.json.decode(name)
        return isinstance(name, str) and self.is_repeatable_tool(name)

    def _timed_out(
        self, error: TimeoutExpired, method: str, budget_s: float | None, began: float
    ) -> TimeoutExpired:
        """The error with server, phase, budget and elapsed time."""
        name = self._entry().name
        elapsed_s = round(self._clock.monotonic() - began, 3)
        phase = str(error.details.get("phase", "connect"))
        limit = "no limit" if budget_s is None else f"limit {budget_s:g} s"
        text = f"{name}: {method} ended after {elapsed_s:g} s ({limit}), while {_DOING[phase]}"
        described = TimeoutExpired(error.code, f"{text}: {error.message}", details=error.details)
        described.details |= {"phase": phase, "elapsed_s": elapsed_s, "budget_s": budget_s}
        described.with_details(server_id=name, method=method)
        return described
