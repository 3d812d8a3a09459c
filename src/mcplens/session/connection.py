"""Where one server stands, and what the parts of its client share.

Made first and passed to all of them: publisher, clock, settings, request ids, the queue, and the
current session, which changes with each reconnect. connector.py alone changes session and state.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from operator import attrgetter
from typing import Any, Final, TypeVar

from mcplens.bus import Publisher
from mcplens.clock import Clock
from mcplens.errors import InspectorError
from mcplens.events import Purpose, Remark, StateChanged
from mcplens.protocol.correlation import Correlation
from mcplens.protocol.lifecycle import ConnectionState, Lifecycle
from mcplens.session.call_hooks import Hooks, OnNotification
from mcplens.session.call_limit import CallLimits
from mcplens.session.config import ConnectionConfig
from mcplens.session.handshake import Introduction
from mcplens.session.options import ClientOptions
from mcplens.session.queue import CallTag, QueueEntry, RequestQueue
from mcplens.session.session import Session

E = TypeVar("E", bound=InspectorError)

_CONNECTED: Final = ConnectionState.CONNECTED  # every call asks for it


class Connection:
    """A server that we are connected to, were, or want to be."""

    def __init__(
        self,
        *,
        publish: Publisher,
        clock: Clock,
        options: ClientOptions,
    ) -> None:
        self.publish = publish
        self._next_call_id = publish.next_call_id
        self.clock = clock
        self.names = {
            "server_id": publish.server_id,
            "server_name": options.server_name or publish.server_id,
        }
        self.config = options.config or ConnectionConfig()
        self.options = options
        self.lifecycle = Lifecycle()
        self.step = ""  # what an attempt to connect is doing
        self.introduction: Introduction | None = None
        self.session: Session | None = None
        self.latency_s: float | None = None
        self.correlation: Correlation[QueueEntry] = Correlation(attrgetter("request_bytes"))
        self.queue = RequestQueue(
            self._start_entry,
            clock=clock,
            next_id=self.correlation.next_id,
            concurrency=options.concurrency,
        )
        self.queue.on_abort = self.cancel
        self.queue.on_failed = self._describe_failed
        self.limits = CallLimits(clock, self.config)
        self.call_hooks: dict[str, Hooks] = {}  # of the calls that have some, by call_id
        # Set by the owner: gets each notification that no call's hook takes.
        self.on_notification: OnNotification | None = None
        # Set by the owner: called after each change of the state.
        self.on_moved: Callable[[StateChanged], None] | None = None
        # Set by the client: cancels the questions that a call caused.
        self.on_call_cancelled: Callable[[str], None] | None = None

    def __repr__(self) -> str:
        return f"<Connection {self.server_id} {self.state.value}>"

    @property
    def server_id(self) -> str:
        return self.publish.server_id

    @property
    def state(self) -> ConnectionState:
        return self.lifecycle.state

    @property
    def is_connected(self) -> bool:
        return self.lifecycle.state is _CONNECTED

    @property
    def is_stateless(self) -> bool:
        """Whether 2026-07-28 is spoken; False without a session."""
        return self.session is not None and self.session.envelope.is_stateless

    @property
    def is_reopening(self) -> bool:
        """A new HTTP session is being opened; calls wait for it in the queue."""
        return self.queue.is_held

    @property
    def server_capabilities(self) -> Mapping[str, Any]:
        """What the server declared; empty before the handshake."""
        return {} if self.introduction is None else self.introduction.capabilities

    @property
    def declared_capabilities(self) -> Mapping[str, Any]:
        """What we declared to the server; empty without a session."""
        return {} if self.session is None else self.session.client_capabilities

    def ready_session(self) -> Session:
        """The session that requests go through.

        Raises:
            InspectorError: NOT_CONNECTED, with the state of the connection.
        """
        session = self.session
        if session is None or self.lifecycle.state is not _CONNECTED:
            raise self.not_connected()
        return session

    def not_connected(self) -> InspectorError:
        last = self.lifecycle.last_error
        why = f": {last}" if last is not None else ""
        details = {"state": self.state.value, "retry_count": self.lifecycle.retry_count}
        text = f"{self.server_id} is {self.state.value}{why}"
        return self.describe(InspectorError("NOT_CONNECTED", text, details=details))

    def describe(self, error: E, method: str = "") -> E:
        """Add the server, and the method where it is known, to the details of an error."""
        error.with_details(**self.names)
        if method:
            error.with_details(method=method)
        return error

    def _describe_failed(self, entry: QueueEntry, error: InspectorError) -> None:
        elapsed_s = self.clock.wall() - (entry.started_at or entry.created_at)
        self.describe(error, entry.method).with_details(elapsed_s=round(elapsed_s, 3))

    def new_tag(self, purpose: Purpose = "call") -> CallTag:
        """What the requests of a new operation have in common."""
        return CallTag(call_id=self._next_call_id(), purpose=purpose)

    def cancel(self, entry: QueueEntry, reason: str) -> None:
        """Cancel a request that was sent, on the server too, and the questions that it caused."""
        if self.session is not None:
            self.session.cancel(entry, reason)
        self.call_off(entry.tag)

    def call_off(self, tag: CallTag) -> None:
        """Cancel the questions that a cancelled call caused."""
        if self.on_call_cancelled is not None and tag.call_id is not None:
            self.on_call_cancelled(tag.call_id)

    def remark(self, text: str) -> None:
        """Publish something unusual that is not an error of any request."""
        self.publish(Remark(message=text))

    def _start_entry(self, entry: QueueEntry) -> None:
        session = self.session
        if session is None or self.lifecycle.state is not _CONNECTED:
            raise self.not_connected()
        session.sender.start(entry)
