"""Commands that answer what a server asks, and those that say who answers: profiles and roots."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, Final

import msgspec
from msgspec import Raw

from mcplens.config.environment import Environment
from mcplens.errors import InspectorError
from mcplens.protocol.frames import decode_value
from mcplens.web import commands as c
from mcplens.web import views
from mcplens.web.folders import browse, nearest
from mcplens.web.recorded import beside
from mcplens.web.showing.servers import server_view
from mcplens.workspace import choosing
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
    choosing.set_profile(workspace, server, command.profile, save=command.save)
    return server_view(workspace, server)


async def set_capabilities(workspace: Workspace, command: c.SetCapabilities) -> views.ServerView:
    server = workspace.find(command.server_id)
    chosen, reset = command.capabilities, command.reset
    choosing.set_capabilities(workspace, server, chosen, reset=reset, save=command.save)
    return server_view(workspace, server)


async def add_root(workspace: Workspace, command: c.AddRoot) -> views.ServerView:
    server = workspace.find(command.server_id)
    choosing.add_root(workspace, server, command.path, command.name, save=command.save)
    return server_view(workspace, server)


async def remove_root(workspace: Workspace, command: c.RemoveRoot) -> views.ServerView:
    server = workspace.find(command.server_id)
    choosing.remove_root(workspace, server, command.uri, save=command.save)
    return server_view(workspace, server)


async def browse_folder(workspace: Workspace, command: c.BrowseFolder) -> views.FolderView:
    # On a thread: a network drive may take its time.
    return await beside(partial(_browse, workspace.configured.here, command))


def _browse(here: Environment, command: c.BrowseFolder) -> views.FolderView:
    path = command.path or here.home
    return browse(nearest(path, here) if command.is_start else path, here)


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
