"""An app that tries everything that it must not do, in a browser that is signed in."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import NamedTuple

import pytest
from playwright.sync_api import Browser, FrameLocator, Page, expect

from tests.ports import held_port

from .browser import Watched
from .site import Site, configure, site
from .test_apps import app_in, with_apps

SERVER = Path(__file__).with_name("hostile_server.py")


class Trap(NamedTuple):
    """A server on another port, and the paths that were asked for."""

    url: str
    paths: list[str]


@pytest.fixture(scope="module")
def trap() -> Iterator[Trap]:
    paths: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            paths.append(self.path)
            self.send_response(204)
            self.end_headers()

        do_POST = do_GET

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield Trap(f"http://127.0.0.1:{server.server_address[1]}", paths)
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory, trap: Trap) -> Iterator[Site]:
    home = tmp_path_factory.mktemp("home")
    with held_port() as port:
        page = f"http://127.0.0.1:{port}"
        args = [str(SERVER), trap.url, page]
        configure(home, {"hostile": {"command": sys.executable, "args": args}})
        with site(home, "demo", port=port) as running:
            yield running


def connected(page: Page) -> None:
    page.get_by_role("button", name="Connect", exact=True).click()
    expect(page.get_by_text("Choose an app")).to_be_visible()


def test_a_hostile_app_reaches_nothing_and_is_told_why(
    browser: Browser, hostile: Site, trap: Trap
) -> None:
    place = {"latitude": 46.9, "longitude": 7.4}
    with with_apps(browser, hostile, "/s/hostile/apps", geolocation=place) as window:
        page, app = window.page, app_in(window.page)
        documents: list[str] = []
        page.on("request", lambda one: documents.extend([one.url] if "/doc/" in one.url else []))
        connected(page)
        _check_that_the_page_has_the_devices(page, hostile)
        window.switch("/s/hostile/apps/hostile")
        page.get_by_role("button", name="Run").click()
        expect(app.get_by_text("all: tried")).to_be_visible()
        outcomes = _outcomes(app)
        reached = {name: text for name, text in outcomes.items() if "REACHED" in text}
        assert reached == {}
        assert not [name for name, text in outcomes.items() if text == "DONE"]
        assert "before the app was initialized" in outcomes["early call"]
        assert 'does not include "app"' in outcomes["tool for the model"]
        assert "has no tool app-roll" in outcomes["tool of another server"]
        assert "javascript: links are not opened" in outcomes["script link"]
        assert "file: links are not opened" in outcomes["file link"]
        assert "not a plain file name" in outcomes["path to save"]
        assert "ui/resource-teardown is not known" in outcomes["method of hosts to the server"]
        assert "logging/setLevel is not known" in outcomes["server's own method"]
        # What claimed to come from others was not heard: nothing waits for a click.
        expect(page.get_by_text("The app wants to")).to_have_count(0)
        inner = page.frame_locator("iframe").locator("iframe")
        assert inner.get_attribute("sandbox") == "allow-scripts allow-forms"
        # Nor did it make the proxy load another document.
        assert len(documents) == 1
        assert trap.paths == []
        _check_that_the_policy_keeps_the_devices(window)
        _check_entries(page)
        _leave(page, trap)
        page.get_by_role("button", name="Host", exact=True).click()
        page.get_by_role("switch", name="Private addresses").click()
        expect(app.get_by_text("trap by fetch: REACHED")).to_be_visible()
        # What connectDomains is for, and nothing else.
        assert "/fetch" in trap.paths
        assert set(trap.paths) <= {"/fetch", "/prefetch", "/beacon"}
        _check_that_a_person_can_grant_devices(page)
        _check_that_an_app_beside_it_is_left_alone(page, documents)


def _outcomes(app: FrameLocator) -> dict[str, str]:
    return dict(text.split(": ", 1) for text in app.get_by_role("listitem").all_inner_texts())


_DEVICES = """async () => {
  await navigator.clipboard.writeText("known");
  const place = await new Promise((done, fail) =>
    navigator.geolocation.getCurrentPosition(done, fail));
  const found = [await navigator.clipboard.readText(), place.coords.latitude];
  for (const kind of ["video", "audio"]) {
    const tracks = (await navigator.mediaDevices.getUserMedia({ [kind]: true })).getTracks();
    found.push(tracks.map(({ readyState }) => readyState).join());
    for (const track of tracks) track.stop();
  }
  return found;
}"""


def _check_that_the_page_has_the_devices(page: Page, site: Site) -> None:
    """What the app is kept from is there, and allowed to the origin that it is shown by."""
    page.context.grant_permissions(
        ["camera", "microphone", "geolocation", "clipboard-read", "clipboard-write"],
        origin=site.url,
    )
    assert page.evaluate(_DEVICES) == ["known", 46.9, "live", "live"]


def _tried_devices(page: Page) -> dict[str, str]:
    """What the app gets after a click of the person, which is when browsers give most."""
    app = app_in(page)
    app.get_by_role("button", name="Try the devices").click()
    expect(app.get_by_text("devices: tried")).to_be_visible()
    return _outcomes(app)


def _copied(page: Page) -> str:
    page.get_by_role("heading", level=2).first.click()  # a page without the focus may not read
    return str(page.evaluate("navigator.clipboard.readText()"))


def _check_that_the_policy_keeps_the_devices(window: Watched) -> None:
    page = window.page
    del window.faults[:]
    outcomes = _tried_devices(page)
    assert not [text for text in outcomes.values() if "REACHED" in text]
    assert outcomes["allowed by policy"] == "nothing"
    assert "disabled in this document by permissions policy" in outcomes["location"]
    for name in ("clipboard", "reading the clipboard"):
        assert "blocked because of a permissions policy" in outcomes[name]
    for name in ("camera", "microphone"):
        said = f"Permissions policy violation: {name} is not allowed in this document."
        assert any(fault.startswith(said) for fault in window.faults)
    assert _copied(page) == "known"


def _check_that_a_person_can_grant_devices(page: Page) -> None:
    """The same app has what the person grants it: nothing else had stopped it."""
    expect(app_in(page).get_by_text("all: tried")).to_be_visible()
    for name in ("Location", "Writing to the clipboard", "Camera (not in Chromium)"):
        with page.expect_request("**/doc/*"):
            page.get_by_role("switch", name=name).click()
    expect(app_in(page).get_by_text("all: tried")).to_be_visible()
    outcomes = _tried_devices(page)
    assert outcomes["allowed by policy"] == "geolocation,camera,clipboard-write"
    assert [name for name, text in outcomes.items() if "REACHED" in text] == [
        "location",
        "clipboard",
    ]
    # As the switch says.
    assert outcomes["camera"] == "stopped, SecurityError: Invalid security origin"
    assert _copied(page) == "stolen"


def _check_that_an_app_beside_it_is_left_alone(page: Page, documents: list[str]) -> None:
    opened = len(documents)
    page.get_by_label("Run beside it in").select_option("Specification")
    first, beside = (
        page.locator("iframe").nth(at).content_frame.frame_locator("iframe") for at in (0, 1)
    )
    expect(beside.get_by_text("all: tried")).to_be_visible()
    expect(first.get_by_text("devices: tried")).to_be_visible()
    expect(page.get_by_text("The app wants to")).to_have_count(0)
    assert len(documents) == opened + 1


def _check_entries(page: Page) -> None:
    """The declared domains that are not in the policy are named, with the reason."""
    findings = page.get_by_role("list", name="Findings")
    expect(findings).to_contain_text("it contains a space, a quote, a comma or a semicolon")
    expect(findings).to_contain_text("on this computer, which you have not allowed")
    expect(findings).to_contain_text("sandbox")


_FORM = """(url) => {
  const form = document.body.appendChild(document.createElement("form"));
  Object.assign(form, { action: url, method: "post" }).submit();
}"""


def _leave(page: Page, trap: Trap) -> None:
    """An app that goes elsewhere, by a form or by its address, is stopped by both policies."""
    for way in ("(url) => { location.href = url; }", _FORM):
        (frame,) = [one for one in page.frames if "/doc/" in one.url]
        with page.expect_event("console", lambda message: "frame-src 'self'" in message.text):
            frame.evaluate(way, f"{trap.url}/left")
        assert trap.paths == []
        page.get_by_role("button", name="Reload").click()
        expect(app_in(page).get_by_text("all: tried")).to_be_visible()


@pytest.mark.parametrize(
    ("tool", "words"),
    [
        ("wrong-type", "the type of ui://hostile/html is text/html, and must be"),
        ("wrong-scheme", "https://hostile.invalid/app does not begin with ui://"),
        ("missing", "There is no app to show: the server answered with error -32602"),
    ],
)
def test_what_is_not_an_app_is_not_shown_and_says_why(
    browser: Browser, hostile: Site, tool: str, words: str
) -> None:
    with with_apps(browser, hostile, f"/s/hostile/apps/{tool}") as window:
        page = window.page
        connect = page.get_by_role("button", name="Connect", exact=True)
        run = page.get_by_role("button", name="Run")
        expect(connect.or_(run)).to_be_visible()
        if connect.is_visible():
            connect.click()
        run.click()
        expect(page.get_by_role("note").filter(has_text=words)).to_be_visible()
        assert page.locator("iframe").count() == 0
        window.assert_clean()
