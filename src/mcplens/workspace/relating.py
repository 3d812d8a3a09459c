"""Which call a question or a task belongs to, found out when it is first heard of.

A call knows the questions that wait for its user and the task that it became; both know their
call, also after its end. Called by the workspace with events, in their order.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from mcplens.bus import Published
from mcplens.protocol.tasks import related_task_of
from mcplens.workspace.calls import Call
from mcplens.workspace.questions import Question
from mcplens.workspace.tasks import Role, TaskState, key_of

if TYPE_CHECKING:
    from mcplens.workspace.workspace import Workspace

# Of the questions of one call, those that a person sees: to tell thousands anew for each that comes
# or goes would stop everything.
MOST_TOLD = 6


class Relations:
    """Calls, questions and tasks, tied together."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._moved: list[Question] = []  # opened or closed since `tell`

    def __repr__(self) -> str:
        return f"<Relations of {self._workspace!r}>"

    def heed_question(self, published: Published) -> None:
        question = self._workspace.questions.heed(published)
        if question is not None:
            self._relate(question)

    def heed_task(self, published: Published) -> None:
        task = self._workspace.tasks.heed(published)
        if task.role == "client" and task.call_id is None:
            self._find_call(task)

    def reconcile(self) -> None:
        """Events were missed: ask the clients which questions wait."""
        for server_id, server in self._workspace.servers.items():
            if server.client is not None:
                for question in self._workspace.questions.reconcile(server_id, server.client):
                    self._relate(question)
        self._moved += list(self._workspace.questions)

    def tell(self) -> None:
        """Say once what changed for others: which is first of how many, which calls wait."""
        if not self._moved:
            return
        moved, self._moved = self._moved, []
        calls = {question.call_id for question in moved if question.call_id is not None}
        servers = {question.server_id for question in moved}
        waiting = self._workspace.questions.waiting()
        ids = {question.question_id for question in moved}
        told: Counter[tuple[str, str | None]] = Counter()
        for question in waiting:
            if question.server_id not in servers:
                continue
            told[question.server_id, question.call_id] += 1
            is_near = told[question.server_id, question.call_id] <= MOST_TOLD
            if is_near or question.question_id in ids:
                self._workspace.questions.note(question)
        for call_id in calls:
            call = self._workspace.calls.get(call_id)
            if call is not None:
                call.question_ids = [one.question_id for one in waiting if one.call_id == call_id]
                self._workspace.calls.changed(call)

    def _relate(self, question: Question) -> None:
        self._moved.append(question)
        if question.call_id is None and not question.is_done:
            call = self._cause(question)
            question.call_id = call.call_id if call is not None else None
        if question.task_id is not None:
            self._relate_task(question, question.task_id)

    def _relate_task(self, question: Question, task_id: str) -> None:
        """A task of ours is about a question; one of the server's waits for it."""
        role: Role = "receiver" if question.origin == "task" else "client"
        task = self._workspace.tasks.get(key_of(question.server_id, role, task_id))
        if task is not None:
            request_id = question.request_id if role == "receiver" else None
            self._workspace.tasks.relate(
                task,
                request_id=request_id,
                call_id=question.call_id,
                question_id=question.question_id,
            )

    def _cause(self, question: Question) -> Call | None:
        calls = self._workspace.calls
        related = related_task_of(question.params)
        if related is not None:
            call = calls.of_task(question.server_id, related)
            if call is not None:
                question.task_id = question.task_id or related
                return call
        if question.caused_by is not None:
            # The requests of a call that asks in rounds have ended, and the call runs on.
            call = calls.with_request(question.server_id, question.caused_by)
            if call is not None:
                return call
        return calls.caused_by(question.server_id, None)

    def _find_call(self, task: TaskState) -> None:
        server = self._workspace.servers.get(task.server_id)
        if server is None or server.client is None:
            return
        request_id = server.client.client_task_request(task.task_id)
        if request_id is None:
            return
        call = self._workspace.calls.with_request(task.server_id, request_id)
        call_id = None
        if call is not None:
            call_id, call.task_id = call.call_id, task.task_id
            self._workspace.calls.changed(call)
        self._workspace.tasks.relate(task, request_id=request_id, call_id=call_id)
