"""Rules of well-known hosts and models: names and schemas that they refuse or drop."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from mcplens.contracts.pointers import join
from mcplens.lint.rule import Hit, RuleSet, Subject
from mcplens.lint.schema_walk import properties_of, walk

CLIENTS: Final = RuleSet("clients")
_NAME: Final = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_KEY: Final = re.compile(r"[a-zA-Z0-9_.-]{1,64}")
# Cursor refuses 60 and more for both names together.
_MOST_COMBINED: Final = 59
_CURSOR_TOOLS: Final = 80
_VSCODE_TOOLS: Final = 128
_OPENAI_DESCRIPTION: Final = 1024
_CLAUDE_DESCRIPTION: Final = 2048
_MOST_LEVELS: Final = 10
_UNIONS: Final = ("oneOf", "anyOf", "allOf")
_UNKNOWN_TO_GEMINI: Final = (
    "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "uniqueItems", "const", "oneOf", "allOf",
    "patternProperties", "not", "if",
)  # fmt: skip


@CLIENTS.rule(
    "client-tool-name",
    "warning",
    title="A tool's name is refused by model APIs",
    reason="Names with other characters than letters, digits, _ and -, or longer than 64, fail the "
    "whole request at OpenAI and at hosts that pass them on.",
    source="https://github.com/apify/tester-mcp-client/issues/11",
    date="2025-03-07",
)
def _name(subject: Subject) -> Iterator[Hit]:
    for _, pointer, tool in subject.tools():
        name = tool.get("name")
        if isinstance(name, str) and name and not _NAME.fullmatch(name):
            text = f"the name {name[:80]!r} does not match ^[a-zA-Z0-9_-]{{1,64}}$"
            yield join(pointer, "name"), text


@CLIENTS.rule(
    "client-combined-name",
    "warning",
    title="The names of server and tool together are too long for Cursor",
    reason="Cursor filters tools out whose server and tool names have 60 characters or more.",
    source="https://github.com/ComposioHQ/composio/issues/2788",
    date="2026-02-27",
)
def _combined_name(subject: Subject) -> Iterator[Hit]:
    server = subject.contract.name
    for _, pointer, tool in subject.tools():
        length = len(server) + len(str(tool.get("name") or ""))
        if length > _MOST_COMBINED:
            yield join(pointer, "name"), f"{server} and the name have {length} characters together"


@CLIENTS.rule(
    "client-too-many-tools",
    "note",
    title="The server alone has more tools than Cursor warns of",
    reason=f"Cursor warns beyond {_CURSOR_TOOLS} tools of all servers together.",
    source="https://github.com/Snowflake-Labs/mcp/issues/77",
    date="2025-09-02",
)
def _many_tools(subject: Subject) -> Iterator[Hit]:
    count = len(subject.contract.items("tools"))
    if _CURSOR_TOOLS < count <= _VSCODE_TOOLS:
        yield "/tools", f"{count} tools; Cursor warns beyond {_CURSOR_TOOLS}"


@CLIENTS.rule(
    "client-most-tools",
    "warning",
    title="The server alone has more tools than VS Code sends",
    reason=f"A request of VS Code has {_VSCODE_TOOLS} tools at most, of all servers together.",
    source="https://github.com/postmanlabs/postman-mcp-server/pull/26",
    date="2025-08-06",
)
def _most_tools(subject: Subject) -> Iterator[Hit]:
    count = len(subject.contract.items("tools"))
    if count > _VSCODE_TOOLS:
        yield "/tools", f"{count} tools; VS Code sends {_VSCODE_TOOLS} at most"


@CLIENTS.rule(
    "client-union-at-top",
    "error",
    title="oneOf, anyOf or allOf is at the top of an input schema",
    reason="Anthropic's API refuses the whole request, and with it every tool of every server.",
    source="https://github.com/anthropics/claude-code/issues/5973",
    date="2025-08-17",
)
def _union(subject: Subject) -> Iterator[Hit]:
    for _, pointer, tool in subject.tools():
        schema = tool.get("inputSchema")
        top = schema if isinstance(schema, dict) else {}
        for keyword in _UNIONS:
            if keyword in top:
                yield join(pointer, "inputSchema", keyword), f"{keyword} at the top of the schema"


@CLIENTS.rule(
    "client-property-name",
    "error",
    title="A parameter's name is refused by Anthropic's API",
    reason="One name with other characters than letters, digits, _ . and -, or longer than 64, "
    "fails every request that has the tool.",
    source="https://github.com/twilio-labs/mcp/issues/58",
    date="2026-02-15",
)
def _property_name(subject: Subject) -> Iterator[Hit]:
    for _, pointer, tool in subject.tools():
        for name in properties_of(tool.get("inputSchema")):
            if not _KEY.fullmatch(name):
                place = join(pointer, "inputSchema", "properties", name)
                yield place, f"the name {name[:80]!r} does not match ^[a-zA-Z0-9_.-]{{1,64}}$"


@CLIENTS.rule(
    "client-schema-reference",
    "warning",
    title="An input schema has references",
    reason="Gemini refuses or drops schemas with $ref and $defs; write them out where they are "
    "used.",
    source="https://github.com/google-gemini/gemini-cli/issues/13326",
    date="2025-11-18",
)
def _reference(subject: Subject) -> Iterator[Hit]:
    for _, pointer, tool in subject.tools():
        for place in walk(tool.get("inputSchema"), join(pointer, "inputSchema")):
            if "$ref" in place.schema:
                yield join(place.pointer, "$ref"), "a reference, which Gemini does not follow"
                break  # one for each tool is enough to know


@CLIENTS.rule(
    "client-schema-keyword",
    "note",
    title="An input schema has keywords that Gemini does not know",
    reason="Where a host passes a schema on as it is, Gemini refuses the request.",
    source="https://github.com/modelcontextprotocol/servers/issues/1624",
    date="2025-04-29",
)
def _keyword(subject: Subject) -> Iterator[Hit]:
    for _, pointer, tool in subject.tools():
        for place in walk(tool.get("inputSchema"), join(pointer, "inputSchema")):
            if not place.level:  # the top has rules of its own
                continue
            for keyword in _UNKNOWN_TO_GEMINI:
                if keyword in place.schema:
                    yield join(place.pointer, keyword), f"Gemini does not know {keyword}"


@CLIENTS.rule(
    "client-schema-depth",
    "warning",
    title="An input schema is nested too deeply",
    reason=f"Models refuse requests with schemas of more than {_MOST_LEVELS} levels.",
    source="https://github.com/anomalyco/opencode/issues/25495",
    date="2026-05-02",
)
def _depth(subject: Subject) -> Iterator[Hit]:
    for _, pointer, tool in subject.tools():
        for place in walk(tool.get("inputSchema"), join(pointer, "inputSchema")):
            if place.level > _MOST_LEVELS:
                yield place.pointer, f"more than {_MOST_LEVELS} levels deep"
                break


@CLIENTS.rule(
    "client-description-length",
    "note",
    title="A tool's description is longer than some models of OpenAI take",
    reason=f"Some models refuse requests with descriptions of more than {_OPENAI_DESCRIPTION} "
    "characters.",
    source="https://github.com/probelabs/probe/issues/9",
    date="2025-03-15",
)
def _description(subject: Subject) -> Iterator[Hit]:
    for _, pointer, tool in subject.tools():
        length = len(str(tool.get("description") or ""))
        if _OPENAI_DESCRIPTION < length <= _CLAUDE_DESCRIPTION:
            yield join(pointer, "description"), f"{length} characters"


@CLIENTS.rule(
    "client-description-cut",
    "warning",
    title="A tool's description is cut off by Claude Code",
    reason=f"Claude Code shows a model the first {_CLAUDE_DESCRIPTION} characters only.",
    source="https://github.com/anthropics/claude-code/issues/41593",
    date="2026-03-31",
)
def _cut(subject: Subject) -> Iterator[Hit]:
    for _, pointer, tool in subject.tools():
        length = len(str(tool.get("description") or ""))
        if length > _CLAUDE_DESCRIPTION:
            yield join(pointer, "description"), f"{length} characters; the end is cut off"
