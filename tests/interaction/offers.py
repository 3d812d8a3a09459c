"""What each server of the suite offers, in the scenarios' own words.

A scenario runs against every server whose offer has what it needs. Nothing here talks to a server.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

# Stands for the folder that the file servers may touch.
FOLDER = "<folder>"

ROOTS = "roots/list"
SAMPLING = "sampling/createMessage"
ELICITATION = "elicitation/create"


@dataclass(frozen=True)
class Call:
    """A tool (or prompt) to call, and what it must give; a scenario says how that is compared."""

    name: str
    arguments: dict[str, Any] = field(default_factory=dict)
    gives: Any = None

    def inside(self, folder: Path) -> dict[str, Any]:
        """The arguments, with the real folder in them."""
        filled: dict[str, Any] = json.loads(
            json.dumps(self.arguments).replace(FOLDER, folder.as_posix())
        )
        return filled


@dataclass(frozen=True)
class Completion:
    ref: dict[str, str]
    argument: str
    value: str
    gives: list[str]
    context: dict[str, str] | None = None


@dataclass(frozen=True, kw_only=True)
class Offer:
    """One server; None and empty mean that it has nothing of the kind."""

    name: str  # in its serverInfo
    tool_count: int
    is_paged: bool = False
    text: Call  # gives the text of the first content, or part of it
    failing: Call  # a failure of the tool's own; gives part of its text
    structured: Call | None = None  # gives structuredContent
    refused: dict[str, Call] = field(default_factory=dict)  # method -> its error code
    progress: Call | None = None  # gives how many reports come
    log: Call | None = None  # gives the data of a log message, or None for any
    filtered_log: Call | None = None  # takes {level}
    growing: dict[str, Call] = field(default_factory=dict)  # list -> what makes it longer
    burst: Call | None = None  # the same change of the tools, announced many times
    resource: tuple[str, str] | None = None  # uri, part of its text
    blob: tuple[str, int] | None = None  # uri, size in bytes
    touching: tuple[str, Call] | None = None  # uri, what changes it
    template: tuple[str, str, str] | None = None  # template, a uri of it, part of its text
    prompt: Call | None = None  # gives the text of its first message
    completions: tuple[Completion, ...] = ()
    questions: dict[str, Call] = field(default_factory=dict)  # what makes it ask; part of the text
    inputs: tuple[Call, ...] = ()  # ask before they answer (2026-07-28); part of the text
    slow: Call | None = None  # never answers in the time of a test
    big: Call | None = None  # gives how many bytes of text come
    seen: str | None = None  # the tool that tells what the server received


def _asking(method: str, gives: str) -> Call:
    return Call("ask", {"method": method}, gives)


GOOD = Offer(
    name="wellbehaved",
    tool_count=20,
    is_paged=True,
    text=Call("echo", {"text": "Grüße, 世界 \u2028"}, "Grüße, 世界 \u2028"),
    failing=Call("fail", {}, "it failed, as it should"),
    structured=Call("add", {"a": 2, "b": 3.5}, {"sum": 5.5}),
    refused={
        "tools/call": Call("error", {"code": -32050, "message": "no"}, -32050),
        "prompts/get": Call("nobody", {}, -32602),
        "no/such/method": Call("", {}, -32601),
    },
    progress=Call("progress", {"steps": 3}, 3),
    log=Call("log", {"level": "warning", "data": {"careful": True}}, {"careful": True}),
    filtered_log=Call("log", {"data": "x"}),
    growing={
        kind: Call("change_list", {"kind": kind}) for kind in ("tools", "resources", "prompts")
    },
    burst=Call("change_list", {"kind": "tools", "times": 50}),
    resource=("memo://text", "memo://text revision 0"),
    blob=("memo://blob", 256),
    touching=("memo://counter", Call("touch", {"uri": "memo://counter"})),
    template=("memo://item/{name}", "memo://item/ä", "memo://item/ä revision 0"),
    prompt=Call("greet", {"name": "Ada", "style": "Dear"}, "Dear, Ada!"),
    completions=(
        Completion({"type": "ref/prompt", "name": "greet"}, "name", "a", ["Ada", "Alan"]),
        Completion(
            {"type": "ref/prompt", "name": "greet"}, "style", "", ["Countess"], {"name": "Ada"}
        ),
        Completion(
            {"type": "ref/resource", "uri": "memo://pair/{left}/{right}"}, "left", "l", ["l1", "l2"]
        ),
    ),
    questions={
        ROOTS: _asking(ROOTS, "the roots"),
        SAMPLING: _asking(SAMPLING, "sampled"),
        ELICITATION: _asking(ELICITATION, "Ada"),
        "ping": _asking("ping", '{"result": {}}'),
        "no/such/method": _asking("no/such/method", "-32601"),
    },
    inputs=(
        _asking(ROOTS, "the roots"),
        _asking(SAMPLING, "sampled"),
        _asking(ELICITATION, "Ada"),
    ),
    slow=Call("slow", {"seconds": 60}),
    big=Call("big", {"bytes": 3_000_000}, 3_000_000),
    seen="seen",
)

_GZIP = {
    "name": "hello.gz",
    "data": "data:text/plain;base64,aGVsbG8=",
    "outputType": "resourceLink",
}

EVERYTHING = Offer(
    name="mcp-servers/everything",
    tool_count=17,
    text=Call("echo", {"message": "Grüße"}, "Echo: Grüße"),
    failing=Call("get-sum", {"a": "x"}, "Input validation error"),
    structured=Call(
        "get-structured-content",
        {"location": "Chicago"},
        {"temperature": 36, "conditions": "Light rain / drizzle", "humidity": 82},
    ),
    refused={
        "prompts/get": Call("nobody", {}, -32602),
        "no/such/method": Call("", {}, -32601),
    },
    progress=Call("trigger-long-running-operation", {"duration": 0.04, "steps": 4}, 4),
    log=Call("toggle-simulated-logging"),
    growing={"resources": Call("gzip-file-as-resource", _GZIP)},
    resource=("demo://resource/static/document/features.md", "# Everything Server"),
    touching=("demo://resource/dynamic/text/1", Call("toggle-subscriber-updates")),
    template=(
        "demo://resource/dynamic/text/{resourceId}",
        "demo://resource/dynamic/text/7",
        "Resource 7: This is a plaintext resource",
    ),
    prompt=Call("args-prompt", {"city": "Paris"}, "What's weather in Paris?"),
    completions=(
        Completion(
            {"type": "ref/prompt", "name": "completable-prompt"},
            "department",
            "E",
            ["Engineering"],
        ),
        Completion(
            {"type": "ref/prompt", "name": "completable-prompt"},
            "name",
            "A",
            ["Alice"],
            {"department": "Engineering"},
        ),
        Completion(
            {"type": "ref/resource", "uri": "demo://resource/dynamic/text/{resourceId}"},
            "resourceId",
            "1",
            ["1"],
        ),
    ),
    questions={
        ROOTS: Call("get-roots-list", {}, "the roots"),
        SAMPLING: Call("trigger-sampling-request", {"prompt": "Hello?"}, "sampled"),
        ELICITATION: Call("trigger-elicitation-request", {}, "Name: Ada"),
    },
    slow=Call("trigger-long-running-operation", {"duration": 60, "steps": 1}),
)


def _sdk(name: str, failure: str) -> Offer:
    return Offer(
        name=name,
        tool_count=5,
        text=Call("echo", {"text": "Grüße, 世界"}, "Grüße, 世界"),
        failing=Call("fail", {}, failure),
        structured=Call("add", {"a": 2, "b": 3}, {"sum": 5}),
        refused={
            "resources/read": Call("memo://nowhere", {}, -32602),
            "no/such/method": Call("", {}, -32601),
        },
        progress=Call("slow_progress", {"steps": 3}, 3),
        resource=("memo://text", "the memo"),
        template=("memo://item/{name}", "memo://item/x", "item x"),
        prompt=Call("greet", {"name": "Ada"}, "Hello, Ada!"),
        inputs=(Call("introduce", {}, "Ada has 1 roots and is greeted: sampled"),),
    )


SDK_MCP = _sdk("sdk-mcp", "Error executing tool fail: it failed, as it should")
SDK_FASTMCP = _sdk("sdk-fastmcp", "it failed, as it should")

FILESYSTEM = Offer(
    name="secure-filesystem-server",
    tool_count=14,
    text=Call("read_text_file", {"path": f"{FOLDER}/note.txt"}, "the note"),
    failing=Call("read_text_file", {"path": "/etc/passwd"}, "Access denied"),
    structured=Call("read_text_file", {"path": f"{FOLDER}/note.txt"}, {"content": "the note"}),
    refused={"no/such/method": Call("", {}, -32601)},
)

_ADA = {"name": "Ada", "entityType": "person", "observations": ["wrote the first program"]}

MEMORY = Offer(
    name="memory-server",
    tool_count=9,
    text=Call("open_nodes", {"names": []}, '"entities": []'),
    failing=Call("open_nodes", {}, "Input validation error"),
    structured=Call("open_nodes", {"names": []}, {"entities": [], "relations": []}),
    refused={"no/such/method": Call("", {}, -32601)},
    touching=("memory://knowledge-graph", Call("create_entities", {"entities": [_ADA]})),
)

TIME = Offer(
    name="mcp-time",
    tool_count=2,
    text=Call(
        "convert_time",
        {"source_timezone": "UTC", "time": "12:00", "target_timezone": "Asia/Tokyo"},
        '"time_difference": "+9.0h"',
    ),
    failing=Call("get_current_time", {"timezone": "Nowhere"}, "Invalid timezone"),
    refused={"no/such/method": Call("", {}, -32601)},
)

GIT = Offer(
    name="mcp-git",
    tool_count=12,
    text=Call("git_status", {"repo_path": FOLDER}, "note.txt"),
    failing=Call("git_status", {"repo_path": f"{FOLDER}/nowhere"}, "Error executing tool"),
    refused={"no/such/method": Call("", {}, -32601)},
)
