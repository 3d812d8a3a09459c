"""A server whose code is being written: restarted from anywhere, and what it no longer lists.

Besides, a certificate is trusted by the form, and texts are copied without a clipboard.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.cli.tls import untrusted_port

from .browser import Watched, watched
from .site import configure, site

SERVER = """
import json, sys
TOOLS = {tools!r}
for line in sys.stdin:
    message = json.loads(line)
    method = message.get("method")
    if "id" not in message or method == "tools/call":
        continue  # a call is never answered
    result = {{}}
    if method == "initialize":
        version = message["params"]["protocolVersion"]
        result = {{"protocolVersion": version, "capabilities": {{"tools": {{}}}}}}
        result["serverInfo"] = {{"name": "mine", "version": "1"}}
    elif method == "tools/list":
        text = {{"type": "object", "properties": {{"text": {{"type": "string"}}}}}}
        result = {{"tools": [{{"name": name, "inputSchema": text}} for name in TOOLS]}}
    print(json.dumps({{"jsonrpc": "2.0", "id": message["id"], "result": result}}), flush=True)
"""
SILENT = "import sys\nfor line in sys.stdin: pass"


class Home:
    """Where the server's code is, and the web UI that runs it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._code = folder / "server.py"

    def write(self, *tools: str) -> None:
        self._code.write_text(SERVER.format(tools=tools))

    def spoil(self, code: str) -> None:
        self._code.write_text(code)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Home:
    return Home(tmp_path_factory.mktemp("home"))


@pytest.fixture(scope="module")
def opened(browser: Browser, home: Home) -> Iterator[Watched]:
    home.write("hang", "former")
    mine = {"command": sys.executable, "args": ["server.py"], "cwd": str(home.folder)}
    with untrusted_port(home.folder) as port:
        secure = {"url": f"https://127.0.0.1:{port}/mcp", "maxRetries": 0}
        configure(home.folder, {"mine": {**mine, "maxRetries": 0}, "secure": secure})
        with site(home.folder, "mine") as running, watched(browser, running) as window:
            # As on http:// from another machine.
            window.page.add_init_script(
                "Object.defineProperty(navigator, 'clipboard', { value: undefined })"
            )
            window.enter("/s/mine/tools")
            yield window


def stands(page: Page, words: str) -> None:
    expect(page.get_by_role("banner").get_by_role("status")).to_have_text(words)


def notice(page: Page) -> Locator:
    return page.get_by_role("status").filter(has_text="Not in the server's list")


def test_a_server_is_restarted_from_anywhere_and_in_any_state(opened: Watched, home: Home) -> None:
    page = opened.switch("/s/mine/tools/hang")
    page.get_by_label("text", exact=True).fill("half typ")
    page.get_by_role("button", name="Run", exact=True).click()
    panel = page.get_by_label("Call of hang")
    running = panel.get_by_role("progressbar", name="Progress of the call")
    expect(running).to_be_visible()

    # From the bar: what runs ends, with the reason; what is typed stays.
    home.write("hang", "former", "latter")
    page.get_by_role("button", name="Server: mine, Connected").click()
    opened.shoot("restart-menu")
    item = page.get_by_role("menuitem", name="Restart this server")
    expect(item).to_contain_text("Shift R")
    item.click()
    expect(running).to_be_hidden()
    expect(panel).to_contain_text(re.compile("disconnect", re.I))
    expect(page.get_by_role("option").filter(has_text="latter")).to_be_visible()
    stands(page, "Connected")
    expect(page.get_by_label("text", exact=True)).to_have_value("half typ")
    expect(page).to_have_url(re.compile("/s/mine/tools/hang"))

    # By a key, while what is looked at is removed.
    opened.switch("/s/mine/tools/former")
    page.get_by_role("heading", name="former").wait_for()
    expect(notice(page)).to_have_count(0)
    home.write("hang", "latter")
    page.keyboard.press("Shift+R")
    expect(notice(page)).to_contain_text(re.compile(r"It was removed at \d\d:\d\d:\d\d\."))
    opened.shoot("not-listed")
    assert opened.axe() == []

    # Into a failure by the palette, and out of it by the card.
    home.spoil("raise SystemExit('no more')")
    page.keyboard.press("Control+k")
    page.get_by_placeholder("Find a server, tool").fill("restart mine")
    page.keyboard.press("Enter")
    stands(page, "Failed")
    home.spoil(SILENT)
    opened.switch("/servers")
    card = page.get_by_role("article", name="mine")
    card.get_by_role("button", name="More for mine").click()
    opened.shoot("restart-card")
    page.get_by_role("menuitem", name="Restart", exact=True).click()
    stands(page, "Connecting")
    home.write("former")
    page.keyboard.press("Shift+R")
    stands(page, "Connected")
    opened.switch("/s/mine/tools/former")
    expect(notice(page)).to_have_count(0)
    opened.assert_clean()


def test_what_is_not_listed_says_so_on_every_screen(opened: Watched) -> None:
    page = opened.switch("/servers")
    page.get_by_role("switch", name="Connection to demo", checked=False).press("Space")
    expect(page.get_by_role("article", name="demo")).to_contain_text("Connected")
    for place in ("tools/ehco", "prompts/gret", "resources/demo%3A%2F%2Fnowhere"):
        opened.switch(f"/s/demo/{place}")
        expect(notice(page)).to_contain_text("anyway")
        expect(notice(page)).not_to_contain_text("removed")
        opened.shoot(f"not-listed-{place[:5]}")
    opened.switch("/s/demo/resources?template=demo%3A%2F%2Fgone%2F%7Bx%7D")
    expect(notice(page)).to_be_visible()
    # What a template makes is in no list.
    opened.switch("/s/demo/resources/demo%3A%2F%2Fgreeting%2FAda")
    page.get_by_role("heading", name="demo://greeting/Ada").wait_for()
    expect(page.get_by_role("option").first).to_be_visible()
    expect(notice(page)).to_have_count(0)


def test_a_certificate_is_trusted_by_the_form_that_the_failure_leads_to(
    opened: Watched, home: Home
) -> None:
    page = opened.switch("/servers")
    card = page.get_by_role("article", name="secure")
    page.get_by_role("switch", name="Connection to secure", checked=False).press("Space")
    expect(card).to_contain_text("cannot be trusted")
    card.get_by_role("link", name="Trust a certificate").click()
    field = page.get_by_label("Certificates to trust")
    expect(field).to_be_focused()
    field.fill(str(home.folder / "certificate.pem"))
    opened.shoot("trust")
    assert opened.axe() == []
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("dialog")).to_be_hidden()
    card.get_by_role("button", name="More for secure").click()
    page.get_by_role("menuitem", name="Reconnect", exact=True).click()
    # It is spoken with by now, though it is no server of MCP.
    expect(card).to_contain_text("501")
    expect(card.get_by_role("link", name="Trust a certificate")).to_be_hidden()

    # The browser has no clipboard for this page.
    copying = card.get_by_role("button", name="Copy the command or URL of secure")
    copying.click()
    expect(page.get_by_role("alert").filter(has_text="Copied")).to_be_visible()
    expect(copying).to_be_focused()
    page.keyboard.press("Control+k")
    found = page.get_by_placeholder("Find a server, tool")
    expect(found).to_be_focused()
    page.keyboard.press("Control+v")
    expect(found).to_have_value(re.compile("^https://127"))
