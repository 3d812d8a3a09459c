"""The newest view of a thing, by its key; for whoever tells the page that it changed."""

from __future__ import annotations

from typing import Any

from mcplens.web import views
from mcplens.web.showing.calls import call_view
from mcplens.web.showing.lists import list_summary
from mcplens.web.showing.questions import question_view, task_view
from mcplens.web.showing.servers import server_view
from mcplens.web.showing.settings import settings_view
from mcplens.workspace.workspace import Workspace


def thing_view(workspace: Workspace, what: views.Thing, key: str) -> Any:
    """The newest view of a thing; None if it is gone."""
    if what == "servers":
        server = workspace.servers.get(key)
        return None if server is None else server_view(workspace, server)
    if what == "calls":
        call = workspace.calls.get(key)
        return None if call is None else call_view(workspace, call)
    if what == "lists":
        server_id, _, kind = key.rpartition("/")
        server = workspace.servers.get(server_id)
        listing = server.lists.get(kind) if server is not None else None
        return None if listing is None else list_summary(listing)
    if what == "questions":
        question = workspace.questions.get(key)
        return None if question is None else question_view(workspace, question)
    if what == "tasks":
        task = workspace.tasks.get(key)
        return None if task is None else task_view(workspace, task)
    if what == "recording":
        return views.RecordingView(workspace.recording_problem)
    return next((one for one in settings_view(workspace) if one.name == key), None)
