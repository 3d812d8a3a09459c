"""tools/call: checks the arguments, decides whether the call becomes a task, and runs the tool."""

from __future__ import annotations

from collections.abc import Awaitable
from functools import cache

from mcplens.demo import task_extension, task_methods
from mcplens.demo.lists import added_tool
from mcplens.demo.registry import TOOLS, DemoTool, Fault, Json, ToolFailure, failure, method
from mcplens.demo.request_context import RequestContext
from mcplens.demo.tasks import EXTENSION, require_extension
from mcplens.inbound.refusal import INVALID_PARAMS, METHOD_NOT_FOUND
from mcplens.protocol.schema_validation import Validator


@method("tools/call")
async def call_tool(context: RequestContext) -> Json:
    name = context.params.get("name")
    tool = TOOLS.get(name) if isinstance(name, str) else None
    if tool is None:
        if any(added["name"] == name for added in context.demo.catalog.added["tools"]):
            return added_tool(context)
        raise Fault(INVALID_PARAMS, f"there is no tool called {name!r}")
    if not isinstance(context.params.get("arguments"), dict | None):
        raise Fault(INVALID_PARAMS, "arguments is not an object")
    problems = () if tool.checks_itself else _validator(str(name)).findings(context.arguments)
    if problems:
        # The specification wants this in the result, where a model can read it and try again.
        return failure("; ".join(problems))
    if _becomes_task(context, tool):
        return start_task(context, run(context, tool))
    return await run(context, tool)


async def run(context: RequestContext, tool: DemoTool) -> Json:
    """Do a tool's work; its failure is a result."""
    try:
        return await tool.work(context)
    except ToolFailure as problem:
        return failure(str(problem))


def _becomes_task(context: RequestContext, tool: DemoTool) -> bool:
    """2025-11-25: the client asks for a task. 2026-07-28: the server decides."""
    support = tool.task_support
    if context.is_stateless:
        if support == "required":
            require_extension(context)
        return support != "forbidden" and context.declares("extensions", EXTENSION)
    wants_task = isinstance(context.params.get("task"), dict)
    if wants_task and support == "forbidden":
        raise Fault(METHOD_NOT_FOUND, f"{tool.definition['name']} cannot be called as a task")
    if support == "required" and not wants_task:
        raise Fault(METHOD_NOT_FOUND, f"{tool.definition['name']} must be called as a task")
    return wants_task


def start_task(context: RequestContext, work: Awaitable[Json]) -> Json:
    """Let a call go on as a task; gives what the request is answered with."""
    wanted = context.params.get("task")
    task = context.demo.tasks.create(
        context, wanted.get("ttl") if isinstance(wanted, dict) else None
    )
    task.start(work)
    return task_extension.created(task) if context.is_stateless else task_methods.created(task)


@cache
def _validator(name: str) -> Validator:
    return Validator(TOOLS[name].definition["inputSchema"])
