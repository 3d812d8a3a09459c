"""MCP Apps in the browser: every message, a blank one explained, in both themes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, FrameLocator, Locator, Page, expect

from .browser import Watched, watched
from .site import Site, site
from .traffic import all_rows


@contextmanager
def with_apps(browser: Browser, served: Site, path: str, **options: object) -> Iterator[Watched]:
    """A window whose page may frame the port of apps."""
    with watched(browser, served, **options) as window:
        page = window.enter(path)
        policy = page.request.get(served.url).headers["content-security-policy"]
        window.framed = (policy.partition("frame-src ")[2],)
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+", window.framed[0])
        # The app of an earlier call is shown at once.
        window.strangers = [url for url in window.strangers if not url.startswith(window.framed)]
        yield window


def app_in(page: Page) -> FrameLocator:
    return page.frame_locator("iframe").frame_locator("iframe")


def test_an_app_uses_every_message_and_traffic_joins_both_lanes(
    browser: Browser, demo: Site
) -> None:
    with with_apps(browser, demo, "/s/demo/apps/app-everything") as window:
        page, app = window.page, app_in(window.page)
        page.get_by_label("greeting").fill("Good day")
        page.get_by_role("button", name="Run").click()
        expect(app.get_by_role("heading", name="Good day from the app")).to_be_visible()
        log = app.get_by_role("list", name="Messages")

        def press(label: str, words: str) -> None:
            app.get_by_role("button", name=label, exact=True).click()
            expect(log).to_contain_text(words)

        press("Roll the die", "A die of 6 sides shows 3")
        press("Call what is not for apps", "app-secret is not for apps")
        press("Read a resource", 'resources/read → {"resultType":"complete","contents"')
        press("List resources", "resources/list →")
        press("List templates", "resources/templates/list →")
        press("List prompts", "prompts/list →")
        press("Open a bad link", "javascript: links are not opened")
        press("Send a message", "ui/message → {}")
        press("Set the context", "ui/update-model-context → {}")
        _answer(page, app)
        press("Ping", "ping → {}")
        press("Change the tools", "tools/list {}")
        app.get_by_role("button", name="Log", exact=True).click()
        for tab, words in (
            ("For the model 2", "A message of the app"), ("Log 1", "A line of the app"),
            ("Its tools 2", "count-1"), ("Refused 2", "app-secret is not for apps"),
        ):  # fmt: skip
            page.get_by_role("tab", name=tab).click()
            expect(page.get_by_role("tabpanel", name=tab)).to_contain_text(words)
        assert window.axe() == []
        window.shoot("app light")
        _decide(page, app)
        press("Fullscreen", 'ui/request-display-mode → {"mode":"fullscreen"}')
        expect(app.get_by_text("displayMode: fullscreen")).to_be_visible()
        height = page.locator("iframe").evaluate("(one) => one.clientHeight")
        assert height > 800
        expect(log).to_contain_text(f'"height":{height}}}}}')
        page.get_by_role("button", name="Back to inline").click()
        expect(app.get_by_text("displayMode: inline")).to_be_visible()
        _check_traffic(window)
        window.assert_clean()


def _answer(page: Page, app: FrameLocator) -> None:
    """A completion is asked of the person, as a server asks for one."""
    app.get_by_role("button", name="Ask the model").click()
    question = page.get_by_role("region", name="Question: sampling/createMessage")
    expect(question).to_contain_text("An app of demo asks for a completion")
    question.get_by_role("textbox", name="Response").fill("Hello, app")
    question.get_by_role("button", name="Edit & Send").click()
    expect(app.get_by_role("list", name="Messages")).to_contain_text("Hello, app")
    expect(question).to_be_hidden()


def _decide(page: Page, app: FrameLocator) -> None:
    """Links and files wait for a click of the person."""
    app.get_by_role("button", name="Save a file").click()
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save", exact=True).click()
    assert saved.value.suggested_filename == "hello.txt"
    app.get_by_role("button", name="Open a link", exact=True).click()
    expect(
        page.get_by_text("The app wants to open https://modelcontextprotocol.io/")
    ).to_be_visible()
    page.get_by_role("button", name="Decline").click()
    expect(app.get_by_role("list", name="Messages")).to_contain_text("the person declined")


def _check_traffic(window: Watched) -> None:
    page = window.page
    page.get_by_role("link", name=re.compile("messages$")).click()
    expect(page.get_by_text("Only what belongs to the app app-")).to_be_visible()
    rows, field = all_rows(page), page.get_by_label("Filter traffic")
    field.fill("ui/initialize")
    expect(rows.filter(has_text="app: ui/initialize")).to_be_visible()
    # The request and its answer.
    expect(
        page.get_by_role("status").filter(has_text=re.compile(r"^2 of \d+ messages$"))
    ).to_be_visible()
    window.shoot("app traffic")
    # The message of the app, and the request to the server that was made for it.
    field.fill("app-roll")
    expect(rows.filter(has_text=re.compile(r"app: tools/call\s*app-roll"))).to_have_count(1)
    expect(rows.filter(has_text=re.compile(r"tools/call\s*app-roll"))).to_have_count(2)
    # The call that the app was opened for is not of the app.
    opening = rows.filter(has_text=re.compile(r"tools/call\s*app-everything"))
    field.fill("app-everything")
    expect(opening).to_have_count(0)
    page.get_by_role("button", name="Show all").click()
    expect(opening).to_have_count(1)


def test_the_host_can_be_changed_and_the_app_is_told(browser: Browser, demo: Site) -> None:
    options = {
        "color_scheme": "dark", "viewport": {"width": 390, "height": 844},
        "permissions": ["geolocation"], "geolocation": {"latitude": 46.9, "longitude": 7.4},
    }  # fmt: skip
    with with_apps(browser, demo, "/s/demo/apps/app-everything", **options) as window:
        page, app = window.page, app_in(window.page)
        page.get_by_role("button", name="Open without a call").click()
        expect(app.get_by_text("theme: dark")).to_be_visible()
        page.get_by_role("button", name="Host", exact=True).click()
        assert window.axe() == []
        window.shoot("app host narrow dark")
        page.get_by_label("Theme", exact=True).select_option("light")
        page.get_by_label("Locale").fill("de-CH")
        page.get_by_label("Time zone").fill("Asia/Tokyo")
        facts = app.get_by_text("theme: light · locale: de-CH · timeZone: Asia/Tokyo")
        expect(facts).to_be_visible()
        page.get_by_role("button", name="Send partial input").click()
        log = app.get_by_role("list", name="Messages")
        expect(log).to_contain_text("ui/notifications/tool-input-partial")
        page.get_by_role("button", name="Send input").click()
        page.get_by_role("button", name="Send cancelled").click()
        expect(log).to_contain_text("ui/notifications/tool-cancelled")
        # The browser allows the location; the app has it once the person grants it.
        app.get_by_role("button", name="Where am I").click()
        expect(log).to_contain_text("geolocation refused")
        assert "Permissions policy violation: Geolocation" in window.faults.pop()
        page.get_by_role("switch", name="Location").click()
        expect(app.get_by_text("Connected to mcplens")).to_be_visible()
        app.get_by_role("button", name="Where am I").click()
        expect(log).to_contain_text("geolocation → 46.9, 7.4")
        page.get_by_label("Host profile").select_option("Reference host")
        app.get_by_role("button", name="Send a message").click()
        expect(app.get_by_text("message is not advertised by this host")).to_be_visible()
        page.get_by_role("button", name="Close", exact=True).click()
        expect(page.get_by_text("The app was closed")).to_be_visible()
        page.get_by_role("button", name="Reload").click()
        expect(app.get_by_text("Connected to mcplens")).to_be_visible()
        window.assert_clean()


def test_an_app_runs_in_two_hosts_at_once_with_the_differences(
    browser: Browser, tmp_path: Path
) -> None:
    folder = tmp_path / "config" / "mcplens"
    folder.mkdir(parents=True)
    strict = {"capabilities": ["serverTools"], "modes": ["inline"], "theme": "dark", "width": 360}
    (folder / "mcp.json").write_text(json.dumps({"hostProfiles": {"strict phone": strict}}))
    with (
        site(tmp_path, "demo") as own,
        with_apps(browser, own, "/s/demo/apps/app-everything") as window,
    ):
        page = window.page
        page.get_by_role("button", name="Run").click()
        page.get_by_role("button", name="Host", exact=True).click()
        page.get_by_label("Run beside it in").select_option("strict phone")
        frames = page.locator("iframe")
        expect(frames).to_have_count(2)
        other = frames.nth(1).content_frame.frame_locator("iframe")
        expect(other.get_by_text("theme: dark")).to_be_visible()
        other.get_by_role("button", name="Send a message").click()
        table = page.get_by_role("table", name="Differences between the two hosts")
        refused = "ui/message: message is not advertised by this host"
        expect(table.get_by_role("row", name=f"Refused – {refused}")).to_be_visible()
        expect(table.get_by_role("row", name="Display modes fullscreen –")).to_be_visible()
        assert window.axe() == []
        window.shoot("app two hosts")
        page.get_by_label("Run beside it in").select_option("No other host")
        expect(frames).to_have_count(1)
        window.assert_clean()


def test_a_port_that_cannot_be_reached_is_named(browser: Browser, demo: Site) -> None:
    with with_apps(browser, demo, "/s/demo/apps") as window:
        page = window.page
        page.context.route("**/proxy", lambda route: route.abort())
        window.switch("/s/demo/apps/app-everything")
        page.get_by_role("button", name="Open without a call").click()
        port = window.framed[0].rpartition(":")[2]
        words = f"cannot reach port {port}, where apps are served: forward it too"
        expect(page.get_by_role("note").filter(has_text=words)).to_be_visible()


def test_a_blank_app_is_explained_in_one_sentence(browser: Browser, demo: Site) -> None:
    with with_apps(browser, demo, "/s/demo/tools/app-blank") as window:
        page = window.page
        page.get_by_role("button", name="Run").click()
        reason = page.get_by_role("note").filter(has_text="The app is blank because")
        expect(reason).to_have_text(
            "The app is blank because script-src blocks https://cdn.mcplens.invalid/app.js "
            "(line 6): declare https://cdn.mcplens.invalid in csp.resourceDomains of the resource. "
            "The csp on the tool is ignored."
        )
        assert window.axe() == []
        window.shoot("app blank")
        (fault,) = window.faults  # the browser's own words about it
        assert "violates the following Content Security Policy" in fault
        # Wanted, and stopped by the policy before it left.
        assert window.strangers == ["https://cdn.mcplens.invalid/app.js"]


def ground_of(frame: Locator) -> tuple[tuple[int, ...], str]:
    """The colour in the middle of a frame, as seen and as the page has it for frames."""
    picture = Image.open(BytesIO(frame.screenshot())).convert("RGB")
    seen = picture.getpixel((picture.width // 2, picture.height // 2))
    assert isinstance(seen, tuple)
    return seen, str(frame.evaluate("frame => getComputedStyle(frame).backgroundColor"))


def test_a_blank_app_has_the_ground_of_the_theme(browser: Browser, demo: Site) -> None:
    for theme in ("light", "dark"):
        with with_apps(browser, demo, "/s/demo/tools/app-blank", color_scheme=theme) as window:
            page = window.page
            page.get_by_role("button", name="Run").click()
            expect(page.get_by_role("note").filter(has_text="The app is blank")).to_be_visible()
            seen, ground = ground_of(page.locator("iframe"))
            assert ground == f"rgb{seen}"
