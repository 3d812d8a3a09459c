"""The folders of this computer, for choosing a root: only those that this user may open.

Names alone: files are neither listed nor opened.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from mcplens.config.environment import Environment
from mcplens.errors import InspectorError
from mcplens.protocol.roots import path_of
from mcplens.web.views import FolderView
from mcplens.workspace.answering import typed_root

# More than anybody looks through; the path can be typed.
MOST_FOLDERS: Final = 1_000


def browse(path: str, here: Environment) -> FolderView:
    """The folders within a folder, given by its path or its URI.

    Raises:
        InspectorError: it is none, or may not be read.
    """
    place = _place(path, here)
    try:
        with os.scandir(place) as found:
            names = sorted((one.name for one in found if _is_folder(one)), key=str.casefold)
    except OSError as problem:
        text = f"{place} cannot be listed: {problem.strerror or problem}"
        raise InspectorError("INVALID_REQUEST", text, details={"path": str(place)}) from None
    parent = None if place.parent == place else str(place.parent)
    is_cut = len(names) > MOST_FOLDERS
    return FolderView(str(place), place.as_uri(), parent, names[:MOST_FOLDERS], is_cut)


def nearest(path: str, here: Environment) -> str:
    """The folder to begin at for what somebody has typed so far, right or wrong."""
    try:
        place = _place(path, here)
    except InspectorError:
        return here.home
    found = (one for one in (place, *place.parents) if one.is_dir() and _may_open(str(one)))
    return str(next(found, here.home))


def _place(path: str, here: Environment) -> Path:
    return Path(path_of(typed_root(path, None, here).uri, "nt" if os.name == "nt" else "posix"))


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir() and _may_open(entry.path)
    except OSError:
        return False


def _may_open(path: str) -> bool:
    return os.access(path, os.R_OK | os.X_OK)
