"""The bytes of an event without masks, for the page that asked, while they are in memory.

Nothing of it is recorded, logged or published: it is the reply to a command and nothing else.
"""

from __future__ import annotations

from base64 import b64encode
from typing import Final

import msgspec

from mcplens.errors import InspectorError
from mcplens.store.row_encoding import exact_row
from mcplens.web.recording_queries import kept_event
from mcplens.web.registry import Command, command
from mcplens.workspace.workspace import Workspace

# A larger reply would hold up what every page is sent.
MOST_BYTES: Final = 8 * 1024 * 1024


class ExactBytesView(msgspec.Struct, frozen=True):
    """The bytes of one event as they came, in base64; in no other view."""

    base64: str


class RevealBytes(Command, frozen=True, kw_only=True):
    """The bytes of an event of this run, without masks. The page asks the person first."""

    run_id: str
    seq: int


@command
async def reveal_bytes(workspace: Workspace, command: RevealBytes) -> ExactBytesView:
    event = kept_event(workspace, command.run_id, command.seq)
    if event is None:
        raise InspectorError("INVALID_REQUEST", "The exact bytes were not recorded.")
    data = exact_row(event).payload or b""
    if len(data) > MOST_BYTES:
        raise InspectorError(
            "MESSAGE_TOO_LARGE",
            f"The message has {len(data)} bytes; exact bytes are shown of up to {MOST_BYTES}.",
        )
    return ExactBytesView(b64encode(data).decode())
