"""Servers from texts, files and command lines."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mcplens.errors import ConfigurationError
from mcplens.workspace.configured import Configured, masked_raw
from tests.web.harness import machine, user_config, write_config

TEXTS = {
    "mcpServers": '{"mcpServers": {"one": {"command": "x"}}}',
    "VS Code": '// mine\n{"servers": {"one": {"command": "x"}}}',
    "Codex": '[mcp_servers.one]\ncommand = "x"\n',
    "Goose": "extensions:\n  one:\n    type: stdio\n    cmd: x\n    enabled: true\n",
}


@pytest.fixture
def configured(tmp_path: Path) -> Configured:
    return Configured(machine(tmp_path))


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_a_pasted_text_in_any_shape_names_its_servers(configured: Configured, text: str) -> None:
    (entry,) = configured.read_text(text, None, {})
    assert (entry.name, entry.command, entry.problem) == ("one", "x", None)


def test_a_text_that_is_none_says_where_and_names_no_file_of_ours(configured: Configured) -> None:
    with pytest.raises(ConfigurationError) as refused:
        configured.read_text('{"mcpServers": {', None, {})
    assert refused.value.message.startswith("the text, line 1")


def test_the_demo_is_built_in_unless_somebody_configured_one(tmp_path: Path) -> None:
    configured = Configured(machine(tmp_path))
    (demo,) = configured.load()
    assert (demo.name, demo.source.kind) == ("demo", "built-in")
    write_config(tmp_path, demo={"command": "mine"})
    (demo,) = configured.load()
    assert demo.command == "mine"


def test_what_is_built_in_cannot_be_changed(configured: Configured) -> None:
    (demo,) = configured.load()
    with pytest.raises(ConfigurationError, match="not ours to change"):
        configured.edit(demo, {}, None)


@pytest.mark.parametrize("name", ["", " ", "a/b"])
def test_a_name_that_cannot_be_one_is_refused(configured: Configured, name: str) -> None:
    with pytest.raises(ConfigurationError, match="needs a name"):
        configured.add(name, {"command": "x"})


def test_secrets_are_masked_and_placeholders_are_not() -> None:
    raw = {"command": "x", "env": {"A": "secret", "B": "${B}"}, "auth": {"clientSecret": "s"}}
    shown = masked_raw(raw)
    assert "secret" not in json.dumps(shown["env"])
    assert shown["env"]["B"] == "${B}"
    assert shown["auth"]["clientSecret"] != "s"


def test_a_setting_goes_into_the_file_beside_what_is_there(tmp_path: Path) -> None:
    path = user_config(tmp_path)
    path.parent.mkdir(parents=True)
    path.write_text('{\n  // mine\n  "mcpServers": {}\n}\n')
    Configured(machine(tmp_path)).set("cacheTtlMs", 1000)
    assert path.read_text() == '{\n  // mine\n  "mcpServers": {},\n  "cacheTtlMs": 1000\n}\n'
    Configured(machine(tmp_path)).set("cacheTtlMs", 2000)
    assert '"cacheTtlMs": 2000' in path.read_text()
    with pytest.raises(ConfigurationError, match="no setting"):
        Configured(machine(tmp_path)).set("nonsense", 1)
