"""Reads the skills of a folder on the disk, for `mcplens skills --folder`; follows no links."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from mcplens.cli.exit_codes import CommandError
from mcplens.protocol.skill_folders import LocalSkill
from mcplens.protocol.skills import MOST_BYTES, MOST_FILES, SKILL_FILE

# A folder of skills is not deeper; a home folder is, and is not meant.
_DEEPEST: Final = 6
_MOST_FOLDERS: Final = 10_000


def read_folder(folder: str) -> list[LocalSkill]:
    """The skills below a folder, or the folder itself.

    Raises:
        CommandError: it cannot be read, or has no skill.
    """
    root = Path(folder).resolve()
    if not root.is_dir():
        raise CommandError(f"{folder} is not a folder")
    found = []
    try:
        for path, marker in _markers(root):
            relative = path.relative_to(root).as_posix()
            found.append(_read(path, root.name if relative == "." else relative, marker))
    except OSError as problem:
        raise CommandError(f"{problem.filename} cannot be read: {problem.strerror}") from None
    if not found:
        raise CommandError(f"{folder} has no {SKILL_FILE}, and no folder below it has one")
    return found


def _markers(root: Path) -> list[tuple[Path, str]]:
    """Every folder with a SKILL.md, however that is spelled."""
    found = []
    for count, (path, folders, files) in enumerate(os.walk(root, onerror=_fail)):
        if count > _MOST_FOLDERS:
            raise CommandError(f"{root} has more than {_MOST_FOLDERS} folders; name a smaller one")
        here = Path(path)
        is_deep = len(here.relative_to(root).parts) >= _DEEPEST
        folders[:] = [] if is_deep else sorted(name for name in folders if name[0] != ".")
        markers = sorted(name for name in files if name.lower() == SKILL_FILE.lower())
        if markers:
            found.append((here, SKILL_FILE if SKILL_FILE in markers else markers[0]))
    return found


def _fail(problem: OSError) -> None:
    raise problem


def _read(folder: Path, path: str, marker: str) -> LocalSkill:
    skill = LocalSkill(path=path, files={}, marker=marker)
    left = MOST_BYTES
    for parent, folders, names in os.walk(folder, onerror=_fail):
        folders[:] = sorted(name for name in folders if name[0] != ".")
        for name in sorted(names):
            file = Path(parent, name)
            if file.is_symlink() or not file.is_file() or name[0] == ".":
                continue
            left -= file.stat().st_size
            if left < 0 or len(skill.files) >= MOST_FILES:
                skill.cut = f"more than {MOST_FILES} files or {MOST_BYTES:,} bytes"
                return skill
            skill.files[file.relative_to(folder).as_posix()] = file.read_bytes()
    return skill
