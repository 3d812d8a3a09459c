"""Session resume: an open page signs in again after a restart of mcplens, by a key that it was
given when it first signed in (the return key).

The page proves that it has the key and never sends it, since a program that took the port in
between would get it. The keys outlive the process in a file that only this user can read. Called
by routes.py.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import os
import secrets
from collections import OrderedDict
from ipaddress import ip_address
from typing import Final

import msgspec

from mcplens.clock import Clock
from mcplens.config.environment import Environment, user_state_folder
from mcplens.inbound.server import Address

_FILE_NAME: Final = "return-keys.json"
# More browsers than one person uses.
MOST_KEYS: Final = 16
# A night between two runs; counted from when a key was last used.
KEY_LIFE_S: Final = 24 * 3600.0
# A page answers within milliseconds, if its machine is not asleep.
NONCE_LIFE_S: Final = 30.0
# A page needs one; requesting many only invalidates the oldest.
MOST_NONCES: Final = 64


class _Key(msgspec.Struct):
    port: int
    key: str
    used: float  # wall time


class _Kept(msgspec.Struct):
    keys: list[_Key]


class ReturnKeys:
    """The keys that were issued at this address, and the nonces that are still valid."""

    def __init__(self, here: Environment, address: Address, clock: Clock) -> None:
        self._path = here.join(user_state_folder(here), _FILE_NAME)
        self._port = address.port
        self.origin = address.url("")
        self._clock = clock
        self._nonces: OrderedDict[str, float] = OrderedDict()

    def __repr__(self) -> str:
        return f"<ReturnKeys of {self.origin}, {len(self._nonces)} nonces>"

    def give(self, origin: str) -> str | None:
        """A new key for a page of this origin, if it can be saved.

        Only for the exact address that we serve: a name such as localhost may lead to the port of
        another program, which could pass our nonce on.
        """
        if origin != self.origin:
            return None
        key = secrets.token_urlsafe(32)
        try:
            self._write([*self._read(), _Key(self._port, key, self._clock.wall())])
        except OSError:
            return None
        return key

    def ask(self) -> str:
        """A nonce, to be signed once and soon."""
        nonce = secrets.token_urlsafe(32)
        self._nonces[nonce] = self._clock.monotonic() + NONCE_LIFE_S
        while len(self._nonces) > MOST_NONCES:
            self._nonces.popitem(last=False)
        return nonce

    def is_proven(self, nonce: str, proof: str, origin: str) -> bool:
        """Whether the sender has one of the keys; each nonce counts once."""
        until = self._nonces.pop(nonce, None)
        if until is None or until < self._clock.monotonic() or origin != self.origin:
            return False
        keys = self._read()
        for one in keys:
            wanted = prove(one.key, nonce, self.origin)
            if one.port == self._port and hmac.compare_digest(wanted.encode(), proof.encode()):
                one.used = self._clock.wall()
                with contextlib.suppress(OSError):  # it then expires earlier, but is valid now
                    self._write(keys)
                return True
        return False

    def _read(self) -> list[_Key]:
        """The keys that are still valid; none if the file cannot be read."""
        try:
            with open(self._path, "rb") as file:
                keys = msgspec.json.decode(file.read(), type=_Kept).keys
        except (OSError, msgspec.DecodeError):
            return []
        now = self._clock.wall()
        return [one for one in keys if now - KEY_LIFE_S <= one.used <= now]

    def _write(self, keys: list[_Key]) -> None:
        """Replace the file atomically, readable only by this user, without a backup."""
        newest = sorted(keys, key=lambda one: one.used)[-MOST_KEYS:]
        os.makedirs(os.path.dirname(self._path), mode=0o700, exist_ok=True)
        temporary = f"{self._path}.{os.getpid()}.tmp"
        try:
            descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with open(descriptor, "wb") as file:
                file.write(msgspec.json.encode(_Kept(newest)))
            os.replace(temporary, self._path)
        except OSError:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
            raise


def prove(key: str, nonce: str, origin: str) -> str:
    """The proof that a page sends; it includes the origin, so that no other site can reuse it."""
    return hmac.new(key.encode(), f"{nonce} {origin}".encode(), hashlib.sha256).hexdigest()


def return_keys(here: Environment, address: Address, clock: Clock) -> ReturnKeys | None:
    """Return keys, if we serve on a loopback address; None for any other."""
    try:
        is_own = ip_address(address.host).is_loopback
    except ValueError:
        is_own = False
    # Without subtle crypto (plain http from elsewhere) a page could not prove anything either.
    return ReturnKeys(here, address, clock) if is_own else None
