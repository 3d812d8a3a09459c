"""Arguments as they are saved: secrets as `${NAME}`, everything else literally.

What is secret: the value of a member that is named like a secret or declared so (`secretKeys`), and
a text that contains a secret that this process knows. Pure but for what is known.
"""

from __future__ import annotations

from typing import Any

import msgspec

from mcplens.collections.variables import escape
from mcplens.config.placeholders import variable_name
from mcplens.errors import InspectorError
from mcplens.known_secrets import known_secrets
from mcplens.protocol.secret_masking import is_secret_name
from mcplens.store.recorded_secrets import KeyMasker
from mcplens.store.recorded_secrets import plain as plain_name


class SavedArguments(msgspec.Struct, frozen=True):
    """Arguments with placeholders, and the values that those stand for; never written together."""

    arguments: Any
    values: dict[str, str]

    def __repr__(self) -> str:
        return f"<SavedArguments with {', '.join(self.values) or 'no'} secrets>"


def without_secrets(arguments: Any, keys: tuple[str, ...]) -> SavedArguments:
    """Arguments whose secrets became placeholders, by these secret keys of the server.

    Raises:
        InspectorError: a text cannot be written to a file.
    """
    saver = _Saver(KeyMasker(keys))
    return SavedArguments(saver.saved(arguments, "VALUE", is_secret=False), saver.values)


class _Saver:
    def __init__(self, masker: KeyMasker) -> None:
        self._masker = masker
        self.values: dict[str, str] = {}

    def __repr__(self) -> str:
        return f"<_Saver, {len(self.values)} secrets>"

    def saved(self, value: Any, name: str, *, is_secret: bool) -> Any:
        if isinstance(value, dict):
            return {
                key: self.saved(
                    item,
                    f"{name}_{key}" if is_secret else key,
                    is_secret=is_secret or self._is_secret(key, item),
                )
                for key, item in value.items()
            }
        if isinstance(value, list):
            return [self.saved(item, name, is_secret=is_secret) for item in value]
        if is_secret and isinstance(value, int | float) and not isinstance(value, bool):
            return self._placeholder(name, str(value))
        if not isinstance(value, str) or not value:
            return value
        if is_secret or self._holds_secret(value):
            return self._placeholder(name, value)
        return escape(value)

    def _is_secret(self, key: str, value: Any) -> bool:
        if plain_name(key) in self._masker.names:
            return True
        # A number under such a name is a count (maxTokens), not a secret.
        return is_secret_name(key) and not isinstance(value, int | float)

    def _holds_secret(self, text: str) -> bool:
        """Whether it contains a known secret, or is JSON with a secret member."""
        try:
            data = msgspec.json.encode(text)
        except UnicodeEncodeError:
            problem = "half a character (a lone surrogate) cannot be saved"
            raise InspectorError("INVALID_REQUEST", problem) from None
        return known_secrets.mask_text(text) != text or bool(self._masker.mask(data)[1])

    def _placeholder(self, name: str, value: str) -> str:
        """A variable for a value; one that stands for another value gets a number."""
        base = known = variable_name(name)
        number = 2
        while self.values.setdefault(known, value) != value:
            known = f"{base}_{number}"
            number += 1
        return f"${{{known}}}"
