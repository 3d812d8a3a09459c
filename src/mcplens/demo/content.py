"""Every kind of content that a result may have."""

from __future__ import annotations

from mcplens.demo.media import base64_text, png, wav
from mcplens.demo.registry import Json, text, tool
from mcplens.demo.request_context import RequestContext


@tool("content-text", "A text of several lines, with non-Latin characters.")
async def words(context: RequestContext) -> Json:
    return text('Grüße from the demo 👋\n世界 · мир · عالم\n\ttabs, "quotes" and \\backslashes\\')


@tool("content-markdown", "A text that is Markdown: a heading, a list, code and a table.")
async def markdown(context: RequestContext) -> Json:
    code, table = "```python\nprint('code')\n```", "| a | b |\n|---|---|\n| 1 | 2 |"
    return text(f"# A heading\n\n- one\n- *two*\n\n{code}\n\n{table}\n")


@tool("content-image", "An image (PNG): a lens, drawn by a few lines of code.")
async def image(context: RequestContext) -> Json:
    return {"content": [_image()]}


@tool("content-audio", "A sound (WAV): a short tone.")
async def audio(context: RequestContext) -> Json:
    return {"content": [{"type": "audio", "data": base64_text(wav()), "mimeType": "audio/wav"}]}


@tool("content-resource", "A resource inside the result: once as text, once as bytes.")
async def embedded(context: RequestContext) -> Json:
    written = {"uri": "demo://text", "mimeType": "text/plain", "text": "embedded text"}
    data = {"uri": "demo://binary", "mimeType": "application/octet-stream", "blob": "AAECAwQ="}
    return {
        "content": [
            {"type": "resource", "resource": written},
            {"type": "resource", "resource": data},
        ]
    }


@tool("content-link", "Links to resources, which the client may read; one of them is not listed.")
async def link(context: RequestContext) -> Json:
    listed = {"uri": "demo://markdown", "name": "markdown", "mimeType": "text/markdown"}
    unlisted = {"uri": "demo://greeting/Ada", "name": "greeting", "description": "By a template."}
    return {
        "content": [
            {"type": "resource_link", **listed},
            {"type": "resource_link", **unlisted},
        ]
    }


@tool("content-mixed", "Several kinds in one result, with annotations: audience and priority.")
async def mixed(context: RequestContext) -> Json:
    def block(words: str, audience: list[str], priority: float) -> Json:
        notes = {"audience": audience, "priority": priority}
        return {"type": "text", "text": words, "annotations": notes}

    return {
        "content": [
            block("For people: here is the lens.", ["user"], 1.0),
            _image(),
            block("For the model: the lens is blue.", ["assistant"], 0.3),
            {"type": "resource_link", "uri": "demo://json", "name": "json"},
        ]
    }


@tool("content-nothing", "A result without any content, which is allowed.")
async def nothing(context: RequestContext) -> Json:
    return {"content": []}


@tool(
    "content-large",
    "A text of as many kilobytes as you want.",
    {"kilobytes": {"type": "integer", "minimum": 1, "maximum": 50_000, "default": 100}},
)
async def large(context: RequestContext) -> Json:
    line = "0123456789abcdef" * 4 + "\n"
    size = int(context.arguments.get("kilobytes", 100)) * 1024
    return text((line * (size // len(line) + 1))[:size])


def _image() -> Json:
    return {"type": "image", "data": base64_text(png()), "mimeType": "image/png"}
