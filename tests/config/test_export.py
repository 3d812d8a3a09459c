"""Servers in other tools' shapes: read back by our own readers they mean the same."""

from __future__ import annotations

import json
import re
import tomllib
from typing import Any, get_args

import pytest

from mcplens.config.configuration import load_configuration, read_file
from mcplens.config.export import Export, Shape, export_servers
from mcplens.config.keys import SERVER_KEYS
from mcplens.config.model import ServerEntry
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


def told(export: Export) -> tuple[str, ...]:
    return tuple(map(str, export.remarks))


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
    assert told(export) == (
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
    assert told(export)[1:3] == (
        "local: args: Codex cannot insert PKG; write its value there",
        "local: env.OTHER left out: Codex cannot insert MODE into text",
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


# A value for each key of a server; those of a command and of a URL, and others.
COMMAND: dict[str, Any] = {
    "command": "run", "args": ["-y", "${HOME}", 5], "env": {"A": "1", "B": "${HOME:-x}"},
    "envFile": "/e.env", "inheritEnv": True, "cwd": "/srv",
}  # fmt: skip
URL: dict[str, Any] = {
    "url": "https://h/mcp", "headers": {"X": "${HOME}"}, "auth": {"clientId": "c"},
    "caFile": "/ca.pem", "insecure": True,
}  # fmt: skip
ANY: dict[str, Any] = {
    "name": "A title", "enabled": False, "protocolVersion": "2025-06-18",
    "capabilities": {"roots": None}, "profile": "echo", "roots": [{"uri": "/r", "name": "r"}],
    "meta": {"a": [1]}, "secretKeys": {"pin": "${HOME}", "other": None},
    "sessionMode": "per-call", "singleton": True, "maxConcurrency": 3, "maxMessageBytes": 4,
    "connectionTimeout": 5, "requestTimeout": 6, "progressResetsTimeout": False,
    "maxTotalTimeout": 7, "pingInterval": 8, "maxRetries": 0, "retryBackoff": [1, 2],
}  # fmt: skip
TRANSPORTS: dict[str, Any] = {"command": "stdio", "url": "http"}
KEYS = [
    ("command", key) for key in ("transport", *COMMAND, *ANY)
] + [("url", key) for key in ("transport", *URL, *ANY)]  # fmt: skip


def entry_with(kind: str, key: str) -> dict[str, Any]:
    """The smallest entry that has this key."""
    values = {**COMMAND, **URL, **ANY, "transport": TRANSPORTS[kind]}
    least = {"command": "run"} if kind == "command" else {"url": "https://h/mcp"}
    return {**least, key: values[key]}


def test_every_key_is_tried() -> None:
    assert {key for _, key in KEYS} == {key.name for key in SERVER_KEYS}


def read_back(machine: Machine, text: str, file: str) -> dict[str, ServerEntry]:
    path = machine.write(file, text)
    return {entry.name: entry for entry in read_file(str(path), here=machine.here())}


def fields(entry: ServerEntry) -> dict[str, Any]:
    return {key.name: getattr(entry, key.field) for key in SERVER_KEYS}


def test_our_own_shape_loses_nothing(machine: Machine) -> None:
    servers = {f"{kind} {key}": entry_with(kind, key) for kind, key in KEYS}
    servers |= SERVERS
    servers |= {
        "all of a command": {**COMMAND, **ANY, "x-unknown": {"a": [None, 1.5, "é"]}},
        "all of a url": {**URL, **ANY, "transport": "sse"},
        "other words": {"type": "streamable-http", "serverUrl": "https://h/", "disabled": True},
        "nothing said": {"command": None, "env": {"A": None}},
        "a mistake": {"command": "x", "maxConcurrency": 0, "args": "not a list"},
        'a "name"/é': {"command": "$${literal}"},
    }
    machine.write_user({"mcpServers": servers})
    entries = load_configuration(here=machine.here()).servers
    export = export_servers(entries, "mcplens")
    assert json.loads(export.text) == {"mcpServers": servers}
    assert export.remarks == ()
    back = read_back(machine, export.text, "elsewhere/mcp.json")
    assert [fields(back[entry.name]) for entry in entries] == [fields(entry) for entry in entries]


def test_our_own_shape_names_paths_that_depend_on_the_file(machine: Machine) -> None:
    raw = {"command": "x", "envFile": "its.env", "roots": ["here", "file:///there"]}
    folder = machine.write_project(
        {"mcpServers": {"mine": raw, "far": {"url": "https://h"}}}
    ).parent
    export = exported(machine, "mcplens")
    assert json.loads(export.text)["mcpServers"]["mine"] == raw
    assert told(export) == (
        f"mine: envFile its.env is relative to the folder of its file, {folder}",
        f"mine: roots here is relative to the folder of its file, {folder}",
        f"mine: it runs in {folder}, the folder of its project; elsewhere it needs a cwd",
    )


FILES: dict[Shape, str] = {"mcpServers": ".mcp.json", "vscode": "x.json", "codex": "x.toml"}


@pytest.mark.parametrize("shape", FILES)
def test_what_another_shape_cannot_hold_is_told_by_its_key(machine: Machine, shape: Shape) -> None:
    machine.write(machine.home / "e.env", "")
    for kind, key in KEYS:
        machine.write_user({"mcpServers": {"it": entry_with(kind, key)}})
        (entry,) = load_configuration(here=machine.here()).servers
        export = export_servers([entry], shape)
        word = "disabled" if key == "enabled" else key
        is_told = any(re.search(rf"\b{word}\b", one.text) for one in export.remarks)
        found = read_back(machine, export.text, FILES[shape]).get("it")
        is_held = found is not None and fields(found)[key] == fields(entry)[key]
        assert is_held or is_told, (kind, key, export)
