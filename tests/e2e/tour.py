"""The animation at the top of the README: paste, connect, call, question, traffic.

`python -m tests.e2e.tour` (`make pictures`) writes docs/pictures/tour.webp.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Locator, expect

from .browser import ROOT, Watched, chromium, watched
from .palette import AnimationFrame, animation
from .site import site

FILE = ROOT / "docs" / "pictures" / "tour.webp"
# What the README may cost a reader.
MOST_BYTES = 1_000_000
SIZE = {"width": 1280, "height": 720}
_COMMAND = "python -m mcplens.demo"
_GLANCE_MS = 700
_LOOK_MS = 1_600
_READ_MS = 2_800


class Film:
    """What is shown, frame by frame."""

    def __init__(self, window: Watched) -> None:
        self._window = window
        self.frames: list[AnimationFrame] = []

    def __repr__(self) -> str:
        return f"<Film of {len(self.frames)} frames>"

    def take(self, duration_ms: int) -> None:
        self._window.settle()
        self.frames.append(AnimationFrame(self._window.page.screenshot(), duration_ms))

    def type(self, field: Locator, text: str) -> None:
        """Type text in three steps."""
        for part in (len(text) // 3, 2 * len(text) // 3, len(text)):
            field.fill(text[:part])
            self.take(250)


def play(window: Watched) -> list[AnimationFrame]:
    """Do what a new user does, and watch."""
    film = Film(window)
    page = window.enter("/servers")
    pasted = page.get_by_label("Command, URL or configuration")
    pasted.wait_for()
    film.take(_LOOK_MS)
    film.type(pasted, _COMMAND)
    film.take(_GLANCE_MS)
    page.get_by_role("button", name="Connect", exact=True).click()
    page.get_by_role("option", name="add", exact=False).first.wait_for()
    film.take(_LOOK_MS)
    page.get_by_text("Adds two numbers.").first.click()
    page.get_by_label("a *").fill("2")
    page.get_by_label("b *").fill("3")
    film.take(_GLANCE_MS)
    page.get_by_role("button", name="Run", exact=True).click()
    expect(page.get_by_label("Call of add")).to_contain_text("5")
    film.take(_READ_MS)
    server = page.url.split("/s/")[1].split("/")[0]
    window.switch(f"/s/{server}/tools/elicit-form")
    page.get_by_role("button", name="Run", exact=True).click()
    question = page.get_by_label("Question: elicitation/create")
    question.wait_for()
    film.take(_LOOK_MS)
    film.type(question.get_by_label("name"), "Ada Lovelace")
    question.get_by_role("button", name="Submit", exact=True).click()
    expect(page.get_by_label("Call of elicit-form")).to_contain_text("Done")
    film.take(_READ_MS)
    window.switch(f"/s/{server}/traffic")
    row = page.get_by_text("tools/call").last
    row.wait_for()
    film.take(_LOOK_MS)
    row.click()
    page.get_by_role("tab", name="Message").wait_for()
    film.take(_READ_MS)
    return film.frames


def prepare(set_variable: Callable[[str, str], object]) -> None:
    """Let `python` be the one that runs this, as on a reader's machine."""
    set_variable("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")


def draw(home: Path) -> bytes:
    """The animation, as it would be written."""
    prepare(os.environ.__setitem__)
    options = {"viewport": SIZE, "color_scheme": "light", "reduced_motion": "reduce"}
    with (
        chromium(home) as browser,
        site(home) as running,
        watched(browser, running, **options) as window,
    ):
        return animation(play(window))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        drawn = draw(Path(folder))
    assert len(drawn) <= MOST_BYTES, f"{FILE.name} has {len(drawn)} bytes"
    FILE.write_bytes(drawn)
