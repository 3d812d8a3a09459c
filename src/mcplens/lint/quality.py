"""Rules of quality: what a model needs to choose a tool and to fill in its arguments."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from mcplens.contracts.contract import SINGULAR
from mcplens.contracts.pointers import join
from mcplens.lint.rule import Hit, RuleSet, Subject
from mcplens.lint.schema_walk import properties_of, walk
from mcplens.protocol.schema_references import resolve

QUALITY: Final = RuleSet("quality")
_WRITING: Final = "https://www.anthropic.com/engineering/writing-tools-for-agents"
_WRITING_DATE: Final = "2025-09-11"
_TOOLS: Final = "https://modelcontextprotocol.io/specification/2025-11-25/server/tools"
_DATE: Final = "2025-11-25"
# Keywords by which a schema says what it takes.
_SAYS_TYPE: Final = frozenset(
    ("type", "enum", "const", "$ref", "anyOf", "oneOf", "allOf", "properties", "items", "not")
)
# Every repetition has a limit, since a hostile text would otherwise take quadratic time.
_OPTIONS: Final = re.compile(
    r"\b(?:one of|either|allowed values?|possible values?|valid values?|options?)"
    r"\s{0,3}(?:are|is)?\s{0,3}:?\s{0,3}[`'\"“(]{0,3}[\w-]{1,40}[`'\"”]{0,3}\s{0,3}(?:,|\||/| or )",
    re.I,
)
# A verb, alone or with what it lists behind it: not `write_query`, `get-roots-list`.
_LISTING: Final = re.compile(
    r"^(?:list|search|find|query|get_?all|fetch_?all)(?![a-z])"
    r"|[_\-./](?:list|search|find)[_\-./A-Z]|(?<=[a-z])(?:List|Search|Find)[A-Z]|[_\-./]search$"
)
_BOUNDS: Final = re.compile(
    r"limit|max|page|cursor|first|last|top|count|size|per_?page|offset|take|num|^n$|range|since",
    re.I,
)
_SEPARATORS: Final = re.compile(r"[\W_]+")


@QUALITY.rule(
    "quality-tool-description",
    "warning",
    title="A tool has no description",
    reason="A model chooses a tool by its description.",
    source=_WRITING,
    date=_WRITING_DATE,
)
def _tool_description(subject: Subject) -> Iterator[Hit]:
    for name, pointer, tool in subject.tools():
        if not _has_text(tool.get("description")):
            yield pointer, f"the tool {name} has no description"


@QUALITY.rule(
    "quality-item-description",
    "note",
    title="A resource, template or prompt has no description",
    reason="People and models choose it by its description.",
    source="https://modelcontextprotocol.io/specification/2025-11-25/server/resources#resource",
    date=_DATE,
)
def _item_description(subject: Subject) -> Iterator[Hit]:
    for kind in ("resources", "resourceTemplates", "prompts"):
        for name, pointer, item in subject.items(kind):
            if not _has_text(item.get("description")):
                yield pointer, f"the {SINGULAR[kind]} {name} has no description"


@QUALITY.rule(
    "quality-parameter-description",
    "warning",
    title="A parameter has no description",
    reason="A model guesses what to fill in.",
    source=_WRITING,
    date=_WRITING_DATE,
)
def _parameter_description(subject: Subject) -> Iterator[Hit]:
    for _, pointer, tool in subject.tools():
        schema = tool.get("inputSchema")
        for name, parameter in properties_of(schema).items():
            if isinstance(parameter, dict) and not _has_text(_described(parameter, schema)):
                place = join(pointer, "inputSchema", "properties", name)
                yield place, f"the parameter {name} has no description"
    for _, pointer, prompt in subject.items("prompts"):
        arguments = prompt.get("arguments")
        for at, argument in enumerate(arguments if isinstance(arguments, list) else ()):
            if isinstance(argument, dict) and not _has_text(argument.get("description")):
                text = f"the argument {argument.get('name')} has no description"
                yield join(pointer, "arguments", at), text


def _described(parameter: dict[str, Any], schema: Any) -> Any:
    """A parameter's own description, or that of what it refers to."""
    if parameter.get("description") is not None or "$ref" not in parameter:
        return parameter.get("description")
    try:
        target = resolve(schema, parameter["$ref"])
    except KeyError:
        return None
    return target.get("description") if isinstance(target, dict) else None


