"""Values in the shared store that only this gateway can read: encrypted, and bound to their names.

JWE with AES-256-GCM, by keys that come from the configuration; the first key encrypts, all decrypt.
A value holds its own name, so that one cannot be put in the place of another. Names are digests in
the store. Used for the tokens of users, and for sign-ins that are under way.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import secrets
from collections.abc import Coroutine, Sequence
from typing import Any, Final, TypeVar

import msgspec
from joserfc import jwe
from joserfc.errors import JoseError
from joserfc.jwk import OctKey

from mcplens.background import Background
from mcplens.replicas.state_store import StateStore

_log = logging.getLogger("mcplens.gateway")

_ALGORITHMS: Final = ["dir", "A256GCM"]
_PURPOSE: Final = b"mcplens user tokens\0"

T = TypeVar("T")


class _Sealed(msgspec.Struct, frozen=True):
    """What is encrypted."""

    name: str
    value: msgspec.Raw


class SealedStore:
    """Named values, encrypted; without keys, by one that ends with this process."""

    def __init__(self, store: StateStore, keys: Sequence[str]) -> None:
        self.store = store
        self._work = Background()
        self._keys = [_key(text) for text in keys or [secrets.token_hex(32)]]

    def __repr__(self) -> str:
        return f"<SealedStore in {self.store.name}, {len(self._keys)} keys>"

    async def done(self, work: Coroutine[Any, Any, T]) -> T:
        """Finish an operation of the store even if who waits for it is cancelled.

        A connection to the store that is cancelled while it connects could be left open.
        """
        return await asyncio.shield(self._work.start(work, "use the store"))

    async def close(self) -> None:
        """Wait for the operations that are under way."""
        await self._work.ended()

    async def get(self, name: str, kind: type[T]) -> T | None:
        """The value of a name; None if there is none that can be read.

        Raises:
            StoreUnavailable: the store cannot be used.
        """
        found = await self.done(self.store.get(place_of(name)))
        return None if found is None else self._opened(name, found, kind)

    async def put(self, name: str, value: object, ttl_s: float) -> None:
        """Keep a value; raises StoreUnavailable."""
        await self.done(self.store.put(place_of(name), self._sealed(name, value), ttl_s))

    async def take(self, name: str, kind: type[T]) -> T | None:
        """The value of a name, for one caller alone: it is gone then; raises StoreUnavailable."""
        place = place_of(name)
        found = await self.done(self.store.get(place))
        if found is None or not await self.done(self.store.delete(place, found)):
            return None
        return self._opened(name, found, kind)

    async def delete(self, name: str) -> None:
        """Forget a value; raises StoreUnavailable."""
        await self.done(self.store.delete(place_of(name)))

    async def join(self, group: str, name: str, value: object, ttl_s: float) -> None:
        """Add a value to those that can be listed; raises StoreUnavailable."""
        sealed = self._sealed(name, value)
        await self.done(self.store.join(group, place_of(name), sealed, ttl_s))

    async def leave(self, group: str, name: str) -> None:
        """Take a value from those that can be listed; raises StoreUnavailable."""
        await self.done(self.store.leave(group, place_of(name)))

    async def members(self, group: str, kind: type[T]) -> list[T]:
        """The values of a group that can be read; raises StoreUnavailable."""
        found = await self.done(self.store.members(group))
        opened = (self._opened_at(place, sealed, kind) for place, sealed in found.items())
        return [one for one in opened if one is not None]

    def _sealed(self, name: str, value: object) -> bytes:
        key = self._keys[0]
        header = {"alg": "dir", "enc": "A256GCM", "kid": str(key.kid)}
        plain = msgspec.json.encode(_Sealed(name, msgspec.Raw(msgspec.json.encode(value))))
        return jwe.encrypt_compact(header, plain, key, algorithms=_ALGORITHMS).encode()

    def _opened(self, name: str, sealed: bytes, kind: type[T]) -> T | None:
        return self._opened_at(place_of(name), sealed, kind)

    def _opened_at(self, place: str, sealed: bytes, kind: type[T]) -> T | None:
        for key in self._keys:
            try:
                found = jwe.decrypt_compact(sealed, key, algorithms=_ALGORITHMS)
                content = msgspec.json.decode(found.plaintext or b"", type=_Sealed)
            except (JoseError, ValueError):  # msgspec's errors are ValueErrors
                continue
            if place_of(content.name) != place:
                _log.warning("a value in the store is in the place of another, and not used")
                return None
            try:
                return msgspec.json.decode(content.value, type=kind)
            except ValueError:
                return None  # of another version
        _log.warning("a value in the store was encrypted by a key that is not configured")
        return None


def _key(text: str) -> OctKey:
    digest = hashlib.sha256(_PURPOSE + text.encode()).digest()
    return OctKey.import_key(digest, {"kid": hashlib.sha256(digest).hexdigest()[:8]})


def place_of(name: str) -> str:
    """Where a value of this name is."""
    return f"sealed:{hashlib.sha256(name.encode()).hexdigest()}"
