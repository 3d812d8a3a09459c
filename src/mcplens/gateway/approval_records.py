"""Where approvals are kept: what was approved, and what waits for it, for all who look after it.

Two documents of definitions. In the state folder (here) they are files that only their owner can
read, one folder for each configuration; in a shared store see approval_store.py. Used by
approvals.py of a running gateway, and by the command `gateway approve`.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Iterable
from typing import Final, Literal

from mcplens.auth.file_lock import FileLock
from mcplens.clock import Clock
from mcplens.config.files import write_text
from mcplens.config.model import Configuration
from mcplens.errors import ConfigurationError
from mcplens.gateway.pinned_definitions import (
    InvalidDefinitions,
    PinnedDefinition,
    decode_definitions,
    encode_definitions,
)

FOLDER: Final = "approvals"
# Far more than it takes to write a file.
_LOCK_S: Final = 5.0
# An approval is in force within a second, for one look at the file.
_LOOK_S: Final = 0.4

DocumentName = Literal["approved", "waiting"]
Definitions = tuple[PinnedDefinition, ...]
# The definitions of a document, from those that it has; the same object changes nothing.
Edit = Callable[[Definitions], Definitions]


class ApprovalRecords(ABC):
    """The two documents. Each operation raises InspectorError when it cannot be done."""

    place: str  # for people

    def __repr__(self) -> str:
        return f"<{type(self).__name__} in {self.place}>"

    @abstractmethod
    async def read(self, name: DocumentName) -> Definitions: ...

    @abstractmethod
    async def update(self, name: DocumentName, edit: Edit) -> Definitions:
        """Change a document; nobody else changes it meanwhile."""

    @abstractmethod
    def approvals_changed(self) -> AsyncIterator[None]:
        """Yields at once, and whenever other definitions may have been approved."""


class FileRecords(ApprovalRecords):
    """Documents in a folder of the user's."""

    def __init__(self, folder: str, clock: Clock) -> None:
        self.place = folder
        self._clock = clock

    async def read(self, name: DocumentName) -> Definitions:
        return await asyncio.to_thread(self._read, name)

    async def update(self, name: DocumentName, edit: Edit) -> Definitions:
        self._make_folder()
        async with FileLock(os.path.join(self.place, "lock"), self._clock, _LOCK_S) as lock:
            if not lock.is_held:
                raise _problem(f"{self.place} is locked by another process; try again")
            before = await self.read(name)
            after = edit(before)
            if after is not before:
                await asyncio.to_thread(self._write, name, after)
        return after

    async def approvals_changed(self) -> AsyncIterator[None]:
        before = self._stamp()
        yield
        while True:
            await self._clock.sleep(_LOOK_S)
            after = self._stamp()
            if after != before:
                before = after
                yield

    def _stamp(self) -> tuple[int, int, int] | None:
        """Another one after each write: a file is always replaced."""
        try:
            found = os.stat(self._path("approved"))
        except OSError:
            return None
        return found.st_mtime_ns, found.st_ino, found.st_size

    def _path(self, name: DocumentName) -> str:
        return os.path.join(self.place, f"{name}.json")

    def _read(self, name: DocumentName) -> Definitions:
        path = self._path(name)
        try:
            with open(path, "rb") as file:
                data = file.read()
        except FileNotFoundError:
            return ()
        except OSError as wrong:
            raise _problem(f"{path} cannot be read: {wrong.strerror}") from None
        try:
            return decode_definitions(data)
        except InvalidDefinitions as wrong:
            raise _problem(f"{path} is {wrong}: delete it and approve again") from None

    def _write(self, name: DocumentName, definitions: Iterable[PinnedDefinition]) -> None:
        text = encode_definitions(definitions).decode()
        write_text(self._path(name), text, is_private=True)

    def _make_folder(self) -> None:
        try:
            os.makedirs(self.place, mode=0o700, exist_ok=True)
        except OSError as wrong:
            raise _problem(f"{self.place} cannot be made: {wrong.strerror}") from None


def _problem(text: str) -> ConfigurationError:
    return ConfigurationError("CONFIGURATION_INVALID", text)


def records_folder(configuration: Configuration, state_folder: str) -> str:
    """The folder for the approvals of a configuration: another project has other servers."""
    paths = "\n".join(source.path for source in configuration.sources)
    key = hashlib.sha256(paths.encode("utf-8", "surrogateescape")).hexdigest()[:16]
    return os.path.join(state_folder, FOLDER, key)
