"""A tool, prompt, resource or template for a person: in one row of a list, or in full.

Used by list_commands.py, which prints it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

from mcplens.cli import output
from mcplens.protocol.context_cost import token_count, tool_characters
from mcplens.protocol.result_types import Prompt, Resource, ResourceTemplate, Tool
from mcplens.protocol.schema_types import (
    alternatives,
    default_of,
    object_shape,
    shown_value,
    type_name,
    type_of,
)

Row = tuple[str, str]

# Members of members are shown this deep.
_MOST_LEVELS: Final = 3
_LIMITS: Final = (
    ("format", "format"),
    ("minimum", "at least"),
    ("exclusiveMinimum", "more than"),
    ("maximum", "at most"),
    ("exclusiveMaximum", "less than"),
    ("multipleOf", "multiple of"),
    ("minLength", "characters at least"),
    ("maxLength", "characters at most"),
    ("minItems", "items at least"),
    ("maxItems", "items at most"),
    ("pattern", "pattern"),
)
_HINTS: Final = {
    "readOnlyHint": ("read-only", "not read-only"),
    "destructiveHint": ("destructive", "not destructive"),
    "idempotentHint": ("idempotent", "not idempotent"),
    "openWorldHint": ("open world", "closed world"),
}


# -- one row -----------------------------------------------------------------------------------


def tool_row(tool: Tool) -> Row:
    """Name, signature, the first line of the description, and what the tool says of itself."""
    hints = [yes for key, (yes, _) in _HINTS.items() if (tool.annotations or {}).get(key) is True]
    shown = f"[{', '.join(hints)}]" if hints else ""
    text = output.first_line(tool.description or tool.title)
    return tool.name, f"{signature(tool.input_schema)} {text} {shown}".strip()


def resource_row(resource: Resource) -> Row:
    kind = f" ({resource.mime_type})" if resource.mime_type else ""
    return resource.uri, f"{resource.title or resource.name}{kind}{_about(resource)}"


def template_row(template: ResourceTemplate) -> Row:
    kind = f" ({template.mime_type})" if template.mime_type else ""
    return template.uri_template, f"{template.title or template.name}{kind}{_about(template)}"


def prompt_row(prompt: Prompt) -> Row:
    words = [one.name if one.required else f"[{one.name}]" for one in prompt.arguments or ()]
    text = output.first_line(prompt.description or prompt.title)
    return prompt.name, f"({', '.join(words)}) {text}".strip()


def _about(item: Resource | ResourceTemplate) -> str:
    text = output.first_line(item.description)
    return f"  {text}" if text else ""


def signature(schema: Any) -> str:
    """The arguments with their types, required ones first: `(a: integer, [b: red|green = red])`."""
    shape = object_shape(schema)
    shown = []
    for name, part in sorted(shape.properties.items(), key=lambda it: it[0] not in shape.required):
        text = f"{name}: {type_name(part, schema, is_null_shown=False)}"
        default = default_of(part, schema)
        if default and default[0] is not None:
            text += f" = {shown_value(default[0])}"
        shown.append(text if name in shape.required else f"[{text}]")
    return (
        f"({', '.join(shown)}{', …' if shape.is_open and shown else '…' if shape.is_open else ''})"
    )


# -- in full -----------------------------------------------------------------------------------


def show_tool(tool: Tool, example: str) -> None:
    """Everything that a tool's definition says."""
    _head(tool.name, tool.title, tool.description)
    _section("arguments", list(_members(tool.input_schema)) or [("none", "")])
    if isinstance(tool.output_schema, dict):
        returned = list(_members(tool.output_schema))
        _section("returns", returned or [(type_name(tool.output_schema), "")])
    support = (tool.execution or {}).get("taskSupport")
    facts = [
        ("annotations", _hints(tool.annotations or {})),
        ("as a task", str(support) if support else ""),
        ("cost", _cost(tool)),
        ("broken", tool.problem or ""),
    ]
    _facts([*facts, ("meta", _as_json(tool.meta))], example)


