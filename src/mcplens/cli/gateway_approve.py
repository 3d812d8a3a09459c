"""`mcplens gateway approve`: what waits for approval with its changes, and the approval itself.

Reads what a running gateway found (or the last one that ran) and approves exactly that; starts no
server. A running gateway uses the approval within a second.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterable, Sequence
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, Final

import click
import msgspec

from mcplens.cli import output
from mcplens.cli.exit_codes import CommandError, as_command_error

if TYPE_CHECKING:
    from mcplens.gateway.approval_records import ApprovalRecords
    from mcplens.gateway.pinned_definitions import PinnedDefinition, Subject

# Of a new definition's description, so much is shown.
_SHOWN_TEXT: Final = 400


@click.command("approve")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--view", metavar="NAME", help="Only what this view publishes.")
@click.option("--all", "is_all", is_flag=True, help="Approve all that waits.")
@click.option("--list", "is_list", is_flag=True, help="Only show what waits.")
@click.option("--json", "is_json", is_flag=True, help="With --list: whole definitions, as JSON.")
@click.option("--yes", "is_sure", is_flag=True, help="Approve without asking.")
@click.option("--config", metavar="FILE", help="Use only this configuration file.")
def approve_command(
    names: tuple[str, ...],
    view: str | None,
    is_all: bool,
    is_list: bool,
    is_json: bool,
    is_sure: bool,
    config: str | None,
) -> None:
    """Approve definitions that are new, or changed since they were approved.

    Without NAME or --all it shows what waits, with the changes. NAME is server:tool, and may have
    the wildcard *; a server's name alone means its instructions. A running gateway uses the
    approval within a second.

    \b
    mcplens gateway approve
    mcplens gateway approve git:status
    mcplens gateway approve \\
        --view reading 'git:*'
    mcplens gateway approve --all --yes
    """
    if is_all and names:
        raise click.UsageError("--all and NAME exclude each other")
    if is_list and (is_all or names):
        raise click.UsageError("--list approves nothing: leave out --all and NAME")
    if is_json and not is_list:
        raise click.UsageError("--json is for --list")
    with as_command_error():
        work = _Work(config, view)
        chosen = _chosen(work.waiting, names)
        if is_json:
            output.write_json([msgspec.to_builtins(one) for one in chosen])
            return
        if not chosen:
            output.say(work.why_nothing)
            return
        _show(work, chosen)
        if names or is_all:
            _approve(work, chosen, is_sure=is_sure)
        elif not is_list:
            output.note("mcplens: approve by name, or all with `mcplens gateway approve --all`")


class _Work:
    """The records of a configuration: what was approved, and what waits."""

    def __init__(self, config: str | None, view: str | None) -> None:
        from mcplens.config.configuration import load_configuration
        from mcplens.gateway.service import published

        self._configuration = load_configuration(config)
        found = published(self._configuration, view)  # an unknown view is said now
        self._settings = found.settings
        default = found.settings.approval
        self.modes = {"": default} | {one.name: one.approval or default for one in found.views}
        asyncio.run(self._read(view))

    async def _read(self, view: str | None) -> None:
        async with self._records() as records:
            known = await _approved(records)
            waiting = await records.read("waiting")
        self.approved: dict[Subject, PinnedDefinition] = {one.subject: one for one in known}
        self.waiting = [
            one
            for one in waiting
            if view is None or one.view == view
            if one.subject not in self.approved or self.approved[one.subject].sha256 != one.sha256
        ]

    def approve(self, chosen: Sequence[PinnedDefinition], by: str) -> None:
        asyncio.run(self._approve(chosen, by))

    async def _approve(self, chosen: Sequence[PinnedDefinition], by: str) -> None:
        from mcplens.clock import SystemClock
        from mcplens.gateway.approvals import approve

        async with self._records() as records:
            await approve(records, chosen, by=by, at=SystemClock().wall())

    @contextlib.asynccontextmanager
    async def _records(self) -> AsyncIterator[ApprovalRecords]:
        """Where the gateway keeps its approvals."""
        from mcplens.clock import SystemClock
        from mcplens.gateway.approval_records import FileRecords, records_folder
        from mcplens.gateway.approval_store import StoreRecords, is_shared
        from mcplens.replicas.opening import make_store
        from mcplens.user_folders import current_state_folder

        clock = SystemClock()
        if not is_shared(self._settings):
            folder = records_folder(self._configuration, current_state_folder())
            yield FileRecords(folder, clock)
            return
        store = make_store(self._settings.store, clock)
        await store.open()
        try:
            yield StoreRecords(store, self._settings.replica.keys)
        finally:
            await store.close()

    @property
    def why_nothing(self) -> str:
        if all(mode == "off" for mode in self.modes.values()):
            return 'approval is off: set gateway.approval to "warn" or "hold" in the configuration'
        if not self.approved:
            return "nothing is known yet: start `mcplens gateway`, which finds what waits"
        return "nothing waits for approval"


async def _approved(records: ApprovalRecords) -> Sequence[PinnedDefinition]:
    """What was approved; approvals that cannot be used are said, and all waits again."""
    from mcplens.errors import ConfigurationError

    try:
        return await records.read("approved")
    except ConfigurationError as problem:
        output.note(f"mcplens: {problem.message}", fg="yellow")
        return ()


def _chosen(waiting: Sequence[PinnedDefinition], names: Sequence[str]) -> list[PinnedDefinition]:
    """What waits, or of it what is named.

    Raises:
        CommandError: nothing of a name waits.
    """
    if not names:
        return list(waiting)
    found: dict[Subject, PinnedDefinition] = {}
    for name in names:
        same = [one for one in waiting if fnmatchcase(str(one.subject), name)]
        if not same:
            known = ", ".join(dict.fromkeys(str(one.subject) for one in waiting[:10])) or "nothing"
            raise CommandError(f"{name} does not wait for approval; waiting: {known}")
        found |= {one.subject: one for one in same}
    return list(found.values())


def _show(work: _Work, chosen: Iterable[PinnedDefinition]) -> None:
    from mcplens.cli.diff import say_change
    from mcplens.gateway.pinned_definitions import WORDS, changes_between

    views: dict[str, list[PinnedDefinition]] = {}
    for one in chosen:
        views.setdefault(one.view, []).append(one)
    for view, definitions in views.items():
        held = ", held back" if work.modes.get(view) == "hold" else ""
        count = f"{len(definitions)} wait{'s' if len(definitions) == 1 else ''}{held}"
        output.say(f"{f'view {view}' if view else 'view of everything'}: {count}", bold=True)
        for one in definitions:
            before = work.approved.get(one.subject)
            state = "new" if before is None else "changed"
            output.say(f"  {output.one_line(str(one.subject))}  {WORDS[one.kind]}, {state}")
            if before is None:
                output.say(f"    {_text_of(one.definition)}")
            else:
                for change in changes_between(before, one):
                    say_change(change, "    ")
    output.flush()


def _text_of(definition: Any) -> str:
    """What a new definition says to a model, in one line."""
    text = definition.get("description") if isinstance(definition, dict) else definition
    shown = output.one_line(str(text or "without a description"))
    return shown if len(shown) <= _SHOWN_TEXT else f"{shown[:_SHOWN_TEXT]}…"


def _approve(work: _Work, chosen: Sequence[PinnedDefinition], *, is_sure: bool) -> None:
    from getpass import getuser

    from mcplens.cli.confirmation import confirm

    count = f"{len(chosen)} definition{'' if len(chosen) == 1 else 's'}"
    if not is_sure:
        confirm("Clients get these definitions as they are now.", f"approve {count}")
    by = f"command line, {getuser()}"
    work.approve(chosen, by)
    output.say(f"approved: {count}")
