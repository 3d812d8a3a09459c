"""mcplens ends and is started again under an open page."""

from __future__ import annotations

import re
import signal
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.ports import held_port

from .browser import Watched, until, watched
from .calls import recorded
from .pair import connect
from .site import configure, site
from .traffic import rows
from .wheel import PYTHON

# The page waits for up to 8 s between two attempts.
BACK_MS = 30_000
DEMO = {"command": str(PYTHON), "args": ["-m", "mcplens.demo"]}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    configure(tmp_path, {"mine": DEMO})
    return tmp_path


@pytest.fixture
def port() -> Iterator[int]:
    """Where mcplens is started again: nobody else may take it in between."""
    with held_port() as held:
        yield held


def typed(page: Page) -> Locator:
    return page.get_by_role("textbox", name=re.compile("^text", re.I))


def worked(window: Watched) -> Page:
    """A page that has called a tool, and on which something is half typed."""
    page = window.enter("/servers")
    connect(page, "mine")
    window.goto("/s/mine/tools/echo")
    typed(page).fill("before the restart")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_label("Call of echo")).to_contain_text("Done")
    # Code that is still on its way when mcplens ends does not come.
    window.switch("/s/mine/traffic")
    rows(page, "tools/call").first.wait_for()
    window.switch("/s/mine/tools/echo")
    typed(page).fill("half typ")
    return page


@pytest.mark.parametrize(
    "how",
    [
        pytest.param(signal.SIGINT, id="Ctrl-C", marks=pytest.mark.soak),
        pytest.param(signal.SIGKILL, id="kill -9"),
    ],
)
def test_a_page_comes_back_by_itself_with_what_was_typed_and_what_was_exchanged(
    browser: Browser, home: Path, port: int, how: signal.Signals
) -> None:
    with ExitStack() as open_things:
        first = open_things.enter_context(site(home, port=port))
        window = open_things.enter_context(watched(browser, first))
        page = worked(window)
        recorded(page, "before the restart")
        first.process.send_signal(how)
        first.process.wait(15)
        expect(page.get_by_text("mcplens is not responding")).to_be_visible()
        expect(page.get_by_role("banner").get_by_role("status")).to_have_text("Unknown")
        window.shoot("gone")
        open_things.enter_context(site(home, port=port))

        banner = page.get_by_role("status").filter(has_text="mcplens was restarted")
        expect(banner).to_be_visible(timeout=BACK_MS)
        expect(banner).to_contain_text("Its servers are disconnected")
        assert window.axe() == []
        window.shoot(f"restarted {how.name}")
        page.get_by_role("button", name="Connect again").click()
        expect(typed(page)).to_have_value("half typ")
        page.get_by_role("button", name="Run", exact=True).click()
        expect(page.get_by_label("Call of echo")).to_contain_text("half typ")

        banner.get_by_role("link").click()
        expect(
            page.get_by_role("button", name=re.compile(r"^Session: \d.*, echo$"))
        ).to_be_visible()
        expect(page.get_by_text("tools/call").first).to_be_visible()
        banner.get_by_role("button", name="OK").click()
        expect(banner).to_be_hidden()


class Silent(BaseHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def served(port: int, handler: type[Silent]) -> Iterator[None]:
    """Another program on this port, for as long as the block lasts."""
    server = ThreadingHTTPServer(("127.0.0.1", port), handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@contextmanager
def stranger(port: int) -> Iterator[list[str]]:
    """Another program on this port, and all that it hears."""
    heard: list[str] = []

    class Handler(Silent):
        def do_GET(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            heard.append(f"{self.requestline} {body.decode()}")
            self.send_error(401)

        do_POST = do_GET

    with served(port, Handler):
        yield heard


_WORKER = """
addEventListener("install", () => skipWaiting());
addEventListener("fetch", (event) => event.respondWith(
  new Response("<p>the worker's page</p>", { headers: { "Content-Type": "text/html" } })));
"""


class Leaving(Silent):
    """Has a service worker for every page of its origin."""

    def do_GET(self) -> None:
        kind = "text/javascript" if self.path == "/worker.js" else "text/html"
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.end_headers()
        self.wfile.write(_WORKER.encode() if kind == "text/javascript" else b"<p>a page</p>")


def test_a_service_worker_of_who_had_the_port_does_not_stay(
    browser: Browser, home: Path, port: int
) -> None:
    with ExitStack() as open_things:
        context = open_things.enter_context(browser.new_context())
        page = context.new_page()
        with served(port, Leaving):
            page.goto(f"http://127.0.0.1:{port}/")
            page.evaluate(
                "navigator.serviceWorker.register('/worker.js')"
                ".then(() => navigator.serviceWorker.ready).then(() => null)"
            )
        running = open_things.enter_context(site(home, port=port))
        page.goto(running.url)
        expect(page.get_by_text("the worker's page")).to_be_visible()
        until(page, "navigator.serviceWorker.controller === null")
        page.goto(f"{running.url}/servers#token={running.token}")
        page.get_by_role("article", name="mine").wait_for()


def test_a_page_waits_while_another_program_has_its_port(
    browser: Browser, home: Path, port: int
) -> None:
    with ExitStack() as open_things:
        first = open_things.enter_context(site(home, port=port))
        window = open_things.enter_context(watched(browser, first))
        page = window.enter("/servers")
        page.get_by_role("article", name="mine").wait_for()
        first.process.kill()
        first.process.wait(15)
        with stranger(port) as heard:
            waits = page.get_by_text("Another program now uses this address")
            expect(waits).to_be_visible(timeout=BACK_MS)
            window.shoot("taken")
            # The code of other screens may still be on its way; nothing else may be asked for.
            assert [
                line for line in heard if not re.match("GET /(assets|k/[^/]+/api)/", line)
            ] == []
        open_things.enter_context(site(home, port=port))
        expect(page.get_by_text("mcplens was restarted")).to_be_visible(timeout=BACK_MS)


def test_a_page_that_has_no_key_is_told_what_to_do(browser: Browser, home: Path, port: int) -> None:
    with ExitStack() as open_things:
        first = open_things.enter_context(site(home, port=port))
        phone = {"viewport": {"width": 390, "height": 844}, "color_scheme": "dark"}
        window = open_things.enter_context(watched(browser, first, **phone))
        page = window.page
        # A name may lead to somebody else, so that it gets no key.
        page.goto(f"http://localhost:{port}/servers#token={first.token}")
        page.get_by_role("article", name="mine").wait_for()
        first.process.kill()
        first.process.wait(15)
        second = open_things.enter_context(site(home, port=port))
        refused = page.get_by_role("alert").filter(has_text="This page is not signed in")
        expect(refused).to_be_visible(timeout=BACK_MS)
        assert window.axe() == []
        window.shoot("refused")
        # Signed in elsewhere in this browser, the page needs only a push.
        other = page.context.new_page()
        other.goto(f"http://localhost:{port}/servers#token={second.token}")
        other.get_by_role("article", name="mine").wait_for()
        page.get_by_role("button", name="Try again").click()
        expect(page.get_by_text("mcplens was restarted")).to_be_visible()
        assert window.axe() == []
        window.shoot("restarted on a phone")
