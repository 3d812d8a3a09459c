"""Export selections: the rows that a page wants exported, sent before the download begins, since
no URL is long enough for them.

Only the newest few are kept; a page sends them again each time. Called by the HTTP routes.
"""

from __future__ import annotations

import secrets
from collections import OrderedDict
from typing import Final

import msgspec

from mcplens.errors import InspectorError
from mcplens.store.filters import SeqRanges

# A page holds 205,000 rows; if no two are adjacent, that is four megabytes of text.
MOST_BYTES: Final = 8 * 1024 * 1024
# Each is used at once.
_MOST_KEPT: Final = 4


class ExportSelections:
    """The rows that pages selected, by a name that each selection was given."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, SeqRanges] = OrderedDict()

    def __repr__(self) -> str:
        return f"<ExportSelections, {len(self._kept)} kept>"

    def keep(self, body: bytes) -> str:
        """Keep a selection: the first and last number of each span, in order.

        Raises:
            InspectorError: it cannot be understood.
        """
        try:
            spans = SeqRanges(msgspec.json.decode(body, type=list[int]))
        except ValueError as problem:
            raise InspectorError("INVALID_REQUEST", f"not a selection of rows: {problem}") from None
        name = secrets.token_urlsafe(8)
        self._kept[name] = spans
        if len(self._kept) > _MOST_KEPT:
            self._kept.popitem(last=False)
        return name

    def find(self, name: str) -> SeqRanges:
        """A selection by its name.

        Raises:
            InspectorError: it has expired.
        """
        if name not in self._kept:
            message = "the selection has expired: export it again"
            raise InspectorError("INVALID_REQUEST", message)
        return self._kept[name]
