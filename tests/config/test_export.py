"""Servers in other tools' shapes: read back by our own readers they mean the same."""

from __future__ import annotations

import json
import tomllib
from typing import Any, get_args

import pytest

from mcplens.config.configuration import load_configuration, read_file
from mcplens.config.export import Export, Shape, export_servers
from tests.config.machine import Machine

SERVERS: dict[str, Any] = {
    "local": {
        "command": "npx",
        "args": ["-y", "{PKG}", "${{}brace}", 5],
        "env": {"TOKEN": "${TOKEN}", "MODE": "fast", "OTHER": "${MODE:-slow}"},
        "cwd": "/srv",
        "requestTimeout": 90000,
        "sessionMode": "per-call",
    },
    "remote": {
        "url": "https://h/mcp",
        "headers": {"Authorization": "Bearer ${env:TOKEN}", "X-Key": "${TOKEN}", "X-Plain": "p"},
    },
    "events": {"type": "sse", "url": "https://h/sse"},
    "socket": {"url": "ws://h"},
    "off": {"command": "x", "enabled": False},
    "broken": {"args": []},
}


@pytest.fixture
def here(machine: Machine) -> Machine:
    machine.environ |= {"TOKEN": "s3cret", "PKG": "pkg"}
    machine.write_project({"mcpServers": SERVERS})
    return machine


def exported(machine: Machine, shape: Shape) -> Export:
    return export_servers(load_configuration(here=machine.here()).servers, shape)


def test_no_shape_gets_a_resolved_value(here: Machine) -> None:
    for shape in get_args(Shape):
        assert "s3cret" not in exported(here, shape).text


def test_mcp_servers(here: Machine) -> None:
    export = exported(here, "mcpServers")
    assert json.loads(export.text) == {
        "mcpServers": {
            "local": {
                "command": "npx",
                "args": ["-y", "${PKG}", "{brace}", "5"],
                "env": {"TOKEN": "${TOKEN}", "MODE": "fast", "OTHER": "${MODE:-slow}"},
                "cwd": "/srv",
            },
            "remote": {
                "type": "http",
                "url": "https://h/mcp",
                "headers": {
                    "Authorization": "Bearer ${TOKEN}",
                    "X-Key": "${TOKEN}",
                    "X-Plain": "p",
                },
            },
            "events": {"type": "sse", "url": "https://h/sse"},
            "off": {"command": "x"},
        }
    }
    assert export.remarks == (
        "local: mcpServers has no equivalent of requestTimeout, sessionMode",
        "socket: left out: mcpServers does not support websocket",
        "off: is disabled, which mcpServers cannot express",
        "broken: left out: it has neither command nor url",
    )


def test_vs_code_asks_for_what_has_a_default(here: Machine) -> None:
    export = exported(here, "vscode")
    content = json.loads(export.text)
    assert content["inputs"] == [
        {"type": "promptString", "id": "MODE", "description": "MODE", "default": "slow"}
    ]
    assert content["servers"]["local"]["env"] == {
        "TOKEN": "${env:TOKEN}",
        "MODE": "fast",
        "OTHER": "${input:MODE}",
    }
    assert content["servers"]["local"]["type"] == "stdio"
    assert content["servers"]["events"] == {"type": "sse", "url": "https://h/sse"}


def test_codex_has_keys_for_what_comes_from_the_environment(here: Machine) -> None:
    export = exported(here, "codex")
    servers = tomllib.loads(export.text)["mcp_servers"]
    assert servers["local"] == {
        "command": "npx",
        "args": ["-y", "${PKG}", "{brace}", "5"],
        "cwd": "/srv",
        "env": {"MODE": "fast"},
        "env_vars": ["TOKEN"],
        "tool_timeout_sec": 90.0,
    }
    assert servers["remote"] == {
        "url": "https://h/mcp",
        "bearer_token_env_var": "TOKEN",
        "http_headers": {"X-Plain": "p"},
        "env_http_headers": {"X-Key": "TOKEN"},
    }
    assert servers["off"] == {"command": "x", "enabled": False}
    assert "events" not in servers
    assert export.remarks[1:3] == (
        "local: Codex cannot insert PKG into text; write its value there",
        "local: OTHER left out: Codex cannot insert MODE into text",
    )


@pytest.mark.parametrize(("shape", "file"), [("mcpServers", ".mcp.json"), ("vscode", "x.json")])
def test_what_is_exported_is_read_back_as_it_was(here: Machine, shape: Shape, file: str) -> None:
    path = here.write(file, exported(here, shape).text)
    back = {entry.name: entry for entry in read_file(str(path), here=here.here())}
    for entry in load_configuration(here=here.here()).servers:
        if entry.name in back:
            found = back[entry.name]
            for field in ("transport", "command", "args", "env", "url", "headers"):
                assert getattr(found, field) == getattr(entry, field)


def test_names_and_texts_of_any_kind_survive_toml(here: Machine) -> None:
    raw = {"command": "x", "args": ['"q"', "a\\b", "é\n\x7f\t", "'"], "env": {"a b": "1"}}
    here.write_project({"mcpServers": {"my server.é": raw, "": {"command": "y"}}})
    servers = tomllib.loads(exported(here, "codex").text)["mcp_servers"]
    assert servers == {"my server.é": raw, "": {"command": "y"}}
