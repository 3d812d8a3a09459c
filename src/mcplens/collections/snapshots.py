"""Snapshots: the results that tests had, in `NAME.mcp.snap.json` beside their file.

A result is written without secrets and without what differs from run to run: the rules below, and
the JSONPaths that a test ignores. Compared in the same form. Blocking; called by the tests and by
"Save as test".
"""

from __future__ import annotations

import contextlib
import copy
import hashlib
import os
import re
from collections.abc import Iterator, Sequence
from importlib import import_module
from types import ModuleType
from typing import Any, Final

import msgspec

from mcplens.collections.folder import SUFFIX
from mcplens.collections.json_paths import parts_at
from mcplens.collections.shown_values import ValueMasker, without_envelope
from mcplens.config.files import invalid, read_text, replace_text
from mcplens.errors import ConfigurationError

fcntl: ModuleType | None
try:
    fcntl = import_module("fcntl")
except ImportError:  # Windows
    fcntl = None

SNAPSHOT_SUFFIX: Final = ".mcp.snap.json"
FORMAT: Final = "mcplens-snapshots"
VERSION: Final = 1
IGNORED: Final = "‹ignored›"
_LONGEST_TEXT: Final = 4_000
# What differs from run to run in any text: the name of the rule, and what it replaces.
RULES: Final[tuple[tuple[str, re.Pattern[str]], ...]] = (
    ("uuid", re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b", re.I)),
    (
        "time",
        re.compile(
            r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?(?![\w:])"
        ),
    ),
    # Seconds since 1970 with a fraction; without one it may be any number.
    ("time", re.compile(r"(?<![\w.])1[4-9]\d{8}\.\d+(?![\w.])")),
    ("port", re.compile(r"(?<=\b127\.0\.0\.1:)\d{2,5}\b|(?<=\blocalhost:)\d{2,5}\b")),
    ("address", re.compile(r"\b0x[0-9a-f]{6,16}\b", re.I)),
)
# Members whose values belong to one run, wherever they are (specification: tasks, `_meta`).
_VOLATILE_KEYS: Final = frozenset({"createdAt", "lastUpdatedAt", "taskId", "progressToken"})


def snapshot_path(path: str) -> str:
    """The file with the snapshots of a test file."""
    return path.removesuffix(SUFFIX) + SNAPSHOT_SUFFIX


def comparable(result: Any, masker: ValueMasker, ignore: Sequence[str] = ()) -> Any:
    """A result as a snapshot has it: secrets masked, what is volatile replaced by its rule."""
    value = copy.deepcopy(result)
    for path in ignore:
        for parts in parts_at(path, result):
            value = _replaced(value, parts)
    value = without_envelope(value)
    if isinstance(value, dict) and value.get("resultType") == "complete":
        del value["resultType"]  # so that a snapshot is the same in all revisions
    return _steady(masker.masked(value))


def _replaced(value: Any, parts: tuple[str | int, ...]) -> Any:
    if not parts:
        return IGNORED
    holder = value
    for part in parts[:-1]:
        if not isinstance(holder, dict | list):  # a path before it was ignored already
            return value
        holder = holder[part]  # type: ignore[index]
    if isinstance(holder, dict | list):
        holder[parts[-1]] = IGNORED  # type: ignore[index]
    return value


def _steady(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            key: f"‹{key}›" if key in _VOLATILE_KEYS else _steady(one) for key, one in value.items()
        }
    if isinstance(value, list):
        return [_steady(one) for one in value]
    if isinstance(value, float) and _is_time(value):
        return "‹time›"
    if not isinstance(value, str):
        return value
    for name, pattern in RULES:
        value = pattern.sub(f"‹{name}›", value)
    return value if len(value) <= _LONGEST_TEXT else _short(value)


def _is_time(value: float) -> bool:
    """Whether a number is a time of these years: seconds since 1970 with a fraction."""
    return 1.4e9 <= value < 2e9 and not value.is_integer()


def _short(text: str) -> str:
    """A picture or a book, by its digest: a snapshot is read by people."""
    digest = hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()
    return f"‹{len(text)} characters, SHA-256 {digest[:16]}›"


class Snapshots:
    """The snapshots of one test file, by the name of the test."""

    def __init__(self, path: str) -> None:
        self.path = snapshot_path(path)
        self._known = _read(self.path)
        self._new: dict[str, Any] = {}
        self._gone: set[str] = set()

    def __repr__(self) -> str:
        return f"<Snapshots {self.path}: {len(self._known)}, {len(self._new)} new>"

    def __contains__(self, name: str) -> bool:
        return name in self._known

    def get(self, name: str) -> Any:
        return self._known[name]

    def put(self, name: str, value: Any) -> bool:
        """Have this snapshot from now on; whether that is a change."""
        is_change = name not in self._known or self._known[name] != value
        if is_change:
            self._known[name] = self._new[name] = value
            self._gone.discard(name)
        return is_change

    def move(self, name: str, new_name: str) -> None:
        """Follow a test that was renamed."""
        if name in self._known and name != new_name:
            value = self._known[name]
            self.drop(name)
            self.put(new_name, value)

    def drop(self, name: str) -> None:
        """Forget the snapshot of a test that is gone."""
        if name in self._known:
            del self._known[name]
            self._new.pop(name, None)
            self._gone.add(name)

    def write(self, names: Sequence[str] | None = None) -> bool:
        """Write the file if anything changed, with the snapshots of these tests only; whether it
        was. What another process wrote in the meantime stays.

        Raises:
            ConfigurationError: it cannot be written.
        """
        is_kept = self._known.keys() <= set(self._known if names is None else names)
        if is_kept and not self._new and not self._gone:
            return False
        with locked_folder(self.path):
            known = _read(self.path) | self._new
            self._known = {
                name: value
                for name, value in known.items()
                if name not in self._gone and (names is None or name in names)
            }
            content = {"format": FORMAT, "version": VERSION, "snapshots": self._known}
            data = msgspec.json.encode(content, order="sorted")
            replace_text(self.path, msgspec.json.format(data, indent=2).decode() + "\n")
        self._new.clear()
        self._gone.clear()
        return True


@contextlib.contextmanager
def locked_folder(path: str) -> Iterator[None]:
    """Change a file alone, by a lock on its folder: a file of its own for that would be left."""
    descriptor = -1
    try:
        with contextlib.suppress(OSError):  # a file system without locks
            if fcntl is not None:
                descriptor = os.open(os.path.dirname(os.path.realpath(path)), os.O_RDONLY)
                fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        if descriptor >= 0:
            os.close(descriptor)  # which frees the lock


def _read(path: str) -> dict[str, Any]:
    if not os.path.exists(path):
        return {}
    try:
        content = msgspec.json.decode(read_text(path))
    except (msgspec.DecodeError, ConfigurationError) as problem:
        raise invalid(f"{path} cannot be read: {problem}", file=path) from None
    is_ours = isinstance(content, dict) and content.get("format") == FORMAT
    if not is_ours or content.get("version") != VERSION:
        text = f"{path} is not a file of snapshots of version {VERSION}"
        raise invalid(text, file=path)
    snapshots = content.get("snapshots")
    return dict(snapshots) if isinstance(snapshots, dict) else {}
