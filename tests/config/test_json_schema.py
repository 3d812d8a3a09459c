"""The JSON Schema that ships is fresh, and accepts what the loader accepts."""

from __future__ import annotations

import json
from typing import Any

import jsonschema_rs
import pytest

from mcplens.config.json_schema import SCHEMA_FILE, make_schema, schema_text
from mcplens.config.keys import ALIASES, AUTH_KEYS, SERVER_KEYS, TOP_KEYS
from tests.config.test_reference import PAGE
from tests.docs.markdown import blocks

VALIDATOR = jsonschema_rs.Draft202012Validator(make_schema())


def test_the_file_is_fresh() -> None:
    assert SCHEMA_FILE.read_text(encoding="utf-8") == schema_text()


def test_every_key_is_in_the_schema() -> None:
    top = make_schema()["properties"]
    assert {key.name for key in TOP_KEYS} <= top.keys()
    servers = top["mcpServers"]["anyOf"][0]["additionalProperties"]["properties"]
    assert {key.name for key in SERVER_KEYS} | ALIASES.keys() <= servers.keys()
    assert servers["auth"]["anyOf"][0]["properties"].keys() == set(AUTH_KEYS)


def test_every_example_of_the_reference_page_is_valid() -> None:
    examples = [json.loads(block.text) for block in blocks(PAGE) if block.language == "json"]
    assert examples
    for example in examples:
        VALIDATOR.validate(example)


@pytest.mark.parametrize(
    "content",
    [
        {},
        {"$schema": "file:///x.json", "unknown": 1, "views": None},
        {"requestTimeoutSeconds": "${SECONDS}", "mcpServers": {"a": {"command": "x", "odd": 1}}},
        {"mcpServers": {"a": {"type": "stdio", "disabled": True, "maxRetries": 0}}},
    ],
)
def test_what_the_loader_accepts_is_valid(content: dict[str, Any]) -> None:
    VALIDATOR.validate(content)


@pytest.mark.parametrize(
    "content",
    [
        {"mcpServers": {"a": {"transport": "pigeon"}}},
        {"mcpServers": {"a": {"maxConcurrency": 0}}},
        {"mcpServers": {"a": {"sessionMode": "never"}}},
        {"requestTimeoutSeconds": "soon"},
        {"views": {"v": {"alow": {}}}},
        {"views": {"v": {"rename": {"tool": "x"}}}},
        {"views": {"v": {"rename": {"a:tool": "not a name"}}}},
        {"gateway": {"limits": {"sessions": 0}}},
        {"gateway": {"oauth": {"audience": "x"}}},
        {"gateway": {"oauth": {"issuer": "https://x", "isuer": "https://x"}}},
        {"gateway": {"tokens": [{"name": "ci"}]}},
    ],
)
def test_what_the_loader_refuses_is_invalid(content: dict[str, Any]) -> None:
    assert not VALIDATOR.is_valid(content)
