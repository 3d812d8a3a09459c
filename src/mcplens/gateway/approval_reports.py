"""What is said of definitions that wait for approval, and of approvals.

In our log, in the traffic and in the audit log. Owned by approvals.py.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from mcplens.events import Remark
from mcplens.gateway.catalog import HELD
from mcplens.gateway.pinned_definitions import (
    WORDS,
    PinnedDefinition,
    Subject,
    changes_between,
    in_words,
)

if TYPE_CHECKING:
    from mcplens.gateway.gateway import Gateway

_log = logging.getLogger("mcplens.gateway")

# Each of so many changes is reported by itself; a server may change all at once, again and again.
_MOST_REPORTS: Final = 50
# Of a change, so much is logged.
_MOST_WORDS: Final = 1_000


class ApprovalReports:
    """Reports of one gateway; `is_held` says whether a view holds back what waits."""

    def __init__(self, gateway: Gateway, is_held: Callable[[str], bool]) -> None:
        self._gateway = gateway
        self._is_held = is_held

    def __repr__(self) -> str:
        return f"<ApprovalReports of {self._gateway!r}>"

    def waits(
        self,
        fresh: Sequence[PinnedDefinition],
        approved: Mapping[Subject, PinnedDefinition],
        left_out: int,
    ) -> None:
        """Say what waits that did not wait before; a view's first time in one report."""
        views = {subject.view for subject in approved}
        for view in dict.fromkeys(one.view for one in fresh if one.view not in views):
            count = sum(one.view == view for one in fresh)
            wait = "1 definition waits" if count == 1 else f"{count} definitions wait"
            self._tell(view, f"nothing has been approved yet: {wait}", None)
        changed = [one for one in fresh if one.view in views]
        for one in changed[:_MOST_REPORTS]:
            before = approved.get(one.subject)
            words = in_words(changes_between(before, one))[:_MOST_WORDS]
            state = "is new" if before is None else "changed since it was approved"
            self._tell(one.view, words, one.subject, state)
        for view in dict.fromkeys(one.view for one in changed[_MOST_REPORTS:]):
            self._tell(view, "more definitions wait than are reported", None)
        if left_out:
            self._tell("", f"{left_out} definitions more wait than can be kept", None)

    def approved(self, one: PinnedDefinition) -> None:
        """Say that a definition was approved; the audit log has it, and who did."""
        self._audit(one.view, "approved", one.by, one.subject)

    def _tell(self, view: str, text: str, subject: Subject | None, state: str = "") -> None:
        is_held = self._is_held(view)
        what = "" if subject is None else f"{WORDS[subject.kind]} {subject} {state}: "
        held = f" ({HELD})" if is_held else ""
        where = f"view {view}" if view else "view of everything"
        message = f"{where}: {what}{text}{held}; see `mcplens gateway approve`"
        _log.warning("approval: %s", message)
        server_id = "" if subject is None else subject.server_id
        self._gateway.bus.publish(Remark(message=message), server_id)
        reason = f"{state}: {text}" if state else text
        self._audit(view, "held" if is_held else "reported", reason, subject)

    def _audit(self, view: str, outcome: str, reason: str, subject: Subject | None) -> None:
        self._gateway.ledger.note(
            "approval",
            outcome,
            reason,
            path=f"/mcp/{view}" if view else "/mcp",
            name=None if subject is None else f"{WORDS[subject.kind]} {subject}",
            server_id="" if subject is None else subject.server_id,
            seq=self._gateway.bus.last_seq,
        )
