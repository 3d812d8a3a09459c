"""The wheel carries what the code reads at run time, and the command that starts it."""

import importlib.util
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


def test_the_wheel_carries_the_page_and_nothing_of_its_sources(wheel: zipfile.Path) -> None:
    page = wheel / "mcplens" / "web" / "static"
    assert "__CSP_NONCE__" in (page / "index.html").read_text()
    assert any(asset.name.endswith(".js") for asset in (page / "assets").iterdir())
    names = [path.name for path in wheel.iterdir()]
    assert "web" not in names


def test_the_page_in_the_package_is_the_one_of_these_sources() -> None:
    spec = importlib.util.spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
    assert spec is not None
    assert spec.loader is not None
    hook = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(hook)
    assert hook.STAMP.read_text().strip() == hook.digest(), "the page is stale: run `make web`"
