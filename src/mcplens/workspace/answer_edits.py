"""Changes to a server's answer settings: profile, declared capabilities, roots.

A change takes effect at once and lasts until mcplens exits; with `save` it is also written to the
server's configuration file. The settings are held by answer_settings.py. Called by the web UI.
"""

from __future__ import annotations

from typing import Any

from mcplens.errors import InspectorError
from mcplens.workspace.answer_settings import AnswerSettings, typed_root
from mcplens.workspace.server import Server
from mcplens.workspace.workspace import Workspace


def set_profile(workspace: Workspace, server: Server, profile: str | None, *, save: bool) -> None:
    """Set the testing profile that answers; None means a person.

    Raises:
        InspectorError: there is no such profile, or the file cannot be written.
    """
    if profile is not None:
        workspace.profiles.get(profile)  # before anything is changed
    server.answer_settings.profile = profile
    if server.client is not None:
        server.answer_settings.use_profile(server.client, workspace.profiles)
    for question in workspace.questions.waiting():
        if question.server_id == server.server_id:
            workspace.questions.notify(question)
    _changed(workspace, server, save)


def set_capabilities(
    workspace: Workspace,
    server: Server,
    capabilities: dict[str, Any],
    *,
    reset: bool,
    save: bool,
) -> None:
    """Declare these capabilities; `reset` first goes back to the settings of the entry.

    Raises:
        InspectorError: the file cannot be written.
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
    """Add a root; one with the same URI gets the new name.

    Raises:
        InspectorError: it is not a valid root, or the file cannot be written.
    """
    root = typed_root(path, name, workspace.config_files.here)
    others = [one for one in server.answer_settings.roots if one.uri != root.uri]
    server.answer_settings.set_roots([*others, root], server.client)
    _changed(workspace, server, save)


def remove_root(workspace: Workspace, server: Server, uri: str, *, save: bool) -> None:
    """Remove a root.

    Raises:
        InspectorError: there is no such root, or the file cannot be written.
    """
    kept = [one for one in server.answer_settings.roots if one.uri != uri]
    if len(kept) == len(server.answer_settings.roots):
        raise InspectorError("INVALID_REQUEST", f"{uri} is not a root of {server.server_id}")
    server.answer_settings.set_roots(kept, server.client)
    _changed(workspace, server, save)


def _changed(workspace: Workspace, server: Server, save: bool) -> None:
    try:
        if save:
            _save(workspace, server)
    finally:  # it takes effect even if it cannot be saved
        workspace.server_changed(server.server_id)


def _save(workspace: Workspace, server: Server) -> None:
    """Write the answer settings of a server to its configuration file.

    Raises:
        InspectorError: mcplens does not write this file, or the server is not confirmed yet.
    """
    entry = server.entry
    if workspace.confirmations.is_needed(entry):
        text = f"{server.server_id} is not confirmed yet: review what it starts first"
        raise InspectorError("INVALID_REQUEST", text, details={"needs_confirmation": True})
    workspace.config_files.edit(entry, server.answer_settings.written_into(entry), None)
    workspace.reload()
    # The entry changed, but not what it starts: it stays confirmed.
    workspace.confirmations.confirm(server.entry)
