"""The registry's `server.json`: a way is chosen, and what must be filled in is asked for."""

from __future__ import annotations

from typing import Any

import pytest

from mcplens.config.configuration import read_file
from mcplens.config.model import ServerEntry
from mcplens.config.registry import choices
from tests.config.machine import Machine

NPM = {
    "registryType": "npm",
    "identifier": "@example/brave",
    "version": "1.0.2",
    "transport": {"type": "stdio"},
    "packageArguments": [
        {"type": "positional", "value": "mcp"},
        {"type": "named", "name": "--mode", "default": "local", "choices": ["local", "cached"]},
        {"type": "named", "name": "--port", "description": "may be left out"},
        {"type": "positional", "valueHint": "target_dir", "isRequired": True},
    ],
    "environmentVariables": [
        {"name": "BRAVE_KEY", "description": "Brave key", "isRequired": True, "isSecret": True},
        {"name": "LOG_LEVEL", "default": "info"},
        {"name": "PROXY"},
    ],
}
OCI = {
    "registryType": "oci",
    "identifier": "docker.io/example/brave",
    "version": "1.0.2",
    "runtimeArguments": [
        {
            "type": "named",
            "name": "--mount",
            "value": "type=bind,src={source},dst={target}",
            "isRequired": True,
            "variables": {
                "source": {"isRequired": True, "format": "filepath"},
                "target": {"isRequired": True, "default": "/project"},
            },
        }
    ],
    "environmentVariables": [{"name": "BRAVE_KEY", "isRequired": True}],
}
REMOTE = {
    "type": "sse",
    "url": "https://{tenant}.example.com/{kept}/sse",
    "variables": {"tenant": {"isRequired": True}},
    "headers": [
        {"name": "X-Key", "value": "key {key}", "variables": {"key": {"isRequired": True}}},
        {"name": "X-Region", "default": "eu"},
    ],
}


def server(machine: Machine, content: dict[str, Any], **options: Any) -> ServerEntry:
    path = machine.write("server.json", {"name": "io.example/brave", "title": "Brave"} | content)
    (entry,) = read_file(str(path), here=machine.here(), **options)
    return entry


def test_a_package_is_started_by_its_runner_and_asks_for_what_it_requires(
    machine: Machine,
) -> None:
    entry = server(machine, {"packages": [NPM]})
    assert (entry.name, entry.title) == ("brave", "Brave")
    assert entry.problem is not None
    assert "'TARGET_DIR' is not set" in entry.problem.message
    required = {one.id for one in entry.inputs if one.is_required}
    assert required == {"target_dir", "BRAVE_KEY"}
    assert [one.id for one in entry.inputs if one.is_secret] == ["BRAVE_KEY"]
    entry = server(machine, {"packages": [NPM]}, values={"target_dir": "/d", "BRAVE_KEY": "k"})
    assert entry.problem is None
    assert entry.command == "npx"
    assert entry.args == ("-y", "@example/brave@1.0.2", "mcp", "--mode", "local", "/d")
    assert entry.env == {"BRAVE_KEY": "k", "LOG_LEVEL": "info"}


def test_what_is_required_may_come_from_the_environment(machine: Machine) -> None:
    machine.environ |= {"TARGET_DIR": "/e", "BRAVE_KEY": "k", "LOG_LEVEL": "debug"}
    entry = server(machine, {"packages": [NPM]})
    assert entry.args[-1] == "/e"
    assert entry.env == {"BRAVE_KEY": "k", "LOG_LEVEL": "debug"}


def test_a_container_gets_its_variables_passed_on(machine: Machine) -> None:
    values = {"source": "/src", "BRAVE_KEY": "k"}
    entry = server(machine, {"packages": [OCI]}, values=values)
    assert entry.command == "docker"
    assert entry.args == (
        "run", "-i", "--rm", "-e", "BRAVE_KEY", "--mount", "type=bind,src=/src,dst=/project",
        "docker.io/example/brave:1.0.2",
    )  # fmt: skip
    assert entry.env == {"BRAVE_KEY": "k"}


@pytest.mark.parametrize(
    ("package", "command", "args"),
    [
        (
            {"registryType": "pypi", "identifier": "weather", "version": "0.5.0"},
            "uvx",
            ("weather@0.5.0",),
        ),
        (
            {
                "registryType": "nuget",
                "identifier": "Sample",
                "version": "1.0",
                "packageArguments": [{"type": "positional", "value": "start"}],
            },
            "dnx",
            ("Sample@1.0", "--yes", "--", "start"),
        ),
        (
            {"registryType": "npm", "identifier": "x", "runtimeHint": "bunx"},
            "bunx",
            ("-y", "x"),
        ),
    ],
)
def test_each_kind_of_package_has_its_runner(
    machine: Machine, package: dict[str, Any], command: str, args: tuple[str, ...]
) -> None:
    entry = server(machine, {"packages": [package]})
    assert (entry.command, entry.args) == (command, args)


def test_a_remote_is_a_url_with_what_must_be_filled_in(machine: Machine) -> None:
    entry = server(machine, {"remotes": [REMOTE]}, values={"tenant": "ada", "key": "{k}"})
    assert (entry.transport, entry.url) == ("sse", "https://ada.example.com/{kept}/sse")
    assert entry.headers == {"X-Key": "key {k}", "X-Region": "eu"}


def test_a_way_is_chosen_by_its_label_and_the_others_are_told(machine: Machine) -> None:
    content: dict[str, Any] = {"packages": [NPM, OCI], "remotes": [REMOTE, REMOTE]}
    assert choices(content) == ["npm", "oci", "remote", "remote-2"]
    assert server(machine, content).command == "npx"
    entry = server(machine, content, choice="remote-2")
    assert entry.transport == "sse"
    assert entry.remarks == ("uses remote-2 of server.json; also available: npm, oci, remote",)
    wrong = server(machine, content, choice="brew").problem
    assert "has no package or remote 'brew'; available: npm, oci, remote, remote-2" in str(wrong)


def test_a_way_that_we_cannot_go_is_passed_over_or_says_why(machine: Machine) -> None:
    bundle = {"registryType": "mcpb", "identifier": "https://h/x.mcpb"}
    daemon = {**NPM, "transport": {"type": "streamable-http", "url": "http://localhost:8080/mcp"}}
    assert server(machine, {"packages": [bundle, daemon], "remotes": [REMOTE]}).transport == "sse"
    assert "must be installed by hand" in str(server(machine, {"packages": [bundle]}).problem)
    assert "connect to http://localhost:8080/mcp" in str(
        server(machine, {"packages": [daemon]}).problem
    )
    assert "neither packages nor remotes" in str(server(machine, {"packages": []}).problem)


def test_the_spelling_of_early_files_is_understood(machine: Machine) -> None:
    package = {
        "registry_type": "pypi",
        "identifier": "weather",
        "runtime_hint": "uvx",
        "environment_variables": [{"name": "API_KEY", "is_required": True, "is_secret": True}],
    }
    entry = server(machine, {"packages": [package]}, values={"API_KEY": "k"})
    assert (entry.command, entry.env) == ("uvx", {"API_KEY": "k"})
    remote = {"transport_type": "sse", "url": "https://h/sse"}
    assert server(machine, {"remotes": [remote]}).transport == "sse"
