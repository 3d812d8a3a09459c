"""The public keys of an identity provider: found, fetched, cached, and fetched again in bounds.

They are fetched anew every few minutes of use, and when a token names a key that is not there, but
never more often than every ten seconds, whatever clients send. While the provider cannot be reached
the former keys count for an hour. Owned by token_verifier.py.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from mcplens.auth.addresses import authorization_server_places, check_address
from mcplens.auth.metadata import read_object
from mcplens.auth.problems import SignInProblem
from mcplens.background import Background
from mcplens.bus import Bus, Publisher
from mcplens.clock import Clock, within
from mcplens.config.access_keys import OAuthSettings
from mcplens.errors import InspectorError
from mcplens.transports.http_client import HttpClient
from mcplens.transports.network import NetworkOptions

if TYPE_CHECKING:
    from joserfc.jwk import ECKey, OKPKey, RSAKey

    PublicKey = ECKey | OKPKey | RSAKey

_log = logging.getLogger("mcplens.gateway")

# A key that the provider withdrew is refused after this long at the latest.
FRESH_S: Final = 300.0
# Tokens that name unknown keys cannot make us ask more often.
LEAST_INTERVAL_S: Final = 10.0
# How long the former keys count while the provider cannot be reached.
KEPT_S: Final = 3600.0
_TIMEOUT_S: Final = 10.0
# A set of keys is a few kilobytes.
_MAX_BYTES: Final = 512 * 1024
_MAX_KEYS: Final = 100
# Which type of key signs by which algorithm; symmetric keys are never public.
_TYPES: Final = ("RSA", "EC", "OKP")


class KeysNeeded(Exception):
    """The keys have to be fetched before a token can be verified."""


class KeysMissing(Exception):
    """The keys cannot be had: in words for the log, not for clients."""


class IssuerKeys:
    """The keys of one issuer, by their ids."""

    def __init__(
        self, settings: OAuthSettings, clock: Clock, on_changed: Callable[[], None]
    ) -> None:
        self.problem: str | None = None  # why the last fetch failed
        self.fetches = 0
        self._settings = settings
        self._clock = clock
        self._on_changed = on_changed
        self._keys: list[tuple[Mapping[str, Any], PublicKey]] = []
        self._fetched_at: float | None = None
        self._tried_at: float | None = None
        self._jwks_uri = settings.jwks_uri
        self._fetching: asyncio.Task[None] | None = None
        self._work = Background()

    def __repr__(self) -> str:
        return f"<IssuerKeys {len(self._keys)} of {self._settings.issuer}>"

    @property
    def are_usable(self) -> bool:
        """Whether there are keys that are not too old."""
        return self._fetched_at is not None and self._age(self._fetched_at) < KEPT_S

    @property
    def may_come(self) -> bool:
        """Whether newer keys can be waited for: the last attempt goes on, or was long ago."""
        return self._fetching is not None or self._is_due

    @property
    def _is_due(self) -> bool:
        return self._tried_at is None or self._age(self._tried_at) >= LEAST_INTERVAL_S

    def _age(self, since: float) -> float:
        return self._clock.monotonic() - since

    def find(self, key_id: str | None, algorithm: str, kind: str) -> list[PublicKey]:
        """The keys that may have signed a token; without an id, all of the kind."""
        now = self._clock.wall()
        return [
            key
            for facts, key in self._keys
            if facts.get("kty") == kind
            and (key_id is None or facts.get("kid") == key_id)
            and facts.get("alg") in (None, algorithm)
            and not _is_over(facts, now)
        ]

    def refresh_soon(self) -> None:
        """Fetch the keys in the background, if they are not fresh any more."""
        fetched_at = self._fetched_at
        if fetched_at is not None and self._age(fetched_at) >= FRESH_S and self._is_due:
            self._start()

    async def refresh(self) -> None:
        """Fetch the keys now, or wait for the fetch that is under way; a failure is noted only."""
        if self.may_come:
            await asyncio.shield(self._start())

    def _start(self) -> asyncio.Task[None]:
        if self._fetching is None:
            self._tried_at = self._clock.monotonic()
            self._fetching = self._work.start(self._fetch(), "fetch keys of the issuer")
        return self._fetching

    async def close(self) -> None:
        await self._work.end()

    # -- fetching ----------------------------------------------------------------------------------

    async def _fetch(self) -> None:
        self.fetches += 1
        try:
            await within(self._clock, _TIMEOUT_S, self._fetch_all())
            self.problem = None
        except TimeoutError:
            self._failed(f"no answer within {_TIMEOUT_S:g} s")
        except (KeysMissing, SignInProblem, InspectorError) as problem:
            self._failed(getattr(problem, "message", None) or str(problem))
        finally:
            self._fetching = None

    def _failed(self, why: str) -> None:
        if self._settings.jwks_uri is None:
            self._jwks_uri = None  # it may have moved
        self.problem = f"the keys of {self._settings.issuer} cannot be fetched: {why}"
        _log.warning("%s", self.problem)

    async def _fetch_all(self) -> None:
        if self._jwks_uri is None:
            self._jwks_uri = await self._find_jwks()
        status, body = await self._get(self._jwks_uri)
        if status != 200:
            raise KeysMissing(f"GET {self._jwks_uri} was answered with HTTP {status}")
        listed = read_object(body, "the set of keys").get("keys")
        found = _read_keys(listed if isinstance(listed, list) else [])
        if not found:
            raise KeysMissing(f"{self._jwks_uri} lists no key that tokens can be verified with")
        before = [facts for facts, _ in self._keys]
        self._keys, self._fetched_at = found, self._clock.monotonic()
        if before != [facts for facts, _ in found]:
            self._on_changed()

    async def _find_jwks(self) -> str:
        """Where the issuer's own metadata says that its keys are (RFC 8414, OpenID)."""
        issuer = self._settings.issuer
        came = []
        for place in authorization_server_places(issuer):
            status, body = await self._get(place)
            if status != 200:
                came.append(f"GET {place} was answered with HTTP {status}")
                continue
            found = read_object(body, "the issuer's metadata")
            if found.get("issuer") != issuer:
                raise KeysMissing(f"{place} is the metadata of {str(found.get('issuer'))[:200]!r}")
            return check_address(found.get("jwks_uri"), "jwks_uri", named_by=issuer)
        raise KeysMissing("; ".join(came))

    async def _get(self, url: str) -> tuple[int, bytes]:
        network = NetworkOptions(ca_file=self._settings.ca_file, connect_timeout_s=_TIMEOUT_S)
        client = HttpClient(url, network, _MAX_BYTES)
        client.open(Publisher(Bus(self._clock, is_unread=True), ""), self._clock)
        try:
            async with client.exchange(
                "GET", client.headers({"Accept": "application/json"})
            ) as answer:
                return answer.status, await answer.read()
        finally:
            await client.close()


def _read_keys(listed: list[Any]) -> list[tuple[Mapping[str, Any], PublicKey]]:
    """The keys that can verify signatures; what is not one is left out."""
    from joserfc.errors import JoseError
    from joserfc.jwk import ECKey, OKPKey, RSAKey

    makers: dict[str, type[ECKey | OKPKey | RSAKey]] = {
        "RSA": RSAKey,
        "EC": ECKey,
        "OKP": OKPKey,
    }
    found = []
    for facts in listed[:_MAX_KEYS]:
        kind = facts.get("kty") if isinstance(facts, dict) else None
        if kind not in _TYPES or facts.get("use") not in (None, "sig"):
            continue
        try:
            found.append((facts, makers[kind].import_key(facts)))
        except (JoseError, ValueError, TypeError, KeyError):
            continue
    return found


def _is_over(facts: Mapping[str, Any], now: float) -> bool:
    """Whether a key says that its time is over."""
    until = facts.get("exp")
    return isinstance(until, int | float) and not isinstance(until, bool) and now >= until
