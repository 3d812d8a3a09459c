"""The file of a recording and a bus to record, for tests that make none of their own."""

from __future__ import annotations

from pathlib import Path

import pytest

from mcplens.bus import Bus
from mcplens.clock import SystemClock


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state" / "recording.sqlite3"


@pytest.fixture
def bus() -> Bus:
    return Bus(SystemClock())
