"""Limits that all replicas count together: tokens of rates, and places of calls that run at once.

A place is held under this replica's name and renewed while it is used; those of a replica that
died are freed after `PLACES_S`. While the store cannot be used, answers are None: the caller counts
by itself (gateway/call_limits.py). Counts that drifted apart meanwhile are set right again.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable
from typing import Final

from mcplens.background import Background
from mcplens.clock import Clock
from mcplens.errors import InspectorError
from mcplens.replicas.state_store import StateStore

_log = logging.getLogger("mcplens.replicas")

# How long the places of a replica that died stay taken.
PLACES_S: Final = 15.0
_KEEP_EVERY_S: Final = PLACES_S / 3
# For places that were taken while the store was gone: they count, whatever the limit is.
_ANY: Final = 1_000_000_000


class SharedLimits:
    """Counts of one replica in the shared store."""

    def __init__(self, store: StateStore, clock: Clock, replica: str) -> None:
        self._store = store
        self._clock = clock
        self._replica = replica
        self._held: Counter[str] = Counter()  # places by name, that the store should know of
        self._busy: Counter[str] = Counter()  # operations on a name that are under way
        self._work = Background()

    def __repr__(self) -> str:
        return f"<SharedLimits of {self._replica}: {sum(self._held.values())} places>"

    @property
    def replica(self) -> str:
        return self._replica

    @property
    def problem(self) -> str | None:
        """Why this replica counts by itself at present; None if the store counts."""
        state = self._store.state
        return None if state.status == "up" else f"the store is {state.status}: {state.reason}"

    def start(self) -> None:
        """Renew the places for as long as they are used."""
        self._work.start(self._keep(), "keep places")

    async def close(self) -> None:
        await self._work.end()
        for name in list(self._held):
            await self._free_all(name)

    async def take_token(self, bucket: str, per_second: int) -> bool | None:
        """Whether a call is within a rate; None if the store cannot say."""
        try:
            found = await self._store.take_tokens(
                f"rate:{bucket}", per_second=per_second, burst=per_second
            )
        except InspectorError:
            return None
        return found.taken > 0

    async def take_place(self, name: str, most: int) -> bool | None:
        """Take a place, if one is free; None if the store cannot say."""
        self._busy[name] += 1
        try:
            is_taken = await self._store.take_place(
                f"places:{name}", self._replica, most=most, ttl_s=PLACES_S
            )
        except BaseException as problem:
            self._held.setdefault(name, 0)  # it may be taken all the same: `_keep` looks at it
            if isinstance(problem, InspectorError):
                return None
            raise
        finally:
            self._done(name)
        if is_taken:
            self._held[name] += 1
        return is_taken

    def free_place(self, name: str, then: Callable[[], None] | None = None) -> None:
        """Free a place that was taken; `then` is called when the store knows."""
        self._held[name] -= 1
        if self._held[name] <= 0:
            del self._held[name]
        self._work.start(self._free(name, then), f"free {name}")

    async def _free(self, name: str, then: Callable[[], None] | None) -> None:
        self._busy[name] += 1
        try:
            await self._store.free_place(f"places:{name}", self._replica)
        except InspectorError:
            self._held.setdefault(name, 0)  # so that `_keep` looks at it
        finally:
            self._done(name)
        if then is not None:
            then()

    async def _free_all(self, name: str) -> None:
        try:
            for _ in range(self._held[name]):
                await self._store.free_place(f"places:{name}", self._replica)
        except InspectorError:
            return  # they expire

    def _done(self, name: str) -> None:
        self._busy[name] -= 1
        if not self._busy[name]:
            del self._busy[name]

    # -- while places are used ---------------------------------------------------------------------

    async def _keep(self) -> None:
        while True:
            await self._clock.sleep(_KEEP_EVERY_S)
            for name in list(self._held):
                try:
                    await self._set_right(name)
                except InspectorError as error:
                    _log.debug("places of %s: %s", name, error)
                    break  # the store is gone; they are set right when it is back

    async def _set_right(self, name: str) -> None:
        """Renew the places of a name, and have the store count as many as there are."""
        key = f"places:{name}"
        counted = await self._store.keep_places(key, self._replica, PLACES_S)
        while name not in self._busy and counted != self._held.get(name, 0):
            if counted < self._held[name]:
                await self._store.take_place(key, self._replica, most=_ANY, ttl_s=PLACES_S)
                counted += 1
            else:
                await self._store.free_place(key, self._replica)
                counted -= 1
        if not self._held.get(name, 0):
            self._held.pop(name, None)
