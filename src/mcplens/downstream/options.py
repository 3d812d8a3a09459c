"""How the live servers of a process are used: limits and defaults of their owner."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from mcplens.session.call_hooks import Hooks
from mcplens.session.client import Client
from mcplens.session.queue import QueueEntry

# The gateway's default: a server that wants fewer says so by `maxConcurrency`.
NO_LIMIT: Final = 1_000_000_000
# Entries of a server that is gone stay so long, marked as stale.
STALE_FOR_S: Final = 600.0


class LiveOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What the owner of the live servers chose.

    With `relays_questions` sampling and elicitation are declared to every server: the hooks of the
    calls answer. Without it only what a profile of the configuration answers is declared.

    Servers that the owner `keeps_ready` are listed whenever they connect, and paused when they keep
    failing. Else a person decides when to connect and what to list.

    `sign_in_networks` is "public" where other machines are served; see auth/creation.py.
    """

    concurrency: int = NO_LIMIT
    stale_for_s: float = STALE_FOR_S
    relays_questions: bool = False
    keeps_ready: bool = True
    client_info: Mapping[str, Any] | None = None
    sign_in_networks: str = "any"


class StartedRequest(msgspec.Struct, frozen=True, eq=False):
    """A request that was sent for a caller that does not wait for it, and who sent it."""

    entry: QueueEntry
    client: Client

    def cancel(self) -> None:
        """The caller does not want the answer any more; the server is told."""
        self.client.raw_calls.withdraw(self.entry)


class CallOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What the caller of one request says about it; see `ServerConnection.request`."""

    timeout_s: float | None = None  # None: that of the server; covers queue, connecting and call
    waited_s: float = 0.0  # for its turn, before the request was made: part of its time
    call_id: str | None = None
    inbound_seq: int | None = None
    hooks: Hooks | None = None
    wants_progress: bool = False
    headers: Mapping[str, str] | None = None
    client_capabilities: Mapping[str, Any] | None = None
    answers_input: bool = False
    is_repeatable: bool | None = None  # None: as the method and the tool's annotations say
    started: StartedRequest | None = None  # the request, if `request_now` has sent it


DEFAULT_CALL: Final = CallOptions()
