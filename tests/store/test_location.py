"""Where the recording is kept."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import platformdirs
import pytest

from mcplens.store.location import default_path, state_folder


def test_a_folder_of_the_users_choice_comes_first() -> None:
    environ = {"MCPLENS_STATE_DIR": "/x/y", "XDG_STATE_HOME": "/z", "HOME": "/h"}
    assert state_folder(environ, "linux") == "/x/y"
    assert state_folder(environ, "win32") == "/x/y"


def test_linux_keeps_it_in_the_state_folder() -> None:
    assert state_folder({"HOME": "/h"}, "linux") == "/h/.local/state/mcplens"
    assert state_folder({"HOME": "/h", "XDG_STATE_HOME": "/s"}, "linux") == "/s/mcplens"


@pytest.mark.parametrize("platform", ["win32", "darwin"])
def test_elsewhere_the_platforms_own_folder_is_asked_for(
    platform: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(platformdirs, "user_state_dir", lambda name, appauthor: f"own/{name}")
    assert state_folder({}, platform) == "own/mcplens"


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="theirs is asked for")
@pytest.mark.parametrize("variable", [None, "/elsewhere", "  "])
def test_it_is_the_folder_that_platformdirs_names(
    variable: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("XDG_STATE_HOME", raising=False)
    if variable is not None:
        monkeypatch.setenv("XDG_STATE_HOME", variable)
    assert state_folder(os.environ, sys.platform) == platformdirs.user_state_dir(
        "mcplens", appauthor=False
    )


def test_the_file_has_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MCPLENS_STATE_DIR", "/x")
    assert Path(default_path()) == Path("/x/recording.sqlite3")