def show_prompt(prompt: Prompt, example: str) -> None:
    """Everything that a prompt's definition says."""
    _head(prompt.name, prompt.title, prompt.description)
    rows = []
    for one in prompt.arguments or ():
        about = one.description or one.title
        need = "required" if one.required else "optional"
        rows.append((one.name, f"{need}  {about}" if about else need))
    _section("arguments", rows or [("none", "")])
    _facts([("broken", prompt.problem or ""), ("meta", _as_json(prompt.meta))], example)


def show_resource(resource: Resource, example: str) -> None:
    """Everything that is known of a resource before it is read."""
    _head(resource.uri, resource.title or resource.name, resource.description)
    size = "" if resource.size is None else f"{resource.size} bytes"
    _facts([("name", resource.name), ("size", size), *_shared(resource)], example)


def show_template(template: ResourceTemplate, example: str) -> None:
    """A resource template and its variables."""
    _head(template.uri_template, template.title or template.name, template.description)
    from mcplens.protocol.uri_templates import variables_of

    variables = variables_of(template.uri_template)
    rows = [(one.name, "optional" if one.is_optional else "required") for one in variables]
    _section("variables", rows or [("none", "")])
    _facts([("name", template.name), *_shared(template)], example)


def _shared(item: Resource | ResourceTemplate) -> list[Row]:
    return [
        ("type", item.mime_type or ""),
        ("annotations", _as_json(item.annotations)),
        ("broken", item.problem or ""),
        ("meta", _as_json(item.meta)),
    ]


def _head(name: str, title: str | None, description: str | None) -> None:
    output.say(output.one_line(name), bold=True)
    for text in dict.fromkeys((title, description)):
        if text and text != name:
            output.paragraph(text.strip())


def _section(label: str, rows: list[Row]) -> None:
    output.say()
    output.say(label, dim=True)
    output.columns(rows, indent=2)


def _facts(facts: list[Row], example: str) -> None:
    """What is left to say, and a command that can be pasted, in one piece."""
    shown = [(label, text) for label, text in facts if text]
    if shown:
        output.say()
        output.columns(shown)
    output.say()
    output.say("example", dim=True)
    output.say(f"  {example}")


def _members(schema: Any, root: Any = None, prefix: str = "", level: int = 0) -> Iterator[Row]:
    """The members of an object, and the members of those that are objects themselves."""
    root = schema if root is None else root
    shape = object_shape(schema, root)
    for name, part in shape.properties.items():
        path = f"{prefix}{name}"
        yield path, _described(name, part, root, is_required=name in shape.required)
        for flat in alternatives(part, root) if level < _MOST_LEVELS else ():
            if type_of(flat) == "array":
                yield from _members(flat.get("items"), root, f"{path}[].", level + 1)
            elif type_of(flat) == "object":
                yield from _members(flat, root, f"{path}.", level + 1)


def _described(name: str, part: Any, root: Any, *, is_required: bool) -> str:
    text = type_name(part, root)
    if default := default_of(part, root):
        text += f" = {shown_value(default[0])}"
    text += ", required" if is_required else ""
    plain = next((flat for flat in alternatives(part, root) if type_of(flat) != "null"), {})
    limits = [f"{word} {shown_value(plain[key])}" for key, word in _LIMITS if key in plain]
    text += f" ({', '.join(limits)})" if limits else ""
    title = plain.get("title")
    if isinstance(title, str) and title.casefold() == name.replace("_", " ").casefold():
        title = None  # as pydantic makes it of the name
    about = plain.get("description") or title
    return f"{text}  {about}" if isinstance(about, str) else text


def _hints(annotations: dict[str, Any]) -> str:
    shown = []
    for key, value in annotations.items():
        words = _HINTS.get(key)
        if words is not None and isinstance(value, bool):
            shown.append(words[0] if value else words[1])
        elif key != "title":
            shown.append(f"{key}: {shown_value(value)}")
    return ", ".join(shown)


def _cost(tool: Tool) -> str:
    """What a model is told of the tool, in tokens, estimated as in the page."""
    told = {"name": tool.name, "description": tool.description, "inputSchema": tool.input_schema}
    characters = tool_characters(told)
    return f"about {token_count(characters)} tokens in a model's prompt ({characters} characters)"


def _as_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False) if value else ""
