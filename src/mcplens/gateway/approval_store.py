"""Approvals in the store that replicas share, signed: an approval on one is in force on all.

A document is its definitions behind an HMAC by a key of `gateway.replica.keys`. Who can write to
the store but has no key can take approvals away, and approve nothing. Made by service.py and by the
command `gateway approve`.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import hmac
from collections.abc import AsyncIterator, Sequence
from typing import Final

from mcplens.config.views import GatewaySettings
from mcplens.errors import ConfigurationError, StoreUnavailable
from mcplens.gateway.approval_records import ApprovalRecords, Definitions, DocumentName, Edit
from mcplens.gateway.pinned_definitions import (
    InvalidDefinitions,
    decode_definitions,
    encode_definitions,
)
from mcplens.replicas.state_store import StateStore

_CHANNEL: Final = "approvals"
# Every key of the store expires; these are renewed for as long as a gateway runs.
_KEPT_S: Final = 400 * 86_400.0
_RENEW_S: Final = 3_600.0
# Replicas that write at once each try again; more often than this something else is wrong.
_ATTEMPTS: Final = 20


def is_shared(settings: GatewaySettings) -> bool:
    """Whether replicas share a store, so that approvals belong there."""
    return settings.store is not None and settings.store.url != "memory"


class StoreRecords(ApprovalRecords):
    """Documents in a shared store."""

    def __init__(self, store: StateStore, keys: Sequence[str]) -> None:
        self.place = f"the store {store.name}"
        self._store = store
        self._keys = tuple(key.encode() for key in keys)

    async def read(self, name: DocumentName) -> Definitions:
        data = await self._store.get(_key(name))
        return () if data is None else self._verified(name, data)

    async def update(self, name: DocumentName, edit: Edit) -> Definitions:
        for _ in range(_ATTEMPTS):
            data = await self._store.get(_key(name))
            before: Definitions = ()
            if data is not None:
                # What nobody vouches for is written over: what it approved waits again.
                with contextlib.suppress(ConfigurationError):
                    before = self._verified(name, data)
            after = edit(before)
            if after is before:
                return before
            signed = self._signed(name, encode_definitions(after))
            if await self._store.compare_and_set(_key(name), data, signed, _KEPT_S):
                if name == "approved":
                    await self._store.publish(_CHANNEL, b"approved")
                return after
        raise StoreUnavailable(f"approvals in {self.place} are being changed; try again")

    async def approvals_changed(self) -> AsyncIterator[None]:
        changed = asyncio.Event()
        end = self._store.subscribe(_CHANNEL, lambda _: changed.set())
        try:
            while True:
                changed.clear()
                yield
                try:
                    async with asyncio.timeout(_RENEW_S):
                        await changed.wait()
                except TimeoutError:
                    await self._renew()
        finally:
            end()

    async def _renew(self) -> None:
        data = await self._store.get(_key("approved"))
        if data is not None:
            await self._store.compare_and_set(_key("approved"), data, data, _KEPT_S)

    # -- signatures ----------------------------------------------------------------------------

    def _signed(self, name: DocumentName, data: bytes) -> bytes:
        return _signature(self._keys[0], name, data) + b"\n" + data

    def _verified(self, name: DocumentName, signed: bytes) -> Definitions:
        signature, _, data = signed.partition(b"\n")
        matches = [hmac.compare_digest(signature, _signature(k, name, data)) for k in self._keys]
        if not any(matches):
            text = (
                f"the {name} definitions in {self.place} are not signed by a key of "
                "gateway.replica.keys: approve again"
            )
            raise ConfigurationError("CONFIGURATION_INVALID", text)
        try:
            return decode_definitions(data)
        except InvalidDefinitions as wrong:
            text = f"the {name} definitions in {self.place} are {wrong}"
            raise ConfigurationError("CONFIGURATION_INVALID", text) from None


def _key(name: DocumentName) -> str:
    return f"approvals:{name}"


def _signature(key: bytes, name: DocumentName, data: bytes) -> bytes:
    """A document is valid under its own name alone: what waits is not what was approved."""
    signed = b"mcplens approvals\n" + name.encode() + b"\n" + data
    return hmac.new(key, signed, hashlib.sha256).hexdigest().encode()
