"""What is kept of sign-ins: tokens by issuer and resource, clients by issuer.

In files that only their owner can read, below the state folder; with a keyring of the operating
system (keyring_vault.py), secrets are in there and the file says so. Every mcplens of the user
shares them. Called by the authorizer and by `mcplens auth`.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from functools import cached_property
from typing import Final, Protocol, TypeVar

import msgspec

from mcplens.auth.addresses import canonical
from mcplens.auth.clients import Client
from mcplens.auth.file_lock import FileLock
from mcplens.auth.steps import SignIn
from mcplens.clock import Clock
from mcplens.user_folders import current_state_folder

# Longer than a token endpoint may take.
LOCK_TIMEOUT_S: Final = 60.0

T = TypeVar("T")


class Vault(Protocol):
    """A place for secrets outside our files; neither method raises or takes long."""

    async def save(self, key: str, text: str) -> bool: ...
    async def load(self, key: str) -> str | None: ...
    async def remove(self, key: str) -> None: ...


def _find_keyring() -> Vault | None:
    from mcplens.auth.keyring_vault import find_vault

    return find_vault()


class _Pointer(msgspec.Struct, frozen=True):
    """Which sign-in belongs to a server's address."""

    server_url: str
    issuer: str
    resource: str


class _Kept(msgspec.Struct, frozen=True):
    """A file: the value itself, or that the vault has it."""

    value: msgspec.Raw = msgspec.Raw(b"null")
    is_in_vault: bool = False


class _Registered(msgspec.Struct, frozen=True):
    """Where a client was registered, or used, for a server."""

    server_url: str
    issuer: str


class _Pinned(msgspec.Struct, frozen=True):
    server_url: str
    client_id: str
    issuer: str


