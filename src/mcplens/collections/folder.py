"""Where collections are: `NAME.mcp.yaml` below `collections` in the user's configuration folder,
and files that were named when mcplens was started.

Owns reading, writing and what was confirmed. Nothing is written elsewhere, and nothing over a
content that the caller has not seen. Blocking; called by the workspace on a thread, and by the
command line.
"""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Iterable
from typing import Any, Final

import msgspec

from mcplens.collections.model import Collection, read_collection
from mcplens.collections.test_file import shown_key
from mcplens.config.environment import (
    Environment,
    current_environment,
    user_config_folder,
    user_state_folder,
)
from mcplens.config.files import BACKUP_SUFFIX, invalid, read_text, replace_text, write_text
from mcplens.errors import ConfigurationError, InspectorError
from mcplens.protocol.yaml_values import LARGEST_BYTES, YamlProblem

SUFFIX: Final = ".mcp.yaml"
NEW_FILE: Final = "version: 1\ntests: []\n"
_FOLDER: Final = "collections"
_CONFIRMED: Final = "collections.json"
_LONGEST_NAME: Final = 100
# More than a person looks through; a link to a whole disk is not walked to its end.
_MOST_FILES: Final = 1_000
_MOST_FOLDERS: Final = 1_000
# Parsed contents that are kept, and confirmed ones that are remembered.
_MOST_PARSED: Final = 200
_MOST_CONFIRMED: Final = 5_000


class CollectionFile(msgspec.Struct, frozen=True):
    """A file with a collection: `key` names it in commands ("billing/refunds", or the path of a
    file that was named at the start)."""

    key: str
    path: str
    folder: str
    name: str
    is_given: bool = False


class Content(msgspec.Struct, frozen=True, kw_only=True):
    """What a file contains; `problem` says why it is not a collection."""

    file: CollectionFile
    text: str
    digest: str
    collection: Collection
    problem: str | None = None
    line: int | None = None


