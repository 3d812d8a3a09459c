"""The tools, resources and prompts on offer, in pages, with what a test adds to them. Pure."""

import base64
from typing import Any

from .protocol import INVALID_PARAMS, Message, RpcError

# Each breaks a different rule; a client must still show the others.
BROKEN_TOOLS: list[Any] = [
    {"description": "has no name", "inputSchema": {"type": "object"}},
    {"name": "schema_is_a_string", "inputSchema": "object"},
    {"name": 7, "inputSchema": {"type": "object"}},
    "not an object",
    {
        "name": "header_on_an_object",
        "inputSchema": {
            "type": "object",
            "properties": {"a": {"type": "object", "x-mcp-header": "A"}},
        },
    },
]

RESOURCES: list[Message] = [
    {"uri": "memo://text", "name": "text", "title": "A text", "mimeType": "text/plain"},
    {
        "uri": "memo://counter",
        "name": "counter",
        "description": "touch{uri} changes it",
        "mimeType": "text/plain",
    },
    {"uri": "memo://blob", "name": "blob", "mimeType": "application/octet-stream"},
]
TEMPLATES: list[Message] = [
    {"uriTemplate": "memo://item/{name}", "name": "item", "mimeType": "text/plain"},
    {"uriTemplate": "memo://pair/{left}/{right}", "name": "pair"},
]
PROMPTS: list[Message] = [
    {
        "name": "greet",
        "description": "Greets a person",
        "arguments": [{"name": "name", "required": True}, {"name": "style", "required": False}],
    },
    {"name": "plain", "description": "Takes no arguments"},
]


class Catalog:
    def __init__(
        self, tools: list[Any], *, page_size: int, is_broken: bool, empty_cursor: bool
    ) -> None:
        self.items: dict[str, list[Any]] = {
            # Broken ones in the middle, so that a client that stops at them is noticed.
            "tools": [*tools[:2], *BROKEN_TOOLS, *tools[2:]] if is_broken else list(tools),
            "resources": list(RESOURCES),
            "resourceTemplates": list(TEMPLATES),
            "prompts": list(PROMPTS),
        }
        self.revisions: dict[str, int] = {}
        self._page_size = page_size
        self._empty_cursor = empty_cursor

    def page(self, kind: str, params: Message) -> Message:
        """One page of `kind`; cursors are opaque to the client. Page size 0 gives all at once."""
        items = self.items[kind]
        start = self._start_of(kind, params["cursor"]) if "cursor" in params else 0
        end = start + self._page_size if self._page_size else len(items)
        cursor = {"nextCursor": self._cursor(kind, end)} if end < len(items) else {}
        return {kind: items[start:end], **cursor}

    def add(self, kind: str) -> str:
        """Add one more tool, resource or prompt and return its name."""
        name = f"extra_{len(self.items[kind])}"
        made: dict[str, Message] = {
            "tools": {"name": name, "inputSchema": {"type": "object"}},
            "resources": {"uri": f"memo://{name}", "name": name},
            "prompts": {"name": name},
        }
        self.items[kind].append(made[kind])
        return name

    def touch(self, uri: str) -> None:
        self.revisions[uri] = self.revisions.get(uri, 0) + 1

    def read(self, uri: str) -> Message | None:
        if uri == "memo://blob":
            blob = base64.b64encode(bytes(range(256))).decode()
            return {"uri": uri, "mimeType": "application/octet-stream", "blob": blob}
        known = any(resource["uri"] == uri for resource in self.items["resources"])
        if known or uri.startswith(("memo://item/", "memo://pair/")):
            text = f"{uri} revision {self.revisions.get(uri, 0)}"
            return {"uri": uri, "mimeType": "text/plain", "text": text}
        return None

    def tools_by_name(self) -> dict[str, Message]:
        named = [tool for tool in self.items["tools"] if isinstance(tool, dict)]
        return {tool["name"]: tool for tool in named if isinstance(tool.get("name"), str)}

    def _cursor(self, kind: str, start: int) -> str:
        # "" is a legal cursor (2026-07-28): a client that tests truth, not presence, loses pages.
        if self._empty_cursor and start == self._page_size:
            return ""
        return base64.urlsafe_b64encode(f"{kind}:{start}".encode()).decode()

    def _start_of(self, kind: str, cursor: Any) -> int:
        for start in range(self._page_size or 1, len(self.items[kind]), self._page_size or 1):
            if cursor == self._cursor(kind, start):
                return start
        raise RpcError(INVALID_PARAMS, f"unknown cursor {cursor!r}")
