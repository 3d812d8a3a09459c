"""tasks/* of the extension io.modelcontextprotocol/tasks (2026-07-28), beside those of 2025-11-25.

tasks/get has everything: status, questions, result. tasks/update brings the answers.
"""

from __future__ import annotations

from mcplens.demo import task_methods
from mcplens.demo.asking import check_answer
from mcplens.demo.call import Call
from mcplens.demo.registry import Fault, Json, method
from mcplens.demo.tasks import Task, require_extension
from mcplens.inbound.refusal import INVALID_PARAMS
from mcplens.protocol.eras import Era


def created(task: Task) -> Json:
    """What a call that became a task is answered with."""
    bare = {key: value for key, value in task.detailed().items() if key != "result"}
    return {"resultType": "task", **bare}


@method("tasks/get")
async def get_task(call: Call) -> Json:
    if not call.is_stateless:
        return await task_methods.get_task(call)
    require_extension(call)
    return call.demo.tasks.get(call).detailed()


@method("tasks/update", Era.STATELESS)
async def update_task(call: Call) -> Json:
    require_extension(call)
    task = call.demo.tasks.get(call)
    answers = call.params.get("inputResponses")
    if not isinstance(answers, dict):
        raise Fault(INVALID_PARAMS, "inputResponses is no object")
    for key in answers.keys() & task.questions.keys():
        check_answer(key, task.questions[key], answers[key])
        task.answer(key, answers[key])
    return {}


@method("tasks/cancel")
async def cancel_task(call: Call) -> Json:
    if not call.is_stateless:
        return await task_methods.cancel_task(call)
    require_extension(call)
    call.demo.tasks.get(call).cancel()
    return {}
