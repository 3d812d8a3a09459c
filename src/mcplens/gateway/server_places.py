"""Places for calls of one server: so many at once, and the calls that wait for one.

A server's own `maxConcurrency` and `limits.callsPerServer` bound them. Calls beyond that wait, the
clients in turn, until their time is up. Owned by call_limits.py.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

from mcplens.background import Background
from mcplens.clock import Clock
from mcplens.config.model import ServerEntry
from mcplens.config.views import Limits
from mcplens.errors import TimeoutExpired
from mcplens.gateway.fair_queue import FairQueue
from mcplens.gateway.refused import Refused

if TYPE_CHECKING:
    from mcplens.gateway.inbound_call import InboundCall
    from mcplens.replicas.shared_limits import SharedLimits

# In the range that JSON-RPC leaves to servers; clients may try again later.
TOO_MANY_CALLS: Final = -32029
# Calls of one client that wait for one server, unless `limits.waitingCalls` says otherwise.
WAITING_CALLS: Final = 100
# Calls that wait for one server, of all clients: each holds its request in memory.
MOST_WAITING: Final = 1_000
# How often the store is asked whether another replica has freed a place.
_ASK_AGAIN_S: Final = 0.05
NO_LIMIT: Final = 1_000_000_000


def too_many(what: str, limit: str) -> Refused:
    """The refusal of a call beyond a limit."""
    return Refused(TOO_MANY_CALLS, f"too many calls: {what} ({limit}); try again later")


class Waiter:
    """A call that waits for a place."""

    __slots__ = ("call", "granted")

    def __init__(self, call: InboundCall) -> None:
        self.call = call
        self.granted: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def __repr__(self) -> str:
        return f"<Waiter {self.call!r}>"


class ServerPlaces:
    """The calls of one server that are under way, and those that wait."""

    def __init__(self, server_id: str, clock: Clock, shared: SharedLimits | None = None) -> None:
        self.server_id = server_id
        self.entry: ServerEntry | None = None  # that the limits were read from
        self.most = NO_LIMIT  # on this replica
        self.most_shared: int | None = None  # on all replicas, counted by the store
        self.most_at_once = NO_LIMIT  # that need no look at rates or the store; 0: all do
        self.waiting_calls = WAITING_CALLS
        self.running = 0
        self.queue: FairQueue[Waiter] = FairQueue()
        self._clock = clock
        self.shared = shared
        self._freed = asyncio.Event()
        self._work = Background()

    def __repr__(self) -> str:
        return f"<ServerPlaces of {self.server_id}: {self.running} run, {len(self.queue)} wait>"

    def use(self, entry: ServerEntry, limits: Limits) -> None:
        """Have the limits of this entry; calls that fit in now go on."""
        self.entry = entry
        # With a session per client each session has its own queue.
        own = None if entry.session_mode == "per-client" else entry.max_concurrency
        per_server, shared = limits.calls_per_server, self.shared
        self.most_shared = None
        if shared is None:
            self.most = min(own or NO_LIMIT, per_server or NO_LIMIT)
        elif entry.singleton:  # all replicas call the same process
            self.most, bound = NO_LIMIT, min(own or NO_LIMIT, per_server or NO_LIMIT)
            self.most_shared = None if bound == NO_LIMIT else bound
        else:
            self.most, self.most_shared = own or NO_LIMIT, per_server
        has_rate = limits.calls_per_second_per_server is not None
        self.most_at_once = 0 if has_rate or self.most_shared is not None else self.most
        waiting_calls = limits.waiting_calls
        self.waiting_calls = WAITING_CALLS if waiting_calls is None else waiting_calls
        self._grant()

    @property
    def has_room(self) -> bool:
        """Whether a call needs to wait for nobody, as far as this replica knows."""
        return self.most_shared is None and self.running < self.most

    def take(self, call: InboundCall) -> None:
        """Count a call as under way, whatever the limit is."""
        call.place = self
        self.running += 1

    def free(self, call: InboundCall) -> None:
        """A call that had a place has ended, or goes elsewhere."""
        call.place = None
        self.running -= 1
        if call.is_place_shared and self.shared is not None:
            call.is_place_shared = False
            self.shared.free_place(self._name, self._grant)
        elif self.queue:
            self._grant()

    async def close(self) -> None:
        await self._work.end()

    async def wait(self, call: InboundCall, budget_s: float | None) -> None:
        """Wait for a place; the time counts towards that of the call.

        Raises:
            Refused: too many wait already.
            TimeoutExpired: the time of the call is up.
        """
        key, waiter = call.client.turn_key, Waiter(call)
        self._check_room(key)
        self.queue.add(key, waiter)
        began = self._clock.monotonic()
        timer = None
        if budget_s is not None:
            timer = self._clock.call_at(began + budget_s, lambda: self._expire(waiter, budget_s))
        self._grant()
        try:
            await waiter.granted
        finally:
            self.queue.remove(key, waiter)
            if timer is not None:
                timer.cancel()
        call.waited_s += self._clock.monotonic() - began

    def _check_room(self, key: str) -> None:
        waiting = self.queue.count_of(key)
        if waiting >= self.waiting_calls:
            if not waiting:
                raise too_many(f"{self.server_id} takes {self._bound}", self._limit)
            text = f"{waiting} calls of this client wait for {self.server_id}"
            raise too_many(text, "limits.waitingCalls")
        if len(self.queue) >= MOST_WAITING:
            displaced = self.queue.displace(key)
            crowded = too_many(f"{MOST_WAITING} calls wait for {self.server_id}", self._limit)
            if displaced is None:
                raise crowded
            _fail(displaced, crowded)

    @property
    def _bound(self) -> str:
        bound = min(self.most, self.most_shared or NO_LIMIT)
        where = " of all replicas" if bound == self.most_shared else ""
        return f"{bound} at a time{where}"

    @property
    def _limit(self) -> str:
        own = None if self.entry is None else self.entry.max_concurrency
        if own is None or own > min(self.most, self.most_shared or NO_LIMIT):
            return "limits.callsPerServer"
        return f"maxConcurrency of {self.server_id}"

    def _grant(self) -> None:
        """Let calls go on that wait, as far as there are places."""
        if self.most_shared is not None:
            self._freed.set()
            if self.queue and not len(self._work):
                self._work.start(self._ask_store(), f"places of {self.server_id}")
            return
        while self.running < self.most:
            waiter = self._next()
            if waiter is None:
                return
            self.take(waiter.call)
            waiter.granted.set_result(None)

    def _next(self) -> Waiter | None:
        while (waiter := self.queue.take()) is not None:
            if not waiter.granted.done():
                return waiter
        return None

    # -- places that all replicas share ------------------------------------------------------------

    @property
    def _name(self) -> str:
        return f"server:{self.server_id}"

    async def _ask_store(self) -> None:
        """Take places from the store for those who wait, until nobody does."""
        shared = self.shared
        assert shared is not None
        while self.queue and self.most_shared is not None:
            is_free: bool | None = False
            self._freed.clear()
            if self.running < self.most:
                is_free = await shared.take_place(self._name, self.most_shared)
            if is_free is None:  # the store is gone: this replica counts by itself
                if self.running < self.most_shared:
                    self._hand_over(is_shared=False)
                    continue
            elif is_free:
                if not self._hand_over(is_shared=True):
                    shared.free_place(self._name)
                continue
            await self._until_freed()

    def _hand_over(self, *, is_shared: bool) -> bool:
        waiter = self._next()
        if waiter is None:
            return False
        self.take(waiter.call)
        waiter.call.is_place_shared = is_shared
        waiter.granted.set_result(None)
        return True

    async def _until_freed(self) -> None:
        """Until a place is freed here, or may have been on another replica."""
        due = self._clock.monotonic() + _ASK_AGAIN_S
        timer = self._clock.call_at(due, self._freed.set)
        try:
            await self._freed.wait()
        finally:
            timer.cancel()

    def _expire(self, waiter: Waiter, budget_s: float) -> None:
        others = "1 other call is" if self.running == 1 else f"{self.running} other calls are"
        text = (
            f"{self.server_id}: {waiter.call.method} ended after {budget_s:g} s (limit "
            f"{budget_s:g} s), while it waited in the queue: {others} under way, and "
            f"{self.server_id} takes {self._bound}"
        )
        details = {"phase": "queue", "server_id": self.server_id, "method": waiter.call.method}
        _fail(waiter, TimeoutExpired("REQUEST_TIMEOUT", text, details=details))


def _fail(waiter: Waiter, error: Exception) -> None:
    if not waiter.granted.done():
        waiter.granted.set_exception(error)
