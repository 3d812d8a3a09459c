"""The demo server with the fixtures that the official conformance suite calls by name.

`python -m tests.demo.conformance_server` prints its URL. The suite thus judges our inbound
transports and the demo's machinery; only what the fixtures say is of this file.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable
from typing import Any

from mcplens.clock import SystemClock
from mcplens.demo.client_questions import ClientQuestion, ask, ask_all, require
from mcplens.demo.media import base64_text, png, wav
from mcplens.demo.prompts import prompt
from mcplens.demo.registry import Fault, Json, ToolFailure, Work, text, tool
from mcplens.demo.request_context import RequestContext
from mcplens.demo.resources import resource
from mcplens.demo.server import Demo
from mcplens.demo.tasks import require_extension
from mcplens.demo.templates import TEMPLATES, DemoTemplate
from mcplens.demo.tool_calls import start_task
from mcplens.inbound.asgi_app import AsgiApp
from mcplens.inbound.server import serve
from mcplens.inbound.streamable_http import StreamableHttp

Schema = dict[str, Any]


def fixture(name: str, properties: Json | None = None, **more: Any) -> Callable[[Work], Work]:
    """A tool; listed among the basics, since this file is no feature."""

    def offer(work: Work) -> Work:
        work.__module__ = "mcplens.demo.basics"
        return tool(name, f"A fixture: {name}.", properties, **more)(work)

    return offer


def form(message: str, required: tuple[str, ...] = (), **properties: Schema) -> Json:
    schema = {"type": "object", "properties": properties, "required": list(required)}
    return {"message": message, "requestedSchema": schema}


NAME = form("What is your name?", ("name",), name={"type": "string"})
IMAGE = {"type": "image", "data": base64_text(png(16)), "mimeType": "image/png"}


def embedded(uri: str, words: str, mime_type: str = "text/plain") -> Json:
    return {"type": "resource", "resource": {"uri": uri, "mimeType": mime_type, "text": words}}


def sampling(words: str, tokens: int = 100) -> ClientQuestion:
    message = {"role": "user", "content": {"type": "text", "text": words}}
    return ClientQuestion("sampling/createMessage", {"messages": [message], "maxTokens": tokens})


def elicit(params: Json) -> ClientQuestion:
    return ClientQuestion("elicitation/create", params)


ROOTS = ClientQuestion("roots/list", {})


# -- content, progress, logging ---


@fixture("test_simple_text")
async def simple_text(context: RequestContext) -> Json:
    return text("This is a simple text response for testing.")


@fixture("test_image_content")
async def image(context: RequestContext) -> Json:
    return {"content": [IMAGE]}


@fixture("test_audio_content")
async def audio(context: RequestContext) -> Json:
    return {"content": [{"type": "audio", "data": base64_text(wav()), "mimeType": "audio/wav"}]}


@fixture("test_embedded_resource")
async def embedded_resource(context: RequestContext) -> Json:
    return {
        "content": [embedded("test://embedded-resource", "This is an embedded resource content.")]
    }


@fixture("test_multiple_content_types")
async def mixed(context: RequestContext) -> Json:
    data = embedded(
        "test://mixed-content-resource", '{"test":"data","value":123}', "application/json"
    )
    return {"content": [{"type": "text", "text": "Multiple content types test:"}, IMAGE, data]}


@fixture("test_tool_with_logging")
async def logging(context: RequestContext) -> Json:
    for words in ("Tool execution started", "Tool processing data", "Tool execution completed"):
        context.log("info", words)
        await context.clock.sleep(0.05)
    return text("logged")


@fixture("test_logging_tool")
async def logging_without_level(context: RequestContext) -> Json:
    context.log("info", "nobody asked for this")
    return text("logged")


@fixture("test_error_handling")
async def error(context: RequestContext) -> Json:
    raise ToolFailure("This tool intentionally returns an error for testing")


@fixture("test_tool_with_progress")
async def progress(context: RequestContext) -> Json:
    for value in (0, 50, 100):
        context.progress(value, 100, f"{value} %")
        await context.clock.sleep(0.05)
    return text("done")


@fixture("test_reconnection")
async def reconnection(context: RequestContext) -> Json:
    context.client.peer.hang_up(context.id, 500)
    await context.clock.sleep(0.1)
    return text("Reconnection test completed")


fixture(
    "json_schema_2020_12_tool",
    {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    schema={
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$defs": {
            "address": {
                "$anchor": "addressDef",
                "type": "object",
                "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
            }
        },
        "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
        "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
        "then": {"required": ["phone"]},
        "else": {"required": ["email"]},
        "additionalProperties": False,
    },
)(simple_text)

_HEADER = {"type": "string", "x-mcp-header": "Region"}
fixture("test_custom_headers", {"region": _HEADER, "query": {"type": "string"}})(simple_text)


@fixture("test_trigger_tool_change")
async def tool_change(context: RequestContext) -> Json:
    context.demo.subscribers.list_changed("tools")
    return text("changed")


@fixture("test_trigger_prompt_change")
async def prompt_change(context: RequestContext) -> Json:
    context.demo.subscribers.list_changed("prompts")
    return text("changed")


# -- asking the client ---


@fixture("test_sampling", {"prompt": {"type": "string"}}, required=("prompt",))
async def sample(context: RequestContext) -> Json:
    answer = await ask(context, "sample", *sampling(context.arguments["prompt"]))
    return text(f"LLM response: {answer['content']['text']}")


@fixture("test_elicitation", {"message": {"type": "string"}}, required=("message",))
async def elicitation(context: RequestContext) -> Json:
    fields = {"username": {"type": "string"}, "email": {"type": "string"}}
    question = form(context.arguments["message"], ("username", "email"), **fields)
    answer = await ask(context, "user", *elicit(question))
    return text(f"User response: {json.dumps(answer)}")


async def elicited(context: RequestContext, question: Json) -> Json:
    answer = await ask(context, "form", *elicit(question))
    shown = json.dumps(answer.get("content"))
    return text(f"Elicitation completed: action={answer.get('action')}, content={shown}")


@fixture("test_elicitation_sep1034_defaults")
async def defaults(context: RequestContext) -> Json:
    question = form(
        "Please review",
        name={"type": "string", "default": "John Doe"},
        age={"type": "integer", "default": 30},
        score={"type": "number", "default": 95.5},
        status={"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
        verified={"type": "boolean", "default": True},
    )
    return await elicited(context, question)


@fixture("test_elicitation_sep1330_enums")
async def enums(context: RequestContext) -> Json:
    plain = ["option1", "option2", "option3"]
    titled = [{"const": f"value{n}", "title": f"Option {n}"} for n in (1, 2, 3)]
    old = {
        "enum": ["opt1", "opt2", "opt3"],
        "enumNames": ["Option One", "Option Two", "Option Three"],
    }
    question = form(
        "Please choose",
        untitledSingle={"type": "string", "enum": plain},
        titledSingle={"type": "string", "oneOf": titled},
        legacyEnum={"type": "string", **old},
        untitledMulti={"type": "array", "items": {"type": "string", "enum": plain}},
        titledMulti={"type": "array", "items": {"anyOf": titled}},
    )
    return await elicited(context, question)


@fixture("test_missing_capability")
async def missing_capability(context: RequestContext) -> Json:
    require(context, sampling("anything"))
    return text("sampling is there")


@fixture("test_streaming_elicitation")
async def streaming_elicitation(context: RequestContext) -> Json:
    context.notify("notifications/progress", {"progressToken": "t", "progress": 1})
    answer = await ask(context, "user_name", *elicit(NAME))
    return text(str(answer.get("action")))


@fixture("test_input_required_result_elicitation")
async def required_elicitation(context: RequestContext) -> Json:
    answer = await ask(context, "user_name", *elicit(NAME))
    return text(f"Hello, {(answer.get('content') or {}).get('name')}!")


@fixture("test_input_required_result_sampling")
async def required_sampling(context: RequestContext) -> Json:
    answer = await ask(context, "capital_question", *sampling("What is the capital of France?"))
    return text(str(answer["content"]))


@fixture("test_input_required_result_list_roots")
async def required_roots(context: RequestContext) -> Json:
    return text(str(await ask(context, "client_roots", *ROOTS)))


@fixture("test_input_required_result_request_state")
async def required_state(context: RequestContext) -> Json:
    await ask(context, "confirm", *elicit(form("Please confirm", ("ok",), ok={"type": "boolean"})))
    return text("state-ok")


@fixture("test_input_required_result_tampered_state")
async def required_untampered(context: RequestContext) -> Json:
    return await required_state(context)


@fixture("test_input_required_result_multiple_inputs")
async def required_several(context: RequestContext) -> Json:
    questions = {"user_name": elicit(NAME), "greeting": sampling("Generate a greeting", 50)}
    return text(str(await ask_all(context, {**questions, "client_roots": ROOTS})))


@fixture("test_input_required_result_multi_round")
async def required_rounds(context: RequestContext) -> Json:
    await ask(context, "step1", *elicit(NAME))
    colour = form("Step 2: What is your favorite color?", ("color",), color={"type": "string"})
    await ask(context, "step2", *elicit(colour))
    return text("done")


@fixture("test_input_required_result_capabilities")
async def required_by_capability(context: RequestContext) -> Json:
    questions = {"user_name": elicit(NAME), "greeting": sampling("Hello")}
    declared = {"user_name": "elicitation", "greeting": "sampling"}
    asked = {key: one for key, one in questions.items() if context.declares(declared[key])}
    return text(str(await ask_all(context, asked)))


@prompt("test_input_required_result_prompt", "A fixture.")
async def required_prompt(context: RequestContext) -> list[Json]:
    answer = await ask(context, "user_context", *elicit(NAME))
    return [{"role": "user", "content": {"type": "text", "text": str(answer)}}]


# -- tasks (the extension) ---

_SECONDS = {"seconds": {"type": "number"}}
_OPTIONAL = {"taskSupport": "optional"}


@fixture("greet", {"name": {"type": "string"}})
async def greet(context: RequestContext) -> Json:
    return text(f"Hello, {context.arguments.get('name')}!")


@fixture("slow_compute", _SECONDS, execution=_OPTIONAL)
async def slow_compute(context: RequestContext) -> Json:
    await context.clock.sleep(context.arguments.get("seconds", 1))
    return text("computed")


@fixture("failing_job", execution={"taskSupport": "required"})
async def failing_job(context: RequestContext) -> Json:
    await context.clock.sleep(0.2)
    raise ToolFailure("the job failed")


@fixture("protocol_error_job", execution=_OPTIONAL)
async def protocol_error_job(context: RequestContext) -> Json:
    raise Fault(-32603, "panic")


@fixture("confirm_delete", {"filename": {"type": "string"}}, execution=_OPTIONAL)
async def confirm_delete(context: RequestContext) -> Json:
    question = form("Really?", ("confirm",), confirm={"type": "boolean"})
    return text(str(await ask(context, "confirm", *elicit(question))))


@fixture("multi_input", execution=_OPTIONAL)
async def multi_input(context: RequestContext) -> Json:
    return text(str(await ask_all(context, {"first": elicit(NAME), "second": elicit(NAME)})))


@fixture("test_tool_with_task")
async def task_after_input(context: RequestContext) -> Json:
    require_extension(context)
    answer = await ask(context, "user_name", *elicit(NAME))

    async def work() -> Json:
        return text(f"Hello, {(answer.get('content') or {}).get('name')}!")

    return start_task(context, work())


# -- prompts and resources ---


def said(words: str) -> Json:
    return {"role": "user", "content": {"type": "text", "text": words}}


@prompt("test_simple_prompt", "A fixture.")
def simple_prompt(context: RequestContext) -> list[Json]:
    return [said("This is a simple prompt for testing.")]


@prompt(
    "test_prompt_with_arguments",
    "A fixture.",
    ({"name": "arg1", "required": True}, {"name": "arg2", "required": True}),
    {"arg1": lambda _: ("paris", "park", "party")},
)
def prompt_with_arguments(context: RequestContext) -> list[Json]:
    given = context.arguments
    return [said(f"Prompt with arguments: arg1='{given['arg1']}', arg2='{given['arg2']}'")]


@prompt(
    "test_prompt_with_embedded_resource", "A fixture.", ({"name": "resourceUri", "required": True},)
)
def prompt_with_resource(context: RequestContext) -> list[Json]:
    content = embedded(context.arguments["resourceUri"], "Embedded resource content for testing.")
    return [
        {"role": "user", "content": content},
        said("Please process the embedded resource above."),
    ]


@prompt("test_prompt_with_image", "A fixture.")
def prompt_with_image(context: RequestContext) -> list[Json]:
    return [{"role": "user", "content": IMAGE}, said("Please analyze the image above.")]


@resource("test://static-text", "static-text", "text/plain", "A fixture.")
def static_text(context: RequestContext) -> Json:
    return {"text": "This is the content of the static text resource."}


@resource("test://static-binary", "static-binary", "image/png", "A fixture.")
def static_binary(context: RequestContext) -> Json:
    return {"blob": IMAGE["data"]}


@resource("test://watched-resource", "watched-resource", "text/plain", "A fixture.")
def watched(context: RequestContext) -> Json:
    return {"text": "watched"}


def _template_data(values: dict[str, str]) -> str:
    identity = values["id"]
    return json.dumps({"id": identity, "templateTest": True, "data": f"Data for ID: {identity}"})


TEMPLATES.append(
    DemoTemplate(
        {
            "uriTemplate": "test://template/{id}/data",
            "name": "template",
            "mimeType": "application/json",
        },
        re.compile(r"test://template/(?P<id>[^/]+)/data"),
        _template_data,
    )
)


async def main() -> None:
    clock = SystemClock()
    demo = Demo(clock)
    async with serve(AsgiApp({"/mcp": StreamableHttp(demo, clock)})) as address:
        print(address.url("/mcp"), flush=True)
        await asyncio.get_running_loop().create_future()


if __name__ == "__main__":
    asyncio.run(main())
