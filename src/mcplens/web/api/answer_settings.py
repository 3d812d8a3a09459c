"""Who answers a server's questions and what is declared to it: profile, capabilities, roots.

Also the folders of this computer, for choosing a root: names alone, files are neither listed nor
opened.
"""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import Any, Final

import msgspec

from mcplens.config.environment import Environment
from mcplens.errors import InspectorError
from mcplens.protocol.roots import path_of
from mcplens.session.profiles import BUILT_IN
from mcplens.web.api.servers import ServerView, server_view
from mcplens.web.registry import Command, command
from mcplens.web.thread_pool import run_in_thread
from mcplens.workspace import answer_edits
from mcplens.workspace.answer_settings import typed_root
from mcplens.workspace.config_files import own_profiles
from mcplens.workspace.workspace import Workspace

# More than anybody looks through; the path can be typed.
_MOST_FOLDERS: Final = 1_000


class ProfileView(msgspec.Struct, frozen=True):
    """A named way to answer without a person; `problem` says why it cannot be used."""

    name: str
    kind: str
    is_built_in: bool
    problem: str | None


def profile_views(workspace: Workspace) -> list[ProfileView]:
    """The profiles that can be chosen, without their settings, which may hold keys."""
    profiles, own = workspace.profiles, own_profiles(workspace.config_files.configuration)
    found = []
    for name in profiles.names():
        settings = own.get(name) if profiles.is_own(name) else BUILT_IN.get(name)
        kind = settings.get("kind") if isinstance(settings, dict) else None
        problem = None
        try:
            profiles.get(name)
        except InspectorError as error:
            problem = error.message
        found.append(ProfileView(name, str(kind or ""), not profiles.is_own(name), problem))
    return found


class SetProfile(Command, frozen=True, kw_only=True):
    """Which testing profile answers this server's questions; null means a person."""

    server_id: str
    profile: str | None = None
    save: bool = False


@command
async def set_profile(workspace: Workspace, command: SetProfile) -> ServerView:
    server = workspace.find(command.server_id)
    answer_edits.set_profile(workspace, server, command.profile, save=command.save)
    return server_view(workspace, server)


class SetCapabilities(Command, frozen=True, kw_only=True):
    """What is declared to this server from the next connection on, beside what was chosen before.

    Null takes a capability away; `reset` goes back to the file first, with profile and
    roots. `save` writes it there.
    """

    server_id: str
    capabilities: dict[str, Any] = {}
    reset: bool = False
    save: bool = False


@command
async def set_capabilities(workspace: Workspace, command: SetCapabilities) -> ServerView:
    server = workspace.find(command.server_id)
    chosen, reset = command.capabilities, command.reset
    answer_edits.set_capabilities(workspace, server, chosen, reset=reset, save=command.save)
    return server_view(workspace, server)


class AddRoot(Command, frozen=True, kw_only=True):
    """`path` is a folder or a file:// URI. `save` writes the roots into the server's entry."""

    server_id: str
    path: str
    name: str | None = None
    save: bool = False


@command
async def add_root(workspace: Workspace, command: AddRoot) -> ServerView:
    server = workspace.find(command.server_id)
    answer_edits.add_root(workspace, server, command.path, command.name, save=command.save)
    return server_view(workspace, server)


class RemoveRoot(Command, frozen=True, kw_only=True):
    server_id: str
    uri: str
    save: bool = False


@command
async def remove_root(workspace: Workspace, command: RemoveRoot) -> ServerView:
    server = workspace.find(command.server_id)
    answer_edits.remove_root(workspace, server, command.uri, save=command.save)
    return server_view(workspace, server)


class FolderView(msgspec.Struct, frozen=True):
    """A folder of this computer, for choosing a root."""

    path: str
    uri: str
    parent: str | None
    folders: list[str]
    is_cut: bool


class BrowseFolder(Command, frozen=True, kw_only=True):
    """The folders within a folder; the home folder if none is named.

    `is_start` begins at the nearest folder that there is, whatever was typed.
    """

    path: str | None = None
    is_start: bool = False


@command
async def browse_folder(workspace: Workspace, command: BrowseFolder) -> FolderView:
    # On a thread: a network drive may take its time.
    return await run_in_thread(partial(_browse, workspace.config_files.here, command))


def _browse(here: Environment, command: BrowseFolder) -> FolderView:
    path = command.path or here.home
    return _list_folder(_nearest(path, here) if command.is_start else path, here)


def _list_folder(path: str, here: Environment) -> FolderView:
    """The folders within a folder, given by its path or its URI.

    Raises:
        InspectorError: it is not a folder, or may not be read.
    """
    place = _place(path, here)
    try:
        with os.scandir(place) as found:
            names = sorted((one.name for one in found if _is_folder(one)), key=str.casefold)
    except OSError as problem:
        text = f"{place} cannot be listed: {problem.strerror or problem}"
        raise InspectorError("INVALID_REQUEST", text, details={"path": str(place)}) from None
    parent = None if place.parent == place else str(place.parent)
    is_cut = len(names) > _MOST_FOLDERS
    return FolderView(str(place), place.as_uri(), parent, names[:_MOST_FOLDERS], is_cut)


def _nearest(path: str, here: Environment) -> str:
    """The nearest folder that exists for what was typed so far; else the home folder."""
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
