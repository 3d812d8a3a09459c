"""What the demo offers, looked at without any wire."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from mcp_types import methods

from mcplens.demo.elicitation import EVERY_FIELD
from mcplens.demo.media import png, wav
from mcplens.demo.registry import FEATURE, TOOLS, WITH_TOOLS, load_features
from mcplens.protocol.eras import header_parameters
from mcplens.protocol.schema_validation import Validator

from .doors import HANDSHAKE, STATELESS, in_memory

load_features()


@pytest.mark.parametrize("name", TOOLS)
def test_a_tool_has_a_legal_name_a_description_and_a_schema_that_compiles(name: str) -> None:
    definition = TOOLS[name].definition
    assert re.fullmatch(r"[A-Za-z0-9_.-]{1,64}", name)
    assert definition["description"].rstrip(")").endswith((".", "answers"))
    Validator(definition["inputSchema"])
    Validator(definition.get("outputSchema", True))
    header_parameters(definition["inputSchema"])


def test_echo_and_add_come_first_and_the_broken_ones_last() -> None:
    names = list(TOOLS)
    assert names[:2] == ["echo", "add"]
    first_broken = next(place for place, name in enumerate(names) if name.startswith("broken-"))
    assert all(name.startswith("broken-") for name in names[first_broken:])
    assert len(names) - first_broken >= 15


async def test_the_first_page_of_tools_has_one_whose_arguments_are_headers_too() -> None:
    async with in_memory(revision=STATELESS) as (client, _):
        page = await client.list_page("tools")
    annotated = [tool.name for tool in page.items if header_parameters(tool.input_schema)]
    assert annotated == ["header-region"]


def test_every_feature_has_its_tools() -> None:
    shown = {tool.definition["_meta"][FEATURE] for tool in TOOLS.values()}
    assert shown == set(WITH_TOOLS)


def fields() -> list[dict[str, Any]]:
    """Every schema of a field in the forms, nested ones included."""
    found: list[dict[str, Any]] = []

    def collect(schema: Any) -> None:
        if isinstance(schema, dict):
            found.append(schema)
            for key in ("properties", "$defs"):
                for one in schema.get(key, {}).values():
                    collect(one)
            collect(schema.get("items"))

    for name, tool in TOOLS.items():
        if name.startswith("form-"):
            collect(tool.definition["inputSchema"])
    return found


def titled(options: Any) -> bool:
    return bool(options) and all("const" in option and "title" in option for option in options)


# UX, "Form Generation": each row of its tables, as a question about one field.
ROWS: dict[str, Callable[[dict[str, Any]], bool]] = {
    "string": lambda f: f.get("type") == "string" and "enum" not in f and "format" not in f,
    "string (enum)": lambda f: f.get("type") == "string" and "enum" in f,
    "string (enum with oneOf)": lambda f: f.get("type") == "string" and titled(f.get("oneOf")),
    "array (enum items with anyOf)": lambda f: titled((f.get("items") or {}).get("anyOf")),
    "array (enum items)": lambda f: "enum" in (f.get("items") or {}),
    "string (format: uri)": lambda f: f.get("format") == "uri",
    "number": lambda f: f.get("type") == "number",
    "integer": lambda f: f.get("type") == "integer",
    "boolean": lambda f: f.get("type") == "boolean",
    "array": lambda f: f.get("type") == "array" and f["items"].get("type") == "string",
    "array of objects": lambda f: (f.get("items") or {}).get("type") == "object",
    "object": lambda f: f.get("type") == "object" and "properties" in f,
    "enumNames": lambda f: "enumNames" in f,
    "required": lambda f: bool(f.get("required")),
    "default": lambda f: "default" in f,
    "description": lambda f: "description" in f,
    "title": lambda f: "title" in f,
    "minimum, maximum": lambda f: "minimum" in f and "maximum" in f,
    "minLength, maxLength": lambda f: "minLength" in f and "maxLength" in f,
    "$ref": lambda f: "$ref" in f,
    "anyOf (non-enum)": lambda f: "anyOf" in f and not titled(f["anyOf"]),
    "oneOf (non-enum)": lambda f: "oneOf" in f and not titled(f["oneOf"]),
    "a list of types": lambda f: isinstance(f.get("type"), list),
    "required boolean": lambda f: "agreed" in f.get("required", ()),
    "if and then": lambda f: "if" in f and "then" in f,
    "any arguments": lambda f: f.get("additionalProperties") is True,
    "no type": lambda f: "type" not in f and "description" in f,
}


@pytest.mark.parametrize("row", ROWS)
def test_every_form_of_field_is_in_some_form(row: str) -> None:
    assert any(ROWS[row](field) for field in fields())


def test_the_elicited_form_has_every_kind_of_field_the_protocol_knows() -> None:
    kinds = list(EVERY_FIELD["properties"].values())
    assert {schema["type"] for schema in kinds} == {
        "string", "number", "integer", "boolean", "array",
    }  # fmt: skip
    formats = {schema.get("format") for schema in kinds}
    assert formats == {None, "email", "uri", "date", "date-time"}
    Validator(EVERY_FIELD)


def test_the_image_and_the_sound_are_what_they_say() -> None:
    assert png().startswith(b"\x89PNG\r\n\x1a\n")
    assert png().endswith(b"IEND\xaeB`\x82")
    assert (wav()[:4], wav()[8:16]) == (b"RIFF", b"WAVEfmt ")


LISTS = ["tools/list", "resources/list", "resources/templates/list", "prompts/list"]


@pytest.mark.parametrize("method", LISTS)
@pytest.mark.parametrize("revision", [HANDSHAKE, STATELESS])
async def test_the_lists_are_what_the_specification_says_by_the_sdks_own_types(
    method: str, revision: str
) -> None:
    async with in_memory(revision=revision) as (client, _):
        params: dict[str, Any] = {}
        while True:
            value = (await client.request(method, params)).value
            methods.validate_server_result(method, revision, value)
            if "nextCursor" not in value:
                break
            params = {"cursor": value["nextCursor"]}


@pytest.mark.parametrize("revision", [HANDSHAKE, STATELESS])
@pytest.mark.parametrize(
    "name", [name for name in TOOLS if name.startswith(("content-", "structured-", "log-"))]
)
async def test_results_are_what_the_specification_says_by_the_sdks_own_types(
    name: str, revision: str
) -> None:
    async with in_memory(revision=revision) as (client, _):
        value = (await client.request("tools/call", {"name": name, "arguments": {}})).value
        methods.validate_server_result("tools/call", revision, value)


@pytest.mark.parametrize("revision", [HANDSHAKE, STATELESS])
async def test_introductions_are_what_the_specification_says(revision: str) -> None:
    async with in_memory(revision=revision) as (client, _):
        assert client.server_info["name"] == "mcplens-demo"
        assert client.instructions
        assert "mcplens/shout" in client.capabilities["experimental"]
        assert ("tasks" in client.capabilities) == (revision == HANDSHAKE)
        extensions = client.capabilities["extensions"]
        assert ("io.modelcontextprotocol/tasks" in extensions) == (revision == STATELESS)
