"""Commands that can be pasted: an example call of a tool, prompt, resource or template.

The values are made by the schema; each word is checked to be read back as what it stands for.
Used by list_commands.py.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Mapping
from typing import Any, Final

import click

from mcplens.cli.arguments import collect, read_words
from mcplens.cli.command_options import CommandOptions
from mcplens.protocol.result_types import Prompt, Resource, ResourceTemplate, Tool
from mcplens.protocol.schema_examples import example_object, example_of
from mcplens.protocol.schema_text import item_schema
from mcplens.protocol.schema_types import object_shape
from mcplens.protocol.schema_validation import SchemaProblem, Validator
from mcplens.protocol.secret_masking import is_secret_name
from mcplens.protocol.uri_templates import variables_of

# Of the shared options, those that the same server is reached by.
_REPEATED: Final = {
    "config": "--config",
    "transport": "--transport",
    "cwd": "--cwd",
    "protocol": "--protocol",
    "ca_file": "--ca-file",
}


def command_line(
    flags: CommandOptions, target: str | None, command: str, words: Iterable[str]
) -> str:
    """A command for the same server, quoted for a shell."""
    if flags.is_in_shell:
        return shlex.join([command, *words])
    parts = ["mcplens", command, *([target] if target is not None else []), *words]
    for name, option in _REPEATED.items():
        if (value := flags.options.get(name)) is not None:
            parts += [option, str(value)]
    for option, given, mark in (("-H", flags.headers, ": "), ("-e", flags.env, "=")):
        for name, value in given.items():
            shown = "…" if is_secret_name(name) else value
            parts += [option, f"{name}{mark}{shown}"]
    if flags.insecure:
        parts.append("--insecure")
    if flags.server_command is not None:
        parts += ["--", *flags.server_command]
    return shlex.join(parts)


def example_words(item: Tool | Prompt | Resource | ResourceTemplate) -> list[str]:
    """What follows `call`, `prompt` or `read` in an example: the name, and what it needs."""
    name, *words = _words_of(item)
    return [f"--name={name}" if name.startswith("-") else name, *words]


def _words_of(item: Tool | Prompt | Resource | ResourceTemplate) -> list[str]:
    if isinstance(item, Tool):
        return _tool_words(item)
    if isinstance(item, Prompt):
        required = [one.name for one in item.arguments or () if one.required]
        return [item.name, *(_word(name, "example", None) for name in required)]
    if isinstance(item, Resource):
        return [item.uri]
    variables = variables_of(item.uri_template)
    needed = [one for one in variables if not one.is_optional] or variables[:1]
    return [item.uri_template, *(_word(one.name, "example", None) for one in needed)]


def _tool_words(tool: Tool) -> list[str]:
    arguments = _example(tool.input_schema)
    words = [_word(key, value, tool.input_schema) for key, value in arguments.items()]
    is_option = any(word.startswith("-") for word in words)
    if is_option or _read_back(words, tool.input_schema) != arguments:
        words = ["--args", _json(arguments)]
    return [tool.name, *words]


def _example(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Valid arguments: the required ones, or more where they are not enough."""
    whole = example_object(schema)
    shape = object_shape(schema)
    needed = {key: value for key, value in whole.items() if key in shape.required}
    try:
        validator = Validator(schema)
    except SchemaProblem:
        return needed
    if validator.findings(needed):
        return whole
    for key, value in needed.items():  # an item shows what to write better than none
        items = item_schema(shape.properties.get(key), schema) if value == [] else []
        filled = {**needed, key: [example_of(items[0], root=schema)]} if items else needed
        needed = needed if validator.findings(filled) else filled
    return needed


def _word(key: str, value: Any, schema: Mapping[str, Any] | None) -> str:
    """`key=text` where it is read back as the value, else `key:=json`."""
    texts = [value if isinstance(value, str) else _json(value)]
    if isinstance(value, list) and value and all(isinstance(one, str | int) for one in value):
        texts.insert(0, ",".join(one if isinstance(one, str) else _json(one) for one in value))
    for text in texts:
        word = f"{key}={text}"
        if text.isprintable() and _read_back([word], schema) == {key: value}:
            return word
    return f"{key}:={_json(value)}"


def _read_back(words: list[str], schema: Mapping[str, Any] | None) -> dict[str, Any] | None:
    try:
        return collect(read_words(words), schema=schema, is_forced=True)
    except click.UsageError:
        return None


def _json(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if text.isprintable() else json.dumps(value)
