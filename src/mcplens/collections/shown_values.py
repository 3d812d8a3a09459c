"""Values of a server as they may be written to a report or a snapshot: without secrets.

What is secret: the value of a member that is named like a secret or declared so (`secretKeys`), at
any depth and in JSON within a text, and every text that this process knows as a secret. Each one
becomes the same mask, whatever its length, so that snapshots can be compared. Called by the tests,
by "Save as test" and by reports.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

import msgspec

from mcplens.known_secrets import known_secrets
from mcplens.protocol.secret_masking import is_secret_name, is_secret_option
from mcplens.store.recorded_secrets import plain as plain_name

MASK: Final = "‹masked›"
# The members of `_meta` that the specification names; they say nothing about one call.
_ENVELOPE: Final = "io.modelcontextprotocol/"
# JSON within a text is looked into up to this size, and this deep.
_LARGEST_TEXT: Final = 256 * 1024
_DEEPEST: Final = 60


class ValueMasker:
    """Masks the values of one server, by its secret keys."""

    def __init__(self, keys: Iterable[str] = ()) -> None:
        self._names = frozenset(plain_name(key) for key in keys)

    def __repr__(self) -> str:
        return f"<ValueMasker of {len(self._names)} keys>"

    def learn(self, value: Any) -> None:
        """Know the secrets of a value from now on, also where they come back without their key."""
        known_secrets.learn_from_traffic(*self._secrets_in(value, is_secret=False, depth=0))

    def masked(self, value: Any, *, is_secret: bool = False) -> Any:
        """A copy of a value without its secrets."""
        return self._masked(value, is_secret, 0)

    def text(self, text: str) -> str:
        """A text without secrets."""
        masked = self._masked(text, False, 0)
        return masked if isinstance(masked, str) else text

    def is_secret_key(self, key: Any, value: Any = "") -> bool:
        if not isinstance(key, str):
            return False
        if plain_name(key) in self._names:
            return True
        # A number under such a name is a count (maxTokens), not a secret.
        is_text = not isinstance(value, int | float) and value is not None
        return is_text and (is_secret_name(key) and is_secret_option(key))

    def _masked(self, value: Any, is_secret: bool, depth: int) -> Any:
        if depth > _DEEPEST:
            return "…"
        if isinstance(value, dict):
            return {
                key: self._masked(one, is_secret or self.is_secret_key(key, one), depth + 1)
                for key, one in value.items()
            }
        if isinstance(value, list):
            return [self._masked(one, is_secret, depth + 1) for one in value]
        if isinstance(value, bool) or value is None:
            return value
        if is_secret:
            return MASK
        return self._text(value, depth) if isinstance(value, str) else value

    def _text(self, text: str, depth: int) -> str:
        inner = _json_in(text)
        if inner is not None:
            masked = self._masked(inner, False, depth + 1)
            if masked != inner:
                return msgspec.json.encode(masked).decode()
        found = known_secrets.mask_text(text)
        return text if found == text else _one_mask(found)

    def _secrets_in(self, value: Any, *, is_secret: bool, depth: int) -> Iterator[str]:
        if depth > _DEEPEST:
            return
        if isinstance(value, dict):
            for key, one in value.items():
                inside = is_secret or self.is_secret_key(key, one)
                yield from self._secrets_in(one, is_secret=inside, depth=depth + 1)
        elif isinstance(value, list):
            for one in value:
                yield from self._secrets_in(one, is_secret=is_secret, depth=depth + 1)
        elif isinstance(value, str) and is_secret:
            yield value
        elif isinstance(value, str) and (inner := _json_in(value)) is not None:
            yield from self._secrets_in(inner, is_secret=False, depth=depth + 1)


def without_envelope(message: Any, *, is_marked: bool = False) -> Any:
    """A message or a result without the `_meta` that 2026-07-28 puts into every one.

    Marked, `_meta` says how many members were left out.
    """
    if isinstance(message, list):
        return [without_envelope(one, is_marked=is_marked) for one in message]
    if not isinstance(message, dict):
        return message
    found = dict(message)
    for key in ("params", "result"):
        if key in found:
            found[key] = without_envelope(found[key], is_marked=is_marked)
    meta = found.get("_meta")
    if isinstance(meta, dict):
        kept = {key: one for key, one in meta.items() if not key.startswith(_ENVELOPE)}
        if is_marked and len(kept) < len(meta):
            kept["…"] = f"{len(meta) - len(kept)} not shown"
        found.pop("_meta")
        found |= {"_meta": kept} if kept else {}
    return found


def _json_in(text: str) -> Any:
    """The object or list that a text is, as tools write it for a model; None if it is neither."""
    if len(text) > _LARGEST_TEXT or text.lstrip()[:1] not in ("{", "["):
        return None
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return None


def _one_mask(text: str) -> str:
    """The masks of known secrets say how long those are; a snapshot must not change with that."""
    import re

    return re.sub(r"‹masked[^›]*›|\*{3,}", MASK, text)
