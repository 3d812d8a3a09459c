"""Errors as the page is shown them."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from mcplens.errors import help_slug, short_details, short_text
from mcplens.web.safe_json import json_safe


class ErrorView(msgspec.Struct, frozen=True):
    """What went wrong, as InspectorError.to_dict() says it, and the address of its help page."""

    code: str
    message: str
    category: Literal["connection", "transport", "timeout", "protocol", "server", "cancelled"]
    retryable: bool
    details: dict[str, Any]
    helpUrl: str


def error_view(error: dict[str, Any] | None) -> ErrorView | None:
    if error is None:
        return None
    # A command that was started has the values of its placeholders; it is shown with its server.
    details = {
        key: value
        for key, value in error["details"].items()
        if key != "command" or isinstance(value, str)
    }
    message = short_text(error["message"])
    shown = {**error, "message": message, "details": short_details(details)}
    return ErrorView(**json_safe(shown | {"helpUrl": f"/docs/errors/{help_slug(error['code'])}"}))
