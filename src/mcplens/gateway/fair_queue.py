"""A queue that serves its clients in turn, so that one with many calls does not starve the others.

Pure: who waits and what a place means is the owner's (server_places.py). Bounded per client and in
all: when it is full, the client with the most calls in it loses its newest.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from typing import Generic, TypeVar

T = TypeVar("T")


class FairQueue(Generic[T]):
    """What waits, by client; taken round robin."""

    def __init__(self) -> None:
        self._of_client: OrderedDict[str, deque[T]] = OrderedDict()
        self.size = 0  # for who asks often; `len` is a call

    def __repr__(self) -> str:
        return f"<FairQueue {self.size} of {len(self._of_client)} clients>"

    def __len__(self) -> int:
        return self.size

    def count_of(self, client: str) -> int:
        return len(self._of_client.get(client, ()))

    def add(self, client: str, item: T) -> None:
        self._of_client.setdefault(client, deque()).append(item)
        self.size += 1

    def take(self) -> T | None:
        """The oldest item of the client whose turn it is; None if nothing waits."""
        if not self._of_client:
            return None
        client, items = next(iter(self._of_client.items()))
        item = items.popleft()
        self.size -= 1
        if items:
            self._of_client.move_to_end(client)
        else:
            del self._of_client[client]
        return item

    def remove(self, client: str, item: T) -> bool:
        """Take out an item that no longer waits; False if it is not here."""
        items = self._of_client.get(client)
        if items is None or item not in items:
            return False
        items.remove(item)
        self.size -= 1
        if not items:
            del self._of_client[client]
        return True

    def longest(self) -> tuple[int, str]:
        """How many items the client with the most has in here, and which client that is."""
        return max(((len(items), key) for key, items in self._of_client.items()), default=(0, ""))

    def displace(self, newcomer: str) -> T | None:
        """Make room for a client's item: the newest of the client that has the most in here.

        None if that is the newcomer itself, which then has to go.
        """
        count, client = self.longest()
        if count <= self.count_of(newcomer) + 1:
            return None
        self.size -= 1
        return self._of_client[client].pop()  # it has two or more, so some stay
