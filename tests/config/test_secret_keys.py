"""Which keys are secret: of the configuration, of a server; and never an empty list by mistake."""

from __future__ import annotations

from typing import Any

import pytest

from mcplens.config.configuration import load_configuration
from mcplens.config.secret_keys import find_keys_by_server, find_secret_keys
from mcplens.errors import InspectorError
from tests.config.machine import Machine


def test_without_a_file_nothing_is_secret(machine: Machine) -> None:
    assert find_secret_keys(here=machine.here()) == ()


def test_what_the_project_and_the_user_call_secret_is(machine: Machine) -> None:
    machine.environ["KEY"] = "resolved"
    machine.write_project({"secretKeys": ["a", "b", "${KEY}"]})
    machine.write_user({"secretKeys": ["b", "c"], "mcpServers": {"s": {"url": "https://h"}}})
    assert find_secret_keys(here=machine.here()) == ("a", "b", "resolved", "c")


def test_a_server_has_more_of_its_own(machine: Machine) -> None:
    machine.environ["PIN"] = "1234"
    servers = {
        "names": {"command": "x", "secretKeys": ["pin"]},
        "values": {"command": "x", "secretKeys": {"pin": "${PIN}", "token": None, "n": 5}},
    }
    machine.write_project({"secretKeys": ["wide"], "mcpServers": servers})
    found = load_configuration(here=machine.here())
    assert found.servers[0].secret_keys == {"pin": None}
    assert found.servers[1].secret_keys == {"pin": "1234", "token": None, "n": 5}
    keys_of = find_keys_by_server(here=machine.here())
    assert keys_of("values") == ("wide", "pin", "token", "n")
    assert keys_of("another") == ("wide",)


@pytest.mark.parametrize("wrong", ["password", 5, [5, {}], [""], {"password": "x"}, ["${UNSET}"]])
def test_what_cannot_be_read_is_an_error(machine: Machine, wrong: Any) -> None:
    machine.write_user({"secretKeys": wrong})
    with pytest.raises(InspectorError, match="secretKeys"):
        find_secret_keys(here=machine.here())


def test_a_file_that_cannot_be_read_is_an_error(machine: Machine) -> None:
    machine.write_project('{"secretKeys": ')
    with pytest.raises(InspectorError, match="line 1"):
        find_secret_keys(here=machine.here())


def test_a_servers_secret_keys_that_cannot_be_read_disable_it(machine: Machine) -> None:
    machine.write_user({"mcpServers": {"s": {"command": "x", "secretKeys": "password"}}})
    (entry,) = load_configuration(here=machine.here()).servers
    assert entry.problem is not None
    assert "secretKeys: must be an array of names, or an object" in entry.problem.message
