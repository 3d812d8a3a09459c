"""What a transport needs of whoever signs in: headers for its requests, and help when refused.

The interface only; auth/ implements it, above the transports. A transport without an authorizer
sends what it was configured with, and a refusal is an error.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final, Protocol

import msgspec

from mcplens.bus import Publisher
from mcplens.clock import Clock

# How often one request is sent again after a sign-in: refresh, sign-in, step-up.
MAX_TRIES: Final = 3
REFUSED_STATUSES: Final = (401, 403)


class Refusal(msgspec.Struct, frozen=True):
    """A request that was answered with 401 or 403."""

    status: int
    challenges: Sequence[str]  # the values of WWW-Authenticate
    exchange_id: int | None
    sent: str | None  # the Authorization that the authorizer gave it
    tries: int  # how often this request was sent again already
    nonce: str | None = None  # DPoP-Nonce


class Authorizer(Protocol):
    """Signs in to one server, for all connections to it."""

    # Called with True when a person has to act, and with False when that is over.
    on_person: Callable[[bool], None] | None

    def attach(self, publish: Publisher, clock: Clock) -> None:
        """Where the steps of a sign-in are published; before anything else is called."""

    async def make_ready(self) -> None:
        """A connection is about to be opened: restore an earlier sign-in, or sign in.

        Raises:
            InspectorError: the server wants a sign-in, and it failed.
        """

    def headers(
        self, method: str, url: object, body: bytes | None = None
    ) -> Mapping[str, str] | None:
        """What a request carries to be let in; None while nobody signed in.

        `url` is whatever has the address as its text.
        """

    async def refused(self, refusal: Refusal) -> bool:
        """Whether the request may be sent again, with new headers.

        Raises:
            InspectorError: the sign-in failed.
        """
