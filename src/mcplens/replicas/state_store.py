"""The interface of the store that replicas of a gateway share, and its state.

Every key expires, and carries the version of our formats: keys of another version are never read,
changed or deleted. Times are measured by the store, so the clocks of replicas may differ. The
drivers are memory_store.py (one process) and redis_store.py; opening.py chooses one. Callers hold
small serialised facts here: owners, presence, leases, limits, events of open streams.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Final, Literal

import msgspec

# The version of what is written; a change that older replicas would misread raises it.
FORMAT_VERSION: Final = "v1"

StoreStatus = Literal["up", "full", "down"]


class StoreState(msgspec.Struct, frozen=True):
    """Whether the store can be used: `full` serves reads but refuses writes."""

    status: StoreStatus
    since: float  # wall time
    reason: str = ""


class LogPart(msgspec.Struct, frozen=True):
    """Entries of a log; `first` is the number of the first of them."""

    entries: tuple[bytes, ...]
    first: int
    is_complete: bool  # False: entries that were asked for have been dropped


class Tokens(msgspec.Struct, frozen=True):
    """What a token bucket gave; `wait_s` is the time until it has one token more."""

    taken: int
    wait_s: float = 0.0


# Called with a message, or with None when messages may have been missed.
OnMessage = Callable[[bytes | None], None]
OnState = Callable[[StoreState], None]


class StateStore(ABC):
    """State that replicas share. Each operation raises StoreUnavailable when it cannot be done.

    A write that raised may still have been done.
    """

    name: str  # for people, without secrets
    outlives_us = False  # it is another process, and may restart and lose its data by itself

    def __init__(self, now: float) -> None:
        self._state = StoreState("up", now)
        self.last_problem: StoreState | None = None  # also once it is over
        self._state_listeners: list[OnState] = []

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name}, {self._state.status}>"

    @property
    def state(self) -> StoreState:
        return self._state

    def listen_to_state(self, on_state: OnState) -> Callable[[], None]:
        """Be called whenever the state changes; the result ends that."""
        self._state_listeners.append(on_state)
        return lambda: self._state_listeners.remove(on_state)

    def _set_state(self, state: StoreState) -> None:
        """The one place where the state changes."""
        before, self._state = self._state, state
        if state.status != "up":
            self.last_problem = state
        if (before.status, before.reason) != (state.status, state.reason):
            for listener in tuple(self._state_listeners):
                listener(state)

    # -- life ------------------------------------------------------------------------------

    @abstractmethod
    async def open(self) -> None:
        """Start; a store that cannot be reached yet is `down`, and comes up by itself."""

    @abstractmethod
    async def close(self) -> None: ...

    # -- values ----------------------------------------------------------------------------

    @abstractmethod
    async def get(self, key: str) -> bytes | None: ...

    @abstractmethod
    async def put(self, key: str, value: bytes, ttl_s: float) -> None: ...

    @abstractmethod
    async def compare_and_set(
        self, key: str, expected: bytes | None, value: bytes, ttl_s: float
    ) -> bool:
        """Set a key that has the expected value (None: that is absent); whether it was set.

        With `value` equal to `expected` it renews the key's time to live.
        """

    @abstractmethod
    async def delete(self, key: str, expected: bytes | None = None) -> bool:
        """Delete a key, or only if it has the expected value; whether it was deleted."""

    # -- members of a group, each with its own time to live ----------------------------------

    @abstractmethod
    async def join(self, group: str, member: str, value: bytes, ttl_s: float) -> bool:
        """Add a member, or renew its time and value; whether it was not there before."""

    @abstractmethod
    async def leave(self, group: str, member: str) -> None: ...

    @abstractmethod
    async def members(self, group: str) -> dict[str, bytes]:
        """The values of the members whose time is not over."""

    # -- logs: bounded lists, whose oldest entries are dropped ---------------------------------

    @abstractmethod
    async def append(
        self, log: str, entries: Sequence[bytes], *, most: int, most_bytes: int, ttl_s: float
    ) -> int:
        """Append entries, numbered from 1; the number of the last one."""

    @abstractmethod
    async def read(self, log: str, after: int = 0) -> LogPart:
        """The entries after a number, as far as they are still there."""

    @abstractmethod
    async def drop_log(self, log: str) -> None: ...

    # -- wake-up calls: delivered at most once -------------------------------------------------

    @abstractmethod
    async def publish(self, channel: str, message: bytes) -> None: ...

    @abstractmethod
    def subscribe(self, channel: str, on_message: OnMessage) -> Callable[[], None]:
        """Be called for each message on a channel, one's own included; the result ends that."""

    # -- limits ------------------------------------------------------------------------------

    @abstractmethod
    async def take_tokens(
        self, bucket: str, *, per_second: float, burst: int, most: int = 1
    ) -> Tokens:
        """Take as many tokens as there are, up to `most`."""

    @abstractmethod
    async def take_place(self, name: str, holder: str, *, most: int, ttl_s: float) -> bool:
        """Take one of `most` places, if one is free.

        All places of a holder are freed when it has not taken or kept one for `ttl_s`.
        """

    @abstractmethod
    async def free_place(self, name: str, holder: str) -> None: ...

    @abstractmethod
    async def keep_places(self, name: str, holder: str, ttl_s: float) -> int:
        """Renew the time of a holder's places; how many it has."""
