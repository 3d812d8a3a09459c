"""Entries of other tools that a page was offered with their secrets masked.

They stay here, so that one that is chosen becomes ours whole, and its secrets never reach the page.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import count
from typing import Any, Final

from mcplens.config.files import invalid
from mcplens.workspace.masked import unmasked

# More than all tools of a computer have; each look offers them anew.
_MOST: Final = 5_000


class Offered:
    """What was offered, by the id that the page was told."""

    def __init__(self) -> None:
        self._raws: dict[str, dict[str, Any]] = {}
        self._ids = count(1)

    def __repr__(self) -> str:
        return f"<Offered, {len(self._raws)} entries>"

    def add(self, raw: dict[str, Any]) -> str:
        """Offer an entry; gives its id."""
        offer_id = f"o{next(self._ids)}"
        self._raws[offer_id] = raw
        if len(self._raws) > _MOST:
            del self._raws[next(iter(self._raws))]
        return offer_id

    def taken(
        self, servers: Mapping[str, dict[str, Any]], offers: Mapping[str, str]
    ) -> dict[str, dict[str, Any]]:
        """The servers that were chosen, with their secrets; `offers` has the ids by name.

        Raises:
            ConfigurationError: what was offered is no longer known.
        """
        for name, offer_id in offers.items():
            if offer_id not in self._raws:
                raise invalid(f"{name} was found too long ago: look for servers again")
        return {
            name: unmasked(raw, self._raws[offers[name]]) if name in offers else raw
            for name, raw in servers.items()
        }
