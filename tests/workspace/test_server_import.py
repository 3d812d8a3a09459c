"""Servers from texts, files and command lines."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mcplens.config.environment import Environment
from mcplens.errors import ConfigurationError
from mcplens.workspace.server_import import (
    parse_target,
    read_path,
    read_text,
    servers_of_other_tools,
)
from tests.web.harness import machine

TEXTS = {
    "mcpServers": '{"mcpServers": {"one": {"command": "x"}}}',
    "VS Code": '// mine\n{"servers": {"one": {"command": "x"}}}',
    "Codex": '[mcp_servers.one]\ncommand = "x"\n',
    "Goose": "extensions:\n  one:\n    type: stdio\n    cmd: x\n    enabled: true\n",
}


@pytest.fixture
def here(tmp_path: Path) -> Environment:
    return machine(tmp_path)


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_a_pasted_text_in_any_shape_names_its_servers(here: Environment, text: str) -> None:
    (entry,) = read_text(here, text).entries
    assert (entry.name, entry.command, entry.problem) == ("one", "x", None)
    assert entry.source.path == ""


def test_a_text_that_is_none_says_where_and_names_no_file_of_ours(here: Environment) -> None:
    with pytest.raises(ConfigurationError) as refused:
        read_text(here, '{"mcpServers": {')
    assert refused.value.message.startswith("the text, line 1")
    with pytest.raises(ConfigurationError) as refused:
        read_text(here, '{"mcpServers": {', file_name="theirs.json")
    assert refused.value.message.startswith("theirs.json, line 1")


def test_what_is_wrong_with_a_server_names_no_file_of_ours(here: Environment) -> None:
    text = '{"mcpServers": {"one": {"command": "x", "args": ["${NOBODY_SET_THIS}"]}}}'
    (entry,) = read_text(here, text, file_name="theirs.json").entries
    assert entry.problem is not None
    assert entry.problem.message.startswith("theirs.json")
    assert entry.problem.details["variable"] == "NOBODY_SET_THIS"
    assert "mcplens-" not in json.dumps(entry.problem.to_dict())


def test_the_inputs_of_an_editor_are_filled_in(here: Environment) -> None:
    text = json.dumps(
        {
            "inputs": [{"id": "key", "type": "promptString", "password": True}],
            "servers": {"one": {"command": "x", "env": {"KEY": "${input:key}"}}},
        }
    )
    (empty,) = read_text(here, text).entries
    assert [one.is_secret for one in empty.inputs] == [True]
    assert empty.problem is not None
    (filled,) = read_text(here, text, values={"key": "s3cret"}).entries
    assert (filled.raw["env"], filled.problem) == ({"KEY": "s3cret"}, None)


SERVER_JSON = {
    "name": "io.github.someone/weather",
    "packages": [
        {
            "registryType": "npm",
            "identifier": "weather",
            "version": "1.0.0",
            "transport": {"type": "stdio"},
            "environmentVariables": [{"name": "KEY", "isRequired": True, "isSecret": True}],
        },
        {"registryType": "pypi", "identifier": "weather", "transport": {"type": "stdio"}},
    ],
    "remotes": [{"type": "streamable-http", "url": "https://weather.example/mcp"}],
}


def test_a_package_of_a_registry_is_chosen(here: Environment) -> None:
    text = json.dumps(SERVER_JSON)
    found = read_text(here, text)
    assert (found.choices, found.choice) == (["npm", "pypi", "remote"], "npm")
    (entry,) = read_text(here, text, "npm", {"KEY": "k"}).entries
    assert entry.raw["args"] == ["-y", "weather@1.0.0"]
    assert entry.raw["env"] == {"KEY": "k"}
    remote = read_text(here, text, "remote")
    assert remote.choice == "remote"
    assert remote.entries[0].raw["url"] == "https://weather.example/mcp"


def test_a_file_of_a_tool_is_read_again_as_that_tool_s(tmp_path: Path) -> None:
    here = machine(tmp_path)
    path = Path(here.home) / ".cursor" / "mcp.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps({"mcpServers": {"one": {"command": "x"}}}))
    (entry,) = servers_of_other_tools(here)
    (again,) = read_path(here, str(path)).entries
    assert again == entry


def test_a_command_goes_on_after_a_backslash(here: Environment) -> None:
    entry = parse_target(here, "$ URL=http://a npx -y \\\n  some-server \\\r\n  --flag\n")
    assert (entry.command, entry.args) == ("npx", ("-y", "some-server", "--flag"))
    assert entry.env == {"URL": "http://a"}


NPX = '{"command": "npx", "args": ["-y", "weather"]}'
PIECES = {
    "without the braces": f'"weather": {NPX}',
    "with the comma behind it": f'"weather": {NPX},',
    "two of them": f'// ours\n"weather": {NPX}, // and\n"other": {{"url": "https://a.example"}}',
    "mcpServers without the braces": f'"mcpServers": {{"weather": {NPX}}},',
    "servers without the braces": f'"servers": {{"weather": {NPX}}}',
    "its servers only": f'{{"weather": {NPX}}} // mine',
    "its entry only": f"{NPX[:-1]},}} // mine",
    "Markdown": f'```json\n{{"mcpServers": {{"weather": {NPX}}}}}\n```\n',
}


@pytest.mark.parametrize("text", PIECES.values(), ids=PIECES)
def test_a_piece_of_a_file_is_enough(here: Environment, text: str) -> None:
    entry = read_text(here, text).entries[0]
    assert (entry.name, entry.command, entry.args) == ("weather", "npx", ("-y", "weather"))
    assert entry.problem is None


def test_what_is_wrong_in_a_piece_is_in_its_own_line(here: Environment) -> None:
    with pytest.raises(ConfigurationError) as refused:
        read_text(here, f'{{"mcpServers": {{"one": {NPX}\n  "two": {NPX} }} }}')
    assert refused.value.message.startswith("the text, line 2")
    (_, wrong) = read_text(here, f'"one": {NPX},\n"two": {{"url": "x", "args": 5}}').entries
    assert wrong.problem is not None
    assert wrong.problem.message.startswith("the text, line 2")


@pytest.mark.parametrize(
    ("text", "name", "raw"),
    [
        (
            "claude mcp add weather --env KEY=v -- npx -y weather --env X=y",
            "weather",
            {"command": "npx", "args": ["-y", "weather", "--env", "X=y"], "env": {"KEY": "v"}},
        ),
        (
            'claude mcp add -s user --transport http w https://a.example/mcp --header "X-Y: a b"',
            "w",
            {"url": "https://a.example/mcp", "headers": {"X-Y": "a b"}, "transport": "http"},
        ),
        (
            f"claude mcp add-json --scope=user weather '{NPX}'",
            "weather",
            {"command": "npx", "args": ["-y", "weather"]},
        ),
        ("localhost:3000/mcp", "localhost:3000", {"url": "http://localhost:3000/mcp"}),
        ("a.example/mcp", "a.example", {"url": "https://a.example/mcp"}),
        ("node.exe", "node.exe", {"command": "node.exe", "args": []}),
        ("./a.example/run", "run", {"command": "./a.example/run", "args": []}),
    ],
)
def test_a_line_of_a_readme_means_its_server(
    here: Environment, text: str, name: str, raw: dict[str, object]
) -> None:
    entry = parse_target(here, text)
    assert (entry.name, entry.raw) == (name, raw)


def test_a_line_of_another_tool_that_says_too_little_is_refused(here: Environment) -> None:
    for text in ("claude mcp add weather", "claude mcp add-json weather npx"):
        with pytest.raises(ConfigurationError, match="claude mcp add"):
            parse_target(here, text)


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("node /opt/weather/build/index.js", "weather"),
        ("node weather-mcp/dist/index.js --port 3", "weather-mcp"),
        ("python /srv/notes/src/main.py", "notes"),
        ("uv --directory /srv/notes run server.py", "notes"),
        ("uv run --with mcp /srv/notes/server.py", "notes"),
        ("npx tsx /srv/notes/src/index.ts", "notes"),
        ("/opt/weather/bin/server", "weather"),
        ("python -m weather_server", "weather_server"),
        ("python weather.py", "weather.py"),
        ("npx -y @acme/server", "acme"),
        ("docker run -i --rm ghcr.io/acme/mcp-server:1", "acme"),
        ("uv --directory /srv/notes run server", "notes"),
        ("python -m weather.server", "weather.server"),
    ],
)
def test_a_pasted_command_is_named_after_its_package_or_folder(
    here: Environment, line: str, name: str
) -> None:
    assert parse_target(here, line).name == name


@pytest.mark.parametrize(
    ("server", "name"),
    [
        ({"command": "node", "args": ["dist/index.js"]}, None),
        ({"command": "node", "args": ["index.js"], "cwd": "/srv/weather"}, "weather"),
        ({"command": "node", "args": ["build/index.js"], "cwd": "/srv/weather/"}, "weather"),
        ({"command": "python", "args": ["-m", "server"], "cwd": "notes/src"}, "notes"),
        ({"command": "python", "args": ["main.py"]}, None),
    ],
)
def test_a_pasted_entry_without_a_name_is_named_after_its_folder(
    here: Environment, server: dict[str, object], name: str | None
) -> None:
    found = read_text(here, json.dumps(server))
    assert [entry.name for entry in found.entries] == [name or Path(here.cwd).name]


def test_a_script_in_the_folder_that_mcplens_works_in_is_named_after_that_folder(
    here: Environment,
) -> None:
    assert parse_target(here, "python server.py").name == Path(here.cwd).name
