"""Two answers to the same call, compared: what counts of them, and where they differ. Pure.

Called by verification.py. A masked value of the recording equals every value of its kind.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import msgspec

from mcplens.contracts.pointers import join
from mcplens.mocking.params_matching import MaskedValue, shown
from mcplens.protocol.json_comparison import MISSING
from mcplens.protocol.json_comparison import differences as compare

# Hints for caching, and what only means something to the server that gave it.
_LEFT_OUT: Final = ("ttlMs", "cacheScope")
OPAQUE: Final = ("requestState", "nextCursor")
_MASKED: Final = "‹masked›"


class Difference(msgspec.Struct, frozen=True):
    """Where two answers differ, and both as text."""

    pointer: str
    recorded: str
    live: str


def is_plain(value: Any) -> bool:
    """Whether nothing in a value is masked."""
    if isinstance(value, dict):
        return all(map(is_plain, value.values()))
    if isinstance(value, list):
        return all(map(is_plain, value))
    return not isinstance(value, MaskedValue)


def compared_parts(recorded: Any, live: Any) -> tuple[Any, Any]:
    """What is compared of two answers; masked values become equal if they are of one kind."""
    bodies = []
    for message in (recorded, live):
        if isinstance(message.get("error"), dict):
            error = message["error"]
            bodies.append({"error": {name: error.get(name) for name in ("code", "message")}})
            continue
        result = message.get("result")
        if isinstance(result, dict):
            result = {name: item for name, item in result.items() if name not in _LEFT_OUT}
            for name in OPAQUE:
                if result.get(name) is not None:
                    result[name] = f"‹{name}›"
        bodies.append(result)
    return _levelled(*bodies)


def _levelled(recorded: Any, live: Any) -> tuple[Any, Any]:
    if isinstance(recorded, MaskedValue):
        return (_MASKED, _MASKED if recorded.matches(live) else live)
    if isinstance(recorded, dict) and isinstance(live, dict):
        pairs = {key: _levelled(recorded[key], live[key]) for key in recorded if key in live}
        before = {key: pairs[key][0] if key in pairs else item for key, item in recorded.items()}
        now = {key: pairs[key][1] if key in pairs else item for key, item in live.items()}
        return _without_masks(before), now
    if isinstance(recorded, list) and isinstance(live, list):
        both = [_levelled(*pair) for pair in zip(recorded, live, strict=False)]
        before_items = [pair[0] for pair in both] + recorded[len(both) :]
        return _without_masks(before_items), [pair[1] for pair in both] + live[len(both) :]
    return _without_masks(recorded), live


def _without_masks(value: Any) -> Any:
    if isinstance(value, MaskedValue):
        return _MASKED
    if isinstance(value, dict):
        return {key: _without_masks(item) for key, item in value.items()}
    return [_without_masks(item) for item in value] if isinstance(value, list) else value


def differences(recorded: Any, live: Any) -> Iterator[Difference]:
    """Where two answers differ."""
    for path, before, now in compare(recorded, live, lists="named"):
        yield Difference(join("", *path), _shown(before), _shown(now))


def _shown(value: Any) -> str:
    return "nothing" if value is MISSING else shown(value)
