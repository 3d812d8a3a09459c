"""The folders of this computer, for choosing a root: only those that this user may open.

Names alone: files are neither listed nor opened.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from mcplens.errors import InspectorError
from mcplens.web.views import FolderView

# More than anybody looks through; the path can be typed.
MOST_FOLDERS: Final = 1_000


def browse(path: str) -> FolderView:
    """The folders within a folder.

    Raises:
        InspectorError: it is none, or may not be read.
    """
    place = Path(os.path.expanduser(path)).absolute()
    try:
        with os.scandir(place) as found:
            names = sorted((one.name for one in found if _is_folder(one)), key=str.casefold)
    except OSError as problem:
        text = f"{place} cannot be listed: {problem.strerror or problem}"
        raise InspectorError("INVALID_REQUEST", text, details={"path": str(place)}) from None
    parent = None if place.parent == place else str(place.parent)
    is_cut = len(names) > MOST_FOLDERS
    return FolderView(str(place), place.as_uri(), parent, names[:MOST_FOLDERS], is_cut)


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir() and os.access(entry.path, os.R_OK | os.X_OK)
    except OSError:
        return False
