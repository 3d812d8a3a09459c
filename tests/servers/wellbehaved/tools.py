"""The tools of the well-behaved server: what they are and do. Pure; called by `methods`."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from .protocol import INVALID_PARAMS, Message, RpcError

if TYPE_CHECKING:
    from .brain import Call

Tool = Callable[["Call"], Awaitable[Message]]

DEFINITIONS: list[Any] = []
_TOOLS: dict[str, Tool] = {}

# What `ask` sends for each request a server may make of a client.
QUESTIONS: dict[str, Message] = {
    "ping": {},
    "roots/list": {},
    "sampling/createMessage": {
        "messages": [{"role": "user", "content": {"type": "text", "text": "Say hello."}}],
        "maxTokens": 50,
    },
    "elicitation/create": {
        "message": "What is your name?",
        "requestedSchema": {
            "type": "object",
            "properties": {"name": {"type": "string"}},
            "required": ["name"],
        },
    },
}


def text(words: str, **more: Any) -> Message:
    return {"content": [{"type": "text", "text": words}], **more}


def tool(
    description: str, *, output: Message | None = None, required: tuple[str, ...] = (), **kinds: Any
) -> Callable[[Tool], Tool]:
    """Register a tool; `kinds` gives each argument's JSON Schema, or just its type."""
    properties = {
        name: {"type": kind} if isinstance(kind, str) else kind for name, kind in kinds.items()
    }

    def register(function: Tool) -> Tool:
        definition: Message = {"name": function.__name__, "description": description}
        definition["inputSchema"] = {
            "type": "object",
            "properties": properties,
            "required": list(required),
        }
        if output:
            definition["outputSchema"] = output
        DEFINITIONS.append(definition)
        _TOOLS[function.__name__] = function
        return function

    return register


async def run(call: Call) -> Message:
    name = call.params.get("name")
    if str(name).startswith("extra_") and name in call.brain.catalog.tools_by_name():
        return text(f"{name} was added later")
    if name not in _TOOLS:
        raise RpcError(INVALID_PARAMS, f"unknown tool {name!r}")
    required = call.brain.catalog.tools_by_name()[name]["inputSchema"]["required"]
    missing = [argument for argument in required if argument not in call.arguments]
    if missing:
        raise RpcError(INVALID_PARAMS, f"{name} needs {', '.join(missing)}")
    return await _TOOLS[name](call)


_SUM = {"type": "object", "properties": {"sum": {"type": "number"}}, "required": ["sum"]}


@tool("Returns its text", text="string", required=("text",))
async def echo(call: Call) -> Message:
    return text(call.arguments["text"])


@tool("Adds two numbers", output=_SUM, a="number", b="number", required=("a", "b"))
async def add(call: Call) -> Message:
    total = call.arguments["a"] + call.arguments["b"]
    return text(json.dumps({"sum": total}), structuredContent={"sum": total})


@tool("Breaks its own output schema", output=_SUM)
async def wrong_output(call: Call) -> Message:
    return text("seven", structuredContent={"sum": "seven"})


@tool("Fails as a tool (isError)")
async def fail(call: Call) -> Message:
    return text("it failed, as it should", isError=True)


@tool("Fails as a request (JSON-RPC error)", code="integer", message="string")
async def error(call: Call) -> Message:
    arguments = call.arguments
    raise RpcError(
        arguments.get("code", -32000), arguments.get("message", "as you asked"), {"asked": True}
    )


@tool("Answers after a while, unless cancelled", seconds="number")
async def slow(call: Call) -> Message:
    seconds = call.arguments.get("seconds", 1)
    await call.brain.host.sleep(seconds)
    return text(f"slept {seconds} s")


@tool("Reports progress", steps="integer", delay="number")
async def progress(call: Call) -> Message:
    steps = call.arguments.get("steps", 3)
    for step in range(1, steps + 1):
        await call.brain.host.sleep(call.arguments.get("delay", 0))
        call.progress(step, steps, f"step {step}")
    return text(f"{steps} steps")


