"""Logs what servers write to stderr, and the traffic of their lists (standard `logging`).

Reads events in batches; logs no bodies, since they may hold secrets. Owned by live_servers.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from mcplens.events import (
    Event,
    FrameEvent,
    FrameReceived,
    FrameSent,
    NotificationReceived,
    StderrLine,
)
from mcplens.logs import get_logger
from mcplens.protocol.frames import Frame
from mcplens.session.catalog import METHODS
from mcplens.session.notifications import LIST_CHANGED

_log: Final = get_logger(__name__)

_LIST_METHODS: Final = frozenset(method for method, _ in METHODS.values())
# Each event of a flood is looked at: a look into a set is a fifth of `isinstance`.
_LOGGED: Final = frozenset({FrameSent, FrameReceived, StderrLine, NotificationReceived})


class EventLog:
    """Writes the log lines of all live servers; `command_of` names the command of a server."""

    def __init__(self, command_of: Callable[[str], str | None]) -> None:
        self._command_of = command_of

    def __repr__(self) -> str:
        return "<EventLog>"

    def handle_batch(self, batch: list[Event], _missed: int) -> None:
        for event in batch:
            if type(event) not in _LOGGED:
                continue
            if isinstance(event, FrameEvent):
                if event.method in _LIST_METHODS:
                    self._frame(event)
            elif isinstance(event, StderrLine):
                self._stderr(event)
            elif isinstance(event, NotificationReceived) and event.method in LIST_CHANGED:
                _log.debug("%s: received %s", event.server_id, event.method)

    def _stderr(self, event: StderrLine) -> None:
        command = self._command_of(event.server_id) or "?"
        _log.warning("[STDERR][%s][%s] %s", event.server_id, command, event.text)

    def _frame(self, event: FrameEvent) -> None:
        message = event.message
        identity = message.id if isinstance(message, Frame) else None
        if isinstance(event, FrameSent):
            _log.debug("%s: sent %s (id %r)", event.server_id, event.method, identity)
        else:
            size = event.size_bytes
            text = "%s: received the answer to %s (id %r), %d bytes"
            _log.debug(text, event.server_id, event.method, identity, size)
