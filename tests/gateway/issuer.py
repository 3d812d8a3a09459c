"""An identity provider in this process, whose keys and answers a test may change.

It has metadata and a set of keys, over HTTP; tokens are made by the test, right or wrong.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import web
from joserfc import jwt
from joserfc.jwk import ECKey, RSAKey

from mcplens.clock import SystemClock, Timer


class ShiftedClock(SystemClock):
    """Real time that a test can move on."""

    shift_s = 0.0

    def wall(self) -> float:
        return time.time() + self.shift_s

    def monotonic(self) -> float:
        return time.monotonic() + self.shift_s

    def call_at(self, when: float, callback: Any) -> Timer:
        return super().call_at(when - self.shift_s, callback)


class Issuer:
    """Signs tokens, and tells by which keys."""

    def __init__(self) -> None:
        self.url = ""
        self.key: ECKey | RSAKey = ECKey.generate_key("P-256", {"kid": "first", "use": "sig"})
        self.keys: list[Any] = [self.key]
        self.fetches = 0  # of the keys
        self.is_down = False
        self.metadata: dict[str, Any] = {}

    def token(
        self, audience: str | list[str], *, key: Any = None, header: Any = None, **claims: Any
    ) -> str:
        """A token of ada's for this audience; a claim that is None is left out."""
        now = int(time.time())
        given = {
            "iss": self.url, "sub": "ada", "aud": audience, "exp": now + 600, "iat": now,
            "client_id": "test", "scope": "",
        } | claims  # fmt: skip
        signing = key or self.key
        algorithm = "RS256" if signing.key_type == "RSA" else "ES256"
        head = {"alg": algorithm, "typ": "at+jwt", "kid": signing.kid} | (header or {})
        head = {name: value for name, value in head.items() if value is not None}
        kept = {name: value for name, value in given.items() if value is not None}
        return jwt.encode(head, kept, signing, algorithms=[head["alg"]], default_type=None)

    def rotate(self, kid: str) -> None:
        """Sign by another key from now on; the former is not listed any more."""
        self.key = RSAKey.generate_key(2048, {"kid": kid, "use": "sig"})
        self.keys = [self.key]

    async def handle(self, request: web.Request) -> web.Response:
        if self.is_down:
            return web.Response(status=500)
        if request.path == "/jwks":
            self.fetches += 1
            listed = [key if isinstance(key, dict) else key.as_dict(False) for key in self.keys]
            return web.json_response({"keys": listed})
        if request.path == "/.well-known/openid-configuration":
            own = {"issuer": self.url, "jwks_uri": f"{self.url}/jwks"}
            return web.json_response(own | self.metadata)
        return web.Response(status=404)


@asynccontextmanager
async def issuer() -> AsyncIterator[Issuer]:
    """Serve it for the length of the block."""
    found = Issuer()
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", found.handle)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    assert site._server is not None
    port = site._server.sockets[0].getsockname()[1]  # type: ignore[attr-defined]
    found.url = f"http://127.0.0.1:{port}"
    try:
        yield found
    finally:
        await runner.cleanup()
