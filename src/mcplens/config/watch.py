"""Watches our configuration files: tells when one of them was written, replaced, made or removed.

Folders are watched, not files, since editors replace a file rather than write into it, and
Kubernetes replaces a link on the way to it. Where the system reports nothing (a network file
system), a look every few seconds finds the change. Called by downstream/configuration_watcher.py.
`watchfiles` is imported only when something is watched.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Iterable, Iterator
from typing import Final

from mcplens.config.environment import Environment, walk_upward
from mcplens.config.model import Configuration
from mcplens.config.paths import FILE_NAME, VARIABLE, files_in, user_file

# An editor that writes a file in several steps is done by then.
DEBOUNCE_S: Final = 0.3
# Of the look for changes that the system did not report; it costs a few system calls.
_LOOK_EVERY_S: Final = 5.0
# Links that lead to links; a circle ends here.
_MAX_LINKS: Final = 40


def watched_files(
    path: str | None, here: Environment, configuration: Configuration
) -> frozenset[str]:
    """The files that make the configuration, or would if they existed; `envFile`s too."""
    named = path or here.environ.get(VARIABLE)
    found = {source.path for source in configuration.sources}
    if named:
        given = here.absolute(named, here.cwd)
        found |= {given, *files_in(given)}
    else:
        found.add(user_file(here))
        found |= {here.join(folder, FILE_NAME) for folder in walk_upward(here)}
    found |= {entry.env_file for entry in configuration.servers if entry.env_file}
    # A link is followed: what it names may be replaced too, and so may each link on the way.
    return frozenset(found.union(*map(_links_to, found)))


def _links_to(path: str) -> Iterator[str]:
    """The links that are followed on the way to a file, and where they end."""
    for _ in range(_MAX_LINKS):
        parent, link = path, ""
        while parent != os.path.dirname(parent):
            link = parent if os.path.islink(parent) else link
            parent = os.path.dirname(parent)
        if not link:
            break
        yield link
        target = os.path.join(os.path.dirname(link), os.readlink(link))
        path = os.path.normpath(target + path[len(link) :])
    yield path


async def changes(files: Iterable[str]) -> AsyncIterator[None]:
    """Yields after each burst of changes to one of these files."""
    from watchfiles import Change, awatch

    wanted = frozenset(files)

    given = _existing_folders(wanted)  # new files in them count too

    def is_ours(_: Change, path: str) -> bool:
        return path in wanted or os.path.dirname(path) in given

    known = _versions(wanted)
    async for found in awatch(
        *_folders(wanted),
        watch_filter=is_ours,
        step=round(DEBOUNCE_S * 1000),
        rust_timeout=round(_LOOK_EVERY_S * 1000),
        recursive=False,
        yield_on_timeout=True,
    ):
        before, known = known, _versions(wanted)
        if found or known != before:
            yield


def _existing_folders(paths: Iterable[str]) -> set[str]:
    return {path for path in paths if os.path.isdir(path)}


def _versions(files: Iterable[str]) -> dict[str, tuple[int, int, int] | None]:
    """What tells one content of a file from another; None for one that does not exist."""
    found: dict[str, tuple[int, int, int] | None] = {}
    for path in files:
        try:
            state = os.stat(path)
        except OSError:
            found[path] = None
        else:
            found[path] = (state.st_ino, state.st_mtime_ns, state.st_size)
    return found


def _folders(files: Iterable[str]) -> list[str]:
    """The folders of files; one that does not exist yet is not watched."""
    folders = {each if os.path.isdir(each) else os.path.dirname(each) for each in files}
    folders |= {os.path.dirname(each) for each in files if os.path.islink(each)}
    return sorted(folder for folder in folders if os.path.isdir(folder))
