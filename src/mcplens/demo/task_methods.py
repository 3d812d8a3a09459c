"""tasks/* of 2025-11-25: the client polls tasks/get, and waits in tasks/result."""

from __future__ import annotations

import asyncio

from mcplens.demo.lists import page
from mcplens.demo.registry import Fault, Json, ToolFailure, method
from mcplens.demo.request_context import RequestContext
from mcplens.demo.tasks import DemoTask
from mcplens.inbound.refusal import INTERNAL_ERROR, INVALID_PARAMS
from mcplens.protocol.eras import Era

_MODEL_RESPONSE = "io.modelcontextprotocol/model-immediate-response"


def created(task: DemoTask) -> Json:
    """What a call that became a task is answered with."""
    return {
        "task": task.summary(),
        "_meta": {_MODEL_RESPONSE: "The work continues in the background; check on it later."},
    }


@method("tasks/list", Era.HANDSHAKE)
async def list_tasks(context: RequestContext) -> Json:
    return page("tasks", [task.summary() for task in context.demo.tasks.of(context)], context)


@method("tasks/result", Era.HANDSHAKE)
async def task_result(context: RequestContext) -> Json:
    """Wait for the end; meanwhile this request carries the task's questions to the client."""
    task = context.demo.tasks.get(context)
    while not task.is_over:
        await task.asked.wait()
        if not task.is_over:
            await _put_questions(context, task)
    if task.error is not None:
        raise Fault(task.error["code"], task.error["message"], task.error.get("data"))
    if task.result is None:
        raise Fault(INTERNAL_ERROR, "the task was cancelled", {"taskId": task.id})
    meta = {**task.result.get("_meta", {}), **task.related}
    return {**task.result, "_meta": meta}


async def _put_questions(context: RequestContext, task: DemoTask) -> None:
    """Ask the client what the task wants to know, on behalf of this tasks/result."""
    task.asked.clear()
    task.awaited_by = context.id
    try:
        for key, question in list(task.questions.items()):
            meta = {**question.params.get("_meta", {}), **task.related}
            asking = context.client.ask(
                question.method, {**question.params, "_meta": meta}, context.id
            )
            try:
                task.answer(key, await asking)
            except ToolFailure as refusal:
                task.refuse(key, refusal)
    except asyncio.CancelledError:
        task.asked.set()  # the next tasks/result asks again
        raise
    finally:
        task.awaited_by = None


async def get_task(context: RequestContext) -> Json:
    return context.demo.tasks.get(context).summary()


async def cancel_task(context: RequestContext) -> Json:
    task = context.demo.tasks.get(context)
    if task.is_over:
        raise Fault(INVALID_PARAMS, f"the task is over already: {task.status}")
    task.cancel()
    return task.summary()
