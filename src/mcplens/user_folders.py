"""The user's own folders of mcplens: configuration and state.

Called by config/, which gives a machine that may be made up, and by whoever records.
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
    """Where the user's own `mcp.json` is."""
    if platform in ("win32", "darwin"):
        import platformdirs

        return platformdirs.user_config_dir(_APP, appauthor=False)
    return _xdg_folder(environ.get("XDG_CONFIG_HOME"), home, ".config")


def state_folder(environ: Mapping[str, str], platform: str, home: str) -> str:
    """Where mcplens records and remembers: MCPLENS_STATE_DIR, or what the platform says."""
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
    # What platformdirs answers here, without the 15 ms that loading it takes; a test compares them.
    return posixpath.join((base or "").strip() or posixpath.join(home, default), _APP)
