"""Finds the known names that a mistyped one may have meant; none if nothing is near.

Used by every message that says "did you mean".
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

# One letter wrong in a word of four is near; `note` for `nosuch` is not.
_NEAR: Final = 0.7


def near_names(text: str, names: Iterable[str], most: int = 3) -> list[str]:
    """The nearest names, best first, whatever their case."""
    from difflib import get_close_matches

    lower = {name.lower(): name for name in reversed(list(names))}
    return [lower[one] for one in get_close_matches(text.lower(), lower, n=most, cutoff=_NEAR)]
