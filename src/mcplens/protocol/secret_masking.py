"""Masks secrets in HTTP exchanges that are shown or recorded; the length stays visible.

Called by the transports before an exchange becomes an event.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Final

_SECRET_NAME: Final = re.compile(
    r"authorization|cookie|token|secret|password|api-?key|session-id|credential|signature"
    r"|(?:^|-)(?:auth|jwt|pass|passwd|pwd)(?:-|$)|(?<!websocket)-key$",
    re.I,
)
# Names contain no ?: otherwise the search would be quadratic in their number.
_QUERY_VALUE: Final = re.compile(r"(?<=[?&])([^=&#?]+)=([^&#]+)")
_USER_INFO: Final = re.compile(r"(?<=://)[^/@?#]+(?=@)")


def mask(value: str) -> str:
    """A masked secret."""
    return f"‹masked, {len(value)} characters›"


def is_secret_name(name: str) -> bool:
    """Whether the value of this name must not be shown."""
    return _SECRET_NAME.search(name.replace("_", "-")) is not None


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
