"""Hooks of one call: where the server's questions and notifications go that the call caused.

A call has them from its start to its end, by its `call_id`. Set by raw_calls.py; consulted by
server_requests.py and notifications.py.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import msgspec

from mcplens.protocol.frames import Frame
from mcplens.session.attribution import Link
from mcplens.session.question_handler import ServerRequest

OnQuestion = Callable[[ServerRequest], Awaitable[Any]]
OnNotification = Callable[[Frame, Link], None]


class CallHooks(msgspec.Struct, frozen=True):
    """`on_question` answers (None leaves the question to the client's own handler), or raises
    ServerError to refuse; `on_notification` gets each frame that is linked to the call."""

    on_question: OnQuestion | None = None
    on_notification: OnNotification | None = None
