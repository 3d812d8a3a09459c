"""Where the user's files of mcplens are: the recording, and what is remembered."""

from __future__ import annotations

import sys

import platformdirs
import pytest

from mcplens.user_folders import config_folder, current_state_folder, state_folder


def test_a_folder_of_the_users_choice_comes_first() -> None:
    environ = {"MCPLENS_STATE_DIR": "/x/y", "XDG_STATE_HOME": "/z"}
    assert state_folder(environ, "linux", "/h") == "/x/y"
    assert state_folder(environ, "win32", "/h") == "/x/y"
    assert config_folder(environ, "linux", "/h") == "/h/.config/mcplens"


def test_linux_has_folders_of_its_own() -> None:
    assert state_folder({}, "linux", "/h") == "/h/.local/state/mcplens"
    assert state_folder({"XDG_STATE_HOME": "/s"}, "linux", "/h") == "/s/mcplens"
    assert config_folder({}, "linux", "/h") == "/h/.config/mcplens"
    assert config_folder({"XDG_CONFIG_HOME": "/c"}, "linux", "/h") == "/c/mcplens"


@pytest.mark.parametrize("platform", ["win32", "darwin"])
def test_elsewhere_the_platforms_own_folder_is_asked_for(
    platform: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(platformdirs, "user_state_dir", lambda name, appauthor: f"own/{name}")
    monkeypatch.setattr(platformdirs, "user_config_dir", lambda name, appauthor: f"set/{name}")
    assert state_folder({}, platform, "/h") == "own/mcplens"
    assert config_folder({}, platform, "/h") == "set/mcplens"


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="theirs is asked for")
@pytest.mark.parametrize("variable", [None, "/elsewhere", "  "])
def test_it_is_the_folder_that_platformdirs_names(
    variable: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MCPLENS_STATE_DIR", raising=False)
    monkeypatch.delenv("XDG_STATE_HOME", raising=False)
    if variable is not None:
        monkeypatch.setenv("XDG_STATE_HOME", variable)
    assert current_state_folder() == platformdirs.user_state_dir("mcplens", appauthor=False)
