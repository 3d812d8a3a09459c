"""The results that saved calls had when they were saved, in the user's state folder.

They are no part of the file of a collection, which is written to be shared. Large ones are not
kept. Blocking, as folder.py.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any, Final

import msgspec

from mcplens.config.environment import Environment, user_state_folder
from mcplens.config.files import write_text

LARGEST: Final = 16 * 1024
_MOST: Final = 1_000
_FILE_NAME: Final = "collection-results.json"


class KeptResult(msgspec.Struct, frozen=True):
    """When a call was saved, and what it gave; None if that was large."""

    saved: float
    result: Any = None


class KeptResults:
    """Results by the path of a file and the name of a step, the newest last."""

    def __init__(self, here: Environment) -> None:
        self._path = here.join(user_state_folder(here), _FILE_NAME)
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        return f"<KeptResults in {self._path}>"

    def all(self) -> dict[str, KeptResult]:
        try:
            with open(self._path, "rb") as file:
                return msgspec.json.decode(file.read(), type=dict[str, KeptResult])
        except (OSError, msgspec.DecodeError):
            return {}

    def keep(self, path: str, name: str, result: KeptResult) -> None:
        self._change({key_of(path, name): result})

    def move(self, path: str, name: str, new_path: str, new_name: str | None = None) -> None:
        """Follow a step that was renamed, or its file."""
        former = self.all().get(key_of(path, name))
        if former is not None:
            key = key_of(new_path, name if new_name is None else new_name)
            self._change({key_of(path, name): None, key: former})

    def forget(self, path: str, name: str) -> None:
        self._change({key_of(path, name): None})

    def keep_all(self, results: dict[str, KeptResult]) -> None:
        self._change(results)

    def _change(self, changes: Mapping[str, KeptResult | None]) -> None:
        with self._lock:
            known: dict[str, KeptResult | None] = {**self.all(), **changes}
            kept = {key: value for key, value in known.items() if value is not None}
            if kept == self.all():
                return
            kept = dict(list(kept.items())[-_MOST:])
            text = msgspec.json.format(msgspec.json.encode(kept), indent=2).decode() + "\n"
            write_text(self._path, text, is_private=True)


def key_of(path: str, name: str) -> str:
    return f"{path}\n{name}"
