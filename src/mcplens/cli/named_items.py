"""Finds the tool, prompt, resource or template that a name means, or says what there is.

Used by `call` and by the commands that show one item of a list.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from mcplens.cli.near_names import near_names
from mcplens.errors import InspectorError

# As many as one reads in a message.
_SHOWN_NAMES: Final = 30


def find_item(items: Sequence[Any], name: str, what: str, keys: Sequence[str] = ("name",)) -> Any:
    """The item of this name; keys are the fields that name an item, best first.

    Raises:
        InspectorError: there is none; the message has the nearest names.
    """
    for key in keys:
        for item in items:
            if getattr(item, key) == name:
                return item
    for item in items:
        if _name_behind(item) == name:
            return item
    names = [str(getattr(item, keys[0])) for item in items]
    close = near_names(name, names)
    shown = ", ".join(names[:_SHOWN_NAMES]) + (", …" if len(names) > _SHOWN_NAMES else "")
    hint = f"did you mean {', '.join(close)}?" if close else f"it has: {shown or 'none'}"
    raise InspectorError(
        "SERVER_ERROR",
        f"the server has no {what} called {name!r}; {hint}",
        details={f"{what.replace(' ', '_')}s": names},
    )


def _name_behind(item: Any) -> str | None:
    """`server:name` of an item of a gateway of ours, which accepts it as well as the published."""
    meta = getattr(item, "meta", None)
    if not isinstance(meta, dict):
        return None
    server, name = meta.get("mcplens/server"), meta.get("mcplens/name")
    return f"{server}:{name}" if isinstance(server, str) and isinstance(name, str) else None
