"""Which function carries out a command: all commands of the subjects in api/, as one union.

Called by the socket, and by typescript.py for the types of the page. A new subject is named here;
a new command of a subject is not.
"""

from __future__ import annotations

from functools import reduce
from operator import or_
from typing import Any, Final

import msgspec

from mcplens.web.api import (
    answer_settings,
    approvals,
    apps,
    auth,
    calls,
    catalog,
    collection_runs,
    collections,
    confirmation,
    doctor,
    exact_bytes,
    example_arguments,
    gateway,
    gateway_entries,
    history,
    patterns,
    published_views,
    questions,
    runs,
    server_entries,
    server_export,
    servers,
    settings,
    skills,
    taps,
    tasks,
    user_sign_ins,
)
from mcplens.web.registry import HANDLERS, Command
from mcplens.workspace.workspace import Workspace

# They register their commands when they are imported.
SUBJECTS: Final = (
    answer_settings, approvals, apps, auth, calls, catalog, collection_runs, collections,
    confirmation, doctor, exact_bytes, example_arguments, gateway, gateway_entries, history,
    patterns, published_views, questions, runs, server_entries, server_export, servers, settings,
    skills, taps, tasks, user_sign_ins,
)  # fmt: skip


class Resume(Command, frozen=True, kw_only=True):
    """The first command: where the page left off, if it did.

    Answered by Hello. Events after `seq` follow, if `run_id` is of this run; else the newest.
    """

    run_id: str | None = None
    seq: int | None = None


class Abandon(Command, frozen=True, kw_only=True):
    """Stop what a command of the same page waits for; it then fails as cancelled."""

    command_id: int


# The first two are carried out by the socket itself.
COMMANDS: Final[tuple[type[Command], ...]] = (Resume, Abandon, *HANDLERS)
_decoder: Final[msgspec.json.Decoder[Command]] = msgspec.json.Decoder(reduce(or_, COMMANDS))


def decode_command(text: str) -> Command:
    """The command that a page sent.

    Raises:
        msgspec.DecodeError: it is not a command.
    """
    return _decoder.decode(text)


async def dispatch(workspace: Workspace, command: Command) -> Any:
    """Carry out a command, and give what its Reply carries.

    Raises:
        InspectorError: it cannot be done.
    """
    return await HANDLERS[type(command)](workspace, command)
