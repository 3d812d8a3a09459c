"""Secrets in the operating system's keyring, where there is one.

Used if the package `keyring` is installed beside mcplens, and unless MCPLENS_KEYRING is `off`. It
is imported when a secret is kept or read, and a keyring that is locked or hangs is given up after a
few seconds: the store then keeps the secret in its file. Used by storage.py.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import Final, Protocol, TypeVar, cast

from mcplens.logs import get_logger

VARIABLE: Final = "MCPLENS_KEYRING"
_SERVICE: Final = "mcplens"
# A keyring that is locked asks its user, who may be away.
_TIMEOUT_S: Final = 5.0

T = TypeVar("T")
_log: Final = get_logger(__name__)


class Keyring(Protocol):
    """What we use of the package `keyring`."""

    def set_password(self, service: str, name: str, password: str) -> None: ...
    def get_password(self, service: str, name: str) -> str | None: ...
    def delete_password(self, service: str, name: str) -> None: ...


class KeyringVault:
    """The keyring; after it failed to answer in time once, it is left alone."""

    def __init__(self, load: Callable[[], Keyring], timeout_s: float = _TIMEOUT_S) -> None:
        self._load = load
        self._timeout_s = timeout_s
        self._is_given_up = False

    def __repr__(self) -> str:
        return f"<KeyringVault {'given up' if self._is_given_up else 'in use'}>"

    async def save(self, key: str, text: str) -> bool:
        """Whether it is kept: some keyrings take everything and keep nothing."""

        def work() -> bool:
            keyring = self._load()
            keyring.set_password(_SERVICE, key, text)
            return keyring.get_password(_SERVICE, key) == text

        return await self._bounded(work, False)

    async def load(self, key: str) -> str | None:
        return await self._bounded(lambda: self._load().get_password(_SERVICE, key), None)

    async def remove(self, key: str) -> None:
        await self._bounded(lambda: self._load().delete_password(_SERVICE, key), None)

    async def _bounded(self, work: Callable[[], T], otherwise: T) -> T:
        """Do it on a thread that nobody waits for at the end of the process."""
        if self._is_given_up:
            return otherwise
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()

        def settle(result: T) -> None:
            if not future.done():
                future.set_result(result)

        def run() -> None:
            try:
                result = work()
            except Exception as problem:  # locked, refused, absent: each has errors of its own
                _log.debug("the keyring failed: %s", type(problem).__name__)
                result = otherwise
            if not loop.is_closed():
                loop.call_soon_threadsafe(settle, result)

        threading.Thread(target=run, daemon=True, name="keyring").start()
        try:
            async with asyncio.timeout(self._timeout_s):
                return await future
        except TimeoutError:
            self._is_given_up = True
            _log.warning("the keyring did not answer within %g s", self._timeout_s)
            return otherwise


def find_vault() -> KeyringVault | None:
    """The keyring of this machine; None if it is not to be used. Nothing is imported yet."""
    if os.environ.get(VARIABLE, "").lower() == "off" or find_spec("keyring") is None:
        return None
    return KeyringVault(lambda: cast(Keyring, import_module("keyring")))
