"""Watches our configuration files: tells when one of them was written, replaced, made or removed.

Folders are watched, not files, since editors replace a file rather than write into it. Called by
downstream/configuration_watcher.py. `watchfiles` is imported only when something is watched.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Iterable
from typing import Final

from mcplens.config.environment import Environment, walk_upward
from mcplens.config.model import Configuration
from mcplens.config.paths import FILE_NAME, VARIABLE, user_file

# An editor that writes a file in several steps is done by then.
DEBOUNCE_S: Final = 0.3


def watched_files(
    path: str | None, here: Environment, configuration: Configuration
) -> frozenset[str]:
    """The files that make the configuration, or would if they existed; `envFile`s too."""
    named = path or here.environ.get(VARIABLE)
    found = {source.path for source in configuration.sources}
    if named:
        found.add(here.absolute(named, here.cwd))
    else:
        found.add(user_file(here))
        found |= {here.join(folder, FILE_NAME) for folder in walk_upward(here)}
    found |= {entry.env_file for entry in configuration.servers if entry.env_file}
    # A link is followed: what it names may be replaced too.
    return frozenset(found | {os.path.realpath(each) for each in found})


async def changes(files: Iterable[str]) -> AsyncIterator[None]:
    """Yields after each burst of changes to one of these files."""
    from watchfiles import Change, awatch

    wanted = frozenset(files)

    def is_ours(_: Change, path: str) -> bool:
        return path in wanted

    async for _ in awatch(
        *_folders(wanted),
        watch_filter=is_ours,
        step=round(DEBOUNCE_S * 1000),
        recursive=False,
        yield_on_timeout=False,
    ):
        yield


def _folders(files: Iterable[str]) -> list[str]:
    """The folders of files; one that does not exist yet is not watched."""
    folders = {os.path.dirname(each) for each in files}
    return sorted(folder for folder in folders if os.path.isdir(folder))
