"""How much each client uses the gateway: calls under way, calls, errors, since when.

A client of 2025-11-25 is counted for as long as its session lasts. One of 2026-07-28 has no
session, so those of the same caller that give the same name at the same path are counted together.
Written by gateway.py for every request; read by the web UI.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Final

import msgspec

from mcplens.gateway import callers

if TYPE_CHECKING:
    from mcplens.gateway.inbound_client import InboundClient

# Names of 2026-07-28 clients that are kept; a client can call itself whatever it likes.
MAX_NAMES: Final = 100
_FAILURES: Final = ("error", "failed", "refused")


class ClientUse(msgspec.Struct):
    """The calls of one client; times are wall times."""

    since: float
    last_at: float
    in_flight: int = 0
    calls: int = 0
    errors: int = 0

    def began(self, at: float) -> None:
        self.in_flight += 1
        self.last_at = at

    def ended(self, outcome: str) -> None:
        self.in_flight -= 1
        self.calls += 1
        self.errors += outcome in _FAILURES


class StatelessClient(msgspec.Struct, frozen=True):
    """What tells clients without a session apart."""

    name: str
    version: str | None
    path: str
    caller: str  # in words


class StatelessUses:
    """The uses of clients without a session, the latest last."""

    def __init__(self) -> None:
        self.uses: OrderedDict[StatelessClient, ClientUse] = OrderedDict()

    def __repr__(self) -> str:
        return f"<StatelessUses of {len(self.uses)} clients>"

    def of(self, client: InboundClient, now: float) -> ClientUse:
        """The use that this client is counted in."""
        key = StatelessClient(
            client.name, client.version, client.path, callers.name_of(client.peer.caller)
        )
        use = self.uses.get(key)
        if use is None:
            use = self.uses[key] = ClientUse(now, now)
            if len(self.uses) > MAX_NAMES:
                self.uses.popitem(last=False)
        return use
