"""Breakers that all replicas share: failures of a server count together, and one of them probes.

For servers reached by a URL: a command runs on each replica by itself, and one that is broken here
says nothing about the others. While the store cannot be used, each replica goes by what it sees.
Used by gateway/gateway_breakers.py.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from typing import Final, Literal

import msgspec

from mcplens.errors import InspectorError
from mcplens.replicas.state_store import StateStore

_CHANNEL: Final = "breakers"


class BreakerMessage(msgspec.Struct, frozen=True):
    """What one replica tells the others about a server."""

    server_id: str
    news: Literal["open", "closed"]
    replica: str
    reason: str = ""


_decoder: Final = msgspec.json.Decoder(BreakerMessage)


class SharedBreakers:
    """The failures of servers, as all replicas saw them."""

    def __init__(
        self, store: StateStore, replica: str, on_message: Callable[[BreakerMessage], None]
    ) -> None:
        self._store = store
        self._replica = replica
        self._on_message = on_message
        self._unsubscribe = store.subscribe(_CHANNEL, self._heard)

    def __repr__(self) -> str:
        return f"<SharedBreakers of {self._replica}>"

    def close(self) -> None:
        self._unsubscribe()

    async def count_failure(self, server_id: str, window_s: float) -> int:
        """Note a failure; how many all replicas saw within the window. 0 if the store is gone."""
        group = f"failures:{server_id}"
        try:
            await self._store.join(group, secrets.token_hex(8), b"", window_s)
            return len(await self._store.members(group))
        except InspectorError:
            return 0

    async def may_probe(self, server_id: str, pause_s: float) -> bool:
        """Whether this replica is the one that tries the server again after a pause."""
        own = self._replica.encode()
        try:
            if await self._store.compare_and_set(f"probe:{server_id}", None, own, pause_s):
                return True
            return await self._store.get(f"probe:{server_id}") == own
        except InspectorError:
            return True

    async def tell(self, server_id: str, news: Literal["open", "closed"], reason: str = "") -> None:
        """Tell the other replicas; what they missed they find out by themselves."""
        message = BreakerMessage(server_id, news, self._replica, reason)
        try:
            if news == "closed":
                for member in await self._store.members(f"failures:{server_id}"):
                    await self._store.leave(f"failures:{server_id}", member)
            await self._store.delete(f"probe:{server_id}", self._replica.encode())
            await self._store.publish(_CHANNEL, msgspec.json.encode(message))
        except InspectorError:
            return

    def _heard(self, data: bytes | None) -> None:
        if data is None:
            return
        try:
            message = _decoder.decode(data)
        except msgspec.MsgspecError:
            return
        if message.replica != self._replica:
            self._on_message(message)
