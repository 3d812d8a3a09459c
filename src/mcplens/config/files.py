"""Configuration files on disk: precise errors when reading, atomic writes with a backup.

Owns encoding, backup and replacement, not the meaning of a file. Called by all code that reads or
edits our files or another tool's.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import stat
from collections.abc import Sequence
from typing import Any, BinaryIO, Final

import msgspec

from mcplens.config.jsonc import Document, JsonProblem, parse, position
from mcplens.config.model import SERVER_NAME, FieldProblem
from mcplens.errors import ConfigurationError

# The previous content, beside the file; overwritten by each write.
BACKUP_SUFFIX: Final = ".bak"

# Far above any configuration; a wrong path (a video, a device) is not read to its end.
_MAX_BYTES: Final = 64 * 1024 * 1024
# Far above any configuration.
_DEEPEST_YAML: Final = 100
# Flags that not every system has.
_NEVER_WAIT: Final = (
    getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0) | getattr(os, "O_BINARY", 0)
)


class Written(msgspec.Struct, frozen=True):
    """The written path, and the backup of the previous content (None if there was none)."""

    path: str
    backup: str | None


def invalid(message: str, **details: Any) -> ConfigurationError:
    """A configuration error; details that are None are left out."""
    known = {key: value for key, value in details.items() if value is not None}
    return ConfigurationError("CONFIGURATION_INVALID", message, details=known)


def invalid_fields(problems: Sequence[FieldProblem]) -> ConfigurationError:
    """A configuration error about these keys; `fields` of its details has one item for each."""
    fields = [{"key": problem.key, "text": problem.text} for problem in problems]
    told = "; ".join(
        problem.text if problem.key == SERVER_NAME else str(problem) for problem in problems
    )
    return invalid(told, key=problems[0].key or None, fields=fields)


def read_text(path: str) -> str:
    """The text of a file, without its byte order mark.

    Raises:
        ConfigurationError: it cannot be read, or is not text.
    """
    try:
        with _open(path) as file:
            data = file.read(_MAX_BYTES + 1)
    except OSError as problem:
        reason = problem.strerror or str(problem)
        raise invalid(f"{path} cannot be read: {reason}", file=path) from None
    if len(data) > _MAX_BYTES:
        raise invalid(f"{path} is too large for a configuration file", file=path)
    # Windows PowerShell writes UTF-16 when output is redirected to a file.
    encoding = "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8"
    try:
        return data.decode(encoding).removeprefix("\ufeff")
    except UnicodeDecodeError as problem:
        before = data[: problem.start].decode(encoding, "replace").removeprefix("\ufeff")
        line, column = position(before, len(before))
        raise _syntax(path, f"this is not {encoding.upper()} text", line, column) from None


def _open(path: str) -> BinaryIO:
    """Open a file for reading; pipes and terminals, which could block, are refused.

    Raises:
        OSError: it cannot be read, or is not a regular file.
    """
    _check_is_file(os.stat(path), path)
    descriptor = os.open(path, os.O_RDONLY | _NEVER_WAIT)
    try:
        _check_is_file(os.fstat(descriptor), path)  # it may have been replaced meanwhile
        return open(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def _check_is_file(found: os.stat_result, path: str) -> None:
    if stat.S_ISDIR(found.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if not stat.S_ISREG(found.st_mode) and path != os.devnull:
        raise OSError(errno.EINVAL, "it is a pipe or a device, not a file")


def read_json(path: str) -> Document:
    """A file as JSON with comments.

    Raises:
        ConfigurationError: it cannot be read, or is not valid JSON at a line and column.
    """
    return parse_json(path, read_text(path))


def parse_json(path: str, text: str) -> Document:
    """The text of a file as JSON with comments; raises as `read_json`."""
    try:
        return parse(text)
    except JsonProblem as problem:
        raise _syntax(path, problem.text, problem.line, problem.column) from None


def toml_value(path: str, text: str) -> dict[str, Any]:
    """The text of a file as TOML; raises as `read_json`."""
    import tomllib

    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as problem:
        text, line, column = str(problem), 0, 0
        if place := re.search(r" \(at line (\d+), column (\d+)\)$", text):
            text, line, column = text[: place.start()], int(place[1]), int(place[2])
        raise _syntax(path, text, line, column) from None


def yaml_value(path: str, text: str) -> Any:
    """The text of a file as YAML; raises as `read_json`."""
    from ruamel.yaml import YAML
    from ruamel.yaml.error import MarkedYAMLError, YAMLError
    from ruamel.yaml.events import AliasEvent, CollectionEndEvent, CollectionStartEvent

    depth = 0
    try:
        for event in YAML(typ="safe", pure=True).parse(text):
            # A few lines of aliases can expand to more than the memory holds.
            if isinstance(event, AliasEvent):
                reason = f"the alias *{event.anchor} is not supported; write out its value"
                raise MarkedYAMLError(None, None, reason, event.start_mark)
            depth += isinstance(event, CollectionStartEvent) - isinstance(event, CollectionEndEvent)
            if depth > _DEEPEST_YAML:  # the parser's time grows with the square of it
                raise invalid(f"{path} is nested too deeply", file=path)
        return YAML(typ="safe", pure=True).load(text)
    except YAMLError as problem:
        mark = getattr(problem, "problem_mark", None)
        text = str(getattr(problem, "problem", None) or problem)
        line, column = (mark.line + 1, mark.column + 1) if mark else (0, 0)
        raise _syntax(path, text, line, column) from None


def _syntax(path: str, text: str, line: int, column: int) -> ConfigurationError:
    where = f", line {line}, column {column}" if line else ""
    return invalid(f"{path}{where}: {text}", file=path, line=line or None, column=column or None)


def write_text(
    path: str,
    text: str,
    *,
    is_private: bool = False,
    former_text: str | None = None,
    backup_suffix: str = BACKUP_SUFFIX,
) -> Written:
    """Replace a file's content atomically, and keep the previous content as a backup.

    Symbolic links are followed; mode and byte order mark of the previous file are kept. If
    `is_private`, only the owner can read the file and its backup. If `former_text` is given, a file
    that has another text by now is left alone.

    Raises:
        ConfigurationError: nothing was written.
    """
    real = os.path.realpath(path)
    try:
        former, mode = _former(real)
        if former_text is not None and not _has_text(former, former_text):
            raise invalid(f"{path} was changed by another program; try again", file=path)
        data = text.encode("utf-8")
        if former is not None and former.startswith(b"\xef\xbb\xbf"):
            data = b"\xef\xbb\xbf" + data
        if former == data:
            return Written(path, None)
        folder = os.path.dirname(real)
        os.makedirs(folder, mode=0o700 if is_private else 0o777, exist_ok=True)
        if is_private:
            mode = 0o600 if mode is None else mode & 0o700
        if former is not None:
            _replace(real + backup_suffix, former, mode)
        _replace(real, data, mode)
    except OSError as problem:
        reason = problem.strerror or str(problem)
        raise invalid(f"{path} cannot be written: {reason}", file=path) from None
    return Written(path, None if former is None else real + backup_suffix)


def replace_text(path: str, text: str) -> None:
    """Replace a file's content atomically, without a backup: for files that can be made again.

    Raises:
        ConfigurationError: nothing was written.
    """
    real = os.path.realpath(path)
    try:
        former, mode = _former(real)
        data = text.encode("utf-8", "backslashreplace")  # a report may quote half a character
        if former != data:
            _replace(real, data, mode)
    except OSError as problem:
        reason = problem.strerror or str(problem)
        raise invalid(f"{path} cannot be written: {reason}", file=path) from None


def _has_text(data: bytes | None, text: str) -> bool:
    return (data or b"").removeprefix(b"\xef\xbb\xbf") == text.encode("utf-8", "surrogatepass")


def _former(path: str) -> tuple[bytes | None, int | None]:
    try:
        with _open(path) as file:
            return file.read(), os.fstat(file.fileno()).st_mode & 0o777
    except FileNotFoundError:
        return None, None


def _replace(path: str, data: bytes, mode: int | None) -> None:
    """Write a temporary file, flush it to the disk, then rename it."""
    beside = f"{path}.{os.getpid()}.tmp"
    try:
        # It must not be readable by others before it has its final mode.
        descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode or 0o666)
        with open(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(descriptor)
        if mode is not None:
            os.chmod(beside, mode)
        os.replace(beside, path)
    except OSError:
        with contextlib.suppress(OSError):
            os.unlink(beside)
        raise
