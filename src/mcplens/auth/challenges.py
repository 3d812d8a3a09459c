"""Challenges of the header WWW-Authenticate (RFC 9110, 11.6.1), parsed.

Pure. Called by the authorizer when a server answered 401 or 403.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

import msgspec

from mcplens.auth.addresses import protected_resource_places

# A scheme, or one parameter; a header is a list of these, separated by commas.
_PART: Final = re.compile(
    r"""[\s,]*(?:
        (?P<name>[\w!#$%&'*+.^`|~-]+)\s*=\s*(?:"(?P<quoted>(?:[^"\\]|\\.)*)"|(?P<plain>[^\s,"]*))
      | (?P<scheme>[\w!#$%&'*+.^`|~-]+)(?=\s|,|$)
      | (?P<other>[^,]+)
    )""",
    re.VERBOSE,
)
_MAX_CHARACTERS: Final = 16 * 1024
_SCHEMES: Final = ("bearer", "dpop")


class Challenge(msgspec.Struct, frozen=True):
    """What a server asks for: the scheme in lower case, and its parameters."""

    scheme: str
    parameters: dict[str, str] = {}

    @property
    def resource_metadata(self) -> str | None:
        return self.parameters.get("resource_metadata") or None

    @property
    def scopes(self) -> tuple[str, ...]:
        return tuple(self.parameters.get("scope", "").split())

    @property
    def error(self) -> str | None:
        return self.parameters.get("error") or None


def parse_challenges(values: Iterable[str]) -> list[Challenge]:
    """All challenges in the values of WWW-Authenticate headers; what makes no sense is skipped."""
    found: list[Challenge] = []
    for value in values:
        for part in _PART.finditer(value[:_MAX_CHARACTERS]):
            if part["scheme"]:
                found.append(Challenge(part["scheme"].lower(), {}))
            elif part["name"] and found:
                quoted = part["quoted"]
                text = part["plain"] if quoted is None else re.sub(r"\\(.)", r"\1", quoted)
                found[-1].parameters.setdefault(part["name"].lower(), text)
    return found


def bearer_challenge(values: Iterable[str]) -> Challenge | None:
    """The challenge that OAuth can answer; the one with most to say, if there are several."""
    challenges = [one for one in parse_challenges(values) if one.scheme in _SCHEMES]
    return max(challenges, key=lambda one: len(one.parameters), default=None)


def says_more(
    challenge: Challenge | None,
    before: Challenge | None,
    server_url: str,
    requested: tuple[str, ...],
) -> bool:
    """Whether a challenge says what a sign-in could not know: other metadata, or more scopes."""
    if challenge is None:
        return False
    known = [None, *protected_resource_places(server_url)]
    known += [] if before is None else [before.resource_metadata]
    return challenge.resource_metadata not in known or not set(challenge.scopes) <= set(requested)
