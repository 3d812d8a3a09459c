"""The gateway as an entry of each client's file: added, brought up to date, and removed again."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from mcplens.config.environment import Environment
from mcplens.config.files import read_text
from mcplens.config.gateway_entries import (
    GATEWAY_CLIENTS,
    STARTS_COMMANDS,
    GatewayLink,
    command_link,
    install_gateway,
    remove_gateway,
)
from mcplens.config.model import ServerEntry, Source
from mcplens.config.other_tools import read_servers, user_files
from mcplens.config.tool_entries import apply_change, own_command
from mcplens.errors import ConfigurationError
from tests.config.machine import Machine
from tests.config.test_tap_entries import FILES

LINK = GatewayLink(url="http://127.0.0.1:8808/mcp", token="a-token")
FILES_OF = {client: FILES[client] for client in GATEWAY_CLIENTS}


def link_of(client: str) -> GatewayLink:
    return command_link(("--view", "few")) if client in STARTS_COMMANDS else LINK


def read(client: str, file: Path, here: Environment) -> dict[str, ServerEntry]:
    entries = read_servers(Source(client, str(file), "user"), here)
    return {entry.name: entry for entry in entries}


@pytest.mark.parametrize("client", GATEWAY_CLIENTS)
def test_each_client_gets_an_entry_that_it_reads_and_the_file_comes_back_byte_for_byte(
    client: str, machine: Machine
) -> None:
    place, content = FILES_OF[client]
    file, here = machine.write(place, ""), machine.here()
    file.write_bytes(content.encode())
    file.chmod(0o640)
    before = read(client, file, here)
    change = install_gateway(client, "mcplens", link_of(client), here)
    assert change.place.file == str(file)
    assert "a-token" not in repr(change) + repr(change.changed_command)
    apply_change(change)
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    after = read(client, file, here)
    entry = after.pop("mcplens")
    assert after == before
    assert (entry.problem, entry.enabled) == (None, True)
    if client in STARTS_COMMANDS:
        program = own_command()
        words = (*program[1:], "gateway", "--stdio", "--view", "few")
        assert (entry.command, entry.args) == (program[0], words)
    else:
        assert (entry.transport, entry.url) == ("http", LINK.url)
        assert entry.headers == {"Authorization": "Bearer a-token"}
    assert install_gateway(client, "mcplens", link_of(client), here).is_none
    apply_change(remove_gateway(client, "mcplens", here))
    assert file.read_bytes() == content.encode()
    assert remove_gateway(client, "mcplens", here).is_none


@pytest.mark.parametrize("client", GATEWAY_CLIENTS)
def test_a_file_that_does_not_exist_yet_is_made_for_its_owner_alone(
    client: str, machine: Machine
) -> None:
    here = machine.here()
    file = Path(user_files(client, here)[0])
    if not file.parent.exists():
        with pytest.raises(ConfigurationError, match="name its file with --file"):
            install_gateway(client, "mcplens", link_of(client), here)
        file.parent.mkdir(parents=True)
    apply_change(install_gateway(client, "mcplens", link_of(client), here))
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert list(read(client, file, here)) == ["mcplens"]
    apply_change(remove_gateway(client, "mcplens", here))
    assert read(client, file, here) == {}


@pytest.mark.parametrize("client", sorted(set(GATEWAY_CLIENTS) - STARTS_COMMANDS))
def test_another_address_replaces_the_older_entry_and_what_was_edited_since_stays(
    client: str, machine: Machine
) -> None:
    place, content = FILES_OF[client]
    file, here = machine.write(place, ""), machine.here()
    file.write_bytes(content.encode())
    apply_change(install_gateway(client, "mcplens", LINK, here))
    moved = GatewayLink(url="http://127.0.0.1:9/mcp/few", token="another")
    change = install_gateway(client, "mcplens", moved, here)
    assert (change.command, change.changed_command) == ((LINK.url,), (moved.url,))
    apply_change(change)
    assert read(client, file, here)["mcplens"].url == moved.url
    installed = read_text(str(file))
    for edited in (installed, installed.replace("npx", "npm")):
        file.write_bytes(edited.encode())
        apply_change(remove_gateway(client, "mcplens", here))
        expected = content.replace("npx", "npm") if "npm" in edited else content
        # Line breaks between brackets may differ, and nothing else.
        assert "".join(file.read_text().split()) == "".join(expected.split())


def test_a_server_of_the_users_with_that_name_is_neither_replaced_nor_removed(
    machine: Machine,
) -> None:
    far = {"url": "https://far.example/mcp", "headers": {"Authorization": "Bearer x"}}
    near = {"command": "mcplens", "args": ["demo"]}
    machine.write(".cursor/mcp.json", {"mcpServers": {"far": far, "near": near}})
    for name in ("far", "near"):
        with pytest.raises(ConfigurationError, match="is another server: choose another --name"):
            install_gateway("cursor", name, LINK, machine.here())
        with pytest.raises(ConfigurationError, match="is not the gateway"):
            remove_gateway("cursor", name, machine.here())


def test_a_projects_file_is_left_alone_since_the_entry_holds_a_token(machine: Machine) -> None:
    machine.write(machine.project / ".cursor" / "mcp.json", {"mcpServers": {}})
    file = machine.write(".cursor/mcp.json", {"mcpServers": {}})
    assert install_gateway("cursor", "mcplens", LINK, machine.here()).place.file == str(file)


def test_a_file_of_another_shape_is_refused(machine: Machine) -> None:
    for content in ("[1]", '{"mcpServers": [1]}', '{"mcpServers": {'):
        machine.write(".cursor/mcp.json", content)
        with pytest.raises(ConfigurationError):
            install_gateway("cursor", "mcplens", LINK, machine.here())
