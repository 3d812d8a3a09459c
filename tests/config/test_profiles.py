"""Profiles of the configuration: filled in when they are used, and never from a project."""

from __future__ import annotations

from typing import Any

import pytest

from mcplens.config.configuration import load_configuration
from mcplens.config.export import Shape, export_servers
from mcplens.errors import ConfigurationError
from mcplens.session.profiles import Profiles
from tests.config.machine import Machine

MODEL = {"kind": "model", "url": "http://127.0.0.1:1/v1", "model": "m", "apiKey": "${KEY}"}


def profiles(machine: Machine) -> Any:
    return load_configuration(here=machine.here()).settings.profiles


def test_a_profile_is_filled_with_the_environment(machine: Machine) -> None:
    machine.environ["KEY"] = "s3cret"
    machine.write_user({"profiles": {"gpt": MODEL, "all": {"steps": ["${KEY}", 7, None]}}})
    found = profiles(machine)
    assert found["gpt"]["apiKey"] == "s3cret"
    assert found["all"] == {"steps": ["s3cret", 7, None]}
    assert "s3cret" not in repr(found)


def test_only_the_profile_that_is_used_needs_its_variables(machine: Machine) -> None:
    path = machine.write_user({"profiles": {"gpt": MODEL, "quiet": {"kind": "refuse"}}})
    configuration = load_configuration(here=machine.here())
    assert configuration.problems == ()
    known = Profiles(configuration.settings.profiles)
    assert known.get("quiet").name == "quiet"
    assert "gpt" in known.names()
    with pytest.raises(ConfigurationError) as problem:
        known.get("gpt")
    assert f"{path}: profiles.gpt.apiKey: the environment variable 'KEY'" in problem.value.message
    assert problem.value.details == {
        "file": str(path),
        "key": "profiles.gpt.apiKey",
        "variable": "KEY",
    }


def test_a_profile_that_another_one_names_is_filled_too(machine: Machine) -> None:
    slow = {"kind": "delay", "seconds": 1, "then": "gpt"}
    machine.write_user({"profiles": {"gpt": MODEL, "slow": slow}})
    known = Profiles(profiles(machine))
    with pytest.raises(ConfigurationError, match=r"profiles\.gpt\.apiKey"):
        known.get("slow")
    machine.environ["KEY"] = "s3cret"
    assert known.get("slow").name == "slow"


def test_what_came_with_a_project_gets_nothing_of_our_environment(machine: Machine) -> None:
    machine.environ["KEY"] = "s3cret"
    path = machine.write_project({"profiles": {"gpt": MODEL, "echo": {"kind": "echo"}}})
    machine.write_user({"profiles": {"mine": MODEL}})
    found = profiles(machine)
    assert found["echo"] == {"kind": "echo"}
    assert found["mine"]["apiKey"] == "s3cret"
    # It could send the key anywhere.
    with pytest.raises(ConfigurationError) as problem:
        found["gpt"]
    assert problem.value.message.startswith(f"{path}: profiles.gpt.apiKey: a project's profile")


def test_what_came_with_a_project_takes_the_place_of_no_other(machine: Machine) -> None:
    theirs = {"kind": "model", "url": "http://127.0.0.1:9", "model": "x", "elicitation": "accept"}
    machine.write_project({"profiles": {"mine": theirs, "refuse": theirs, "theirs": theirs}})
    machine.write_user({"profiles": {"mine": {"kind": "fixed", "text": "mine"}}})
    values = profiles(machine)
    assert (values["mine"]["kind"], values["theirs"]["kind"]) == ("fixed", "model")
    assert not Profiles(values).is_own("refuse")
    machine.write_user({"profiles": {"refuse": {"kind": "echo"}}})
    assert Profiles(profiles(machine)).is_own("refuse")


def test_a_file_that_was_named_may_use_the_environment(machine: Machine) -> None:
    machine.environ["KEY"] = "s3cret"
    path = machine.write_project({"profiles": {"gpt": MODEL}})
    given = load_configuration(str(path), here=machine.here())
    assert given.settings.profiles["gpt"]["apiKey"] == "s3cret"


def test_an_export_has_no_profiles(machine: Machine) -> None:
    machine.environ["KEY"] = "s3cret"
    servers = {"weather": {"command": "weather", "profile": "gpt"}}
    machine.write_user({"mcpServers": servers, "profiles": {"gpt": {**MODEL, "apiKey": "plain"}}})
    configuration = load_configuration(here=machine.here())
    shapes: tuple[Shape, ...] = ("mcpServers", "vscode", "codex")
    exported = [export_servers(configuration.servers, shape).text for shape in shapes]
    assert all("weather" in text and "plain" not in text for text in exported)
    assert "plain" not in repr(configuration)
