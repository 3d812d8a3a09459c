"""Notifications from the server: seven known ones are acted on, unknown ones are published.

A list that changed is fetched again if it was fetched before, a subscribed resource is read again;
a burst costs one or two fetches.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable
from typing import Any, Final, TypeGuard

from mcplens.background import Background
from mcplens.bus import Publisher
from mcplens.errors import InspectorError, classify
from mcplens.events import LogReceived, NotificationReceived, ProgressReceived, Remark
from mcplens.protocol.frames import ABSENT, Frame, RequestId
from mcplens.session.attribution import Link, Received
from mcplens.session.connection import Connection
from mcplens.session.queue import Progress

NotificationHandler = Callable[[Any], Awaitable[None] | None]

# Handlers of the user's that may run at once; a flood beyond that is shown but not handled.
MAX_HANDLERS: Final = 1_000

LIST_CHANGED: Final = {
    "notifications/tools/list_changed": ("tools",),
    "notifications/resources/list_changed": ("resources", "resource_templates"),
    "notifications/prompts/list_changed": ("prompts",),
}


class Refresher:
    """Runs one refetch at a time per name; a burst of asks costs one or two."""

    def __init__(self) -> None:
        self._running: dict[str, asyncio.Task[None]] = {}
        self._again: set[str] = set()

    def __repr__(self) -> str:
        return f"<Refresher {sorted(self._running)}>"

    def ask(self, name: str, fetch: Callable[[], Awaitable[None]]) -> None:
        if name in self._running:
            self._again.add(name)
            return
        work = self._run(name, fetch)
        self._running[name] = asyncio.get_running_loop().create_task(work, name=f"refresh {name}")

    async def _run(self, name: str, fetch: Callable[[], Awaitable[None]]) -> None:
        try:
            while True:
                self._again.discard(name)
                await fetch()
                if name not in self._again:
                    return
        finally:
            self._running.pop(name, None)
            self._again.discard(name)

    def stop(self) -> None:
        for task in self._running.values():
            task.cancel()

    async def end(self) -> None:
        tasks = list(self._running.values())
        self.stop()
        await asyncio.gather(*tasks, return_exceptions=True)


class Notifications:
    """Dispatches each notification."""

    def __init__(
        self,
        connection: Connection,
        *,
        withdrawn: Callable[[RequestId], bool],
        list_changed: Callable[[str], None],
        resource_updated: Callable[[str], None],
        stream_notified: Callable[[Frame, Any], None],
        elicitation_completed: Callable[[Any], None],
        task_notified: Callable[[Frame, Any], None],
        task_progressed: Callable[[Any, Progress, int], bool],
    ) -> None:
        self._connection = connection
        self._withdrawn = withdrawn
        self._list_changed = list_changed
        self._resource_updated = resource_updated
        self._stream_notified = stream_notified
        self._elicitation_completed = elicitation_completed
        self._task_notified = task_notified
        self._task_progressed = task_progressed
        self._handlers: dict[str, NotificationHandler] = {}
        self._running = Background()

    def __repr__(self) -> str:
        return f"<Notifications {sorted(self._handlers)}>"

    def set_handler(self, method: str, handler: NotificationHandler | None) -> None:
        if handler is None:
            self._handlers.pop(method, None)
        else:
            self._handlers[method] = handler

    def received(self, frame: Frame, received: Received) -> None:
        """A notification came."""
        method = frame.method
        try:
            params = frame.value() if frame.body is not ABSENT else None
        except ValueError as problem:
            self._remark(f"params of {method} cannot be read: {problem}")
            self._pass_on(frame, received.link)
            return
        fields = params if isinstance(params, dict) else {}
        if method == "notifications/progress":
            self._progress(fields, received)
        elif method == "notifications/message":
            self._log(fields, received)
        else:
            self._publish_notification(method, params, received)
            self._act(frame, method, fields)
        self._pass_on(frame, received.link)
        handler = self._handlers.get(method) or self._handlers.get("*")
        if handler is not None:
            self._hand_to(handler, method, params)

    def _pass_on(self, frame: Frame, link: Link) -> None:
        """As it came, to the hook of the call that it belongs to, else to the owner."""
        connection = self._connection
        hooks = None if link.call_id is None else connection.call_hooks.get(link.call_id)
        take = hooks.on_notification if hooks is not None else None
        take = take or connection.on_notification
        if take is None:
            return
        try:
            take(frame, link)
        except Exception as problem:  # foreign code: the session goes on
            self._failed(frame.method, problem)

    def _act(self, frame: Frame, method: str, fields: dict[str, Any]) -> None:
        if method in LIST_CHANGED:
            for kind in LIST_CHANGED[method]:
                self._list_changed(kind)
        elif method == "notifications/resources/updated":
            uri = fields.get("uri")
            if isinstance(uri, str):
                self._resource_updated(uri)
        elif method == "notifications/cancelled":
            identity = fields.get("requestId")
            if _is_id(identity) and not self._withdrawn(identity):
                self._cancelled_by_server(identity, fields.get("reason"))
        elif method == "notifications/elicitation/complete":
            self._elicitation_completed(fields.get("elicitationId"))
        elif method.startswith("notifications/tasks"):
            self._task_notified(frame, fields)
        self._stream_notified(frame, fields)

    def _cancelled_by_server(self, identity: RequestId, reason: object) -> None:
        """A request of ours; the specification lets a server cancel only what it asked itself."""
        connection = self._connection
        entry = connection.correlation.waiting.get(identity)
        # The end of a stream of notifications is subscription_stream.py's.
        if entry is None or entry.tag.purpose == "listening" or connection.session is None:
            return
        why = f": {reason}" if isinstance(reason, str) and reason else ""
        self._remark(
            f"the server cancelled our request {identity!r} ({entry.method}){why}; "
            "a server may only cancel requests of its own"
        )
        connection.session.cancelled_by_server(entry, f"the server cancelled {entry.method}{why}")
        connection.call_off(entry.tag)

    def _progress(self, fields: dict[str, Any], received: Received) -> None:
        connection = self._connection
        token = fields.get("progressToken")
        number = fields.get("progress")
        session = connection.session
        entry = None if session is None else session.attribution.with_token(token)
        if entry is None:
            if self._task_progressed(token, _report(fields), received.seq):
                return
            if received.carrier_id is not None:
                # A token of the caller's own choice, sent raw.
                entry = connection.correlation.waiting.get(received.carrier_id)
        if entry is None or not isinstance(number, int | float):
            self._publish_notification("notifications/progress", fields, received)
            return
        if entry.deadline is not None:
            entry.deadline.progress(connection.clock.monotonic())
        report = _report(fields)
        progressed = ProgressReceived(
            request_id=entry.id,
            progress=report.progress,
            total=report.total,
            message=report.message,
            request_seq=None if entry.sent is None else entry.sent.seq,
            frame_seq=received.seq,
        )
        report_progress(connection.publish, progressed, entry.on_progress)

    def _log(self, fields: dict[str, Any], received: Received) -> None:
        logger = fields.get("logger")
        link = received.link
        self._connection.publish(
            LogReceived(
                level=str(fields.get("level", "")),
                logger=logger if isinstance(logger, str) else None,
                data=fields.get("data"),
                request_seq=link.request_seq,
                is_inferred=link.is_inferred,
                call_id=link.call_id,
                frame_seq=received.seq,
            )
        )

    def _publish_notification(self, method: str, params: Any, received: Received) -> None:
        self._connection.publish(
            NotificationReceived(
                method=method,
                params=params,
                request_seq=received.link.request_seq,
                is_inferred=received.link.is_inferred,
                frame_seq=received.seq,
            )
        )

    def _remark(self, text: str) -> None:
        self._connection.publish(Remark(message=text))

    def _hand_to(self, handler: NotificationHandler, method: str, params: Any) -> None:
        try:
            result = handler(params)
        except Exception as problem:  # a handler is foreign code: the session goes on
            self._failed(method, problem)
            return
        if not inspect.isawaitable(result):
            return
        if len(self._running) >= MAX_HANDLERS:
            self._remark(f"{method}: too many handlers run; not handled")
            if inspect.iscoroutine(result):
                result.close()
            return
        self._running.start(self._await(result, method), f"handle {method}")

    async def _await(self, result: Awaitable[None], method: str) -> None:
        try:
            await result
        except Exception as problem:  # as above
            self._failed(method, problem)

    def _failed(self, method: str, problem: Exception) -> None:
        error = problem if isinstance(problem, InspectorError) else classify(problem)
        self._remark(f"the handler of {method} failed: {error.message}")

    async def end(self) -> None:
        await self._running.end()


def report_progress(
    publish: Publisher,
    progressed: ProgressReceived,
    on_progress: Callable[[Progress], None] | None,
) -> None:
    """Publish how far a request is, and report it to the caller."""
    publish(progressed)
    if on_progress is not None:
        report = Progress(progressed.progress, progressed.total, progressed.message)
        try:
            on_progress(report)
        except Exception as problem:  # a callback is foreign code: the request goes on
            publish(Remark(message=f"on_progress failed: {classify(problem).message}"))


def _report(fields: dict[str, Any]) -> Progress:
    number, total, message = (fields.get(key) for key in ("progress", "total", "message"))
    return Progress(
        number if isinstance(number, int | float) else 0,
        total if isinstance(total, int | float) else None,
        message if isinstance(message, str) else None,
    )


def _is_id(value: Any) -> TypeGuard[RequestId]:
    return isinstance(value, int | str) and not isinstance(value, bool)
