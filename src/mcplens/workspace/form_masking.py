"""Secrets in a server's entry: masked for a form, restored when the form is saved, named.

A mask is never written to a file: if its value is not known, the person has to type it again.
Called by config_files.py, server_import.py and the web UI.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from typing import Any, Final

from mcplens.config.files import invalid_fields
from mcplens.config.model import FieldProblem
from mcplens.config.placeholders import variables_of
from mcplens.protocol.secret_masking import is_secret_name, mask, mask_url
from mcplens.store.recorded_secrets import mask_argv, plain

_SECRET_KEYS: Final = ("env", "headers", "auth", "secretKeys")
# Where a name says whether its value is a secret.
_NAMED: Final = ("env", "headers")
# What `mask` makes, with any length in it.
_MASK: Final = re.compile(re.escape(mask("")).replace("0", r"\d+"))
# A credential as the whole value, or within one, such as headers written as JSON.
_SCHEME: Final = re.compile(r"(?:^|[\"':]\s*)(?:bearer|basic|digest)\s+\S", re.I)
_USER_INFO: Final = re.compile(r"://[^/@?#]+@")
_QUERY_NAME: Final = re.compile(r"[?&]([^=&#?]+)=[^&#]")


def mask_entry(raw: dict[str, Any], keys: Iterable[str] | None = None) -> dict[str, Any]:
    """The entry with its secrets masked; a placeholder is not a secret, it only names one.

    With the configured secret keys, variables and headers that are not secrets are left as they
    are; without, all of them are masked.
    """
    shown = {key: _masked(value) if key in _SECRET_KEYS else value for key, value in raw.items()}
    if keys is None:
        return shown
    names = frozenset(map(plain, keys))
    for key in _NAMED:
        if isinstance(raw.get(key), dict):
            shown[key] = {
                name: _masked(value) if _is_secret(name, value, names) else value
                for name, value in raw[key].items()
            }
    return shown


def secret_paths(raw: dict[str, Any], keys: Iterable[str]) -> list[tuple[str, str]]:
    """Where an entry has masked values: the key of the entry, and the name below it."""
    shown = mask_entry(raw, keys)
    return [
        (key, name)
        for key in _SECRET_KEYS
        for name, value in _members(raw.get(key))
        if isinstance(value, str) and shown[key][name] != value
    ]


def _is_secret(name: str, value: Any, names: frozenset[str]) -> bool:
    """Whether a variable or header is secret: by its name, or by credentials in its value."""
    if is_secret_name(name) or plain(name) in names:
        return True
    if not isinstance(value, str):
        return False
    if _SCHEME.search(value) or _USER_INFO.search(value):
        return True
    return "://" in value and any(map(is_secret_name, _QUERY_NAME.findall(value)))


def _masked(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _masked(item) for key, item in value.items()}
    if not isinstance(value, str) or not value or next(variables_of(value), None) is not None:
        return value
    return mask(value)


def unmask_entry(raw: Any, former: Any) -> Any:
    """The value from a form, with masks replaced by the former values."""
    if isinstance(raw, dict) and isinstance(former, dict):
        return {
            key: unmask_entry(value, _former(key, value, raw, former)) for key, value in raw.items()
        }
    if isinstance(raw, str) and isinstance(former, str) and raw == _masked(former):
        return former
    return raw


def take_saved(
    raw: dict[str, Any], former: dict[str, Any], saved: Mapping[str, Mapping[str, str]]
) -> dict[str, Any]:
    """The entry from a form with masks replaced where the form says whose they are.

    `saved` has the former name of each masked value, by the key of the entry and its name there:
    two secrets of one length have the same mask.
    """
    found = dict(raw)
    for key, names in saved.items():
        values, olds = raw.get(key), former.get(key)
        if not isinstance(values, dict) or not isinstance(olds, dict):
            continue
        found[key] = {
            name: unmask_entry(value, olds.get(names[name])) if name in names else value
            for name, value in values.items()
        }
    return found


def _former(key: str, value: Any, raw: dict[str, Any], former: dict[str, Any]) -> Any:
    """The former value of a key; for a new key, that of the only key that it can be renamed
    from."""
    if key in former or not _is_mask(value):
        return former.get(key)
    gone = {item for name, item in former.items() if name not in raw and isinstance(item, str)}
    candidates = [item for item in gone if _masked(item) == value]
    return candidates[0] if len(candidates) == 1 else None


def _is_mask(value: Any) -> bool:
    return isinstance(value, str) and _MASK.search(value) is not None


def reject_masks(value: Any, key: str = "") -> None:
    """Refuse a value that contains a mask: it would overwrite the secret.

    Raises:
        ConfigurationError: it contains one; the message and its `fields` name the key.
    """
    found = [
        FieldProblem(name, "this is the mask of a secret, not its value; type the value again")
        for name in _keys_of_masks(value, key)
    ]
    if found:
        raise invalid_fields(found)


def _keys_of_masks(value: Any, key: str) -> Iterator[str]:
    if _is_mask(value):
        yield key
    elif isinstance(value, dict):
        for name, item in value.items():
            yield from _keys_of_masks(item, f"{key}.{name}" if key else name)
    elif isinstance(value, list):
        for at, item in enumerate(value):
            yield from _keys_of_masks(item, f"{key}[{at}]")


def secret_names(raw: dict[str, Any], keys: Iterable[str] = ()) -> list[str]:
    """The values of an entry that look like secrets, as `key.name`; placeholders do not count."""
    names = frozenset(map(plain, keys))
    found = [
        f"{key}.{name}"
        for key in ("env", "headers", "auth")
        for name, value in _members(raw.get(key))
        if _is_literal(value) and _is_secret(name, value, names)
    ]
    args = raw.get("args")
    words = [word for word in args if isinstance(word, str)] if isinstance(args, list) else []
    options = [word.partition("=") for word in words if word.startswith("-")]
    options += [(one, "=", value) for one, value in pairwise(words) if _is_option(one, value)]
    found += [
        f"args {name}"
        for name, _, value in options
        if _is_literal(value) and (is_secret_name(name) or plain(name) in names)
    ]
    # Secrets within URLs and headers.
    others = [(f"args {word.partition('=')[0]}", word, mask_argv([word])[0]) for word in words]
    url = raw.get("url")
    others += [("url", url, mask_url(url))] if isinstance(url, str) else []
    found += [
        place if place.startswith("args -") else place.partition(" ")[0]
        for place, text, shown in others
        if _is_literal(text) and shown != text
    ]
    return list(dict.fromkeys(found))


def _members(value: Any) -> list[tuple[str, Any]]:
    return list(value.items()) if isinstance(value, dict) else []


def _is_option(word: str, following: str) -> bool:
    return word.startswith("-") and "=" not in word and not following.startswith("-")


def _is_literal(value: Any) -> bool:
    return isinstance(value, str) and bool(value) and next(variables_of(value), None) is None
