"""Where the recording is kept, on this machine, and who may read what is written of it.

Called by app.py, by trace.py and by the surfaces that read the recording.
"""

from __future__ import annotations

import os
from typing import BinaryIO, Final

from mcplens.user_folders import current_state_folder

FILE_NAME: Final = "recording.sqlite3"


def default_path() -> str:
    """The file that every mcplens of this user records to."""
    return os.path.join(current_state_folder(), FILE_NAME)


def open_private(path: str) -> BinaryIO:
    """Open a file to write; a new one can be read by its owner alone."""
    return open(path, "wb", opener=lambda name, flags: os.open(name, flags, 0o600))
