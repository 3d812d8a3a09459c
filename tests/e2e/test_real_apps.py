"""The example servers of MCP Apps, which we did not write, without a network."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.node_tools import app_server_argv

from .browser import Watched
from .site import Site, configure, site
from .test_apps import app_in, with_apps

pytestmark = pytest.mark.slow

# One page that says "Hello mcplens".
PDF = b"""%PDF-1.4
1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj
2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj
3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 100]/Contents 4 0 R
/Resources<</Font<</F1 5 0 R>>>>>>endobj
4 0 obj<</Length 44>>stream
BT /F1 18 Tf 20 40 Td (Hello mcplens) Tj ET
endstream endobj
5 0 obj<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>endobj
trailer<</Root 1 0 R>>
"""


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    home: Path = tmp_path_factory.mktemp("home")
    (home / "hello.pdf").write_bytes(PDF)
    servers = {
        "time": app_server_argv("basic-vanillajs"),
        "map": app_server_argv("map"),
        "pdf": app_server_argv("pdf", str(home / "hello.pdf")),
    }
    entries = {name: {"command": argv[0], "args": argv[1:]} for name, argv in servers.items()}
    configure(home, dict(entries))
    with site(home) as running:
        running.home = home
        yield running


def opened(window: Watched) -> Page:
    page = window.page
    page.get_by_role("button", name="Connect", exact=True).click()
    expect(page.get_by_role("button", name="Run")).to_be_visible()
    return page


def test_the_vanilla_app_calls_messages_logs_and_links(browser: Browser, real: Site) -> None:
    with with_apps(browser, real, "/s/time/apps/get-time") as window:
        page, app = opened(window), app_in(window.page)
        page.get_by_role("button", name="Run").click()
        expect(app.get_by_text("Server Time:")).to_contain_text("T")
        for button in ("Get Server Time", "Send Message", "Send Log", "Open Link"):
            app.get_by_role("button", name=button).click()
        expect(
            page.get_by_text("The app wants to open https://modelcontextprotocol.io/")
        ).to_be_visible()
        page.get_by_role("button", name="Decline").click()
        page.get_by_role("tab", name="For the model 1").click()
        expect(page.get_by_text("This is message text.", exact=True)).to_be_visible()
        expect(page.get_by_role("tab", name="Log 1")).to_be_visible()
        window.shoot("app vanilla")


@pytest.mark.soak
def test_a_pdf_of_this_computer_is_shown_by_the_reference_host(
    browser: Browser, real: Site
) -> None:
    with with_apps(browser, real, "/s/pdf/apps/display_pdf") as window:
        page, app = opened(window), app_in(window.page)
        page.get_by_label("url").fill(f"file://{real.home}/hello.pdf")
        page.get_by_role("button", name="Run").click()
        expect(page.get_by_text("worker-src blocks blob")).to_be_visible()
        page.get_by_role("button", name="Host", exact=True).click()
        page.get_by_label("Policy").first.select_option("reference")
        expect(app.get_by_text("Hello mcplens")).to_be_attached()
        window.shoot("app pdf")


@pytest.mark.soak
def test_a_map_that_needs_the_network_says_so(browser: Browser, real: Site) -> None:
    with with_apps(browser, real, "/s/map/apps/show-map") as window:
        # Whether or not this machine has a network.
        window.page.context.route("**/*cesium.com/**", lambda route: route.abort())
        page = opened(window)
        page.get_by_role("button", name="Run").click()
        reason = page.get_by_role("note").filter(has_text="The app never sent ui/initialize")
        expect(reason).to_contain_text("https://cesium.com")
        expect(reason).to_contain_text("check that this computer can reach them")
        window.shoot("app map")
