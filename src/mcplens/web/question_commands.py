"""Commands that answer what a server asks, and those that say who answers: profiles and roots."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, Final

import msgspec
from msgspec import Raw

from mcplens.config.surroundings import Surroundings
from mcplens.errors import InspectorError
from mcplens.protocol.frames import decode_value
from mcplens.web import commands as c
from mcplens.web import views
from mcplens.web.folders import browse, nearest
from mcplens.web.pictures import server_view
from mcplens.web.recorded import beside
from mcplens.workspace.answering import Answering, typed_root
from mcplens.workspace.server import Server
from mcplens.workspace.steering import Steering
from mcplens.workspace.workspace import Workspace


async def answer_sampling(workspace: Workspace, command: c.AnswerSampling) -> None:
    workspace.follower.catch_up()
    result = _value(command.result)
    workspace.replies.resolve(command.question_id, result, force=command.force)


async def answer_elicitation(workspace: Workspace, command: c.AnswerElicitation) -> None:
    workspace.follower.catch_up()
    result: dict[str, Any] = {"action": command.action}
    if bytes(command.content) not in (b"", b"null"):
        result["content"] = _value(command.content)
    # The form began with the defaults: what a person emptied stays away.
    workspace.replies.resolve(command.question_id, result, force=command.force, is_whole=True)


async def reject(workspace: Workspace, command: c.RejectQuestion) -> None:
    workspace.follower.catch_up()
    workspace.replies.reject(command.question_id, command.reason)


async def auto_respond(workspace: Workspace, command: c.AutoRespond) -> None:
    workspace.follower.catch_up()
    try:
        steering = msgspec.convert(command.options, Steering)
    except msgspec.ValidationError as problem:
        raise InspectorError("INVALID_REQUEST", f"options: {problem}") from None
    await workspace.replies.auto_respond(command.question_id, command.profile, steering)


def _value(raw: Raw) -> Any:
    try:
        return decode_value(raw)[0]
    except ValueError as problem:
        raise InspectorError("INVALID_REQUEST", f"this is no JSON: {problem}") from None


# -- who answers, and what is declared ---------------------------------------------------------


async def set_profile(workspace: Workspace, command: c.SetProfile) -> views.ServerView:
    server = workspace.find(command.server_id)
    if command.profile is not None:
        workspace.profiles.get(command.profile)  # before anything is changed
    server.answering.profile = command.profile
    if server.client is not None:
        server.answering.use_profile(server.client, workspace.profiles)
    for question in workspace.questions.waiting():
        if question.server_id == server.server_id:
            workspace.questions.note(question)
    return _changed(workspace, server, command.save)


async def set_capabilities(workspace: Workspace, command: c.SetCapabilities) -> views.ServerView:
    server = workspace.find(command.server_id)
    if command.reset:
        server.answering = Answering(server.entry)
        if server.client is not None:
            server.answering.equip(server.client, workspace.profiles)
    server.answering.choose(command.capabilities)
    if server.client is not None:
        server.answering.declare_to(server.client)
    return _changed(workspace, server, command.save)


async def add_root(workspace: Workspace, command: c.AddRoot) -> views.ServerView:
    server = workspace.find(command.server_id)
    root = typed_root(command.path, command.name, workspace.configured.here)
    others = [one for one in server.answering.roots if one.uri != root.uri]
    server.answering.set_roots([*others, root], server.client)
    return _changed(workspace, server, command.save)


async def remove_root(workspace: Workspace, command: c.RemoveRoot) -> views.ServerView:
    server = workspace.find(command.server_id)
    kept = [one for one in server.answering.roots if one.uri != command.uri]
    if len(kept) == len(server.answering.roots):
        raise InspectorError("INVALID_REQUEST", f"{command.uri} is no root of {server.server_id}")
    server.answering.set_roots(kept, server.client)
    return _changed(workspace, server, command.save)


async def browse_folder(workspace: Workspace, command: c.BrowseFolder) -> views.FolderView:
    # On a thread: a network drive may take its time.
    return await beside(partial(_browse, workspace.configured.here, command))


def _browse(here: Surroundings, command: c.BrowseFolder) -> views.FolderView:
    path = command.path or here.home
    return browse(nearest(path, here) if command.is_start else path, here)


def _changed(workspace: Workspace, server: Server, save: bool) -> views.ServerView:
    """The server as it is now; written to its file if that is wanted.

    Raises:
        InspectorError: it could not be written; it counts all the same, until mcplens ends.
    """
    try:
        if save:
            workspace.save_answering(server)
    finally:
        workspace.changed("servers", server.server_id, server.server_id)
    return server_view(workspace, server)


CARRIERS: Final[dict[type, Callable[[Workspace, Any], Awaitable[Any]]]] = {
    c.AnswerSampling: answer_sampling,
    c.AnswerElicitation: answer_elicitation,
    c.RejectQuestion: reject,
    c.AutoRespond: auto_respond,
    c.SetProfile: set_profile,
    c.SetCapabilities: set_capabilities,
    c.AddRoot: add_root,
    c.RemoveRoot: remove_root,
    c.BrowseFolder: browse_folder,
}
