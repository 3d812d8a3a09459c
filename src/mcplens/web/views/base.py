"""What other views are made of: states, kinds, errors."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

State = Literal["DISCONNECTED", "CONNECTING", "CONNECTED", "DISCONNECTING", "ERROR"]
CallStatus = Literal["pending", "in_progress", "completed", "cancelled", "error"]
ListKind = Literal["tools", "resources", "resource_templates", "prompts"]
Thing = Literal["servers", "calls", "questions", "tasks", "lists", "settings", "recording"]


class ErrorView(msgspec.Struct, frozen=True):
    """What went wrong, as InspectorError.to_dict() says it."""

    code: str
    message: str
    category: Literal["connection", "transport", "timeout", "protocol", "server", "cancelled"]
    retryable: bool
    details: dict[str, Any]
    helpUrl: str
