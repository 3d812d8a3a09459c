"""The pictures of the web UI in the docs, drawn by the bundled server.

`python -m tests.e2e.pictures` (`make pictures`) writes docs/pictures/web-*.png.
"""

from __future__ import annotations

import contextlib
import os
import re
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Page, TimeoutError, expect

from .browser import ROOT, Watched, chromium, watched
from .palette import with_palette
from .site import configure, site

FOLDER = ROOT / "docs" / "pictures"
# What a page may cost a reader.
MOST_BYTES = 150_000
SIZE = {"width": 1440, "height": 810}
SERVERS = {
    "demo": {"command": "python", "args": ["-m", "mcplens.demo"]},
    "weather": {"command": "python", "args": ["-m", "mcplens.demo"], "env": {"WEATHER_KEY": "x"}},
    "calendar": {"url": "http://localhost:9/mcp", "maxRetries": 0},
}


def _run(page: Page) -> None:
    page.get_by_role("button", name="Run", exact=True).click()


def _servers(window: Watched) -> None:
    page = window.goto("/servers")
    for name, ends in (("demo", "Connected"), ("weather", "Connected"), ("calendar", "Failed")):
        card = page.get_by_role("article", name=name)
        card.get_by_role("switch").click(force=True)
        expect(card).to_contain_text(ends)
    # Some notifications go by themselves; the one of the failure stays.
    closing = page.locator(".mantine-Notification-closeButton")
    closing.first.wait_for()
    while closing.count():
        with contextlib.suppress(TimeoutError):  # it went while it was pressed
            closing.last.click(timeout=1_000)


def _call(window: Watched) -> None:
    page = window.goto("/s/weather/tools/structured-weather")
    _run(page)
    expect(page.get_by_label("Call of structured-weather")).to_contain_text("Done")
    page.keyboard.press("m")
    expect(page.get_by_label("Traffic in the monitor")).to_contain_text("tools/call")


def _form(window: Watched) -> None:
    page = window.goto("/s/demo/tools/form-nested")
    page.get_by_label("street").fill("5 Lens Lane")
    page.get_by_label("city").fill("Jena")
    page.get_by_role("button", name="Add an item").first.click()
    page.get_by_label(re.compile("tags-2")).fill("glass")


def _question(window: Watched) -> None:
    page = window.goto("/s/weather/tools/elicit-form")
    _run(page)
    form = page.get_by_label("Question: elicitation/create")
    form.get_by_label("name").fill("Ada")


def _traffic(window: Watched) -> None:
    page = window.goto("/s/weather/tools/broken-json")
    _run(page)
    page.get_by_label("Call of broken-json").wait_for()
    window.goto("/s/weather/traffic")
    page.get_by_text("malformed message").last.click()
    page.get_by_role("tab", name="Hex").click()
    page.get_by_label("Bytes in hexadecimal").wait_for()


def _resource(window: Watched) -> None:
    page = window.goto("/s/demo/resources/demo%3A%2F%2Fimage")
    page.get_by_role("img", name=re.compile("Content of type image")).wait_for()


PICTURES: dict[str, tuple[str, Callable[[Watched], None]]] = {
    "web-servers": ("light", _servers),
    "web-call": ("light", _call),
    "web-form": ("light", _form),
    "web-question": ("light", _question),
    "web-traffic": ("dark", _traffic),
    "web-resource": ("dark", _resource),
}


def draw(home: Path) -> None:
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    configure(home, SERVERS)
    FOLDER.mkdir(exist_ok=True)
    with chromium(home) as browser, site(home) as running:
        for name, (theme, show) in PICTURES.items():
            options = {"viewport": SIZE, "color_scheme": theme, "reduced_motion": "reduce"}
            with watched(browser, running, **options) as window:
                window.enter("/servers")
                show(window)
                window.page.mouse.move(0, SIZE["height"] - 1)
                window.page.wait_for_timeout(500)
                picture = with_palette(window.page.screenshot())
            assert len(picture) <= MOST_BYTES, f"{name} has {len(picture)} bytes"
            (FOLDER / f"{name}.png").write_bytes(picture)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        draw(Path(folder))
