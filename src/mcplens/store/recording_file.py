"""The path of the recording, and files that only their owner can read.

Called by app.py, trace.py, the web UI and the command line.
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
    """Open a file to write; a new one is readable only by its owner."""
    return open(path, "wb", opener=lambda name, flags: os.open(name, flags, 0o600))
