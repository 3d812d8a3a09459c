"""Compares the skills of a folder on the disk with those of a server, for `mcplens skills --folder`
and the Skills screen. No links are followed.
"""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path
from typing import Final

from mcplens.errors import InspectorError, ServerError
from mcplens.protocol.skill_folders import FolderVerdict, LocalSkill, compare_folder
from mcplens.protocol.skills import MOST_BYTES, MOST_FILES, SKILL_FILE, Skill, SkillList
from mcplens.session.client import Client

# A folder of skills is not deeper; a home folder is, and is not meant.
_DEEPEST: Final = 6
_MOST_FOLDERS: Final = 10_000


def read_folder(folder: str) -> list[LocalSkill]:
    """The skills below a folder, or the folder itself.

    Raises:
        InspectorError: it cannot be read, or has no skill.
    """
    root = Path(folder).resolve()
    if not root.is_dir():
        raise _unusable(f"{folder} is not a folder")
    found = []
    try:
        for path, marker in _markers(root):
            relative = path.relative_to(root).as_posix()
            found.append(_read(path, root.name if relative == "." else relative, marker))
    except OSError as problem:
        raise _unusable(f"{problem.filename} cannot be read: {problem.strerror}") from None
    if not found:
        raise _unusable(f"{folder} has no {SKILL_FILE}, and no folder below it has one")
    return found


def _unusable(text: str) -> InspectorError:
    return InspectorError("INVALID_REQUEST", text)


def _markers(root: Path) -> list[tuple[Path, str]]:
    """Every folder with a SKILL.md, however that is spelled."""
    found = []
    for count, (path, folders, files) in enumerate(os.walk(root, onerror=_fail)):
        if count > _MOST_FOLDERS:
            raise _unusable(f"{root} has more than {_MOST_FOLDERS} folders; name a smaller one")
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


async def compare_with_served(
    client: Client, found: SkillList, local: list[LocalSkill]
) -> list[FolderVerdict]:
    """How each skill of a folder and of a server's list stands on the other side."""
    unlisted = {}
    for name in Counter(one.name for one in local) - Counter(one.name for one in found):
        if one := await _unlisted(client, name, found.skills):
            unlisted[name] = one
    return compare_folder(local, found.skills, unlisted, found.cut)


async def _unlisted(client: Client, name: str, found: list[Skill]) -> Skill | None:
    """A skill that is not listed: a list may be partial, and skills/get knows all."""
    parents = dict.fromkeys(one.directory.rpartition("/")[0] for one in found[:100])
    guesses = [f"{parent}/{name}/SKILL.md" for parent in list(parents)[:3] if ":" in parent]
    listed = {one.uri for one in found}
    for uri in dict.fromkeys([*guesses, f"skill://{name}/SKILL.md"]):
        if uri in listed:
            continue
        try:
            return await client.get_skill(uri)
        except ServerError:
            continue
    return None
