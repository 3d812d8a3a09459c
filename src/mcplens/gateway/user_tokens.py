"""The sign-ins of one user of the gateway, kept in the shared store and encrypted there.

In place of the files of auth/storage.py: tokens by user and server, never shared between users;
our registrations with issuers are the same for all. Made by user_sessions.py and sign_in_links.py.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from types import TracebackType
from typing import Final

import msgspec

from mcplens.auth.addresses import canonical
from mcplens.auth.clients import Client
from mcplens.auth.steps import SignIn
from mcplens.auth.storage import LOCK_TIMEOUT_S, SignInStore
from mcplens.clock import Clock
from mcplens.errors import StoreUnavailable
from mcplens.gateway.sealed_store import SealedStore, place_of

# A user who did not come back for so long signs in again.
KEPT_S: Final = 30 * 24 * 3600.0
# A registration may be forgotten at any time: it is made anew.
_CLIENT_KEPT_S: Final = 90 * 24 * 3600.0
_TRY_LOCK_S: Final = 0.1
_GROUP: Final = "sign-ins"


class KeptSignIn(msgspec.Struct, frozen=True):
    """Who is signed in to what; `renewed_at` is when the token was got or refreshed (wall time)."""

    caller: str
    server_id: str
    server_url: str
    renewed_at: float


async def kept_sign_ins(sealed: SealedStore) -> list[KeptSignIn]:
    """All sign-ins of users, by user and server; raises StoreUnavailable."""
    found = await sealed.members(_GROUP, KeptSignIn)
    return sorted(found, key=lambda one: (one.caller, one.server_id, one.server_url))


class UserTokens(SignInStore):
    """The sign-ins of one user with one server."""

    def __init__(
        self, sealed: SealedStore, caller: str, server_id: str, wall: Callable[[], float]
    ) -> None:
        super().__init__()
        self._wall = wall
        self._sealed = sealed
        self._caller = caller
        self._server_id = server_id

    def __repr__(self) -> str:
        return f"<UserTokens of {self._server_id}>"

    def _name(self, server_url: str) -> str:
        return "\n".join(("token", self._caller, self._server_id, canonical(server_url)))

    def has_any(self, server_url: str) -> bool:
        return True  # the store is asked

    async def load(self, server_url: str) -> SignIn | None:
        return await self._sealed.get(self._name(server_url), SignIn)

    async def save(self, server_url: str, sign_in: SignIn) -> None:
        name = self._name(server_url)
        kept = KeptSignIn(self._caller, self._server_id, canonical(server_url), self._wall())
        try:
            await self._sealed.join(_GROUP, name, kept, KEPT_S)  # first: no token is unknown
            await self._sealed.put(name, sign_in, KEPT_S)
        except StoreUnavailable as problem:
            raise OSError(problem.message) from None

    async def forget(self, server_url: str) -> None:
        await self._sealed.delete(self._name(server_url))
        await self._sealed.leave(_GROUP, self._name(server_url))

    def lock(self, server_url: str, clock: Clock) -> StoreLock:
        return StoreLock(self._sealed, f"refresh\n{self._name(server_url)}", clock)

    async def client_of(self, issuer: str) -> Client | None:
        return await self._sealed.get(f"client\n{issuer}", Client)

    async def keep_client(self, client: Client, server_url: str) -> None:
        await self._sealed.put(f"client\n{client.issuer}", client, _CLIENT_KEPT_S)

    async def forget_client(self, issuer: str) -> None:
        await self._sealed.delete(f"client\n{issuer}")

    def has_client(self, server_url: str) -> bool:
        return False


class StoreLock:
    """Held by one replica at a time; one that dies holds it for a minute."""

    def __init__(self, sealed: SealedStore, name: str, clock: Clock) -> None:
        self._sealed = sealed
        self._store = sealed.store
        self._key = f"lock:{place_of(name)}"
        self._clock = clock
        self._own = secrets.token_bytes(16)

    def __repr__(self) -> str:
        return f"<StoreLock in {self._store.name}>"

    async def __aenter__(self) -> None:
        until = self._clock.monotonic() + LOCK_TIMEOUT_S
        while not await self._sealed.done(self._take()):
            if self._clock.monotonic() >= until:
                return  # as with the lock of files: better to try than to wait for ever
            await self._clock.sleep(_TRY_LOCK_S)

    async def _take(self) -> bool:
        return await self._store.compare_and_set(self._key, None, self._own, LOCK_TIMEOUT_S)

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        try:
            await self._sealed.done(self._store.delete(self._key, self._own))
        except StoreUnavailable:
            return  # it expires
