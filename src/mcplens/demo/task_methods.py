"""tasks/* of 2025-11-25: the client polls tasks/get, and waits in tasks/result."""

from __future__ import annotations

import asyncio

from mcplens.demo.call import Call
from mcplens.demo.lists import page
from mcplens.demo.registry import Failure, Fault, Json, method
from mcplens.demo.tasks import Task
from mcplens.inbound.refusal import INTERNAL_ERROR, INVALID_PARAMS
from mcplens.protocol.eras import Era

_MODEL_RESPONSE = "io.modelcontextprotocol/model-immediate-response"


def created(task: Task) -> Json:
    """What a call that became a task is answered with."""
    return {
        "task": task.summary(),
        "_meta": {_MODEL_RESPONSE: "The work goes on in the background; ask for it later."},
    }


@method("tasks/list", Era.HANDSHAKE)
async def list_tasks(call: Call) -> Json:
    return page("tasks", [task.summary() for task in call.demo.tasks.of(call)], call)


@method("tasks/result", Era.HANDSHAKE)
async def task_result(call: Call) -> Json:
    """Wait for the end; meanwhile this request carries the task's questions to the client."""
    task = call.demo.tasks.get(call)
    while not task.is_over:
        await task.asked.wait()
        if not task.is_over:
            await _put_questions(call, task)
    if task.error is not None:
        raise Fault(task.error["code"], task.error["message"], task.error.get("data"))
    if task.result is None:
        raise Fault(INTERNAL_ERROR, "the task was cancelled", {"taskId": task.id})
    meta = {**task.result.get("_meta", {}), **task.related}
    return {**task.result, "_meta": meta}


async def _put_questions(call: Call, task: Task) -> None:
    """Ask the client what the task wants to know, on behalf of this tasks/result."""
    task.asked.clear()
    task.awaited_by = call.id
    try:
        for key, question in list(task.questions.items()):
            meta = {**question.params.get("_meta", {}), **task.related}
            asking = call.client.ask(question.method, {**question.params, "_meta": meta}, call.id)
            try:
                task.answer(key, await asking)
            except Failure as refusal:
                task.refuse(key, refusal)
    except asyncio.CancelledError:
        task.asked.set()  # the next tasks/result asks again
        raise
    finally:
        task.awaited_by = None


async def get_task(call: Call) -> Json:
    return call.demo.tasks.get(call).summary()


async def cancel_task(call: Call) -> Json:
    task = call.demo.tasks.get(call)
    if task.is_over:
        raise Fault(INVALID_PARAMS, f"the task is over already: {task.status}")
    task.cancel()
    return task.summary()
