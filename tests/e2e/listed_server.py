"""A server on stdio with long lists, names that come twice, every content, and odd completion."""

from __future__ import annotations

import base64
import io
import json
import sys
import wave
from typing import Any

COUNT = 3_000
PDF = b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n1 0 obj\n<< >>\nendobj\n%%EOF\n"


# One red pixel.
PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC"


def text(data: bytes) -> str:
    return base64.b64encode(data).decode()


def wav() -> str:
    """A tenth of a second of silence."""
    written = io.BytesIO()
    with wave.open(written, "wb") as sound:
        sound.setparams((1, 1, 8000, 0, "NONE", ""))
        sound.writeframes(bytes(800))
    return text(written.getvalue())


def taking(*names: str) -> dict[str, Any]:
    properties = {name: {"type": "string"} for name in names}
    return {"type": "object", "properties": properties, "required": list(names)}


TOOLS = [
    {"name": "change", "inputSchema": taking()},
    {"name": "reads", "inputSchema": taking()},
    {"name": "twin", "description": "The elder.", "inputSchema": taking("elder")},
    {"name": "twin", "description": "The younger.", "inputSchema": taking("younger")},
    *({"name": f"tool-{n:04}", "inputSchema": taking()} for n in range(COUNT)),
]
ABOUT = {"audience": ["user"], "priority": 0.7, "lastModified": "2026-01-02T03:04:05Z"}
RESOURCES = [
    {"uri": "memo://a", "name": "a", "title": "The memo"},
    *({"uri": f"memo://{n}", "name": f"memo {n}"} for n in range(1, 7)),
    {
        "uri": "file:///report.pdf", "name": "report.pdf", "mimeType": "application/pdf",
        "size": 12_345, "annotations": ABOUT,
    },
    {"uri": "memo://twin", "name": "elder"},
    {"uri": "memo://twin", "name": "younger"},
]  # fmt: skip
TEMPLATES = [
    {
        "uriTemplate": "memo://{name}", "name": "any", "title": "Any memo",
        "mimeType": "text/plain", "annotations": ABOUT,
    }
]  # fmt: skip
WHO = {"name": "who", "title": "Whom", "description": "Whom it greets", "required": True}
PROMPTS = [
    {"name": "greet", "title": "A greeting", "arguments": [WHO, {"name": "words"}]},
    {"name": "every", "title": "Every content", "description": "Both roles"},
    {"name": "twin", "description": "The elder.", "arguments": [{"name": "elder"}]},
    {"name": "twin", "description": "The younger.", "arguments": [{"name": "younger"}]},
]
EVERY = [
    ("user", {"type": "text", "text": "What is all this?"}),
    ("user", {"type": "image", "data": PNG, "mimeType": "image/png"}),
    ("assistant", {"type": "audio", "data": wav(), "mimeType": "audio/wav"}),
    ("user", {"type": "resource_link", "uri": "memo://1", "name": "a linked memo"}),
    ("assistant", {"type": "resource", "resource": {"uri": "memo://2", "text": "an inner memo"}}),
]
COMPLETIONS = {"values": [f"name {n}" for n in range(5)], "total": 57, "hasMore": True}
read: list[str] = []
revision = 1
held: int | None = None  # the completion that is answered after the next one


def say(**message: Any) -> None:
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def called(name: str, given: Any) -> str:
    global revision
    if name == "reads":
        return " ".join(read)
    if name == "change":
        revision += 1
        say(method="notifications/resources/updated", params={"uri": "memo://a"})
    return f"{name} was given {json.dumps(given)}"


def content(uri: str) -> dict[str, Any]:
    read.append(uri)
    if uri.endswith(".pdf"):
        return {"uri": uri, "mimeType": "application/pdf", "blob": text(PDF)}
    return {"uri": uri, "mimeType": "text/plain", "text": f"{uri} in revision {revision}"}


def complete(identity: int, value: str) -> None:
    """What is "late" is answered after what is asked next, "fail" with an error."""
    global held
    if value == "late":
        held = identity
        return
    if value == "fail":
        say(id=identity, error={"code": -32000, "message": "no suggestions today"})
        return
    say(id=identity, result={"completion": COMPLETIONS})
    if held is not None:
        say(id=held, result={"completion": {"values": ["too late"]}})
        held = None


def answer(method: str, params: dict[str, Any]) -> dict[str, Any]:
    if method == "initialize":
        capabilities = {
            "tools": {}, "prompts": {}, "completions": {}, "resources": {"subscribe": True},
        }  # fmt: skip
        info = {"name": "listed", "version": "1"}
        version = params["protocolVersion"]
        return {"protocolVersion": version, "capabilities": capabilities, "serverInfo": info}
    if method == "tools/call":
        said = called(params["name"], params.get("arguments"))
        return {"content": [{"type": "text", "text": said}]}
    if method == "resources/read":
        return {"contents": [content(params["uri"])]}
    if method == "prompts/get":
        given = json.dumps(params.get("arguments"))
        message = {"role": "user", "content": {"type": "text", "text": f"given {given}"}}
        every = [{"role": role, "content": content} for role, content in EVERY]
        return {"messages": every if params["name"] == "every" else [message]}
    lists: dict[str, dict[str, Any]] = {
        "tools/list": {"tools": TOOLS},
        "prompts/list": {"prompts": PROMPTS},
        "resources/list": {"resources": RESOURCES},
        "resources/templates/list": {"resourceTemplates": TEMPLATES},
    }
    return lists.get(method, {})


if __name__ == "__main__":
    for line in sys.stdin:
        message = json.loads(line)
        method, identity = message.get("method"), message.get("id")
        params = message.get("params") or {}
        if method == "completion/complete":
            complete(identity, params["argument"]["value"])
        elif method and identity is not None:
            say(id=identity, result=answer(method, params))
