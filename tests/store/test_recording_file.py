"""Where the recording is kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from mcplens.store.recording_file import default_path


def test_the_file_has_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MCPLENS_STATE_DIR", "/x")
    assert Path(default_path()) == Path("/x/recording.sqlite3")
