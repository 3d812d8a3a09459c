"""The user's folders for mcplens: configuration and state.

Called by config/, which passes an Environment that may be simulated, and by the recorder.
"""

from __future__ import annotations

import os
import posixpath
import sys
from collections.abc import Mapping
from typing import Final

STATE_DIR_VARIABLE: Final = "MCPLENS_STATE_DIR"

_APP: Final = "mcplens"


def config_folder(environ: Mapping[str, str], platform: str, home: str) -> str:
    """The folder of the user's `mcp.json`."""
    if platform in ("win32", "darwin"):
        import platformdirs

        return platformdirs.user_config_dir(_APP, appauthor=False)
    return _xdg_folder(environ.get("XDG_CONFIG_HOME"), home, ".config")


def state_folder(environ: Mapping[str, str], platform: str, home: str) -> str:
    """The folder for recordings and state: MCPLENS_STATE_DIR, or the platform's default."""
    chosen = environ.get(STATE_DIR_VARIABLE)
    if chosen:
        return chosen
    if platform in ("win32", "darwin"):
        import platformdirs

        return platformdirs.user_state_dir(_APP, appauthor=False)
    return _xdg_folder(environ.get("XDG_STATE_HOME"), home, ".local/state")


def current_state_folder() -> str:
    """The state folder of this process."""
    return state_folder(os.environ, sys.platform, os.path.expanduser("~"))


def _xdg_folder(base: str | None, home: str, default: str) -> str:
    # The same as platformdirs, without the 15 ms to import it; a test compares them.
    return posixpath.join((base or "").strip() or posixpath.join(home, default), _APP)
