"""The wheel carries what the code reads at run time, and the command that starts it."""

import importlib.util
import os
import re
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path
from types import ModuleType

import pytest

import mcplens

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]


def _build(target: str, source: Path, into: Path, **variables: str) -> None:
    command = [sys.executable, "-m", "hatchling", "build", "--target", target]
    environment = {**os.environ, **variables}
    subprocess.run(
        [*command, "--directory", str(into)], cwd=source, env=environment, check=True, timeout=110
    )


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.Path:
    folder = tmp_path_factory.mktemp("dist")
    _build("wheel", ROOT, folder)
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


def test_the_wheel_has_the_version_that_mcplens_says(wheel: zipfile.Path) -> None:
    assert wheel.root.filename is not None
    assert Path(wheel.root.filename).name.startswith(f"mcplens-{mcplens.__version__}-")


def test_the_wheel_carries_the_page_and_nothing_of_its_sources(wheel: zipfile.Path) -> None:
    page = wheel / "mcplens" / "web" / "static"
    assert "__CSP_NONCE__" in (page / "index.html").read_text()
    assert any(asset.name.endswith(".js") for asset in (page / "assets").iterdir())
    names = [path.name for path in wheel.iterdir()]
    assert "web" not in names


def test_the_wheel_carries_the_notices_of_all_that_is_bundled_in_the_page(
    wheel: zipfile.Path, hook: ModuleType
) -> None:
    text = (wheel / "mcplens" / "web" / "static" / "NOTICES.txt").read_text(encoding="utf-8")
    assert text == hook.notices(hook.WEB)
    sections = re.findall(r"^={80}\n(\S+) .*\n={80}\n\n([^=]*)", text, flags=re.MULTILINE)
    assert {"react", "react-dom", "@mantine/core", "@codemirror/view", "vite"} <= set(
        dict(sections)
    )
    assert len(sections) == len(hook.bundled(hook.WEB / "package-lock.json"))
    for name, licence in sections:
        assert "Copyright" in licence or "Apache License" in licence or "CC0" in licence, name
        assert "{holder}" not in licence


def test_the_wheel_carries_the_fonts_of_the_page_in_150_kb_with_their_licences(
    wheel: zipfile.Path,
) -> None:
    page = wheel / "mcplens" / "web" / "static"
    fonts = {
        re.sub(r"-.{8}\.woff2$", "", file.name): len(file.read_bytes())
        for file in (page / "assets").iterdir()
        if file.name.endswith(".woff2")
    }
    alphabets = ("latin", "greek", "cyrillic")
    families = ("inter", "jetbrains-mono")
    wanted = {f"{family}-{alphabet}-wght-normal" for family in families for alphabet in alphabets}
    assert set(fonts) == wanted
    assert sum(fonts.values()) < 150_000
    notices = (page / "NOTICES.txt").read_text(encoding="utf-8")
    for family in families:
        _, _, section = notices.partition(f"@fontsource-variable/{family} ")
        assert "SIL OPEN FONT LICENSE Version 1.1" in section[:2000]


@pytest.fixture(scope="module")
def hook() -> ModuleType:
    spec = importlib.util.spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_in_the_package_is_the_one_of_these_sources(hook: ModuleType) -> None:
    assert hook.STAMP.read_text().strip() == hook.digest(), "the page is stale: run `make web`"


def test_a_page_that_must_be_built_takes_node_from_pypi(
    hook: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = hook.CustomBuildHook.dependencies
    assert asked(None) == []
    monkeypatch.setattr(hook, "STAMP", tmp_path / "none")
    assert asked(None) == [hook.NODE_PACKAGE]
    monkeypatch.setenv(hook.SKIP, "1")
    assert asked(None) == []


def test_a_wheel_of_the_sdist_has_the_page_without_any_node(
    wheel: zipfile.Path, tmp_path: Path
) -> None:
    _build("sdist", ROOT, tmp_path)
    (packed,) = tmp_path.glob("mcplens-*.tar.gz")
    with tarfile.open(packed) as archive:
        archive.extractall(tmp_path, filter="data")
    (unpacked,) = (path for path in tmp_path.iterdir() if path.is_dir())
    # Nothing can be started: not Node, not npm.
    _build("wheel", unpacked, tmp_path, PATH=str(tmp_path))
    (built,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(built) as ours, zipfile.ZipFile(str(wheel.root.filename)) as theirs:
        assert sorted(ours.namelist()) == sorted(theirs.namelist())
        for name in ("index.html", "NOTICES.txt"):
            file = f"mcplens/web/static/{name}"
            assert ours.read(file) == theirs.read(file)
