"""Places for calls of one server: so many at once, and the calls that wait for one.

A server's own `maxConcurrency` and `limits.callsPerServer` bound them. Calls beyond that wait, the
clients in turn, until their time is up. Owned by call_limits.py.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

from mcplens.clock import Clock
from mcplens.config.model import ServerEntry
from mcplens.errors import TimeoutExpired
from mcplens.gateway.fair_queue import FairQueue
from mcplens.gateway.refused import Refused

if TYPE_CHECKING:
    from mcplens.gateway.inbound_call import InboundCall

# In the range that JSON-RPC leaves to servers; clients may try again later.
TOO_MANY_CALLS: Final = -32029
# Calls of one client that wait for one server, unless `limits.waitingCalls` says otherwise.
WAITING_CALLS: Final = 100
# Calls that wait for one server, of all clients: each holds its request in memory.
MOST_WAITING: Final = 1_000
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

    def __init__(self, server_id: str, clock: Clock) -> None:
        self.server_id = server_id
        self.entry: ServerEntry | None = None  # that `most` was read from
        self.most = NO_LIMIT
        self.waiting_calls = WAITING_CALLS
        self.running = 0
        self.queue: FairQueue[Waiter] = FairQueue()
        self._clock = clock

    def __repr__(self) -> str:
        return f"<ServerPlaces of {self.server_id}: {self.running} run, {len(self.queue)} wait>"

    def use(self, entry: ServerEntry, per_server: int | None, waiting_calls: int | None) -> None:
        """Have the limits of this entry; calls that fit in now go on."""
        self.entry = entry
        # With a session per client each session has its own queue.
        own = None if entry.session_mode == "per-client" else entry.max_concurrency
        self.most = min(own or NO_LIMIT, per_server or NO_LIMIT)
        self.waiting_calls = WAITING_CALLS if waiting_calls is None else waiting_calls
        self._grant()

    def take(self, call: InboundCall) -> None:
        """Count a call as under way, whatever the limit is."""
        call.place = self
        self.running += 1

    def free(self) -> None:
        """A call that had a place has ended."""
        self.running -= 1
        if self.queue:
            self._grant()

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
                raise too_many(f"{self.most} calls of {self.server_id} are under way", self._limit)
            text = f"{waiting} calls of this client wait for {self.server_id}"
            raise too_many(text, "limits.waitingCalls")
        if len(self.queue) >= MOST_WAITING:
            displaced = self.queue.displace(key)
            crowded = too_many(f"{MOST_WAITING} calls wait for {self.server_id}", self._limit)
            if displaced is None:
                raise crowded
            _fail(displaced, crowded)

    @property
    def _limit(self) -> str:
        own = None if self.entry is None else self.entry.max_concurrency
        if own is None or own > self.most:
            return "limits.callsPerServer"
        return f"maxConcurrency of {self.server_id}"

    def _grant(self) -> None:
        while self.running < self.most:
            waiter = self.queue.take()
            if waiter is None:
                return
            if not waiter.granted.done():
                self.take(waiter.call)
                waiter.granted.set_result(None)

    def _expire(self, waiter: Waiter, budget_s: float) -> None:
        others = "1 other call is" if self.running == 1 else f"{self.running} other calls are"
        text = (
            f"{self.server_id}: {waiter.call.method} ended after {budget_s:g} s (limit "
            f"{budget_s:g} s), while it waited in the queue: {others} under way, and "
            f"{self.server_id} takes {self.most} at a time"
        )
        details = {"phase": "queue", "server_id": self.server_id, "method": waiter.call.method}
        _fail(waiter, TimeoutExpired("REQUEST_TIMEOUT", text, details=details))


def _fail(waiter: Waiter, error: Exception) -> None:
    if not waiter.granted.done():
        waiter.granted.set_exception(error)
