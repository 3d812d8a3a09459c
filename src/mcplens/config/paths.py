"""Finds our own configuration files.

`mcp.json` of the project (the nearest one upward), then the user's. An explicitly named file
replaces both. Does not read them, and imports no parser. Called by configuration.py, and by
surfaces that need to know whether there is a configuration.
"""

from __future__ import annotations

import os
from typing import Final

from mcplens.config.environment import (
    Environment,
    current_environment,
    user_config_folder,
    walk_upward,
)
from mcplens.config.model import Source

FILE_NAME: Final = "mcp.json"
VARIABLE: Final = "MCPLENS_CONFIG"
KIND: Final = "mcplens"


def user_file(here: Environment | None = None) -> str:
    """The path of the user's `mcp.json`, whether it exists or not."""
    here = here or current_environment()
    return here.join(user_config_folder(here), FILE_NAME)


def find_files(path: str | None = None, here: Environment | None = None) -> tuple[Source, ...]:
    """The files of the configuration, in order of precedence.

    A file named by `path` or by MCPLENS_CONFIG need not exist; others do. A folder that is so named
    stands for the files in it.
    """
    here = here or current_environment()
    named = path or here.environ.get(VARIABLE)
    if named:
        given = here.absolute(named, here.cwd)
        files = files_in(given) or [given]  # an empty folder is an error when it is read
        return tuple(Source(KIND, file, "given") for file in files)
    found = []
    user = user_file(here)
    for folder in walk_upward(here):
        candidate = here.join(folder, FILE_NAME)
        if os.path.isfile(candidate):
            if not _is_same(candidate, user):
                found.append(Source(KIND, candidate, "project"))
            break
    if os.path.isfile(user):
        found.append(Source(KIND, user, "user"))
    return tuple(found)


def files_in(folder: str) -> list[str]:
    """The `*.json` files of a folder by name, without hidden ones; none if it is no folder."""
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return []
    return [
        os.path.join(folder, name)
        for name in names
        if name.endswith(".json") and not name.startswith(".")
    ]


def _is_same(one: str, other: str) -> bool:
    return os.path.realpath(one) == os.path.realpath(other)
