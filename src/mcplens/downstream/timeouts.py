"""The three time limits of a downstream server: calls, lists, and connecting."""

from __future__ import annotations

import msgspec

from mcplens.config.model import ServerEntry, Settings


class Timeouts(msgspec.Struct, frozen=True, kw_only=True):
    """In seconds; None means no limit."""

    call_s: float | None = 60.0
    capabilities_s: float | None = 10.0
    connect_s: float | None = 10.0


def timeouts_of(entry: ServerEntry, settings: Settings) -> Timeouts:
    """As configured: what a server says itself overrides the settings; 0 means no limit."""
    call_s = entry.request_timeout_s
    connect_s = entry.connection_timeout_s
    return Timeouts(
        call_s=(settings.request_timeout_s if call_s is None else call_s) or None,
        capabilities_s=settings.capabilities_timeout_s or None,
        connect_s=(settings.capabilities_timeout_s if connect_s is None else connect_s) or None,
    )