@QUALITY.rule(
    "quality-parameter-type",
    "warning",
    title="A parameter has no type",
    reason="Without a type anything is valid, and forms and models cannot tell what to give.",
    source=_WRITING,
    date=_WRITING_DATE,
)
def _parameter_type(subject: Subject) -> Iterator[Hit]:
    for _, pointer, tool in subject.tools():
        for name, parameter in properties_of(tool.get("inputSchema")).items():
            if parameter is True or (isinstance(parameter, dict) and not _SAYS_TYPE & {*parameter}):
                place = join(pointer, "inputSchema", "properties", name)
                yield place, f"the parameter {name} has no type"


@QUALITY.rule(
    "quality-required-unknown",
    "warning",
    title="A required parameter is not described",
    reason="It must be given, and nothing says what it is; often it was renamed in one place.",
    source=f"{_TOOLS}#tool",
    date=_DATE,
)
def _required_unknown(subject: Subject) -> Iterator[Hit]:
    for _, pointer, tool in subject.tools():
        for place in walk(tool.get("inputSchema"), join(pointer, "inputSchema")):
            required, known = place.schema.get("required"), properties_of(place.schema)
            if not isinstance(required, list) or "properties" not in place.schema:
                continue
            for name in required:
                if isinstance(name, str) and name not in known:
                    text = f"{name} is required and not among the properties"
                    yield join(place.pointer, "required"), text


@QUALITY.rule(
    "quality-twins",
    "warning",
    title="Two tools can hardly be told apart",
    reason="A model chooses between them by chance: they have the same description, or names that "
    "differ only in case and separators.",
    source=_WRITING,
    date=_WRITING_DATE,
)
def _twins(subject: Subject) -> Iterator[Hit]:
    by_words: dict[str, str] = {}
    by_name: dict[str, str] = {}
    for name, pointer, tool in subject.tools():
        plain = _SEPARATORS.sub("", str(tool.get("name"))).lower()
        words = " ".join(str(tool.get("description") or "").lower().split())
        if plain in by_name and by_name[plain] != tool.get("name"):
            yield pointer, f"{name} is called almost like {by_name[plain]}"
        elif words and words in by_words:
            yield join(pointer, "description"), f"{name} has the description of {by_words[words]}"
        by_name.setdefault(plain, str(tool.get("name")))
        by_words.setdefault(words, name)


@QUALITY.rule(
    "quality-enum",
    "note",
    title="A description lists values, and the schema takes any text",
    reason="An enum tells forms, validators and models what the description only says.",
    source=_WRITING,
    date=_WRITING_DATE,
)
def _enum(subject: Subject) -> Iterator[Hit]:
    for _, pointer, tool in subject.tools():
        for place in walk(tool.get("inputSchema"), join(pointer, "inputSchema")):
            schema, words = place.schema, place.schema.get("description")
            is_free = schema.get("type") == "string" and not {"enum", "const", "pattern"} & {
                *schema
            }
            if (
                place.property_name
                and is_free
                and isinstance(words, str)
                and _OPTIONS.search(words)
            ):
                yield place.pointer, f"{place.property_name} takes any text; use an enum"


@QUALITY.rule(
    "quality-output-schema",
    "note",
    title="A tool has no output schema",
    reason="Clients cannot check its results, and programs have to parse text.",
    source=f"{_TOOLS}#output-schema",
    date=_DATE,
)
def _output_schema(subject: Subject) -> Iterator[Hit]:
    for name, pointer, tool in subject.tools():
        if tool.get("outputSchema") is None:
            yield pointer, f"the tool {name} has no output schema"


@QUALITY.rule(
    "quality-unbounded",
    "note",
    title="A tool that lists or searches has no parameter that bounds its results",
    reason="A long result fills the context of a model; clients cut it off or refuse it.",
    source=_WRITING,
    date=_WRITING_DATE,
)
def _unbounded(subject: Subject) -> Iterator[Hit]:
    for name, pointer, tool in subject.tools():
        if not _LISTING.search(str(tool.get("name"))):
            continue
        parameters = properties_of(tool.get("inputSchema"))
        if not any(_BOUNDS.search(parameter) for parameter in parameters):
            yield pointer, f"{name} has no limit, page or cursor"


def _has_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())
