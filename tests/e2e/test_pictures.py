"""The pictures in the docs: there, shown, small, and of the size that the docs count on."""

from __future__ import annotations

import struct

import pytest

from .browser import ROOT
from .pictures import FOLDER, MOST_BYTES, PICTURES, SIZE


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_is_shown_in_the_docs_and_small(name: str) -> None:
    picture = (FOLDER / f"{name}.png").read_bytes()
    assert len(picture) <= MOST_BYTES
    assert struct.unpack(">II", picture[16:24]) == (SIZE["width"], SIZE["height"])
    pages = (ROOT / "docs" / "howto" / page for page in ("web.md", "tap.md", "gateway.md"))
    assert any(f"](../pictures/{name}.png)" in page.read_text() for page in pages)
