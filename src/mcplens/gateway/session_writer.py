"""Writes what other replicas must know of this one's sessions into the store, behind the calls.

The owner and the facts of each session when they change and from time to time, the events of its
streams as they come, bounded. What the store does not take now is written when it is back. Owned by
shared_sessions.py.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections import deque
from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any, Final, Self

import msgspec

from mcplens.background import Background
from mcplens.errors import StoreUnavailable
from mcplens.inbound.http_peers import HttpSessionPeer
from mcplens.inbound.peer import Peer
from mcplens.inbound.session_sharing import StreamEntry
from mcplens.replicas.owned_ids import key_of
from mcplens.replicas.state_store import StoreState

if TYPE_CHECKING:
    from mcplens.gateway.gateway import Gateway

_log = logging.getLogger("mcplens.gateway")

# Longer than a session may be idle, so that its owner has many chances to renew it.
SESSION_TTL_S: Final = 3 * 3600.0
_RENEW_S: Final = 1800.0
# Of the events of a session's streams; clients resume a broken stream in seconds.
MOST_EVENTS: Final = 256
MOST_EVENT_BYTES: Final = 1024 * 1024
EVENTS_TTL_S: Final = 300.0
# Entries that wait for the store while it is away; beyond it the oldest of a session are dropped.
_MOST_WAITING: Final = MOST_EVENTS
# More than end in the minutes that a store may be away.
_MOST_ENDED: Final = 50_000

_encode_entry: Final = msgspec.msgpack.Encoder().encode
_decode_entry: Final = msgspec.msgpack.Decoder(StreamEntry).decode


class SessionFacts(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What another replica needs to go on with a session; later versions may say more."""

    path: str
    caller: str
    protocol_version: str
    client_info: dict[str, Any] = {}
    capabilities: dict[str, Any] = {}
    log_level: str | None = None
    subscriptions: tuple[str, ...] = ()

    @classmethod
    def read(cls, raw: bytes) -> Self | None:
        try:
            return msgspec.json.decode(raw, type=cls)
        except msgspec.DecodeError:
            return None


