"""The store of a gateway that has one process: dictionaries, with the time to live of each key.

The driver without `gateway.store`; in tests several replicas of one process share it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, Generic, TypeVar

from mcplens.clock import Clock
from mcplens.replicas.state_store import LogPart, OnMessage, StateStore, StoreState, Tokens

V = TypeVar("V")

# Expired keys are swept out after so many writes: often enough that they take no room.
_WRITES_PER_SWEEP: Final = 1_000


class _Expiring(Generic[V]):
    """Values that are gone when their time is over."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._values: dict[str, tuple[float, V]] = {}
        self._writes = 0

    def get(self, key: str) -> V | None:
        found = self._values.get(key)
        if found is None:
            return None
        if found[0] <= self._clock.monotonic():
            del self._values[key]
            return None
        return found[1]

    def put(self, key: str, value: V, ttl_s: float) -> None:
        self._values[key] = (self._clock.monotonic() + ttl_s, value)
        self._writes += 1
        if self._writes >= _WRITES_PER_SWEEP:
            self._writes = 0
            self.sweep()

    def change(self, key: str, value: V) -> None:
        """Another value of a key that is there, with the time that it has."""
        self._values[key] = (self._values[key][0], value)

    def pop(self, key: str) -> V | None:
        value = self.get(key)
        self._values.pop(key, None)
        return value

    def sweep(self) -> None:
        now = self._clock.monotonic()
        self._values = {key: found for key, found in self._values.items() if found[0] > now}

    def items(self) -> dict[str, V]:
        self.sweep()
        return {key: value for key, (_, value) in self._values.items()}


class _Log:
    def __init__(self) -> None:
        self.entries: list[bytes] = []
        self.last = 0
        self.size_bytes = 0


class MemoryStore(StateStore):
    """Shared state in this process."""

    name = "memory"

    def __init__(self, clock: Clock) -> None:
        super().__init__(clock.wall())
        self._clock = clock
        self._values: _Expiring[bytes] = _Expiring(clock)
        self._logs: _Expiring[_Log] = _Expiring(clock)
        self._groups: dict[str, _Expiring[bytes]] = {}
        self._buckets: _Expiring[tuple[float, float]] = _Expiring(clock)
        self._places: dict[str, _Expiring[int]] = {}
        self._subscribers: dict[str, list[OnMessage]] = {}

    async def open(self) -> None:
        self._set_state(StoreState("up", self._clock.wall()))

    async def close(self) -> None:
        self._subscribers.clear()

    async def get(self, key: str) -> bytes | None:
        return self._values.get(key)

    async def put(self, key: str, value: bytes, ttl_s: float) -> None:
        self._values.put(key, value, ttl_s)

    async def compare_and_set(
        self, key: str, expected: bytes | None, value: bytes, ttl_s: float
    ) -> bool:
        if self._values.get(key) != expected:
            return False
        self._values.put(key, value, ttl_s)
        return True

    async def delete(self, key: str, expected: bytes | None = None) -> bool:
        if expected is not None and self._values.get(key) != expected:
            return False
        return self._values.pop(key) is not None

    async def join(self, group: str, member: str, value: bytes, ttl_s: float) -> bool:
        members = self._groups.setdefault(group, _Expiring(self._clock))
        is_new = members.get(member) is None
        members.put(member, value, ttl_s)
        return is_new

    async def leave(self, group: str, member: str) -> None:
        if group in self._groups:
            self._groups[group].pop(member)

    async def members(self, group: str) -> dict[str, bytes]:
        found = self._groups.get(group)
        return found.items() if found is not None else {}

    async def append(
        self, log: str, entries: Sequence[bytes], *, most: int, most_bytes: int, ttl_s: float
    ) -> int:
        found = self._logs.get(log) or _Log()
        found.entries += entries
        found.last += len(entries)
        found.size_bytes += sum(map(len, entries))
        dropped = 0
        while len(found.entries) - dropped > most or found.size_bytes > most_bytes:
            found.size_bytes -= len(found.entries[dropped])
            dropped += 1
        del found.entries[:dropped]
        self._logs.put(log, found, ttl_s)
        return found.last

    async def read(self, log: str, after: int = 0) -> LogPart:
        found = self._logs.get(log) or _Log()
        oldest = found.last - len(found.entries) + 1
        first = max(oldest, after + 1)
        return LogPart(tuple(found.entries[first - oldest :]), first, after + 1 >= oldest)

    async def drop_log(self, log: str) -> None:
        self._logs.pop(log)

    async def publish(self, channel: str, message: bytes) -> None:
        for subscriber in tuple(self._subscribers.get(channel, ())):
            subscriber(message)

    def subscribe(self, channel: str, on_message: OnMessage) -> Callable[[], None]:
        self._subscribers.setdefault(channel, []).append(on_message)

        def end() -> None:
            left = self._subscribers.get(channel, [])
            if on_message in left:
                left.remove(on_message)
            if not left:
                self._subscribers.pop(channel, None)

        return end

    async def take_tokens(
        self, bucket: str, *, per_second: float, burst: int, most: int = 1
    ) -> Tokens:
        now = self._clock.monotonic()
        at, tokens = self._buckets.get(bucket) or (now, float(burst))
        tokens = min(float(burst), tokens + (now - at) * per_second)
        taken = min(most, int(tokens))
        tokens -= taken
        self._buckets.put(bucket, (now, tokens), burst / per_second + 1)
        return Tokens(taken, max(0.0, (1 - tokens) / per_second))

    async def take_place(self, name: str, holder: str, *, most: int, ttl_s: float) -> bool:
        holders = self._places.setdefault(name, _Expiring(self._clock))
        if sum(holders.items().values()) >= most:
            return False
        holders.put(holder, (holders.get(holder) or 0) + 1, ttl_s)
        return True

    async def free_place(self, name: str, holder: str) -> None:
        holders = self._places.get(name)
        if holders is None or not (held := holders.get(holder)):
            return
        if held == 1:
            holders.pop(holder)
        else:
            holders.change(holder, held - 1)
        if not holders.items():
            del self._places[name]

    async def keep_places(self, name: str, holder: str, ttl_s: float) -> int:
        holders = self._places.get(name)
        held = holders.get(holder) if holders is not None else None
        if holders is None or held is None:
            return 0
        holders.put(holder, held, ttl_s)
        return held
