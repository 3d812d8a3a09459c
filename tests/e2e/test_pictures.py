"""The pictures in the docs: there, shown, small, and of the size that the docs count on."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
from PIL import Image
from playwright.sync_api import Browser

from . import tour
from .browser import ROOT, watched
from .pictures import FOLDER, MOST_BYTES, PICTURES, SIZE
from .site import site


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_is_shown_in_the_docs_and_small(name: str) -> None:
    picture = (FOLDER / f"{name}.png").read_bytes()
    assert len(picture) <= MOST_BYTES
    assert struct.unpack(">II", picture[16:24]) == (SIZE["width"], SIZE["height"])
    pages = (ROOT / "docs" / "howto" / page for page in ("web.md", "tap.md", "gateway.md"))
    assert any(f"](../pictures/{name}.png)" in page.read_text() for page in pages)


def test_the_animation_of_the_readme_is_small_and_as_large_as_it_says() -> None:
    assert tour.FILE.stat().st_size <= tour.MOST_BYTES
    with Image.open(tour.FILE) as film:
        assert film.size == (tour.SIZE["width"], tour.SIZE["height"])
        assert getattr(film, "n_frames", 1) > 10
    assert "](docs/pictures/tour.webp)" in (ROOT / "README.md").read_text()


@pytest.mark.soak
def test_what_the_animation_of_the_readme_shows_can_be_done(
    browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tour.prepare(monkeypatch.setenv)
    with site(tmp_path) as running, watched(browser, running, viewport=tour.SIZE) as window:
        assert len(tour.play(window)) > 10
        window.assert_clean()
