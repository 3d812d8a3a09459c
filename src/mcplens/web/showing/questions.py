"""What a server asks, tasks of both roles, and the profiles that may answer."""

from __future__ import annotations

from typing import Any

from mcplens.errors import InspectorError
from mcplens.protocol.elicitation import host_of, is_openable, url_warnings
from mcplens.session.profiles import BUILT_IN
from mcplens.store.any_json import to_json
from mcplens.web import views
from mcplens.web.plain import plain, raw_json
from mcplens.workspace.calls import Call
from mcplens.workspace.configured import own_profiles
from mcplens.workspace.questions import Question
from mcplens.workspace.tasks import TaskState
from mcplens.workspace.workspace import Workspace


def question_view(workspace: Workspace, question: Question) -> views.QuestionView:
    """A question, with the call that it belongs to."""
    server = workspace.servers.get(question.server_id)
    client = server.client if server is not None else None
    beside = [one.question_id for one in workspace.questions.beside(question)]
    is_waiting = question.question_id in beside
    return views.QuestionView(
        question_id=question.question_id,
        server_id=question.server_id,
        server_name=_name_in(client.server_info if client is not None else {}),
        method=question.method,
        mode=question.mode,
        params=raw_json(to_json(question.params)),
        request_id=question.request_id,
        caused_by=question.caused_by,
        call_id=question.call_id,
        number=beside.index(question.question_id) + 1 if is_waiting else 0,
        count=len(beside),
        origin=question.origin,
        round=question.round,
        most_rounds=question.most_rounds,
        task_id=question.task_id,
        link=link_view(question) if question.mode == "url" else None,
        opened=question.opened,
        deadline=question.deadline,
        profile=server.answering.profile if server is not None else None,
        answering_by=question.answering_by,
        answered_by=question.answered_by,
        is_done=question.is_done,
        outcome=question.outcome,
    )


def _name_in(info: dict[str, Any]) -> str | None:
    name = info.get("title") or info.get("name")
    return name if isinstance(name, str) else None


def link_view(question: Question) -> views.LinkView:
    """The URL of a question, read as a browser will."""
    url = question.params.get("url") if isinstance(question.params, dict) else None
    return views.LinkView(
        url if isinstance(url, str) else "",
        host_of(url),
        list(url_warnings(url)),
        is_openable(url),
    )


def awaited_links(workspace: Workspace, call: Call) -> list[views.LinkView]:
    """What somebody agreed to open for a call that goes on, and the server still waits for."""
    if not call.is_running:
        return []
    return [
        link_view(question)
        for question in workspace.questions
        if question.call_id == call.call_id and question.is_awaited
    ]


def task_view(workspace: Workspace, task: TaskState) -> views.TaskView:
    """A task by the last word on it."""
    return views.TaskView(
        task_id=task.task_id,
        server_id=task.server_id,
        role=task.role,
        method=task.method,
        status=task.status,
        message=task.message,
        created=task.created,
        started=task.started,
        updated=task.updated,
        expires=task.expires,
        poll_interval_s=task.seconds("pollInterval", "pollIntervalMs"),
        request_id=task.request_id,
        call_id=task.call_id,
        question_id=task.question_id,
        task=plain(task.task),
        is_over=task.is_over,
        is_gone=task.is_gone,
    )


def profile_views(workspace: Workspace) -> list[views.ProfileView]:
    """The profiles that can be chosen; their settings stay behind, they may hold keys."""
    profiles, own = workspace.profiles, own_profiles(workspace.configured.configuration)
    found = []
    for name in profiles.names():
        settings = own.get(name) if profiles.is_own(name) else BUILT_IN.get(name)
        kind = settings.get("kind") if isinstance(settings, dict) else None
        problem = None
        try:
            profiles.get(name)
        except InspectorError as error:
            problem = error.message
        found.append(views.ProfileView(name, str(kind or ""), not profiles.is_own(name), problem))
    return found
