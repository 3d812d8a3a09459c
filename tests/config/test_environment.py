"""Where things are on each platform, worked out anywhere."""

from __future__ import annotations

import os
from pathlib import Path

import platformdirs
import pytest

from mcplens.config.environment import (
    Environment,
    current_environment,
    user_config_folder,
    user_state_folder,
    walk_upward,
)
from tests.config.machine import linux, mac, windows


@pytest.mark.parametrize("variables", [{}, {"XDG_CONFIG_HOME": "/c", "XDG_STATE_HOME": "/s"}])
def test_our_folders_are_those_of_platformdirs(
    monkeypatch: pytest.MonkeyPatch, variables: dict[str, str]
) -> None:
    for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    here = current_environment()
    assert user_config_folder(here) == platformdirs.user_config_dir("mcplens", appauthor=False)
    assert user_state_folder(here) == platformdirs.user_state_dir("mcplens", appauthor=False)


@pytest.mark.parametrize(
    ("here", "folders"),
    [
        (linux(), ["/home/ada/project", "/home/ada"]),
        (mac(), ["/Users/ada/project", "/Users/ada"]),
        (windows(), [r"C:\Users\ada\project", r"C:\Users\ada"]),
    ],
)
def test_the_way_upward_ends_at_home(here: Environment, folders: list[str]) -> None:
    assert list(walk_upward(here, lambda path: False)) == folders


def test_the_way_upward_ends_at_a_drive() -> None:
    here = windows()
    outside = type(here)(cwd=r"D:\a\b", home=here.home, environ={}, platform="win32")
    assert list(walk_upward(outside, lambda path: False)) == [r"D:\a\b", r"D:\a", "D:\\"]


def test_a_folder_that_was_deleted_stops_nobody(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert current_environment().cwd == os.sep


def test_no_secret_of_the_environment_is_shown() -> None:
    assert "s3cret" not in repr(linux(TOKEN="s3cret"))
