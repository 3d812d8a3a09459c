"""Leases: the right of one replica to run something, kept in the shared store.

A lease is a record that its holder changes again and again. Who wants it takes it over once the
record stood still for the length of the lease, by its own clock: neither the clocks of replicas
nor that of the store have to agree, and a store that lost the record costs a wait, never a second
holder. The holder counts from before it asked, so it is the first to know that its time is up; it
calls `on_lost` before others may begin. Used by gateway/singletons.py.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import Callable
from typing import Final

import msgspec

from mcplens.background import Background
from mcplens.clock import Clock, Timer, since_boot
from mcplens.errors import InspectorError
from mcplens.replicas.state_store import StateStore

_log = logging.getLogger("mcplens.replicas")

# How long a lease lasts unless the configuration says otherwise: a server that lost its replica is
# back after about this long, and a store may be gone for most of it without harm.
LEASE_S: Final = 15.0
# The parts of a lease after which it is renewed, tried again, looked at by others, and given up.
_RENEW: Final = 1 / 5
_RETRY: Final = 1 / 20
_LOOK: Final = 1 / 10
_GIVE_UP: Final = 4 / 5
# Records are kept this many leases long: who comes back later finds none, and waits.
_KEPT_LEASES: Final = 20
_CHANNEL: Final = "leases"


class LeaseRecord(msgspec.Struct, frozen=True, kw_only=True):
    """What the store has: who holds a lease, and how often it was renewed."""

    holder: str  # the name of the replica, for people
    address: str | None = None  # where other replicas reach it
    token: str = ""  # of this holding; another one after a restart
    count: int = 0
    is_released: bool = False  # it can be taken at once


class Holder(msgspec.Struct, frozen=True):
    """The replica that holds a lease."""

    name: str
    address: str | None


_decoder: Final = msgspec.json.Decoder(LeaseRecord)


def _decoded(data: bytes | None) -> LeaseRecord | None:
    try:
        return None if data is None else _decoder.decode(data)
    except msgspec.MsgspecError:
        return None  # not ours; it is taken over like one whose holder is gone


class Lease:
    """One lease, as one replica sees it.

    `on_held` is called when this replica has got it, `on_lost` when it has it no longer: at once,
    and before another can have it. `on_holder` is called when another replica has got it, or
    nobody has (None). `held_until` moves on with each renewal.
    """

    def __init__(
        self,
        name: str,
        store: StateStore,
        clock: Clock,
        *,
        replica: str,
        address: str | None = None,
        lease_s: float = LEASE_S,
        now: Callable[[], float] = since_boot,
        on_held: Callable[[], None],
        on_renewed: Callable[[float], None],
        on_lost: Callable[[str], None],
        on_holder: Callable[[Holder | None], None],
    ) -> None:
        self.name = name
        self.holder: Holder | None = None  # another replica
        self.held_until = 0.0  # by `now`; the server must be gone by then
        self.is_held = False
        self._store = store
        self._clock = clock
        self._now = now
        self._lease_s = lease_s
        self._own = LeaseRecord(holder=replica, address=address, token=secrets.token_hex(8))
        self._record: bytes | None = None  # as it was last seen in the store
        self._seen_at: float | None = None  # since when it stands so; None: nothing was seen yet
        self._on_held = on_held
        self._on_renewed = on_renewed
        self._on_lost = on_lost
        self._on_holder = on_holder
        self._expiry: Timer | None = None
        self._woken = asyncio.Event()
        self._work = Background()
        self._unsubscribe: Callable[[], None] | None = None
        self._is_closing = False

    def __repr__(self) -> str:
        state = "held" if self.is_held else f"of {self.holder}" if self.holder else "free"
        return f"<Lease {self.name} {state}>"

    @property
    def _key(self) -> str:
        return f"lease:{self.name}"

    # -- its life ----------------------------------------------------------------------------------

    def start(self) -> None:
        """Try to get it, keep it, and follow who has it."""
        self._unsubscribe = self._store.subscribe(_CHANNEL, self._heard)
        self._work.start(self._run(), f"lease of {self.name}")

    def use_address(self, address: str) -> None:
        """Other replicas reach this one there; they learn it by the next renewal."""
        self._own = msgspec.structs.replace(self._own, address=address)

    def stop_taking(self) -> None:
        """Do not take it any more: this replica is about to stop. One that is held is kept."""
        self._is_closing = True

    async def close(self) -> None:
        """Give it up. The caller has ended what ran under it."""
        if self._unsubscribe is not None:
            self._unsubscribe()
            self._unsubscribe = None
        await self._work.end()
        self._cancel_expiry()
        if self.is_held:
            self.is_held = False
            await self._release()

    async def _release(self) -> None:
        released = msgspec.structs.replace(self._own, is_released=True)
        data = msgspec.json.encode(released)
        try:
            await self._store.compare_and_set(self._key, self._record, data, self._kept_s)
            await self._store.publish(_CHANNEL, self.name.encode())
        except InspectorError as error:
            _log.debug("the lease of %s was not released: %s", self.name, error)

    async def _run(self) -> None:
        while True:
            part = _LOOK
            try:
                await (self._renew() if self.is_held else self._look())
                part = _RENEW if self.is_held else _LOOK
            except InspectorError as error:
                _log.debug("the lease of %s: %s", self.name, error)
                part = _RETRY if self.is_held else _LOOK
            except Exception:  # a bug of ours must not keep it from being renewed
                _log.exception("the lease of %s", self.name)
            self._woken.clear()
            await self._sleep(self._lease_s * part)

    async def _sleep(self, delay_s: float) -> None:
        """Wait until it is time again; a message about leases ends the wait."""
        timer = self._clock.call_at(self._clock.monotonic() + delay_s, self._woken.set)
        try:
            await self._woken.wait()
        finally:
            timer.cancel()

    def _heard(self, message: bytes | None) -> None:
        if not self.is_held and (message is None or message == self.name.encode()):
            self._woken.set()

    # -- of this replica ---------------------------------------------------------------------------

    @property
    def _kept_s(self) -> float:
        return self._lease_s * _KEPT_LEASES

    async def _set(self, expected: bytes | None) -> bool:
        """Put our next record in place of another; whether that was done."""
        asked_at = self._now()
        record = msgspec.structs.replace(self._own, count=self._own.count + 1)
        data = msgspec.json.encode(record)
        if not await self._store.compare_and_set(self._key, expected, data, self._kept_s):
            return False
        until = asked_at + self._lease_s * _GIVE_UP
        if until <= self._now():  # we were stopped meanwhile: others may be about to take it
            return False
        self._own, self._record = record, data
        self.held_until = until
        self._watch_expiry()
        self._on_renewed(until)
        return True

    async def _renew(self) -> None:
        """Raises InspectorError while the store is gone: `_expire` comes in time."""
        if await self._set(self._record):
            return
        found = await self._store.get(self._key)
        record = _decoded(found)
        is_ours = record is not None and record.token == self._own.token
        # A write of ours whose answer was lost, or a store that lost its keys: ours as long as
        # nobody else can have it.
        if (found is None or is_ours) and self._holds() and await self._set(found):
            return
        self._lose("another replica has its lease")

    def _holds(self) -> bool:
        return self.is_held  # which may have changed while the store was asked

    def _watch_expiry(self) -> None:
        self._cancel_expiry()
        due = self._clock.monotonic() + max(0.0, self.held_until - self._now())
        self._expiry = self._clock.call_at(due, self._expire)

    def _cancel_expiry(self) -> None:
        if self._expiry is not None:
            self._expiry.cancel()
            self._expiry = None

    def _expire(self) -> None:
        self._expiry = None
        self._lose("its lease could not be renewed in time")

    def _lose(self, why: str) -> None:
        if not self.is_held:
            return
        self.is_held = False
        self._cancel_expiry()
        self._seen_at = None
        self._on_lost(why)

    # -- of another replica ------------------------------------------------------------------------

    async def _look(self) -> None:
        """Who has it; takes it if nobody renewed it for long enough."""
        found = await self._store.get(self._key)
        if found != self._record or self._seen_at is None:
            self._record, self._seen_at = found, self._now()
        record = _decoded(found)
        is_still = self._now() - self._seen_at >= self._lease_s
        if record is not None and (record.is_released or record.token == self._own.token):
            is_still = True  # nobody runs under it
        if is_still and not self._is_closing and await self._set(found):
            self.is_held = True
            self._follow(None)
            self._on_held()
            await self._store.publish(_CHANNEL, self.name.encode())
            return
        has_holder = record is not None and not record.is_released and not is_still
        self._follow(Holder(record.holder, record.address) if record and has_holder else None)

    def _follow(self, holder: Holder | None) -> None:
        if holder != self.holder:
            self.holder = holder
            self._on_holder(holder)
