"""Which names belong to secrets, and masking by these names; the length stays visible.

The transports call it before an HTTP exchange becomes an event. Secrets that come back somewhere
else are found by their values (known_secrets.py).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Final

_SECRET_NAME: Final = re.compile(
    r"authorization|cookie|token|secret|password|api-?key|session-id|credential|signature"
    r"|(?:^|-)(?:auth|jwt|pass|passwd|pwd)(?:-|$)|(?<!websocket)-key$",
    re.I,
)
# Options and variables that only have a secret's name in theirs: where it is, how many, whether.
_ABOUT_A_SECRET: Final = (
    r"^-*(?:no|without|skip|disable|enable|use|allow|max|min)-|tokens$"
    r"|-(?:file|path|dir|folder|url|uri|endpoint|host|name|limit|count|size|length|ttl|timeout"
    r"|expiry|env|type|mode|method|header|helper|server)$"
)
# It only names a secret.
_PLACEHOLDER: Final = "${"
_WORDS: Final = r"(?<=[a-z0-9])(?=[A-Z])"
_PARAMETERS: Final = frozenset({"key", "sig", "code"})
# Names contain no ?: otherwise the search would be quadratic in their number.
_QUERY_VALUE: Final = re.compile(r"(?<=[?&])([^=&#?]+)=([^&#]+)")
_USER_INFO: Final = re.compile(r"(?<=://)[^/@?#]+(?=@)")


def mask(value: str) -> str:
    """A masked secret."""
    return f"‹masked, {len(value)} characters›"


def is_secret_name(name: str) -> bool:
    """Whether the value of this name must not be shown."""
    return _SECRET_NAME.search(name.replace("_", "-")) is not None


def is_secret_option(name: str) -> bool:
    """Whether an option, a variable or a key of this name has a secret as its value."""
    # Compiled when needed, and kept by re: most runs need neither.
    plain = re.sub(_WORDS, "-", name).replace("_", "-").lstrip("-")
    return is_secret_name(plain) and re.search(_ABOUT_A_SECRET, plain, re.I) is None


def is_secret_parameter(name: str) -> bool:
    """Whether a parameter in the query of a URL is a secret."""
    return name.lower() in _PARAMETERS or is_secret_name(name)


def option_values(argv: Sequence[str]) -> Iterator[tuple[int, str]]:
    """The values of options and variables that are named like secrets (`--token X`, `--token=X`,
    `-e TOKEN=X`), each with the position of its word."""
    is_value = False
    for at, word in enumerate(argv):
        if is_value and not word.startswith("-"):
            is_value = False
            if _PLACEHOLDER not in word:
                yield at, word
            continue
        name, equals, value = word.partition("=")
        is_option = at > 0 and (word.startswith("-") or (bool(equals) and name.isidentifier()))
        is_secret = is_option and is_secret_option(name)
        if is_secret and value and _PLACEHOLDER not in value:
            yield at, value
        is_value = is_secret and not equals


def mask_headers(headers: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Headers in their order, with what is secret in their values masked."""
    shown = []
    for name, value in headers:
        masker = _masker(name)
        shown.append((name, value if masker is None else masker(value)))
    return shown


@lru_cache(maxsize=1024)  # the same few names come with every exchange
def _masker(name: str) -> Callable[[str], str] | None:
    if is_secret_name(name):
        return mask
    return mask_url if name.lower() in ("location", "referer") else None


def mask_url(url: str) -> str:
    """A URL without user info and without the values of its query."""
    url = _USER_INFO.sub(lambda match: mask(match.group()), url)
    if "?" not in url:
        return url
    return _QUERY_VALUE.sub(lambda match: f"{match.group(1)}={mask(match.group(2))}", url)
