"""An error as the page is shown it."""

from __future__ import annotations

from typing import Any

from mcplens.errors import short_details, short_text
from mcplens.web import views
from mcplens.web.plain import plain


def error_view(error: dict[str, Any] | None) -> views.ErrorView | None:
    if error is None:
        return None
    # A command that was started has the values of its placeholders; it is shown with its server.
    details = {
        key: value
        for key, value in error["details"].items()
        if key != "command" or isinstance(value, str)
    }
    message = short_text(error["message"])
    return views.ErrorView(
        **plain({**error, "message": message, "details": short_details(details)})
    )
