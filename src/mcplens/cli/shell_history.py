"""The history of `mcplens shell`: a file that only its owner can read, without secrets.

Lines are masked before they are written; within one session they are recalled as typed. Used by
shell.py and shell_prompt.py.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shlex
from collections.abc import Iterable, Mapping
from typing import Any, Final

from mcplens.known_secrets import known_secrets
from mcplens.protocol.secret_masking import is_secret_name, mask

# As `mask()` begins: a line with this is not run, since it would send the mask.
MASK_START: Final = "‹masked, "

_FILE_NAME: Final = "shell-history"
# What anybody searches; the file is cut to this when it has grown to twice as much.
_MOST_LINES: Final = 2_000
_MARK: Final = re.compile(r"([^=@{]+?)(:?=)(.*)", re.DOTALL)
_QUERY_VALUE: Final = re.compile(r"(?<=[?&])([^=&#?]+)=([^&#]+)")
_USER_INFO: Final = re.compile(r"(?<=://)[^/@?#]+(?=@)")
# Shorter values are found everywhere by chance.
_SHORTEST_VALUE: Final = 4


def history_path() -> str:
    """The file that all shells of this user share."""
    from mcplens.user_folders import current_state_folder

    return os.path.join(current_state_folder(), _FILE_NAME)


class SecretMask:
    """Masks what is secret in a line: by the names of arguments, and configured values."""

    def __init__(self, keys: Iterable[str] = (), values: Iterable[str] = ()) -> None:
        self._keys = frozenset(keys)
        self._values = [value for value in values if len(value) >= _SHORTEST_VALUE]

    def __repr__(self) -> str:
        return f"<SecretMask {len(self._keys)} keys, {len(self._values)} values>"

    @classmethod
    def of(cls, config: str | None, secrets: Mapping[str, Any]) -> SecretMask:
        """By the configuration's secret keys and a server's own, with the values it has of them."""
        from mcplens.config.secret_keys import find_secret_keys
        from mcplens.errors import InspectorError

        keys = set(secrets)
        with contextlib.suppress(InspectorError):  # told by the recording
            keys |= set(find_secret_keys(config))
        return cls(keys, [value for value in secrets.values() if isinstance(value, str)])

    def line(self, line: str) -> str | None:
        """The line without secrets; None if it cannot be told what is secret in it."""
        try:
            words = shlex.split(line)
        except ValueError:
            return None
        masked = [self._word(word) for word in words]
        return line if masked == words else shlex.join(masked)

    def _word(self, word: str) -> str:
        word = known_secrets.mask_text(word)
        for value in self._values:
            word = word.replace(value, mask(value))
        if (found := _MARK.fullmatch(word)) and MASK_START not in word:
            key, mark, text = found.groups()
            if text and self._is_secret(key):
                return f"{key}{mark}{mask(text)}"
            word = f"{key}{mark}{self._json(text)}"
        else:
            word = self._json(word)
        word = _USER_INFO.sub(lambda match: mask(match.group()), word)
        return _QUERY_VALUE.sub(
            lambda match: (
                f"{match[1]}={mask(match[2])}" if self._is_secret(match[1]) else match.group()
            ),
            word,
        )

    def _is_secret(self, name: str) -> bool:
        return name in self._keys or is_secret_name(name)

    def _json(self, text: str) -> str:
        """JSON with the values of secret members masked; other text as it is."""
        if text.lstrip()[:1] not in ("{", "["):
            return text
        try:
            value = json.loads(text)
        except ValueError:
            return text
        masked = self._value(value)
        return text if masked == value else json.dumps(masked, ensure_ascii=False)

    def _value(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self._value(item) for item in value]
        if not isinstance(value, dict):
            return value
        return {
            key: mask(item if isinstance(item, str) else json.dumps(item))
            if self._is_secret(key)
            else self._value(item)
            for key, item in value.items()
        }


class HistoryFile:
    """The lines of earlier shells, oldest first; a file that cannot be used is left alone."""

    def __init__(self, path: str, mask: SecretMask) -> None:
        self._path = path
        self._mask = mask

    def __repr__(self) -> str:
        return f"<HistoryFile {self._path!r}>"

    def lines(self) -> list[str]:
        """What earlier shells wrote; cut to what is worth keeping."""
        try:
            with open(self._path, encoding="utf-8", errors="replace") as file:
                lines = file.read().splitlines()
        except OSError:
            return []
        if len(lines) > 2 * _MOST_LINES:
            lines = lines[-_MOST_LINES:]
            self._write("".join(f"{line}\n" for line in lines), os.O_TRUNC)
        return lines

    def add(self, line: str) -> None:
        """Write a line, without what is secret in it."""
        masked = self._mask.line(line)
        if masked is not None:
            self._write(" ".join(masked.splitlines()) + "\n", os.O_APPEND)

    def _write(self, text: str, how: int) -> None:
        with contextlib.suppress(OSError):
            os.makedirs(os.path.dirname(self._path), mode=0o700, exist_ok=True)
            number = os.open(self._path, os.O_WRONLY | os.O_CREAT | how, 0o600)
            with open(number, "w", encoding="utf-8", errors="replace") as file:
                if hasattr(os, "fchmod"):
                    os.fchmod(number, 0o600)
                file.write(text)
