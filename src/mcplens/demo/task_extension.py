"""tasks/* of the extension io.modelcontextprotocol/tasks (2026-07-28), beside those of 2025-11-25.

tasks/get has everything: status, questions, result. tasks/update brings the answers.
"""

from __future__ import annotations

from mcplens.demo import task_methods
from mcplens.demo.client_questions import check_answer
from mcplens.demo.registry import Fault, Json, method
from mcplens.demo.request_context import RequestContext
from mcplens.demo.tasks import DemoTask, require_extension
from mcplens.inbound.refusal import INVALID_PARAMS
from mcplens.protocol.eras import Era


def created(task: DemoTask) -> Json:
    """What a call that became a task is answered with."""
    bare = {key: value for key, value in task.detailed().items() if key != "result"}
    return {"resultType": "task", **bare}


@method("tasks/get")
async def get_task(context: RequestContext) -> Json:
    if not context.is_stateless:
        return await task_methods.get_task(context)
    require_extension(context)
    return context.demo.tasks.get(context).detailed()


@method("tasks/update", Era.STATELESS)
async def update_task(context: RequestContext) -> Json:
    require_extension(context)
    task = context.demo.tasks.get(context)
    answers = context.params.get("inputResponses")
    if not isinstance(answers, dict):
        raise Fault(INVALID_PARAMS, "inputResponses is not an object")
    for key in answers.keys() & task.questions.keys():
        check_answer(key, task.questions[key], answers[key])
        task.answer(key, answers[key])
    return {}


@method("tasks/cancel")
async def cancel_task(context: RequestContext) -> Json:
    if not context.is_stateless:
        return await task_methods.cancel_task(context)
    require_extension(context)
    context.demo.tasks.get(context).cancel()
    return {}
