import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.scripted_server import ERAS
from tests.cli.shell import Shell, serving


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path)


@pytest.fixture(scope="session")
def url() -> Iterator[str]:
    """A well-behaved server over HTTP, all lists in one page, shared by all tests."""
    with serving("good", "--transport", "http", "--page-size", "0") as address:
        yield address


@pytest.fixture(params=ERAS)
def protocol(request: pytest.FixtureRequest) -> tuple[str, str]:
    return ("--protocol", request.param)


@pytest.fixture
def fifo(tmp_path: Path) -> Path:
    """Holds up a server's script until it is written to."""
    path = tmp_path / "go"
    os.mkfifo(path)
    return path
