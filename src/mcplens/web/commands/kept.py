"""Commands about what is kept: pins and examples (each replies all of them), the recording."""

from __future__ import annotations

from mcplens.web.commands.base import Command


class Pin(Command, frozen=True, kw_only=True):
    """Keep an event, under a label; one that is pinned gets the new label."""

    run_id: str
    seq: int
    label: str = ""


class Unpin(Command, frozen=True, kw_only=True):
    run_id: str
    seq: int


class ListPins(Command, frozen=True, kw_only=True):
    """All pins, of this run and of others."""


class SaveExample(Command, frozen=True, kw_only=True):
    """Keep a call of a tool under a name, without what stands under the name of a secret."""

    call_id: str
    name: str


class DeleteExample(Command, frozen=True, kw_only=True):
    server_id: str
    tool: str
    name: str


class ListExamples(Command, frozen=True, kw_only=True):
    """The examples of a tool, of this run and of others."""

    server_id: str
    tool: str


class ForgetRun(Command, frozen=True, kw_only=True):
    """Delete what is recorded of a run; of this one, all up to now. Pins are kept."""

    run_id: str