class CollectionFolder:
    """The collections of one user."""

    def __init__(self, here: Environment, given: Iterable[str] = ()) -> None:
        self._here = here
        self.path = here.join(user_config_folder(here), _FOLDER)
        self._confirmed_path = here.join(user_state_folder(here), _CONFIRMED)
        self._given = [_given(here.absolute(path, here.cwd)) for path in given]
        self._lock = threading.Lock()
        self._parsed: dict[str, tuple[Collection, YamlProblem | None]] = {}

    def __repr__(self) -> str:
        return f"<CollectionFolder {self.path!r} and {len(self._given)} named files>"

    # -- reading -------------------------------------------------------------------------------

    def files(self) -> list[CollectionFile]:
        """All collections, those named at the start first, then by folder and name."""
        return [*self._given, *self._walk()[0]]

    def folders(self) -> list[str]:
        """The folders below ours, as `a/b`."""
        return self._walk()[1]

    def _walk(self) -> tuple[list[CollectionFile], list[str]]:
        files: list[CollectionFile] = []
        folders: list[str] = []
        for parent, names, found in os.walk(self.path):
            names[:] = sorted(name for name in names if not name.startswith("."))
            folder = os.path.relpath(parent, self.path).replace(os.sep, "/")
            folder = "" if folder == "." else folder
            folders += [folder] if folder else []
            files += [
                self._file(folder, name.removesuffix(SUFFIX))
                for name in sorted(found)
                if name.endswith(SUFFIX) and not name.startswith(".")
            ]
            if len(files) >= _MOST_FILES or len(folders) >= _MOST_FOLDERS:
                break
        files.sort(key=lambda file: (file.folder, file.name))
        return files[:_MOST_FILES], sorted(folders)

    def _file(self, folder: str, name: str) -> CollectionFile:
        path = os.path.join(self.path, *folder.split("/") if folder else (), name + SUFFIX)
        return CollectionFile(f"{folder}/{name}" if folder else name, path, folder, name)

    def find(self, key: str) -> CollectionFile:
        """A collection by its key.

        Raises:
            InspectorError: there is none.
        """
        for file in self.files():
            if file.key == key:
                return file
        raise InspectorError("INVALID_REQUEST", f"there is no collection {key!r}")

    def read(self, file: CollectionFile) -> Content:
        """The content of a file, also of one that is not a collection.

        Raises:
            ConfigurationError: it cannot be read, or is too large.
        """
        try:
            size = os.path.getsize(file.path)
        except OSError as error:
            text = f"{file.path} cannot be read: {error.strerror}"
            raise invalid(text, file=file.path) from None
        if size > LARGEST_BYTES:
            limit = LARGEST_BYTES // 1024
            raise invalid(f"{file.path} is larger than {limit} kB", file=file.path)
        text = read_text(file.path)
        digest = digest_of(text)
        collection, problem = self._parse(digest, text)
        if problem is None:
            return Content(file=file, text=text, digest=digest, collection=collection)
        return Content(
            file=file,
            text=text,
            digest=digest,
            collection=collection,
            problem=_sentence(problem),
            line=problem.line or None,
        )

    def _parse(self, digest: str, text: str) -> tuple[Collection, YamlProblem | None]:
        found = self._parsed.get(digest)
        if found is None:
            try:
                found = read_collection(text), None
            except YamlProblem as problem:
                found = Collection(), problem
            self._parsed[digest] = found
            for old in list(self._parsed)[:-_MOST_PARSED]:
                self._parsed.pop(old, None)
        return found

    # -- writing -------------------------------------------------------------------------------

    def create(self, folder: str, name: str, text: str = NEW_FILE) -> CollectionFile:
        """Make a file in a folder of ours, which is made too if it does not exist.

        Raises:
            InspectorError: it exists, or has a name that a file cannot have.
        """
        file = self._checked(folder, name)
        with self._lock:
            if os.path.lexists(file.path):
                raise InspectorError("INVALID_REQUEST", f"{file.path} exists already")
            write_text(file.path, text, is_private=True)
            self._remember(digest_of(text), file)
        return file

    def write(self, former: Content, text: str) -> Content:
        """Replace a content that was read before.

        Raises:
            InspectorError: the file changed since then (`details.changed_on_disk`), or is not ours.
        """
        file = former.file
        self._check_ours(file)
        with self._lock:
            self._check_unchanged(former)
            if file.is_given:  # a project has its own history, and no use for a backup beside it
                replace_text(file.path, text)
            else:
                write_text(file.path, text)
            if self.is_confirmed(former.digest):
                self._remember(digest_of(text), file)
        return self.read(file)

    def rename(self, former: Content, folder: str, name: str) -> CollectionFile:
        """Move a file of ours within our folder; raises as `write`."""
        if former.file.is_given:
            text = f"{former.file.path} was named at the start; rename it where it is"
            raise InspectorError("INVALID_REQUEST", text)
        self._check_ours(former.file)
        file = self._checked(folder, name)
        with self._lock:
            self._check_unchanged(former)
            if os.path.lexists(file.path):
                raise InspectorError("INVALID_REQUEST", f"{file.path} exists already")
            try:
                os.makedirs(os.path.dirname(file.path), mode=0o700, exist_ok=True)
                os.rename(former.file.path, file.path)
            except OSError as problem:
                raise _cannot_write(former.file.path, problem) from None
        return file

    def delete(self, former: Content) -> str:
        """Delete a file; gives the path of the backup that is left. Raises as `write`."""
        path = former.file.path
        self._check_ours(former.file)
        with self._lock:
            self._check_unchanged(former)
            try:
                os.replace(path, path + BACKUP_SUFFIX)
            except OSError as problem:
                raise _cannot_write(path, problem) from None
        return path + BACKUP_SUFFIX

    def _check_unchanged(self, former: Content) -> None:
        path = former.file.path
        if digest_of(read_text(path)) != former.digest:
            raise changed_on_disk(path)

    def _check_ours(self, file: CollectionFile) -> None:
        """A link may lead out of our folder; what is there was not named."""
        if file.is_given:
            return
        root, real = os.path.realpath(self.path), os.path.realpath(file.path)
        if os.path.commonpath([root, real]) != root:
            text = f"{file.path} leads to {real}, outside of {self.path}; name it with --collection"
            raise InspectorError("INVALID_REQUEST", text)

    def _checked(self, folder: str, name: str) -> CollectionFile:
        """A file that may be written.

        Raises:
            InspectorError: its name, or one of its folders, is not one for a file.
        """
        if folder.startswith("/"):
            raise InspectorError("INVALID_REQUEST", f"{folder!r} is not a folder of ours")
        parts = [part.strip() for part in folder.split("/") if part.strip()]
        name = name.strip().removesuffix(SUFFIX)
        for part in (*parts, name):
            _check_name(part)
        file = self._file("/".join(parts), name)
        self._check_ours(file)
        return file

    # -- confirming ----------------------------------------------------------------------------

    def is_confirmed(self, digest: str) -> bool:
        """Whether this content was written by us, or confirmed by a person."""
        return digest in self._confirmed()

    def confirm(self, content: Content) -> None:
        """A person has seen the servers and variables of this content.

        Raises:
            ConfigurationError: that cannot be written.
        """
        self.confirm_digest(content.digest, content.file)

    def confirm_digest(self, digest: str, file: CollectionFile) -> None:
        """As `confirm`; a test file is confirmed as `test:` and its digest, since more is shown."""
        with self._lock:
            self._remember(digest, file)

    def _remember(self, digest: str, file: CollectionFile) -> None:
        known = self._confirmed()
        known.pop(digest, None)
        known[digest] = file.path
        kept = dict(list(known.items())[-_MOST_CONFIRMED:])
        text = msgspec.json.format(msgspec.json.encode({"confirmed": kept})).decode()
        write_text(self._confirmed_path, text + "\n", is_private=True)

    def _confirmed(self) -> dict[str, Any]:
        """Read each time, since another process may write it; one that is broken is empty."""
        try:
            with open(self._confirmed_path, "rb") as file:
                content = msgspec.json.decode(file.read())
        except (OSError, msgspec.DecodeError):
            return {}
        known = content.get("confirmed") if isinstance(content, dict) else None
        return known if isinstance(known, dict) else {}