class SignInStore:
    """The kept sign-ins of this user."""

    def __init__(
        self,
        folder: str | None = None,
        find_vault: Callable[[], Vault | None] = _find_keyring,
    ) -> None:
        self._folder = folder or os.path.join(current_state_folder(), "auth")
        self._find_vault = find_vault

    def __repr__(self) -> str:
        return f"<SignInStore {self._folder}>"

    # -- sign-ins ------------------------------------------------------------------------------

    def has_any(self, server_url: str) -> bool:
        """Whether there is a sign-in for this server; cheap, since every connection asks."""
        return os.path.exists(self._path("server", canonical(server_url)))

    async def load(self, server_url: str) -> SignIn | None:
        """The sign-in for a server; None if there is none, or it cannot be read."""
        pointer = self._read(self._path("server", canonical(server_url)), _Pointer)
        if pointer is None:
            return None
        return await self._recall(_sign_in_key(pointer.issuer, pointer.resource), SignIn)

    async def save(self, server_url: str, sign_in: SignIn) -> None:
        """Keep a sign-in; OSError if it cannot be written."""
        issuer, resource = sign_in.server.issuer, sign_in.resource
        await self._keep(_sign_in_key(issuer, resource), sign_in)
        pointer = _Pointer(canonical(server_url), issuer, resource)
        path = self._path("server", canonical(server_url))
        if self._read(path, _Pointer) != pointer:
            self._write(path, msgspec.json.encode(pointer))
        if issuer:  # a token that was pasted has none
            self._note_issuer(server_url, issuer)

    async def forget(self, server_url: str) -> None:
        """Forget the sign-in for a server."""
        path = self._path("server", canonical(server_url))
        pointer = self._read(path, _Pointer)
        if pointer is not None:
            await self._remove(_sign_in_key(pointer.issuer, pointer.resource))
        with contextlib.suppress(FileNotFoundError):
            os.remove(path)

    def servers(self) -> list[str]:
        """The addresses of all servers with a sign-in."""
        try:
            names = sorted(os.listdir(self._folder))
        except FileNotFoundError:
            return []
        paths = [os.path.join(self._folder, name) for name in names if name.startswith("server-")]
        pointers = [self._read(path, _Pointer) for path in paths]
        return sorted(pointer.server_url for pointer in pointers if pointer is not None)

    def lock(self, server_url: str, clock: Clock) -> AbstractAsyncContextManager[object]:
        """Held while a refresh token is used: it is good for one use, by one process."""
        self._make_folder()
        path = self._path("lock", canonical(server_url))
        return FileLock(path, clock, LOCK_TIMEOUT_S)

    # -- clients -------------------------------------------------------------------------------

    async def client_of(self, issuer: str) -> Client | None:
        """The client that was registered with an issuer."""
        return await self._recall(f"client\n{issuer}", Client)

    async def keep_client(self, client: Client, server_url: str) -> None:
        await self._keep(f"client\n{client.issuer}", client)
        self._note_issuer(server_url, client.issuer)

    def has_client(self, server_url: str) -> bool:
        """Whether a client is kept that was used for this server; as cheap as `has_any`."""
        found = self._read(self._path("issuer", canonical(server_url)), _Registered)
        return found is not None and os.path.exists(self._path("kept", f"client\n{found.issuer}"))

    def _note_issuer(self, server_url: str, issuer: str) -> None:
        noted = _Registered(canonical(server_url), issuer)
        path = self._path("issuer", noted.server_url)
        if self._read(path, _Registered) != noted:
            self._write(path, msgspec.json.encode(noted))

    async def forget_client(self, issuer: str) -> None:
        await self._remove(f"client\n{issuer}")

    def pinned_issuer(self, server_url: str, client_id: str) -> str | None:
        """Who may see the secret of a configured client: the first issuer that did."""
        found = self._read(self._pin_path(server_url, client_id), _Pinned)
        return None if found is None else found.issuer

    def pin(self, server_url: str, client_id: str, issuer: str) -> None:
        value = _Pinned(canonical(server_url), client_id, issuer)
        self._write(self._pin_path(server_url, client_id), msgspec.json.encode(value))

    def _pin_path(self, server_url: str, client_id: str) -> str:
        return self._path("pin", f"{canonical(server_url)}\n{client_id}")

    @cached_property
    def _vault(self) -> Vault | None:
        """Looked for when the first secret is kept or read: most runs have none."""
        return self._find_vault()

    # -- files and the vault -------------------------------------------------------------------

    async def _keep(self, key: str, value: SignIn | Client) -> None:
        encoded = msgspec.json.encode(value)
        kept = _Kept(msgspec.Raw(encoded))
        vault = self._vault
        if vault is not None and await vault.save(_digest(key), encoded.decode()):
            kept = _Kept(is_in_vault=True)
        self._write(self._path("kept", key), msgspec.json.encode(kept))

    async def _recall(self, key: str, kind: type[T]) -> T | None:
        kept = self._read(self._path("kept", key), _Kept)
        if kept is None:
            return None
        text: str | bytes | None = bytes(kept.value)
        if kept.is_in_vault:
            vault = self._vault
            text = None if vault is None else await vault.load(_digest(key))
        if text is None:
            return None
        try:
            return msgspec.json.decode(text, type=kind)
        except (msgspec.DecodeError, msgspec.ValidationError):
            return None

    async def _remove(self, key: str) -> None:
        path = self._path("kept", key)
        kept = self._read(path, _Kept)
        if kept is not None and kept.is_in_vault and (vault := self._vault) is not None:
            await vault.remove(_digest(key))
        with contextlib.suppress(FileNotFoundError):
            os.remove(path)

    def _path(self, kind: str, key: str) -> str:
        return os.path.join(self._folder, f"{kind}-{_digest(key)}.json")

    def _make_folder(self) -> None:
        os.makedirs(self._folder, mode=0o700, exist_ok=True)

    def _read(self, path: str, kind: type[T]) -> T | None:
        try:
            with open(path, "rb") as file:
                return msgspec.json.decode(file.read(), type=kind)
        except (OSError, msgspec.DecodeError, msgspec.ValidationError):
            return None

    def _write(self, path: str, data: bytes) -> None:
        """Replace a file at once, so that no reader sees half of it."""
        self._make_folder()
        fresh = f"{path}.{os.getpid()}.new"
        with contextlib.suppress(FileNotFoundError):
            os.remove(fresh)  # of a process with this number that died
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
        os.replace(fresh, path)


def _sign_in_key(issuer: str, resource: str) -> str:
    return f"sign-in\n{issuer}\n{resource}"


def _digest(key: str) -> str:
    return hashlib.sha256(key.encode()).hexdigest()[:32]
