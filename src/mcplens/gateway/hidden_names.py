"""What a view does not show, by the names and URIs that a client may use for it. Pure.

A client that asks for something hidden is told that it does not exist; why it is hidden is for the
audit log alone. Made by catalog.py when it is first asked for.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal

from mcplens.config.views import View
from mcplens.gateway.names import Original, publish_names
from mcplens.gateway.views import plain_uri

if TYPE_CHECKING:
    from mcplens.gateway.catalog import Hidden


class HiddenNames:
    """The hidden tools, prompts and resources of one view."""

    def __init__(self, view: View, server_ids: Iterable[str], hidden: Iterable[Hidden]) -> None:
        known = tuple(server_ids)
        self._reasons: dict[str, dict[Original, str]] = {"tools": {}, "prompts": {}}
        self._uris: dict[str, str] = {}
        for one in hidden:
            original = Original(one.server_id, one.name)
            if one.kind == "tools" or one.kind == "prompts":
                self._reasons[one.kind].setdefault(original, one.reason)
            else:
                reason = _told(original, one.reason)
                self._uris.setdefault(plain_uri(one.name), reason)
        self._tables = {
            kind: publish_names([*found], known, separator=view.separator, rename=view.rename)
            for kind, found in self._reasons.items()
        }
        # By the server's own names, which say whose they are only where they have a prefix.
        self._plain = {
            kind: {original.name: original for original in reversed(found)}
            for kind, found in self._reasons.items()
        }

    def __repr__(self) -> str:
        return f"<HiddenNames {sum(map(len, self._reasons.values())) + len(self._uris)}>"

    def why_not_named(self, kind: Literal["tools", "prompts"], name: str) -> str:
        """Why what a client means by a name is not shown; "" if nothing of that name is hidden."""
        original = self._tables[kind].resolve(name) or self._plain[kind].get(name)
        return "" if original is None else _told(original, self._reasons[kind][original])

    def why_no_resource(self, uri: str) -> str:
        """Why a resource or a template is not shown; "" if no such one is hidden."""
        return self._uris.get(plain_uri(uri), "")


def _told(original: Original, reason: str) -> str:
    return f"the view hides {original.qualified}: {reason}"
