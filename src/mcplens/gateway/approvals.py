"""Approval of what views publish: definitions that changed are reported, or held back.

Compares what servers list with what was approved (approval_records.py), reports each definition
that is new or changed once, and follows approvals made elsewhere: on the page, by the command
`gateway approve`, on another replica. Until the approvals are read, nothing counts as approved.
Owned by service.py; asked by gateway.py when a catalog is made.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Final

from msgspec import Raw
from msgspec.structs import replace

from mcplens.background import Background
from mcplens.config.views import ApprovalMode, View
from mcplens.errors import InspectorError
from mcplens.gateway.approval_records import ApprovalRecords, Definitions
from mcplens.gateway.approval_reports import ApprovalReports
from mcplens.gateway.catalog import Kind, Unapproved
from mcplens.gateway.names import Original
from mcplens.gateway.pinned_definitions import (
    INSTRUCTIONS,
    PinnedDefinition,
    Subject,
    digest_of,
    pin,
)
from mcplens.gateway.user_definitions import KEPT_S, NOT_SHOWN, UserDefinitions
from mcplens.gateway.view_handler import ViewHandler
from mcplens.gateway.views import EVERYTHING
from mcplens.gateway.wire import encoded

if TYPE_CHECKING:
    from mcplens.gateway.gateway import Gateway

_log = logging.getLogger("mcplens.gateway")

# Lists of many servers come at about the same time; they are reviewed together.
_REVIEW_AFTER_S: Final = 0.1
# A store or folder that cannot be read is read again so often.
_RETRY_S: Final = 5.0
# Of what waits, so much is kept; a server may list any number of definitions.
_MOST_BYTES: Final = 16 * 1024 * 1024
# More than any gateway publishes; servers may rename their tools for ever.
_MOST_DIGESTS: Final = 100_000


class ViewCheck:
    """Whether definitions were approved for one view."""

    def __init__(self, approvals: Approvals, view: View, mode: ApprovalMode) -> None:
        self.holds = mode == "hold"
        self._approvals = approvals
        self._view = view.name

    def __repr__(self) -> str:
        return f"<ViewCheck of {self._view or 'everything'}>"

    def is_approved(self, kind: Kind, original: Original, raw: Raw) -> bool:
        subject = Subject(self._view, kind, *original)
        return self._approvals.is_approved(subject, bytes(raw))


class Approvals:
    """What was approved, and what waits for it."""

    def __init__(self, gateway: Gateway, records: ApprovalRecords) -> None:
        self.waiting: dict[Subject, PinnedDefinition] = {}
        self.problem: str | None = None  # why the approvals are not known, or not kept
        self.on_changed: Callable[[], None] = lambda: None  # for a page that shows them
        self._gateway = gateway
        self._records = records
        self._approved: dict[Subject, PinnedDefinition] = {}
        self._digests: dict[tuple[str, str, str], tuple[bytes, str]] = {}
        self._told: set[tuple[Subject, str]] = set()
        self._of_users = UserDefinitions()
        self._reports = ApprovalReports(gateway, self.is_held)
        self._work = Background()
        self._is_read = False
        self._is_following = False
        self._is_review_due = False
        self._modes: dict[str, ApprovalMode] = {}

    def __repr__(self) -> str:
        return f"<Approvals {len(self._approved)} approved, {len(self.waiting)} wait>"

    # -- what catalogs ask ---------------------------------------------------------------------

    def mode_of(self, view: View) -> ApprovalMode:
        return view.approval or self._gateway.settings.approval

    @property
    def is_on(self) -> bool:
        """Whether any view wants its definitions approved."""
        gateway = self._gateway
        views = [EVERYTHING, *gateway.views.values(), *(one.view for one in self._handlers())]
        return any(self.mode_of(view) != "off" for view in views)

    def check(self, view: View) -> ViewCheck | None:
        """How a view's definitions are checked; None if they are not."""
        mode = self.mode_of(view)
        return None if mode == "off" else ViewCheck(self, view, mode)

    def is_approved(self, subject: Subject, raw: bytes) -> bool:
        """Whether a definition was approved exactly as it is."""
        found = self._approved.get(subject)
        return found is not None and found.sha256 == self._digest(subject, raw)

    def holds_instructions(self, view: View, server_id: str, text: str) -> bool:
        """Whether the instructions of a server are held back."""
        subject = Subject(view.name, INSTRUCTIONS, server_id, "")
        return self.mode_of(view) == "hold" and not self.is_approved(subject, encoded(text))

    def approved(self, subject: Subject) -> PinnedDefinition | None:
        """A definition as it was approved."""
        return self._approved.get(subject)

    def _digest(self, subject: Subject, raw: bytes) -> str:
        """The digest of a definition; those of the newest lists are remembered."""
        key = subject[1:]
        if len(self._digests) > _MOST_DIGESTS:
            self._digests.clear()
        known = self._digests.get(key)
        if known is None or known[0] != raw:
            known = self._digests[key] = raw, digest_of(raw)
        return known[1]

    # -- its life ------------------------------------------------------------------------------

    async def start(self) -> None:
        """Read the approvals, before any client is served."""
        self._modes = self._modes_now()
        if self.is_on:
            await self._read()
            await self._read_of_users()
            self._follow()

    def settings_changed(self) -> None:
        """Approval may have been switched on, or off."""
        before, self._modes = self._modes, self._modes_now()
        if before == self._modes:
            return
        if self.is_on:
            self._follow()
        self._gateway.publish_anew()
        self.review_soon()

    def _modes_now(self) -> dict[str, ApprovalMode]:
        views = [EVERYTHING, *self._gateway.views.values()]
        return {view.name: self.mode_of(view) for view in views}

    async def close(self) -> None:
        await self._work.end()

    def _follow(self) -> None:
        if not self._is_following:
            self._is_following = True
            self._work.start(self._follow_records(), "follow approvals")

    async def _follow_records(self) -> None:
        """Use approvals that are made elsewhere; what is known stays in force meanwhile."""
        while True:
            try:
                async for _ in self._records.approvals_changed():
                    await self._read()
            except InspectorError as problem:
                self._failed(problem)
            await self._gateway.clock.sleep(_RETRY_S)

    async def _read(self) -> None:
        try:
            found = await self._records.read("approved")
        except InspectorError as problem:
            self._failed(problem)
            return
        self._use(found)
        if self.problem is not None:
            self.problem = None
            self.on_changed()

    async def _read_of_users(self) -> None:
        """What users' sessions listed before a restart, or at other replicas, still waits."""
        with contextlib.suppress(InspectorError):  # it comes up again when it is listed again
            self._keep_of_users(await self._records.read("waiting"))

    def _keep_of_users(self, waiting: Definitions) -> None:
        for one in waiting:
            if self._waits_for_users(one):
                self._of_users.add(one)

    def _waits_for_users(self, one: PinnedDefinition) -> bool:
        """Whether a definition is one that users' sessions list, and still waits."""
        connection = self._gateway.server(one.server_id)
        if connection is None or not connection.entry.is_per_user:
            return False
        approved = self._approved.get(one.subject)
        is_approved = approved is not None and approved.sha256 == one.sha256
        return not is_approved and self._gateway.clock.wall() - one.at <= KEPT_S

    def _failed(self, problem: InspectorError) -> None:
        if problem.message != self.problem:
            self.problem = problem.message
            _log.warning("approvals: %s", problem.message)
            self.on_changed()

    def _use(self, definitions: Definitions) -> None:
        """Have exactly these approved from now on."""
        before, self._approved = self._approved, {one.subject: one for one in definitions}
        was_read, self._is_read = self._is_read, True
        if before == self._approved:
            return
        if was_read:
            for one in definitions:
                if before.get(one.subject) != one:
                    self._reports.approved(one)
        self._gateway.publish_anew()
        self.review_soon()

    # -- what waits ----------------------------------------------------------------------------

    def review_soon(self) -> None:
        """Look again at what is published, once for all changes of a moment."""
        if not self._is_review_due and self.is_on:
            self._is_review_due = True
            self._work.start(self._review_later(), "review definitions")

    async def _review_later(self) -> None:
        await self._gateway.clock.sleep(_REVIEW_AFTER_S)
        self._is_review_due = False
        await self.review()

    def listed_by_user(self, view: View, unapproved: Iterable[Unapproved]) -> None:
        """A user's own session lists these definitions: what is new among them comes up."""
        is_new = False
        for kind, original, raw in unapproved:
            subject = Subject(view.name, kind, *original)
            if kind not in NOT_SHOWN:
                sha256 = self._digest(subject, bytes(raw))
                at = self._gateway.clock.wall()
                is_new |= self._of_users.add(pin(subject, bytes(raw), sha256, at=at))
        if is_new:
            self.review_soon()

    async def review(self) -> None:
        """Find what waits for approval, report what is new among it, and keep it."""
        found, left_out = self._found()
        fresh = [one for one in found.values() if (one.subject, one.sha256) not in self._told]
        self._told = {(one.subject, one.sha256) for one in found.values()}
        is_same = found.keys() == self.waiting.keys() and not fresh
        self.waiting = found
        self._reports.waits(fresh, self._approved, left_out)
        if is_same:
            return
        self.on_changed()
        ours = {one.server_id for one in self._gateway.offered()}

        def edit(before: Definitions) -> Definitions:
            others = [
                one
                for one in before
                # Users may be at another replica.
                if one.server_id not in ours or self._waits_for_users(one)
                if one.subject not in self.waiting
            ]
            after = (*others, *self.waiting.values())  # another review may be ahead of this one
            same = {(one.subject, one.sha256) for one in before}
            return before if same == {(one.subject, one.sha256) for one in after} else after

        try:
            self._keep_of_users(await self._records.update("waiting", edit))
        except InspectorError as problem:
            self._failed(problem)

    def _found(self) -> tuple[dict[Subject, PinnedDefinition], int]:
        """What was not approved as it is, and how much of it is left out."""
        found: dict[Subject, PinnedDefinition] = {}
        left_out, size = 0, 0
        for subject, raw in self._unapproved():
            sha256 = self._digest(subject, raw)
            known = self.waiting.get(subject)
            size += len(raw)
            if size > _MOST_BYTES:
                left_out += 1
            elif known is not None and known.sha256 == sha256:
                found[subject] = known
            else:
                found[subject] = pin(subject, raw, sha256, at=self._gateway.clock.wall())
        on = {one.view.name for one in self._handlers() if self.mode_of(one.view) != "off"}
        of_users = self._of_users.waiting(self._waits_for_users)
        found |= {one.subject: one for one in of_users if one.view in on}
        return found, left_out

    def _unapproved(self) -> Iterable[tuple[Subject, bytes]]:
        # Half of what a server offers is not shown: somebody would approve it as the whole.
        listed = {one.server_id for one in self._gateway.offered() if one.lists.are_known}
        for handler in self._handlers():
            view = handler.view
            if self.mode_of(view) == "off":
                continue
            for kind, original, raw in handler.catalog.unapproved:
                subject = Subject(view.name, kind, *original)
                # The catalog may be an older one.
                if subject.server_id in listed and not self.is_approved(subject, bytes(raw)):
                    yield subject, bytes(raw)
            for connection in handler.connections():
                if connection.server_id not in listed:
                    continue
                introduction = connection.introduction
                text = None if introduction is None else introduction.instructions
                subject = Subject(view.name, INSTRUCTIONS, connection.server_id, "")
                if text and not self.is_approved(subject, encoded(text)):
                    yield subject, encoded(text)

    def _handlers(self) -> list[ViewHandler]:
        """The endpoints of views, each view once."""
        found = {
            one.view.name: one for one in self._gateway.handlers if isinstance(one, ViewHandler)
        }
        return list(found.values())

    def is_held(self, view: str) -> bool:
        """Whether a view holds back what waits."""
        return any(
            one.view.name == view and self.mode_of(one.view) == "hold" for one in self._handlers()
        )

    # -- approving -----------------------------------------------------------------------------

    async def approve(self, chosen: Iterable[tuple[Subject, str]], by: str) -> int:
        """Approve definitions that wait, each as its digest says; how many there were.

        Raises:
            InspectorError: the approval could not be kept; nothing was approved.
        """
        wanted = set(chosen)
        found = [one for one in self.waiting.values() if (one.subject, one.sha256) in wanted]
        if found:
            at = self._gateway.clock.wall()
            self._use(await approve(self._records, found, by=by, at=at))
            await self.review()
        return len(found)


async def approve(
    records: ApprovalRecords, chosen: Iterable[PinnedDefinition], *, by: str, at: float
) -> Definitions:
    """Keep these definitions as approved; all that are approved then.

    Raises:
        InspectorError: they could not be kept.
    """
    given = {one.subject: replace(one, at=at, by=by) for one in chosen}

    def edit(before: Definitions) -> Definitions:
        return (*(one for one in before if one.subject not in given), *given.values())

    return await records.update("approved", edit)