class SessionWriter:
    """The sessions that this replica owns, and what of them has to be written."""

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway
        self._replica = gateway.replica
        self._store = gateway.replica.store
        self._owned: dict[str, HttpSessionPeer] = {}  # by key
        self._dirty: dict[str, HttpSessionPeer] = {}
        # Keys of sessions that are over; what does not fit while the store is away expires there.
        self._ended = deque[str](maxlen=_MOST_ENDED)
        self._entries: dict[str, list[bytes]] = {}
        self._work = Background()
        self._wake = asyncio.Event()
        self._idle = asyncio.Event()
        self._lock = asyncio.Lock()  # one session is written at a time
        self._unlisten = [
            self._store.listen_to_state(self._store_changed),
            self._store.subscribe(f"lost:{self._replica.id}", self._lost),
        ]
        self._replica.on_return.append(self._write_all)
        self._work.start(self._write_on(), "write sessions")
        self._work.start(self._renew_on(), "renew sessions")

    def __repr__(self) -> str:
        return f"<SessionWriter {len(self._owned)} sessions, {len(self._dirty)} to write>"

    async def close(self) -> None:
        """Write what is left, and stop."""
        await self.flush()
        for end in self._unlisten:
            end()
        await self._work.end()

    async def flush(self) -> None:
        """Write what is left, if the store takes it."""
        try:
            async with asyncio.timeout(2.0):
                while self._has_work and self._is_up:
                    self._idle.clear()
                    self._wake.set()
                    await self._idle.wait()
                    async with self._lock:
                        pass  # what is being written is written
        except TimeoutError:
            _log.warning("not all sessions were written into the shared store")

    @property
    def _has_work(self) -> bool:
        return bool(self._dirty or self._entries or self._ended or self._lock.locked())

    @property
    def _is_up(self) -> bool:
        return self._store.state.status == "up"

    def owns(self, session: HttpSessionPeer) -> bool:
        return self._owned.get(key_of(session.id)) is session

    def sessions(self) -> list[HttpSessionPeer]:
        """Those that this replica owns."""
        return list(self._owned.values())

    # -- what happens to sessions ------------------------------------------------------------------

    def changed(self, session: Peer) -> None:
        """A session is new, or another replica would need to know something else of it."""
        if isinstance(session, HttpSessionPeer) and session.is_open:
            key = key_of(session.id)
            self._owned[key] = self._dirty[key] = session
            self._wake.set()

    def adopted(self, session: HttpSessionPeer) -> None:
        """A session was taken over: the store knows already."""
        key = key_of(session.id)
        self._owned[key] = session

    def closed(self, session: HttpSessionPeer, *, is_over: bool) -> None:
        key = key_of(session.id)
        if self._owned.get(key) is not session:
            return
        del self._owned[key]
        if is_over:
            self._dirty.pop(key, None)
            self._entries.pop(key, None)
            self._ended.append(key)
            self._wake.set()

    def log(self, session: HttpSessionPeer, entry: StreamEntry) -> None:
        if len(entry.data) > MOST_EVENT_BYTES // 4:
            return
        waiting = self._entries.setdefault(key_of(session.id), [])
        waiting.append(_encode_entry(entry))
        if len(waiting) > _MOST_WAITING:
            del waiting[0]
        self._wake.set()

    def _lost(self, message: bytes | None) -> None:
        """Another replica took a session over, or may have."""
        if message is None:
            self._write_all()
        else:
            self._give_up(message.decode())

    def _give_up(self, key: str) -> None:
        session = self._owned.pop(key, None)
        self._dirty.pop(key, None)
        self._entries.pop(key, None)
        if session is not None:
            why = "another replica has taken the session over"
            client = self._gateway.clients.get(session)
            if client is not None:
                self._gateway.ending.give_up_calls(client, why)
            session.close(why)

    def _write_all(self) -> None:
        """The store may have forgotten what it was told."""
        self._dirty |= self._owned
        self._wake.set()

    def _store_changed(self, state: StoreState) -> None:
        if state.status == "up":
            self._write_all()

    # -- writing -----------------------------------------------------------------------------------

    async def claim(self, key: str, owner: bytes | None) -> bool:
        """Become the owner of a session that has this one now."""
        own = self._replica.id.encode()
        return await self._store.compare_and_set(f"owner:{key}", owner, own, SESSION_TTL_S)

    async def read_log(self, key: str) -> list[StreamEntry]:
        """What is known of the streams of a session."""
        found = []
        for raw in (await self._store.read(f"events:{key}")).entries:
            try:
                found.append(_decode_entry(raw))
            except msgspec.DecodeError:
                continue  # of another version
        return found

    async def _write_on(self) -> None:
        while True:
            await self._wake.wait()
            self._wake.clear()
            with contextlib.suppress(StoreUnavailable):  # written when it is back
                await self._write()
            self._idle.set()

    async def _write(self) -> None:
        while self._ended:
            key = self._ended[0]
            await self._forget(key)
            with contextlib.suppress(ValueError):
                self._ended.remove(key)
        while self._dirty:
            async with self._lock:
                await self._write_dirty()
        while self._entries:
            async with self._lock:
                await self._write_entries(next(iter(self._entries), ""))

    async def _write_dirty(self) -> None:
        key = next(iter(self._dirty), "")
        session = self._dirty.pop(key, None)  # first: it may change while it is written
        facts = None if session is None else self._facts_of(session)
        if session is None or facts is None:
            return
        try:
            if not await self._write_facts(key, facts):
                self._give_up(key)
        except StoreUnavailable:
            self._dirty.setdefault(key, session)
            raise

    async def _write_entries(self, key: str) -> None:
        entries = self._entries.pop(key, None)
        if entries is not None:
            await self._store.append(
                f"events:{key}",
                entries,
                most=MOST_EVENTS,
                most_bytes=MOST_EVENT_BYTES,
                ttl_s=EVENTS_TTL_S,
            )

    def _facts_of(self, session: HttpSessionPeer) -> SessionFacts | None:
        client = self._gateway.clients.get(session)
        if client is None or session.protocol_version is None:
            return None
        return SessionFacts(
            path=client.path,
            caller=session.caller,
            protocol_version=session.protocol_version,
            client_info=client.info,
            capabilities=client.capabilities,
            log_level=client.log_level,
            subscriptions=tuple(sorted(client.subscriptions)),
        )

    async def _write_facts(self, key: str, facts: SessionFacts) -> bool:
        """Write what is known of a session; False if it is not ours."""
        own = self._replica.id.encode()
        if not (await self.claim(key, own) or await self.claim(key, None)):
            return False
        await self._store.put(f"facts:{key}", msgspec.json.encode(facts), SESSION_TTL_S)
        return True

    async def _forget(self, key: str) -> None:
        if await self._store.delete(f"owner:{key}", self._replica.id.encode()):
            await self._store.delete(f"facts:{key}")
            await self._store.drop_log(f"events:{key}")

    def hand_over(self, session: HttpSessionPeer) -> Coroutine[None, None, None]:
        """A session is not ours any more; the result writes what is left and lets others have it.

        Where the store does not take that, others take over when this replica is gone.
        """
        key = key_of(session.id)
        self._owned.pop(key, None)
        facts = self._facts_of(session) if self._dirty.pop(key, None) is not None else None
        return self._release(key, facts)

    async def _release(self, key: str, facts: SessionFacts | None) -> None:
        with contextlib.suppress(StoreUnavailable):
            async with self._lock:
                if facts is not None and not await self._write_facts(key, facts):
                    return  # another replica has it already
                await self._write_entries(key)
                await self._store.delete(f"owner:{key}", self._replica.id.encode())

    async def _renew_on(self) -> None:
        while True:
            await self._gateway.clock.sleep(_RENEW_S)
            self._write_all()
