"""What a server offers, kept for a while: fresh values need no connection.

A failed fetch falls back on the kept value while that is within its time to live. One fetch at a
time. Held by server_connection.py.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import msgspec

from mcplens.clock import Clock
from mcplens.errors import InspectorError
from mcplens.protocol.result_types import Prompt, Resource, ResourceTemplate, Tool


class ServerCapabilities(msgspec.Struct, frozen=True, kw_only=True):
    """The tools, resources and prompts of a server; a list that could not be fetched is empty."""

    tools: tuple[Tool, ...] = ()
    resources: tuple[Resource, ...] = ()
    resource_templates: tuple[ResourceTemplate, ...] = ()
    prompts: tuple[Prompt, ...] = ()

    def __repr__(self) -> str:
        counts = (len(self.tools), len(self.resources), len(self.prompts))
        return "<ServerCapabilities {} tools, {} resources, {} prompts>".format(*counts)


class CapabilitiesCache:
    """The capabilities of one server, and how old they are."""

    def __init__(self, clock: Clock, ttl_s: float) -> None:
        self.ttl_s = ttl_s
        self._clock = clock
        self._value: ServerCapabilities | None = None
        self._fetched = 0.0  # monotonic
        self._lock = asyncio.Lock()

    def __repr__(self) -> str:
        return f"<CapabilitiesCache {self._value!r}>"

    @property
    def fresh(self) -> ServerCapabilities | None:
        """The kept value, if it is within its time to live."""
        is_fresh = self._clock.monotonic() - self._fetched < self.ttl_s
        return self._value if is_fresh else None

    async def get(
        self, fetch: Callable[[], Awaitable[ServerCapabilities]], *, force_refresh: bool = False
    ) -> ServerCapabilities:
        """The kept value if it is fresh, else a fetched one.

        Raises:
            InspectorError: the fetch failed, and there is no fresh value.
        """
        asked = self._clock.monotonic()
        async with self._lock:
            kept = self.fresh
            # Another caller may have fetched it while this one waited for the lock.
            is_new = kept is not None and self._fetched > asked
            if kept is not None and (is_new or not force_refresh):
                return kept
            try:
                value = await fetch()
            except InspectorError:
                kept = self.fresh
                if kept is None:
                    raise
                return kept
            self.keep(value)
            return value

    def keep(self, value: ServerCapabilities) -> None:
        """Take this for what the server offers, from now on."""
        self._value = value
        self._fetched = self._clock.monotonic()

    def forget(self) -> None:
        self._value = None

    def correct(self, value: ServerCapabilities) -> None:
        """The server announced a change: what is kept becomes this, but no younger."""
        if self._value is not None:
            self._value = value
