"""Compares what came with what is expected, and says where they differ. Pure.

Partly: an object must have the members that are expected, others may be there; an array has the
same length and order. Exactly: nothing else may be there. Numbers are equal by value (5 and 5.0),
but true is never 1.
"""

from __future__ import annotations

import re
from typing import Any, Final

import msgspec

from mcplens.collections.shown_values import MASK, ValueMasker
from mcplens.protocol.json_comparison import MISSING, Path
from mcplens.protocol.json_comparison import differences as compare

# A value in a message.
_SHOWN: Final = 300
# Differences that are told; a result that differs everywhere is told soon.
_MOST: Final = 10


class Difference(msgspec.Struct, frozen=True):
    """Where two values differ: the path to it, and what is told."""

    path: Path
    expected: Any = msgspec.UNSET
    actual: Any = msgspec.UNSET
    note: str = ""

    def told(self, masker: ValueMasker) -> str:
        """A sentence without secrets."""
        is_secret = any(masker.is_secret_key(part) for part in self.path)
        place = path_text(self.path)
        if self.note:
            return f"{place}: {self.note}"
        if self.actual is msgspec.UNSET:
            return f"{place}: expected {shown(self.expected, masker, is_secret)}, nothing is there"
        if self.expected is msgspec.UNSET:
            return f"{place}: {shown(self.actual, masker, is_secret)} was not expected"
        wanted = shown(self.expected, masker, is_secret)
        return f"{place}: expected {wanted}, got {shown(self.actual, masker, is_secret)}"


def shown(value: Any, masker: ValueMasker, is_secret: bool = False) -> str:
    """A value as JSON in a message, without secrets."""
    if is_secret and isinstance(value, str | int | float) and not isinstance(value, bool):
        return MASK
    masked = masker.masked(value, is_secret=is_secret)
    try:
        text = msgspec.json.encode(masked).decode()
    except (TypeError, UnicodeEncodeError, RecursionError):
        text = repr(masked)
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "…"


def path_text(path: Path) -> str:
    joined = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)
    return joined.removeprefix(".")


def differences(
    expected: Any, actual: Any, path: Path = (), *, is_exact: bool = False
) -> list[Difference]:
    """The first few places where a value is not as expected."""
    found: list[Difference] = []
    for one in compare(expected, actual, path, is_partial=not is_exact, lists="paired"):
        found.append(_told(*one))
        if len(found) == _MOST:
            found.append(Difference(path, note="and more differences"))
            break
    return found


def _told(path: Path, wanted: Any, came: Any) -> Difference:
    if isinstance(wanted, list) and isinstance(came, list):
        return Difference(path, note=f"expected {_count(wanted)}, got {_count(came)}")
    expected, actual = (msgspec.UNSET if one is MISSING else one for one in (wanted, came))
    return Difference(path, expected, actual)


def _count(items: list[Any]) -> str:
    return "1 item" if len(items) == 1 else f"{len(items)} items"


def text_problems(expected: Any, text: str, masker: ValueMasker) -> list[str]:
    """What a text lacks: a text, several, or a mapping with `contains` and `matches`."""
    wanted = expected if isinstance(expected, dict) else {"contains": expected}
    found = []
    for part in _listed(wanted.get("contains", [])):
        if str(part) not in text:
            found.append(f"the text does not contain {shown(part, masker)}")
    for pattern in _listed(wanted.get("matches", [])):
        if re.search(str(pattern), text) is None:
            found.append(f"the text does not match {shown(pattern, masker)}")
    if found:
        found.append(f"the text is {shown(text, masker)}")
    return found


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]
