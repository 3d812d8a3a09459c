from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.auth.protected import Protected, keep_sign_ins_in, protected


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where sign-ins are kept, for this test alone."""
    keep_sign_ins_in(tmp_path, monkeypatch)
    return tmp_path


@pytest.fixture
async def server() -> AsyncIterator[Protected]:
    async with protected() as found:
        yield found
