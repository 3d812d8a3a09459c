"""What a person chooses about answering a server: profile, declared capabilities, roots.

Each counts at once, and until mcplens ends; it is written into the server's own file only where
that is wanted. What is chosen is kept by answering.py. Called by the web UI.
"""

from __future__ import annotations

from typing import Any

from mcplens.errors import InspectorError
from mcplens.workspace.answer_settings import AnswerSettings, typed_root
from mcplens.workspace.server import Server
from mcplens.workspace.workspace import Workspace


def set_profile(workspace: Workspace, server: Server, profile: str | None, *, save: bool) -> None:
    """Have a profile answer; None is a person.

    Raises:
        InspectorError: there is no such profile, or it could not be written.
    """
    if profile is not None:
        workspace.profiles.get(profile)  # before anything is changed
    server.answer_settings.profile = profile
    if server.client is not None:
        server.answer_settings.use_profile(server.client, workspace.profiles)
    for question in workspace.questions.waiting():
        if question.server_id == server.server_id:
            workspace.questions.note(question)
    _changed(workspace, server, save)


def set_capabilities(
    workspace: Workspace,
    server: Server,
    capabilities: dict[str, Any],
    *,
    reset: bool,
    save: bool,
) -> None:
    """Declare these beside what was chosen before, or beside what the entry says.

    Raises:
        InspectorError: it could not be written.
    """
    if reset:
        server.answer_settings = AnswerSettings(server.entry)
        if server.client is not None:
            server.answer_settings.equip(server.client, workspace.profiles)
    server.answer_settings.choose(capabilities)
    if server.client is not None:
        server.answer_settings.declare_to(server.client)
    _changed(workspace, server, save)


def add_root(
    workspace: Workspace, server: Server, path: str, name: str | None, *, save: bool
) -> None:
    """Tell the server of a folder; one that it knows gets the new name.

    Raises:
        InspectorError: it can be no root, or could not be written.
    """
    root = typed_root(path, name, workspace.config_files.here)
    others = [one for one in server.answer_settings.roots if one.uri != root.uri]
    server.answer_settings.set_roots([*others, root], server.client)
    _changed(workspace, server, save)


def remove_root(workspace: Workspace, server: Server, uri: str, *, save: bool) -> None:
    """Take a folder away from the server.

    Raises:
        InspectorError: it has no such root, or that could not be written.
    """
    kept = [one for one in server.answer_settings.roots if one.uri != uri]
    if len(kept) == len(server.answer_settings.roots):
        raise InspectorError("INVALID_REQUEST", f"{uri} is no root of {server.server_id}")
    server.answer_settings.set_roots(kept, server.client)
    _changed(workspace, server, save)


def _changed(workspace: Workspace, server: Server, save: bool) -> None:
    try:
        if save:
            _save(workspace, server)
    finally:  # what could not be written counts all the same
        workspace.server_changed(server.server_id)


def _save(workspace: Workspace, server: Server) -> None:
    """Write profile, roots and capabilities of a server into its own file.

    Raises:
        InspectorError: it is not ours to change, or was not confirmed yet.
    """
    entry = server.entry
    if workspace.confirmations.is_needed(entry):
        text = f"{server.server_id} was not confirmed yet: look at what it starts first"
        raise InspectorError("INVALID_REQUEST", text, details={"needs_confirmation": True})
    workspace.config_files.edit(entry, server.answer_settings.written_into(entry), None)
    workspace.reload()
    # What it starts is still what was confirmed.
    workspace.confirmations.confirm(server.entry)
