"""Where the recording is kept, on this machine, and who may read what is written of it.

Called by app.py, by trace.py and by the surfaces that read the recording.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import BinaryIO, Final

FILE_NAME: Final = "recording.sqlite3"
STATE_DIR_VARIABLE: Final = "MCPLENS_STATE_DIR"


def default_path() -> str:
    """The file that every mcplens of this user records to."""
    return os.path.join(state_folder(os.environ, sys.platform), FILE_NAME)


def state_folder(environ: Mapping[str, str], platform: str) -> str:
    """The user's state folder: MCPLENS_STATE_DIR, or what the platform says."""
    chosen = environ.get(STATE_DIR_VARIABLE)
    if chosen:
        return chosen
    if platform in ("win32", "darwin"):
        import platformdirs

        return platformdirs.user_state_dir("mcplens", appauthor=False)
    # What platformdirs answers here, without the 15 ms that loading it takes; a test compares them.
    base = (environ.get("XDG_STATE_HOME") or "").strip()
    home = environ.get("HOME") or os.path.expanduser("~")
    return os.path.join(base or os.path.join(home, ".local/state"), "mcplens")


def open_private(path: str) -> BinaryIO:
    """Open a file to write; a new one can be read by its owner alone."""
    return open(path, "wb", opener=lambda name, flags: os.open(name, flags, 0o600))
