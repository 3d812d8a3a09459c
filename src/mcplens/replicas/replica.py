"""This process among the replicas of its gateway: its identity, their store, who else is there.

Each replica writes its presence into the store again and again; one that stops is gone when its
time is over. An identity lasts as long as the process: after a restart the replica is another one,
since what it owned is lost. Presences are signed: who can write into the store alone can send no
replica anywhere. Owned by gateway/gateway.py; used by whatever replicas share.
"""

from __future__ import annotations

import contextlib
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
from mcplens.replicas.request_proofs import ProofMaker
from mcplens.replicas.signatures import SigningKeys
from mcplens.replicas.state_store import StateStore, StoreState
from mcplens.version import VERSION

_log = logging.getLogger("mcplens.replicas")

GROUP: Final = "replicas"
_LEFT: Final = "replicas-left"  # those that said so, for as long as others may wonder
# A replica that was silent for so long is gone. Its beat has three chances before that.
PRESENCE_S: Final = 6.0
BEAT_S: Final = 1.5
# Presences that no replica wrote, and that are reported.
_MOST_FORGED: Final = 100
# Replicas that vanished are remembered for so long, and so many of them: an operator who looks
# within the hour sees which one it was.
_GONE_KEPT_S: Final = 3600.0
_MOST_GONE: Final = 20


class Presence(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a replica says of itself; later versions may say more."""

    id: str
    name: str
    address: str
    version: str
    since: float  # wall time of its own clock
    configuration: str = ""  # a digest: replicas with another one serve something else
    parts: dict[str, str] = {}  # digests of its parts, by their names in the file
    is_leaving: bool = False  # it shuts down in order
    is_retired: bool = False  # it has handed everything over: there is nothing to ask it for


class GoneReplica(msgspec.Struct, frozen=True):
    """A replica that vanished without a word, and when that was noticed (wall time)."""

    presence: Presence
    at: float


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
        self.parts: dict[str, str] = {}  # digests of parts of the configuration
        self.is_leaving = False
        self.gone: dict[str, GoneReplica] = {}  # by name, until one of that name is back
        self.others: dict[str, Presence] = {}
        self.is_shared = False
        self.on_look: list[Callable[[], None]] = []  # it has seen who is there
        self.on_return: list[Callable[[], None]] = []  # the store had forgotten this replica
        self.on_gone: list[Callable[[str], None]] = []  # another one is gone
        self.on_forged: list[Callable[[str], None]] = []  # a presence that no replica wrote
        self.proofs = ProofMaker(keys, self.id)
        self._signing = SigningKeys(keys, "presence")
        self._forged: set[str] = set()
        self._has_joined = False
        self._looks = 0  # that have begun
        self._seen = 0  # the one whose answer counts
        self._is_retired = False
        self._unsubscribe: Callable[[], None] | None = None
        self._recovering_until = -1.0
        store.listen_to_state(self._store_changed)
        self._clock = clock
        self._since = clock.wall()
        self._work = Background()

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
            parts=self.parts,
            is_leaving=self.is_leaving,
            is_retired=self._is_retired,
        )

    @property
    def is_recovering(self) -> bool:
        """Whether the store may have lost what replicas wrote, and they still write it again."""
        return self._clock.monotonic() < self._recovering_until

    def _store_changed(self, state: StoreState) -> None:
        if state.status == "up":
            self._expect_recovery()

    def _expect_recovery(self) -> None:
        self._recovering_until = self._clock.monotonic() + PRESENCE_S

    def _forgotten(self) -> None:
        """The store has not got our presence: it lost its data, or we were silent for too long.

        A store may restart between two commands, so that none of them fails.
        """
        self._expect_recovery()
        for listener in self.on_return:
            listener()

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
        if self.store.outlives_us:  # it may have lost its data just before we came
            self._expect_recovery()
        self._unsubscribe = self.store.subscribe(GROUP, self._woken)
        await self._beat()
        self._work.start(self._beat_on(), "tell other replicas")

    def owner(self, replica_id: str) -> Presence | None:
        """Another replica that can be asked for what it owns."""
        found = self.others.get(replica_id)
        return None if found is None or found.is_retired else found

    async def retire(self) -> None:
        """Everything was handed over: wait until the others ask this one for nothing any more.

        What they send to a process that ends may have been begun, for all they know.
        """
        if self.is_shared and self.others:
            self._is_retired = True
            await self._beat()
            with contextlib.suppress(StoreUnavailable):
                await self.store.publish(GROUP, self.id.encode())
            await self._clock.sleep(BEAT_S)

    def _woken(self, _message: bytes | None) -> None:
        if self.is_shared:
            self._work.start(self._look_again(), "look at other replicas")

    async def _look_again(self) -> None:
        with contextlib.suppress(StoreUnavailable):
            await self.look()

    async def leave(self) -> None:
        """Tell the other replicas that this one is gone."""
        if self.is_shared:
            self.is_shared = self._has_joined = False
            if self._unsubscribe is not None:
                self._unsubscribe()
            await self._work.end()
            try:
                await self.store.join(_LEFT, self.id, b"", PRESENCE_S * 2)
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
        self._looks += 1
        number = self._looks
        members = await self.store.members(GROUP)
        if self._has_joined and self.id not in members:
            self._forgotten()
        left = await self.store.members(_LEFT) if self.others.keys() - members.keys() else {}
        if number < self._seen:
            return  # one that began later was faster, and has seen more
        self._seen = number
        found = dict(self.others) if self.is_recovering else {}
        for member, value in members.items():
            presence = self._read(member, value) if member != self.id else None
            if presence is not None:
                found[member] = presence
        before = self.others
        missing = before.keys() - found.keys()
        self.others = found
        self._remember_gone([before[one] for one in missing if one not in left])
        for gone in missing:
            for listener in self.on_gone:
                listener(gone)

    def _remember_gone(self, vanished: list[Presence]) -> None:
        now, here = self._clock.wall(), {one.name for one in self.others.values()}
        self.gone |= {one.name: GoneReplica(one, now) for one in vanished}
        kept = [
            (name, one)
            for name, one in self.gone.items()
            if name not in here and now - one.at < _GONE_KEPT_S
        ]
        self.gone = dict(kept[-_MOST_GONE:])

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
            is_new = await self.store.join(GROUP, self.id, value, PRESENCE_S)
            if is_new and self._has_joined:
                self._forgotten()
            self._has_joined = True
            await self.look()
        except StoreUnavailable:
            return  # the state of the store says so; those that were there are still believed to be
        for listener in self.on_look:
            listener()
