"""Other pages in the same browser, which is signed in: what they try is refused."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

import pytest
from playwright.sync_api import Browser, Page, Playwright, expect

from .browser import Watched, inside, launch, watched
from .site import Site

# An attacker's name that leads to this machine.
NAME = "evil.test"


@pytest.fixture(scope="module")
def browser(playwright: Playwright, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    rule = f"--host-resolver-rules=MAP {NAME} 127.0.0.1"
    opened = launch(playwright, tmp_path_factory.mktemp("browser"), rule)
    yield opened
    opened.close()


class Elsewhere(NamedTuple):
    """A page on another port of this machine, which is another origin, and the cookies it got."""

    url: str
    cookies: list[str]


@pytest.fixture(scope="module")
def elsewhere() -> Iterator[Elsewhere]:
    cookies: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            cookies.append(self.headers.get("Cookie", ""))
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(b"<!doctype html><title>elsewhere</title><p>Hello")

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield Elsewhere(f"http://127.0.0.1:{server.server_address[1]}/", cookies)
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def signed_in(browser: Browser, demo: Site) -> Iterator[Watched]:
    with watched(browser, demo) as window:
        window.enter("/servers")
        yield window


@pytest.fixture
def folder(signed_in: Watched) -> str:
    """What is inside, whose address no other page knows."""
    return inside(signed_in.page)


@pytest.fixture
def foreign(signed_in: Watched, folder: str, elsewhere: Elsewhere) -> Page:
    page = signed_in.page
    page.goto(elsewhere.url)
    return page


def test_another_port_of_this_machine_is_not_sent_the_cookie(
    foreign: Page, elsewhere: Elsewhere
) -> None:
    """Cookies know no ports: what listens on any of them would have ours, if it were for /."""
    for path in ("", "api/session", "k/", "k/guessed/api/history"):
        foreign.goto(elsewhere.url + path)
    assert len(elsewhere.cookies) >= 5
    assert set(elsewhere.cookies) == {""}


_FETCH = """async ([url, options]) => {
  try {
    const response = await fetch(url, { credentials: "include", ...options });
    return await response.text();
  } catch { return "failed"; }
}"""


_CONVERSE = """(url) => new Promise((resolve) => {
  const socket = new WebSocket(url);
  socket.onopen = () => resolve("open");
  socket.onclose = (event) => resolve(event.code);
})"""


def test_a_fetch_of_another_origin_is_refused_in_spite_of_the_cookie(
    foreign: Page, demo: Site, folder: str
) -> None:
    # Playwright says nothing of answers that the browser keeps from the page.
    wire = foreign.context.new_cdp_session(foreign)
    asked: dict[str, str] = {}
    answered: dict[str, int] = {}

    def note_request(sent: dict[str, Any]) -> None:
        if sent["headers"].get("Host") == demo.url.removeprefix("http://"):
            asked[sent["requestId"]] = sent["headers"].get("Cookie", "")

    def note_answer(came: dict[str, Any]) -> None:
        answered[came["requestId"]] = came["statusCode"]

    wire.on("Network.requestWillBeSentExtraInfo", note_request)
    wire.on("Network.responseReceivedExtraInfo", note_answer)
    wire.send("Network.enable")
    tries: list[tuple[str, dict[str, str]]] = [
        ("/api/history", {}),
        ("/api/history", {"mode": "no-cors"}),
        ("/api/session", {"method": "POST", "body": "{}"}),
        ("/api/session/nonce", {"method": "POST"}),
        ("/api/import", {"method": "POST", "body": "{}", "mode": "no-cors"}),
    ]
    for path, options in tries:
        assert foreign.evaluate(_FETCH, [folder + path, options]) == "failed"
    # What is told of a request and of its answer comes by itself, in any order.
    while len(asked.keys() & answered.keys()) < len(tries):
        foreign.wait_for_timeout(20)
    assert [answered[one] for one in asked] == [403] * len(tries)
    # Even who knew the folder, so that the cookie was there each time, has the wrong origin.
    assert all(f"mcplens-{demo.port}=" in cookie for cookie in asked.values())


def test_a_form_of_another_origin_is_refused(foreign: Page, folder: str) -> None:
    with foreign.expect_navigation() as gone:
        foreign.evaluate(
            """(url) => {
              const form = document.createElement("form");
              Object.assign(form, { method: "POST", action: url, enctype: "text/plain" });
              document.body.append(form);
              form.submit();
            }""",
            f"{folder}/api/import",
        )
    assert gone.value.status == 403
    expect(foreign.get_by_text("pages of other origins may not use mcplens")).to_be_visible()


def test_a_websocket_of_another_origin_is_refused(foreign: Page, folder: str) -> None:
    address = folder.replace("http", "ws") + "/api/socket"
    assert foreign.evaluate(_CONVERSE, address) == 1006, "the handshake must fail"


def test_neither_frame_nor_picture_nor_script_of_ours_can_be_embedded(
    foreign: Page, demo: Site, folder: str
) -> None:
    asset = foreign.request.get(demo.url).text().partition('src="')[2].partition('"')[0]
    embedded = foreign.evaluate(
        """async ([page, picture, script]) => {
          const shown = (tag, fields) => new Promise((resolve) => {
            const element = Object.assign(document.createElement(tag), fields);
            element.onload = () => resolve(`${tag} loaded`);
            element.onerror = () => resolve(`${tag} failed`);
            document.body.append(element);
          });
          await shown("iframe", { src: page });
          const reached = (() => {
            try { return Boolean(document.querySelector("iframe").contentWindow.document); }
            catch { return false; }
          })();
          return [reached, await shown("img", { src: picture }),
                  await shown("script", { src: script })];
        }""",
        [demo.url, f"{folder}/api/blob/c1", demo.url + asset],
    )
    assert embedded == [False, "img failed", "script failed"]
    frame = foreign.frames[1]
    assert "mcplens" not in frame.title()
    assert frame.locator("#root").count() == 0


def test_a_name_that_was_made_to_lead_here_gets_a_plain_page_and_nothing_else(
    signed_in: Watched, demo: Site
) -> None:
    page = signed_in.page
    answer = page.goto(f"http://{NAME}:{demo.port}/")
    assert answer is not None
    assert answer.status == 421
    expect(page.get_by_text("this address does not belong to mcplens")).to_be_visible()
    expect(page.get_by_role("heading")).to_have_text("mcplens refused this request")
    signed_in.shoot("rebound")


def test_a_page_whose_name_was_rebound_to_us_gets_nothing(browser: Browser, demo: Site) -> None:
    origin = f"http://{NAME}:{demo.port}"
    # The attacker's page was loaded before the name was rebound: it has no policy of ours.
    with watched(browser, demo, bypass_csp=True) as window:
        page = window.page
        page.goto(origin)
        assert page.evaluate("origin") == origin
        guess = {"method": "POST", "body": '{"token": "guessed"}'}
        for path, options in (("/api/history", {}), ("/api/session", guess), ("/", {})):
            text = page.evaluate(_FETCH, [origin + path, options])
            assert "this address does not belong to mcplens" in text
        assert page.evaluate(_CONVERSE, origin.replace("http", "ws") + "/api/socket") == 1006
