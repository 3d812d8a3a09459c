"""Hooks of one call: where the server's questions and notifications go that the call caused.

A call has them from its start to its end, by its `call_id`. Set by raw_calls.py; consulted by
server_requests.py and notifications.py.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, Protocol

import msgspec

from mcplens.protocol.frames import Frame
from mcplens.session.attribution import Link
from mcplens.session.question_handler import ServerRequest

if TYPE_CHECKING:
    from mcplens.session.queue import QueueEntry

OnQuestion = Callable[[ServerRequest], Awaitable[Any]]
OnNotification = Callable[[Frame, Link], None]


class Hooks(Protocol):
    """`on_question` answers (None leaves the question to the client's own handler), or raises
    ServerError to refuse; `on_notification` gets each frame that is linked to the call."""

    @property
    def on_question(self) -> OnQuestion | None: ...

    @property
    def on_notification(self) -> OnNotification | None: ...


class WaitingHooks(Hooks, Protocol):
    """Hooks of a call that nobody awaits: `on_answered` is called with its settled request."""

    def on_answered(self, entry: QueueEntry) -> None: ...


class CallHooks(msgspec.Struct, frozen=True):
    """Hooks that are functions."""

    on_question: OnQuestion | None = None
    on_notification: OnNotification | None = None
