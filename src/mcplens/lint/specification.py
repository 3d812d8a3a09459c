"""Rules of the MCP specification: names, required members, schemas, annotations."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from mcplens.contracts.contract import NAMES, SINGULAR
from mcplens.contracts.pointers import LISTS, join
from mcplens.lint.rule import Hit, RuleSet, Subject
from mcplens.lint.schema_walk import walk
from mcplens.protocol.eras import InvalidHeaderAnnotation, header_parameters
from mcplens.protocol.schema_references import resolve
from mcplens.protocol.schema_validation import SchemaProblem, Validator

SPECIFICATION: Final = RuleSet("specification")
_TOOLS: Final = "https://modelcontextprotocol.io/specification/2025-11-25/server/tools"
_RESOURCES: Final = "https://modelcontextprotocol.io/specification/2025-11-25/server/resources"
_SCHEMA: Final = "https://modelcontextprotocol.io/specification/2025-11-25/schema"
_DATE: Final = "2025-11-25"
_NAME: Final = re.compile(r"[A-Za-z0-9_.-]{1,128}")
_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_HINTS: Final = ("readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint")
# Members that a definition must have, beside the one that names it.
_REQUIRED: Final = dict(zip(LISTS, (("inputSchema",), ("name",), ("name",), ()), strict=True))


@SPECIFICATION.rule(
    "spec-required-member",
    "error",
    title="A definition lacks a member that it must have",
    reason="Clients drop the item, or refuse the whole list.",
    source=f"{_SCHEMA}#tool",
    date=_DATE,
)
def _required(subject: Subject) -> Iterator[Hit]:
    for kind in LISTS:
        for name, item in subject.contract.items(kind).items():
            pointer = join("", kind, name)
            if not isinstance(item, dict):
                yield pointer, f"the {SINGULAR[kind]} is not an object"
                continue
            for member in (NAMES[kind], *_REQUIRED[kind]):
                if item.get(member) in (None, ""):
                    yield pointer, f"the {SINGULAR[kind]} has no {member}"


@SPECIFICATION.rule(
    "spec-tool-name",
    "warning",
    title="A tool's name has characters or a length that the specification advises against",
    reason="Names should have 1 to 128 ASCII letters, digits, _, - and dots.",
    source=f"{_TOOLS}#tool-names",
    date=_DATE,
)
def _tool_name(subject: Subject) -> Iterator[Hit]:
    for _, pointer, tool in subject.tools():
        name = tool.get("name")
        if isinstance(name, str) and name and not _NAME.fullmatch(name):
            yield (
                join(pointer, "name"),
                f"the name {name[:140]!r} is not 1 to 128 of A-Z a-z 0-9 _ - .",
            )


@SPECIFICATION.rule(
    "spec-duplicate-name",
    "error",
    title="Two items have the same name",
    reason="A name must be unique: a client cannot say which of the two it means.",
    source=f"{_TOOLS}#tool-names",
    date=_DATE,
)
def _duplicate(subject: Subject) -> Iterator[Hit]:
    for kind in LISTS:
        seen = set()
        for _, pointer, item in subject.items(kind):
            name = item.get(NAMES[kind])
            if isinstance(name, str) and name in seen:
                yield pointer, f"another {SINGULAR[kind]} is called {name!r} too"
            elif isinstance(name, str):
                seen.add(name)


@SPECIFICATION.rule(
    "spec-input-schema-object",
    "error",
    title="An input schema is not one of an object",
    reason="Arguments are an object, so the root of an input schema must have the type object.",
    source=f"{_SCHEMA}#tool",
    date=_DATE,
)
def _input_object(subject: Subject) -> Iterator[Hit]:
    for _, pointer, tool in subject.tools():
        schema = tool.get("inputSchema")
        if schema is None:
            continue
        place = join(pointer, "inputSchema")
        if not isinstance(schema, dict):
            yield place, "the input schema is not an object"
        elif schema.get("type") != "object":
            yield place, 'the input schema does not have "type": "object"'


@SPECIFICATION.rule(
    "spec-output-schema-object",
    "error",
    title="An output schema is not one of an object, in a revision that demands it",
    reason="Before 2026-07-28 structured content is an object.",
    source=f"{_SCHEMA}#tool",
    date=_DATE,
)
def _output_object(subject: Subject) -> Iterator[Hit]:
    version = subject.contract.protocol_version
    if version is None or version >= "2026-07-28":
        return
    for _, pointer, tool in subject.tools():
        schema = tool.get("outputSchema")
        if schema is not None and (not isinstance(schema, dict) or schema.get("type") != "object"):
            text = 'the output schema does not have "type": "object"'
            yield join(pointer, "outputSchema"), text


@SPECIFICATION.rule(
    "spec-schema-invalid",
    "error",
    title="A schema is not valid JSON Schema",
    reason="Clients cannot check arguments or results, and models are told what does not hold.",
    source=f"{_TOOLS}#tool",
    date=_DATE,
)
def _invalid(subject: Subject) -> Iterator[Hit]:
    for place, schema in _schemas(subject):
        if any(True for _ in _bad_references(schema, place)):
            continue  # reported by spec-schema-reference
        try:
            Validator(schema)
        except SchemaProblem as problem:
            yield place, str(problem)


@SPECIFICATION.rule(
    "spec-schema-reference",
    "error",
    title="A reference in a schema leads nowhere, or to the network",
    reason="Clients must not fetch schemas, and cannot follow a reference that dangles.",
    source="https://modelcontextprotocol.io/specification/2025-11-25/basic/index#json-schema-usage",
    date=_DATE,
)
def _references(subject: Subject) -> Iterator[Hit]:
    for place, schema in _schemas(subject):
        yield from _bad_references(schema, place)


def _schemas(subject: Subject) -> Iterator[tuple[str, dict[str, Any]]]:
    for _, pointer, tool in subject.tools():
        for key in ("inputSchema", "outputSchema"):
            schema = tool.get(key)
            if isinstance(schema, dict):
                yield join(pointer, key), schema


def _bad_references(schema: dict[str, Any], pointer: str) -> Iterator[Hit]:
    has_ids = any("$id" in place.schema or "$anchor" in place.schema for place in walk(schema, ""))
    for place in walk(schema, pointer):
        reference = place.schema.get("$ref")
        if reference is None:
            continue
        try:
            resolve(schema, reference)
        except KeyError:
            if not (has_ids and isinstance(reference, str)):  # it may be relative to an $id
                yield join(place.pointer, "$ref"), f"the reference {reference!r} leads nowhere"


@SPECIFICATION.rule(
    "spec-annotation-type",
    "error",
    title="An annotation is not true or false",
    reason="Clients pass over hints that they cannot read, and assume the worst.",
    source=f"{_SCHEMA}#toolannotations",
    date=_DATE,
)
def _annotation_type(subject: Subject) -> Iterator[Hit]:
    for _, pointer, tool in subject.tools():
        annotations = tool.get("annotations")
        if annotations is None:
            continue
        place = join(pointer, "annotations")
        if not isinstance(annotations, dict):
            yield place, "the annotations are not an object"
            continue
        for hint in _HINTS:
            if hint in annotations and not isinstance(annotations[hint], bool):
                yield join(place, hint), f"{hint} is {annotations[hint]!r}, not true or false"


@SPECIFICATION.rule(
    "spec-annotation-contradiction",
    "warning",
    title="A tool is marked read-only and destructive",
    reason="destructiveHint means something only for a tool that is not read-only.",
    source=f"{_SCHEMA}#toolannotations",
    date=_DATE,
)
def _contradiction(subject: Subject) -> Iterator[Hit]:
    for _, pointer, tool in subject.tools():
        hints = tool.get("annotations")
        if isinstance(hints, dict) and hints.get("readOnlyHint") and hints.get("destructiveHint"):
            yield join(pointer, "annotations"), "readOnlyHint and destructiveHint are both true"


@SPECIFICATION.rule(
    "spec-task-support",
    "error",
    title="taskSupport has a value that the specification does not know",
    reason="It is forbidden, optional or required; a client cannot act on anything else.",
    source=f"{_SCHEMA}#toolexecution",
    date=_DATE,
)
def _task_support(subject: Subject) -> Iterator[Hit]:
    for _, pointer, tool in subject.tools():
        execution = tool.get("execution")
        given = execution.get("taskSupport") if isinstance(execution, dict) else None
        if given not in (None, "forbidden", "optional", "required"):
            place = join(pointer, "execution", "taskSupport")
            yield place, f"taskSupport is {given!r}; it is forbidden, optional or required"


@SPECIFICATION.rule(
    "spec-header-annotation",
    "error",
    title="An x-mcp-header annotation breaks the rules of 2026-07-28",
    reason="Clients must leave such a tool out over HTTP.",
    source="https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http"
    "#custom-headers-from-tool-parameters",
    date="2026-07-28",
)
def _header(subject: Subject) -> Iterator[Hit]:
    for _, pointer, tool in subject.tools():
        try:
            header_parameters(tool.get("inputSchema"))
        except InvalidHeaderAnnotation as problem:
            yield join(pointer, "inputSchema"), str(problem)


@SPECIFICATION.rule(
    "spec-resource-uri",
    "error",
    title="The URI of a resource has no scheme",
    reason="It must be a URI as RFC 3986 defines it.",
    source=f"{_RESOURCES}#common-uri-schemes",
    date=_DATE,
)
def _uri(subject: Subject) -> Iterator[Hit]:
    for kind in ("resources", "resourceTemplates"):
        for _, pointer, item in subject.items(kind):
            uri = item.get(NAMES[kind])
            if isinstance(uri, str) and uri and not _SCHEME.match(uri) and uri[0] != "{":
                yield join(pointer, NAMES[kind]), f"{uri[:100]!r} has no scheme"


@SPECIFICATION.rule(
    "spec-uri-template",
    "error",
    title="A URI template has braces that do not match",
    reason="It must be a template as RFC 6570 defines it.",
    source=f"{_RESOURCES}#resource-templates",
    date=_DATE,
)
def _template(subject: Subject) -> Iterator[Hit]:
    for _, pointer, item in subject.items("resourceTemplates"):
        template = item.get("uriTemplate")
        if isinstance(template, str) and set("{}") & set(re.sub(r"\{[^{}]+\}", "", template)):
            yield join(pointer, "uriTemplate"), f"the braces of {template[:100]!r} do not match"
