"""Masks secrets in a server's definitions by their names; those known by value are masked before.

In a schema the name of a property is not a secret, but its default, constant or examples are.
Called where a contract is made from a live server or a trace.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Final

from mcplens.contracts.contract import MASK, normalised
from mcplens.protocol.secret_masking import is_secret_option, is_secret_parameter

# Members whose own members are named by the server: schemas, not values.
_SCHEMAS_BY_NAME: Final = ("properties", "patternProperties", "$defs", "definitions")
# In the schema of a property, what may be its value.
_VALUES: Final = ("default", "const", "example", "examples", "enum")
_PARAMETER: Final = re.compile(r"(?<=[?&])([^=&#?\s]+)=([^&#\s]+)")
_USER_INFO: Final = re.compile(r"(?<=://)[^/@?#\s]+(?=@)")


def mask_definition(value: Any, keys: Iterable[str] = ()) -> Any:
    """A definition without secrets, its masks of one length.

    `keys` are the configured secret keys; names such as `api_key` count without being configured.
    """
    return _Masking(frozenset(map(_plain, keys))).masked(normalised(value))


class _Masking:
    """Masking by the names of one server's secrets."""

    def __init__(self, keys: frozenset[str]) -> None:
        self._keys = keys

    def __repr__(self) -> str:
        return f"<_Masking, {len(self._keys)} keys>"

    def masked(self, value: Any) -> Any:
        if isinstance(value, str):
            return _mask_urls(value) if "://" in value else value
        if isinstance(value, list):
            return [self.masked(item) for item in value]
        if not isinstance(value, dict):
            return value
        return {
            key: self._schemas(item) if key in _SCHEMAS_BY_NAME else self._member(key, item)
            for key, item in value.items()
        }

    def _member(self, key: str, value: Any) -> Any:
        if _plain(key) in self._keys:
            return _starred(value)
        if isinstance(value, str) and value and is_secret_option(key):
            return MASK
        return self.masked(value)

    def _schemas(self, schemas: Any) -> Any:
        if not isinstance(schemas, dict):
            return self.masked(schemas)
        return {name: self._schema(name, schema) for name, schema in schemas.items()}

    def _schema(self, name: str, schema: Any) -> Any:
        found = self.masked(schema)
        is_secret = _plain(name) in self._keys or is_secret_option(name)
        if not is_secret or not isinstance(found, dict):
            return found
        return {key: _starred(item) if key in _VALUES else item for key, item in found.items()}


def _starred(value: Any) -> Any:
    """A value in which every text and number is masked."""
    if isinstance(value, dict):
        return {key: _starred(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_starred(item) for item in value]
    is_telling = value not in ("", None) and not isinstance(value, bool)
    return MASK if is_telling else value


def _mask_urls(text: str) -> str:
    return _PARAMETER.sub(_mask_parameter, _USER_INFO.sub(MASK, text))


def _mask_parameter(match: re.Match[str]) -> str:
    name, value = match[1], match[2]
    is_template = "{" in value
    return f"{name}={MASK}" if is_secret_parameter(name) and not is_template else match[0]


def _plain(name: str) -> str:
    """As the recording compares secret keys: without case, dashes as underscores."""
    return name.lower().replace("-", "_")