@tool("Sends one log message", level="string", data={}, required=("data",))
async def log(call: Call) -> Message:
    call.log(call.arguments.get("level", "info"), call.arguments["data"])
    return text("logged")


@tool("A text of that many bytes", bytes="integer", required=("bytes",))
async def big(call: Call) -> Message:
    return text("x" * call.arguments["bytes"])


@tool("Many log messages, then the answer", n="integer", required=("n",))
async def burst(call: Call) -> Message:
    for number in range(call.arguments["n"]):
        call.log("emergency", number)
        if number % 500 == 499:
            await call.brain.host.sleep(0)
    return text(f"{call.arguments['n']} messages")


@tool(
    "Asks the client and returns its answer", method="string", params="object", required=("method",)
)
async def ask(call: Call) -> Message:
    method = call.arguments["method"]
    params = call.arguments.get("params", QUESTIONS.get(method, {}))
    if not call.is_modern:
        answer = await call.peer.ask(method, params, call.send)
        return text(json.dumps({key: answer[key] for key in ("result", "error") if key in answer}))
    # 2026-07-28: the question is a result, and the call comes again with the answer.
    if "inputResponses" not in call.params:
        questions = {"question": {"method": method, "params": params}}
        return {
            "resultType": "input_required",
            "inputRequests": questions,
            "requestState": "opaque é state",
        }
    if call.params.get("requestState") != "opaque é state":
        raise RpcError(INVALID_PARAMS, "requestState did not come back as it was")
    return text(json.dumps({"result": call.params["inputResponses"].get("question")}))


@tool(
    "Adds a tool, resource or prompt",
    kind={"enum": ["tools", "resources", "prompts"]},
    times="integer",
)
async def change_list(call: Call) -> Message:
    kind = call.arguments.get("kind", "tools")
    name = call.brain.catalog.add(kind)
    for _ in range(call.arguments.get("times", 1)):
        call.brain.publish_list_changed(kind)
    return text(name)


@tool(
    "Changes a resource and tells its subscribers", uri="string", times="integer", required=("uri",)
)
async def touch(call: Call) -> Message:
    uri = call.arguments["uri"]
    for _ in range(call.arguments.get("times", 1)):
        call.brain.catalog.touch(uri)
        call.brain.publish_updated(uri)
    return text(f"revision {call.brain.catalog.revisions[uri]}")


@tool("Sends any notification", method="string", params="object", required=("method",))
async def notify(call: Call) -> Message:
    call.notify(call.arguments["method"], call.arguments.get("params"))
    return text("sent")


@tool(
    "Takes a header of its own in 2026-07-28", region={"type": "string", "x-mcp-header": "Region"}
)
async def route(call: Call) -> Message:
    return text(str(call.arguments.get("region")))


@tool("Ends every subscriptions/listen", how={"enum": ["result", "cancelled", "close"]})
async def end_listen(call: Call) -> Message:
    listeners = list(call.brain.listeners)
    for listener in listeners:
        if not listener.ended.done():
            listener.ended.set_result(call.arguments.get("how", "result"))
    return text(f"{len(listeners)} ended")


@tool("What this server has received so far, as JSON")
async def seen(call: Call) -> Message:
    clients = [peer.client for peer in call.brain.peers]
    return text(json.dumps({**call.brain.record.as_dict(), "clients": clients}))


@tool("Writes a line to stderr", text="string", required=("text",))
async def stderr(call: Call) -> Message:
    call.brain.host.write_stderr(call.arguments["text"])
    return text("written")


@tool("Ends the process with code 3")
async def crash(call: Call) -> Message:
    call.brain.host.write_stderr("crashing, as you asked")
    call.brain.host.exit(3)
    return text("unreachable")


@tool("Forgets this HTTP session once this call is answered")
async def drop_session(call: Call) -> Message:
    call.brain.host.drop_session(call.peer)
    return text("the next request will get 404")
