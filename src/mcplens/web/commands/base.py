"""What every command is, and the first one."""

from __future__ import annotations

from typing import Final

import msgspec
from msgspec import Raw

# A value of any JSON that was not given.
NOTHING: Final = Raw(b"")


class Command(msgspec.Struct, frozen=True, tag=True, tag_field="type", kw_only=True):
    """`id` is chosen by the page; Reply and Failure repeat it."""

    id: int


class Resume(Command, frozen=True, kw_only=True):
    """The first command: where the page left off, if it did.

    Answered by Hello. Events after `seq` follow, if `run_id` is of this run; else the newest.
    """

    run_id: str | None = None
    seq: int | None = None


class Abandon(Command, frozen=True, kw_only=True):
    """Stop what a command of the same page waits for; it then fails as cancelled."""

    command_id: int
