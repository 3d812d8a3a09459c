from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from mcplens.known_secrets import known_secrets
from tests.auth.protected import Protected, protected


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where sign-ins are kept, for this test alone."""
    monkeypatch.setenv("MCPLENS_STATE_DIR", str(tmp_path))
    monkeypatch.setenv("MCPLENS_KEYRING", "off")
    known_secrets.forget()
    return tmp_path


@pytest.fixture
async def server() -> AsyncIterator[Protected]:
    async with protected() as found:
        yield found
