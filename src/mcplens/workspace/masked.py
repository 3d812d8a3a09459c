"""Secrets of a server's entry: masked for a form, and put back when the form comes home.

Called by configured.py. A mask is never written: where the value behind one cannot be known, it
has to be typed again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from mcplens.config.files import invalid
from mcplens.config.placeholders import variables_of
from mcplens.protocol.masking import mask

_SECRET_KEYS: Final = ("env", "headers", "auth")
# What `mask` makes, with any length in it.
_MASK: Final = re.compile(re.escape(mask("")).replace("0", r"\d+"))


def masked_raw(raw: dict[str, Any]) -> dict[str, Any]:
    """An entry whose secrets are masked; placeholders are none, they only name one."""
    return {key: _masked(value) if key in _SECRET_KEYS else value for key, value in raw.items()}


def _masked(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _masked(item) for key, item in value.items()}
    if not isinstance(value, str) or not value or next(variables_of(value), None) is not None:
        return value
    return mask(value)


def unmasked(raw: Any, former: Any) -> Any:
    """What came back from a form, with masked values as they were."""
    if isinstance(raw, dict) and isinstance(former, dict):
        return {
            key: unmasked(value, _former(key, value, raw, former)) for key, value in raw.items()
        }
    if isinstance(raw, str) and isinstance(former, str) and raw == _masked(former):
        return former
    return raw


def _former(key: str, value: Any, raw: dict[str, Any], former: dict[str, Any]) -> Any:
    """What stood under this key; for a new one, what stood under the only name that it can have
    been renamed from."""
    if key in former or not _is_mask(value):
        return former.get(key)
    gone = {item for name, item in former.items() if name not in raw and isinstance(item, str)}
    candidates = [item for item in gone if _masked(item) == value]
    return candidates[0] if len(candidates) == 1 else None


def _is_mask(value: Any) -> bool:
    return isinstance(value, str) and _MASK.search(value) is not None


def refuse_masks(value: Any, key: str = "") -> None:
    """A mask in place of a secret would be the end of the secret.

    Raises:
        ConfigurationError: there is one; it names the key.
    """
    for name in _keys_of_masks(value, key):
        text = f"{name}: this is the mask of a secret, not its value; type the value again"
        raise invalid(text, key=name)


def _keys_of_masks(value: Any, key: str) -> Iterator[str]:
    if _is_mask(value):
        yield key
    elif isinstance(value, dict):
        for name, item in value.items():
            yield from _keys_of_masks(item, f"{key}.{name}" if key else name)
    elif isinstance(value, list):
        for at, item in enumerate(value):
            yield from _keys_of_masks(item, f"{key}[{at}]")
