"""What came with a project is confirmed once, by its content."""

from __future__ import annotations

import stat
from pathlib import Path
from typing import Any

import pytest

from mcplens.config.configuration import load_configuration
from mcplens.config.model import ServerEntry
from mcplens.config.other_tools import read_tool
from mcplens.config.trust import TrustStore, fingerprint, needs_trust
from mcplens.errors import ConfigurationError
from tests.config.machine import Machine


def project_entry(machine: Machine, raw: Any, name: str = "a") -> ServerEntry:
    machine.write_project({"mcpServers": {name: raw}})
    (entry,) = load_configuration(here=machine.here()).servers
    return entry


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ({"command": "x"}, True),
        ({"url": "https://h"}, False),
        ({"url": "https://h", "headers": {"A": "plain"}}, False),
        # A URL of somebody else's choosing must not get our secrets unasked.
        ({"url": "https://h", "headers": {"A": "${HOME}"}}, True),
        ({"url": "https://h/{HOME}"}, True),
        ({"serverUrl": "https://h/${NOT_SET}"}, True),
        ({"url": "https://h", "meta": {"a": ["${HOME}"]}}, True),
        ({"url": "https://h", "meta": {"a": "plain"}}, False),
        ({"url": "https://h", "secretKeys": {"pin": "${HOME}"}}, True),
        ({"url": "https://h", "capabilities": {"experimental": {"a": "${HOME}"}}}, True),
        ({"url": "https://h", "name": "${HOME}"}, False),
        # Its questions would be answered by what the user pays for.
        ({"url": "https://h", "profile": "my-model"}, True),
    ],
)
def test_commands_and_what_holds_our_environment_need_it(
    machine: Machine, raw: Any, expected: bool
) -> None:
    assert needs_trust(project_entry(machine, raw)) is expected


def test_another_content_of_its_env_file_needs_it_again(machine: Machine) -> None:
    raw = {"command": "x", "envFile": ".env", "env": {"A": "${HOME}"}}
    file = Path(machine.here().cwd) / ".env"
    file.write_text("B=1\n")
    store = TrustStore(here=machine.here())
    store.trust(project_entry(machine, raw))
    assert store.is_trusted(project_entry(machine, raw))
    file.write_text("B=1\nNODE_OPTIONS=--require ./x.js\n")
    assert not store.is_trusted(project_entry(machine, raw))


def test_what_the_user_wrote_or_named_needs_none(machine: Machine) -> None:
    path = machine.write_user({"mcpServers": {"a": {"command": "x"}}})
    (mine,) = load_configuration(here=machine.here()).servers
    (named,) = load_configuration(str(path), here=machine.here()).servers
    store = TrustStore(here=machine.here())
    assert store.is_trusted(mine)
    assert store.is_trusted(named)


def test_a_project_file_of_another_tool_needs_it_too(machine: Machine) -> None:
    content = {"mcpServers": {"a": {"command": "x"}}}
    machine.write(machine.project / ".cursor/mcp.json", content)
    machine.write(".codeium/windsurf/mcp_config.json", content)
    assert [needs_trust(entry) for entry in read_tool("cursor", machine.here())] == [True]
    assert [needs_trust(entry) for entry in read_tool("windsurf", machine.here())] == [False]


def test_it_is_remembered_by_content(machine: Machine) -> None:
    store = TrustStore(here=machine.here())
    raw = {"command": "x", "env": {"A": "${B:-1}"}, "requestTimeout": 5}
    entry = project_entry(machine, raw)
    assert not store.is_trusted(entry)
    store.trust(entry)
    again = TrustStore(here=machine.here())
    assert again.is_trusted(entry)
    machine.environ["B"] = "2"
    assert again.is_trusted(project_entry(machine, raw | {"requestTimeout": 9}))
    for change in ({"command": "y"}, {"args": ["-x"]}, {"env": {"A": "2"}}, {"cwd": "/"}):
        assert not again.is_trusted(project_entry(machine, raw | change))
    assert not again.is_trusted(project_entry(machine, raw, "other"))


def test_the_same_content_in_another_project_is_another(machine: Machine, tmp_path: Path) -> None:
    one = project_entry(machine, {"command": "./server.py"})
    other = Machine(tmp_path / "other")
    assert fingerprint(one) != fingerprint(project_entry(other, {"command": "./server.py"}))


def test_the_store_is_the_users_alone_and_holds_no_secrets(machine: Machine) -> None:
    TrustStore(here=machine.here()).trust(
        project_entry(machine, {"command": "x", "env": {"A": "s3cret"}})
    )
    path = machine.home / ".local/state/mcplens/trusted.json"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert "s3cret" not in path.read_text()


def test_it_is_in_the_state_folder_that_the_user_chose(machine: Machine) -> None:
    chosen = machine.home / "chosen"
    machine.environ["MCPLENS_STATE_DIR"] = str(chosen)
    TrustStore(here=machine.here()).trust(project_entry(machine, {"command": "x"}))
    assert [path.name for path in chosen.iterdir()] == ["trusted.json"]


@pytest.mark.parametrize("text", ["", "{", "[]", '{"trusted": 3}'])
def test_a_store_that_cannot_be_read_trusts_nobody(machine: Machine, text: str) -> None:
    machine.write(".local/state/mcplens/trusted.json", text)
    store = TrustStore(here=machine.here())
    entry = project_entry(machine, {"command": "x"})
    assert not store.is_trusted(entry)
    store.trust(entry)
    assert store.is_trusted(entry)


def test_a_state_folder_that_cannot_be_written_is_told(machine: Machine) -> None:
    machine.write(".local/state", "a file in the way")
    with pytest.raises(ConfigurationError, match="cannot be written"):
        TrustStore(here=machine.here()).trust(project_entry(machine, {"command": "x"}))
