"""The wheel carries what the code reads at run time, and the command that starts it."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.Path:
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel"]
    subprocess.run([*command, "--directory", str(folder)], cwd=ROOT, check=True, timeout=60)
    (built,) = folder.glob("mcplens-*-py3-none-any.whl")
    return zipfile.Path(built)


def test_the_wheel_is_typed(wheel: zipfile.Path) -> None:
    assert (wheel / "mcplens" / "py.typed").exists()


def test_the_wheel_carries_every_error_page(wheel: zipfile.Path) -> None:
    pages = {page.name: page.read_text() for page in (ROOT / "docs" / "errors").glob("*.md")}
    shipped = (wheel / "mcplens" / "docs" / "errors").iterdir()
    assert {page.name: page.read_text() for page in shipped} == pages


def test_the_wheel_installs_the_mcplens_command(wheel: zipfile.Path) -> None:
    (metadata,) = (path for path in wheel.iterdir() if path.name.endswith(".dist-info"))
    assert "mcplens = mcplens.cli.main:main" in (metadata / "entry_points.txt").read_text()
