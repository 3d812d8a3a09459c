"""Resources of every kind of content, some with annotations; reading them, and those of templates.

demo://ticker changes by itself while somebody is subscribed to it (subscriptions.py).
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from mcplens.demo.client_questions import ask
from mcplens.demo.media import base64_text, png, wav
from mcplens.demo.registry import Fault, Json, ToolFailure, method
from mcplens.demo.request_context import RequestContext
from mcplens.demo.subscriptions import TICKER
from mcplens.demo.templates import TEMPLATES
from mcplens.inbound.refusal import INVALID_PARAMS

# 2025-11-25's code for it; 2026-07-28 uses invalid params.
_NOT_FOUND = -32002

Contents = Json | list[Json]


@dataclass(frozen=True)
class DemoResource:
    definition: Json
    read: Callable[[RequestContext], Contents | Awaitable[Contents]]
    is_listed: bool = True


RESOURCES: dict[str, DemoResource] = {}


def resource(
    uri: str,
    name: str,
    mime_type: str,
    description: str,
    *,
    is_listed: bool = True,
    **more: Any,
) -> Callable[[Callable[[RequestContext], Any]], Callable[[RequestContext], Any]]:
    """Offer a resource; the function gives its contents, without URI and type."""

    def offer(read: Callable[[RequestContext], Any]) -> Callable[[RequestContext], Any]:
        about = {"uri": uri, "name": name, "mimeType": mime_type, "description": description}
        RESOURCES[uri] = DemoResource({**about, **more}, read, is_listed)
        return read

    return offer


@method("resources/read")
async def read_resource(context: RequestContext) -> Json:
    uri = context.params.get("uri")
    if isinstance(uri, str):
        if uri in RESOURCES:
            found = RESOURCES[uri]
            contents = found.read(context)
            if inspect.isawaitable(contents):
                contents = await contents
            parts = contents if isinstance(contents, list) else [contents]
            about = {"uri": uri, "mimeType": found.definition["mimeType"]}
            return {"contents": [{**about, **part} for part in parts]}
        for template in TEMPLATES:
            values = template.match(uri)
            if values is not None:
                about = {"uri": uri, "mimeType": template.definition["mimeType"]}
                return {"contents": [{**about, "text": template.read(values)}]}
        if any(added["uri"] == uri for added in context.demo.catalog.added["resources"]):
            return {"contents": [{"uri": uri, "text": "was added later"}]}
    code = INVALID_PARAMS if context.is_stateless else _NOT_FOUND
    raise Fault(code, "there is no such resource", {"uri": uri})


@resource("demo://text", "text", "text/plain", "A plain text.", title="Plain text", size=29)
def _text(context: RequestContext) -> Contents:
    return {"text": "The demo's plain text, as is.\n"[:29]}


@resource(
    "demo://json",
    "json",
    "application/json",
    "JSON to unfold.",
    annotations={"audience": ["assistant"], "priority": 0.8},
)
def _json(context: RequestContext) -> Contents:
    return {"text": '{"name":"demo","numbers":[1,2.5,-3e10],"nested":{"empty":{},"null":null}}'}


@resource(
    "demo://markdown",
    "markdown",
    "text/markdown",
    "Markdown to render.",
    annotations={
        "audience": ["user", "assistant"],
        "priority": 0.5,
        "lastModified": "2025-11-25T12:00:00Z",
    },
)
def _markdown(context: RequestContext) -> Contents:
    return {"text": "# The demo\n\nA *small* server with **every** feature.\n"}


@resource("demo://image", "image", "image/png", "An image, as bytes in base64.")
def _image(context: RequestContext) -> Contents:
    return {"blob": base64_text(png())}


@resource("demo://audio", "audio", "audio/wav", "A sound, as bytes in base64.")
def _audio(context: RequestContext) -> Contents:
    return {"blob": base64_text(wav())}


@resource("demo://binary", "binary", "application/octet-stream", "Bytes of no known type.")
def _binary(context: RequestContext) -> Contents:
    return {"blob": base64_text(bytes(range(256)))}


@resource("demo://folder", "folder", "inode/directory", "One resource, several contents.")
def _folder(context: RequestContext) -> Contents:
    return [
        {"uri": "demo://folder/a.txt", "mimeType": "text/plain", "text": "the first file"},
        {"uri": "demo://folder/b.bin", "mimeType": "application/octet-stream", "blob": "AAEC"},
    ]


@resource(
    TICKER,
    "ticker",
    "text/plain",
    "Subscribe to it: it changes every second, and notifies subscribers.",
)
def _ticker(context: RequestContext) -> Contents:
    return {"text": f"tick {context.demo.subscribers.ticks}"}


@resource("demo://note", "note", "text/plain", "The tool touch-note changes it for subscribers.")
def _note(context: RequestContext) -> Contents:
    return {"text": f"revision {context.demo.catalog.note_revision}"}


@resource("demo://for-you", "for-you", "text/plain", "Asks for your name before it can be read.")
async def _for_you(context: RequestContext) -> Contents:
    schema = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
    question = {"message": "Who wants to read this?", "requestedSchema": schema}
    answer = await ask(context, "reader", "elicitation/create", question)
    if answer.get("action") != "accept":
        raise ToolFailure(f"no name was given ({answer.get('action')})")
    return {"text": f"written for {(answer.get('content') or {}).get('name')}"}
