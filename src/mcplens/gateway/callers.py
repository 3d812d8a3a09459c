"""Pure: who calls, as an id that sessions are bound to, and as words for audit lines and screens.

An id tells apart the gateway's own token, the tokens of views, named tokens and users of an issuer.
It holds no secret. Written by access.py; read wherever a caller is named.
"""

from __future__ import annotations

import hashlib
from functools import lru_cache
from typing import Final

ANONYMOUS: Final = ""
_NAMED: Final = "token "
_USER: Final = "user "
_OWN: Final = "gateway "
_OF_VIEW: Final = "view "
_REPLICA: Final = "replica "


@lru_cache(maxsize=64)  # only of tokens that are valid here
def _digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()[:16]


def of_gateway_token(token: str) -> str:
    """Who has the gateway's own token."""
    return _OWN + _digest(token)


def of_view_token(token: str) -> str:
    """Who has the token of a view."""
    return _OF_VIEW + _digest(token)


def of_named_token(name: str) -> str:
    """Who has a token with a name; another token under the same name is the same caller."""
    return _NAMED + name


def of_user(issuer: str, subject: str) -> str:
    """A user of an identity provider."""
    return f"{_USER}{issuer} {subject}"


def of_replica(name: str) -> str:
    """Another replica of this gateway, for clients of its own."""
    return _REPLICA + name


def is_replica(caller: str) -> bool:
    return caller.startswith(_REPLICA)


def is_user(caller: str) -> bool:
    """Whether the caller is one person of an identity provider, or has a token of their own."""
    return caller.startswith((_USER, _NAMED))


@lru_cache(maxsize=256)  # asked with each call
def name_of(caller: str) -> str:
    """The caller in words that people know them by; "" if anonymous."""
    if caller.startswith(_NAMED):
        return caller.removeprefix(_NAMED)
    if caller.startswith(_USER):
        return caller.removeprefix(_USER).partition(" ")[2]
    if caller.startswith(_REPLICA):
        return f"the replica {caller.removeprefix(_REPLICA)}"
    if caller.startswith(_OWN):
        return "the gateway's token"
    return "the view's token" if caller.startswith(_OF_VIEW) else ""
