"""This process among the replicas of its gateway: its identity, their store, who else is there.

Each replica writes its presence into the store again and again; one that stops is gone when its
time is over. An identity lasts as long as the process: after a restart the replica is another one,
since what it owned is lost. Presences are signed: who can write into the store alone can send no
replica anywhere. Owned by gateway/gateway.py; used by whatever replicas share.
"""

from __future__ import annotations

import logging
import secrets
from collections.abc import Callable
from typing import Final

import msgspec

from mcplens.background import Background
from mcplens.clock import Clock
from mcplens.config.views import GatewaySettings
from mcplens.errors import StoreUnavailable
from mcplens.known_secrets import known_secrets
from mcplens.replicas.memory_store import MemoryStore
from mcplens.replicas.opening import make_store
from mcplens.replicas.signatures import SigningKeys
from mcplens.replicas.state_store import StateStore, StoreState
from mcplens.version import VERSION

_log = logging.getLogger("mcplens.replicas")

GROUP: Final = "replicas"
# A replica that was silent for so long is gone. Its beat has three chances before that.
PRESENCE_S: Final = 6.0
BEAT_S: Final = 1.5
# Presences that no replica wrote, and that are reported.
_MOST_FORGED: Final = 100


class Presence(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a replica says of itself; later versions may say more."""

    id: str
    name: str
    address: str
    version: str
    since: float  # wall time of its own clock
    configuration: str = ""  # a digest: replicas with another one serve something else


class Replica:
    """This replica; `is_shared` once others can know of it."""

    def __init__(
        self,
        store: StateStore,
        clock: Clock,
        *,
        name: str | None = None,
        address: str | None = None,
        keys: tuple[str, ...] = (),
    ) -> None:
        self.id = secrets.token_hex(8)
        self.name = name or self.id
        self.address = address
        self.keys = keys  # secrets; the first signs, all verify
        self.store = store
        self.configuration = ""
        self.others: dict[str, Presence] = {}
        self.is_shared = False
        self.on_look: list[Callable[[], None]] = []  # it has seen who is there
        self.on_return: list[Callable[[], None]] = []  # it was silent too long, and is back
        self.on_gone: list[Callable[[str], None]] = []  # another one is gone
        self.on_forged: list[Callable[[str], None]] = []  # a presence that no replica wrote
        self._signing = SigningKeys(keys, "presence")
        self._forged: set[str] = set()
        self._recovering_until = -1.0
        store.listen_to_state(self._store_changed)
        self._clock = clock
        self._since = clock.wall()
        self._work = Background()
        self._renewed_at = clock.monotonic()

    def __repr__(self) -> str:
        return f"<Replica {self.name} at {self.address}, {len(self.others)} others>"

    @classmethod
    def alone(cls, clock: Clock) -> Replica:
        """A gateway of one process."""
        return cls(MemoryStore(clock), clock)

    @classmethod
    def configured(cls, settings: GatewaySettings, clock: Clock) -> Replica:
        """The replica that the configuration describes.

        Raises:
            ConfigurationError: a package that the store needs is not installed.
        """
        own = settings.replica
        known_secrets.learn(*own.keys)
        if settings.store is not None and settings.store.password is not None:
            known_secrets.learn(settings.store.password)
        store = make_store(settings.store, clock)
        return cls(store, clock, name=own.name, address=own.address, keys=own.keys)

    @property
    def presence(self) -> Presence:
        return Presence(
            id=self.id,
            name=self.name,
            address=self.address or "",
            version=VERSION,
            since=self._since,
            configuration=self.configuration,
        )

    @property
    def is_recovering(self) -> bool:
        """Whether the store may have lost what replicas wrote, and they still write it again."""
        return self._clock.monotonic() < self._recovering_until

    def _store_changed(self, state: StoreState) -> None:
        if state.status == "up":
            self._recovering_until = self._clock.monotonic() + PRESENCE_S

    async def open(self) -> None:
        """Open the store."""
        await self.store.open()

    async def join(self, address: str) -> None:
        """Tell the other replicas that this one is there, if there can be any.

        `address` counts where the configuration names none.
        """
        if not self.keys:
            return
        self.address = self.address or address
        self.is_shared = True
        await self._beat()
        self._work.start(self._beat_on(), "tell other replicas")

    async def leave(self) -> None:
        """Tell the other replicas that this one is gone."""
        if self.is_shared:
            self.is_shared = False
            await self._work.end()
            try:
                await self.store.leave(GROUP, self.id)
            except StoreUnavailable:
                _log.info("the other replicas will notice that this one is gone")

    async def close(self) -> None:
        await self.leave()
        await self.store.close()

    async def look(self) -> None:
        """See which replicas are there now.

        Raises:
            StoreUnavailable: it cannot be known.
        """
        found = dict(self.others) if self.is_recovering else {}
        for member, value in (await self.store.members(GROUP)).items():
            presence = self._read(member, value) if member != self.id else None
            if presence is not None:
                found[member] = presence
        before, self.others = self.others, found
        for gone in before.keys() - found.keys():
            for listener in self.on_gone:
                listener(gone)

    def _read(self, member: str, value: bytes) -> Presence | None:
        """What a replica says of itself, if it has a key of ours."""
        signature, _, raw = value.partition(b" ")
        if not self._signing.is_signed(signature.decode("latin-1"), member.encode(), raw):
            if member not in self._forged and len(self._forged) < _MOST_FORGED:
                self._forged.add(member)
                for listener in self.on_forged:
                    listener(member)
            return None
        try:
            presence = msgspec.json.decode(raw, type=Presence)
        except msgspec.DecodeError:
            return None  # of another version
        return presence if presence.id == member else None

    async def _beat_on(self) -> None:
        while True:
            await self._clock.sleep(BEAT_S)
            await self._beat()

    async def _beat(self) -> None:
        try:
            raw = msgspec.json.encode(self.presence)
            value = self._signing.sign(self.id.encode(), raw).encode() + b" " + raw
            await self.store.join(GROUP, self.id, value, PRESENCE_S)
            now = self._clock.monotonic()
            was_silent, self._renewed_at = now - self._renewed_at >= PRESENCE_S, now
            await self.look()
        except StoreUnavailable:
            return  # the state of the store says so; those that were there are still believed to be
        for listener in (*self.on_look, *(self.on_return if was_silent else ())):
            listener()