def digest_of(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def given_file(here: Environment, path: str) -> CollectionFile:
    """A file that a person named by its path."""
    return _given(here.absolute(path, here.cwd))


def make_given(path: str) -> None:
    """Make an empty file that a person named by its path.

    Raises:
        ConfigurationError: it cannot be written.
    """
    here = current_environment()
    file = given_file(here, path)
    replace_text(file.path, NEW_FILE)
    CollectionFolder(here).confirm_digest(digest_of(NEW_FILE), file)


def changed_on_disk(path: str) -> InspectorError:
    text = f"{path} was changed by another program; look at it again before you save"
    return InspectorError("INVALID_REQUEST", text, details={"changed_on_disk": True, "file": path})


def _given(path: str) -> CollectionFile:
    folder, name = os.path.split(path)
    return CollectionFile(path, path, folder, name.removesuffix(SUFFIX), is_given=True)


def _check_name(name: str) -> None:
    is_good = (
        0 < len(name) <= _LONGEST_NAME
        and name.isprintable()
        and not any(character in '/\\:*?"<>|' for character in name)
        and not name.startswith(".")
        and not name.endswith(".")
    )
    if not is_good:
        text = f"{name!r} cannot be the name of a collection or a folder"
        raise InspectorError("INVALID_REQUEST", text)


def _cannot_write(path: str, problem: OSError) -> ConfigurationError:
    reason = problem.strerror or str(problem)
    return invalid(f"{path} cannot be changed: {reason}", file=path)


def _sentence(problem: YamlProblem) -> str:
    where = f"line {problem.line}, column {problem.column}" if problem.line else ""
    near = f"at {shown_key(problem.key)}" if problem.key else ""
    place = ", ".join(part for part in (where, near) if part)
    return f"{place}: {problem.text}" if place else problem.text
