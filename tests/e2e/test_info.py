"""What the page knows of one server: from its form to the program that is started, and back.

Also what the command line said on top, and that nothing is recorded where that is so.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from .browser import Watched, copy_by, flip, watched
from .site import demo_over_http, site

PROBE = Path(__file__).with_name("probe_server.py")


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def opened(browser: Browser, home: Path) -> Iterator[Watched]:
    permissions = ["clipboard-read", "clipboard-write"]
    with site(home) as running, watched(browser, running, permissions=permissions) as window:
        window.enter("/servers")
        yield window


def fill_in(page: Page, home: Path) -> None:
    page.get_by_role("tab", name="Form").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name", exact=False).first.fill("probe")
    dialog.get_by_label("Program").fill(sys.executable)
    dialog.get_by_label("Arguments").fill(str(PROBE))
    dialog.get_by_role("button", name="Add a variable").click()
    dialog.get_by_label("Name of variable 1").fill("MARK")
    dialog.get_by_label("Value of variable 1").fill("s3cret")
    dialog.get_by_label("Working folder").fill(str(home))
    dialog.get_by_role("button", name="Timeouts, revision and more").click()
    dialog.get_by_role("combobox", name="Protocol revision").click()
    page.get_by_role("option", name="2025-06-18").click()
    dialog.get_by_label("_meta for every call").fill('{"trace": "t1"}')


def test_what_a_form_says_reaches_the_server_and_what_the_server_says_is_shown(
    opened: Watched, home: Path
) -> None:
    page = opened.switch("/servers")
    first = page.get_by_role("region", name="Connect a server")
    assert opened.axe() == []
    opened.shoot("first")
    first.get_by_role("button", name="Fill in a form").click()
    fill_in(page, home)
    page.get_by_role("button", name="Add", exact=True).click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(first).to_have_count(0)
    expect(page.get_by_role("article", name="demo")).to_contain_text("bundled example")
    card = page.get_by_role("article", name="probe")
    flip(card.get_by_role("switch"))
    expect(card).to_contain_text("2025-06-18")
    icon = card.locator("img")
    expect(icon).to_have_attribute("src", re.compile("^data:image/png"))
    assert icon.evaluate("(image) => image.decode().then(() => image.naturalWidth)") > 0
    copy = card.get_by_role("button", name="Copy the command or URL of probe")
    assert copy_by(page, copy) == f"{sys.executable} {PROBE}"
    expect(page.get_by_text("Copied", exact=True)).to_be_visible()

    opened.switch("/s/probe/tools/seen")
    page.get_by_role("button", name="Run", exact=True).click()
    result = page.get_by_label("Call of seen")
    for told in (f"in {home}", "MARK is s3cret", "2025-06-18", '{"trace": "t1"}'):
        expect(result).to_contain_text(told)

    opened.switch("/servers/probe")
    facts = page.locator("dl.facts").first
    expect(facts).to_contain_text(re.compile(r"Version\s*7"))
    expect(facts).to_contain_text(re.compile(r"Environment\s*MARK"))
    expect(facts).to_contain_text(re.compile(r"Working folder\s*" + re.escape(str(home))))
    expect(facts).to_contain_text(re.compile(r"Connected for\s*\d"))
    counted = page.get_by_role("region", name="Requests since mcplens started")
    expect(counted).to_contain_text(re.compile(r"Requests\s*[1-9]\d*, 0 errors"))
    expect(counted.get_by_role("img", name=re.compile("Durations of the last"))).to_be_visible()
    expect(facts.get_by_role("link", name="https://example.com/probe")).to_be_visible()
    expect(page.get_by_role("heading", name="What the server can do (1 tool)")).to_be_visible()
    able = page.get_by_role("tree", name="Capabilities of the server")
    assert able.evaluate("(one) => one.scrollHeight <= one.clientHeight")  # shown to its end
    expect(page.locator("section", has_text="Instructions").locator("strong")).to_have_text("seen")
    expect(page.get_by_role("tree", name="Connection")).to_contain_text(re.compile(r"pid.*\d+"))
    expect(page.get_by_text("s3cret")).to_have_count(0)
    assert opened.axe() == []
    opened.shoot("info")
    page.get_by_role("button", name="Edit", exact=True).click()
    expect(page.get_by_role("dialog").get_by_label("Name", exact=False).first).to_have_value(
        "probe"
    )
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    opened.switch("/servers/demo")
    expect(page.get_by_role("button", name="Edit", exact=True)).to_be_disabled()
    page.get_by_role("link", name="All servers").click()
    expect(card).to_be_visible()
    opened.assert_clean()


def test_a_folder_is_chosen_from_near_to_what_was_typed_and_lasts_as_long_as_is_said(
    opened: Watched, home: Path
) -> None:
    (home / "work").mkdir()
    page = opened.switch("/servers/demo/roots")
    path = page.get_by_label("Path")
    path.fill(f"{home.as_uri()}/mistyped")
    page.get_by_role("button", name="Browse").click()
    dialog = page.get_by_role("dialog", name="Choose a folder")
    expect(dialog.get_by_text(str(home), exact=True)).to_be_visible()
    dialog.get_by_role("button", name="work", exact=True).click()
    # At once: it waits until that folder is there.
    dialog.get_by_role("button", name="Choose this folder").click()
    expect(path).to_have_value(str(home / "work"))
    expect(page.get_by_text("last until mcplens exits")).to_have_count(0)
    page.get_by_role("button", name="Add", exact=True).click()
    expect(page.get_by_role("row").filter(has_text="/work")).to_be_visible()
    expect(page.get_by_text("last until mcplens exits")).to_be_visible()
    # One that leads nowhere is a root too, and says so.
    path.fill(str(home / "gone"))
    expect(page.get_by_role("status").filter(has_text="add it anyway")).to_be_visible()
    page.get_by_role("button", name="Add", exact=True).click()
    gone = page.get_by_role("row").filter(has_text="/gone")
    expect(gone).to_contain_text("No such file or directory. The server is still told about it")
    expect(page.get_by_text("The server is still told about it")).to_have_count(1)
    assert opened.axe() == []
    opened.shoot("roots")
    page.set_viewport_size({"width": 390, "height": 844})
    page.emulate_media(color_scheme="dark")
    opened.shoot("roots narrow")
    page.get_by_role("tab", name="Experimental").click()
    expect(page.get_by_role("textbox", name="Message to send")).to_be_visible()
    expect(page.get_by_text("last until mcplens exits")).to_be_visible()
    opened.assert_clean()


def test_flags_files_and_variables_are_named_where_they_count_and_so_is_a_failed_recording(
    browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "named.json"
    file.write_text(json.dumps({"taskTtlSeconds": "${TTL}"}))
    monkeypatch.setenv("TTL", "7")
    (tmp_path / "state").write_text("no folder")
    flags = ["--config", str(file), "--timeout", "5", "--protocol", "2025-11-25"]
    flags += ["-H", "Authorization: Bearer s3cret"]
    with (
        demo_over_http("--token", "s3cret") as url,
        site(tmp_path, *flags, url) as running,
        watched(browser, running) as window,
    ):
        page = window.enter("/servers")
        expect(page.get_by_text("Not recorded: ")).to_be_visible()
        name = url.split("/")[2]
        expect(page.get_by_role("article", name=name)).to_contain_text("Connected")
        window.switch(f"/servers/{name}")
        facts = page.locator("dl.facts").first
        expect(facts).to_contain_text(re.compile(r"Headers\s*Authorization"))
        told = "--header Authorization, --protocol 2025-11-25, --timeout 5"
        expect(facts).to_contain_text(re.compile(rf"From the command line\s*{told}"))
        expect(page.get_by_role("tree", name="Connection")).to_contain_text(
            re.compile("session_id.*masked")
        )
        expect(page.get_by_text("s3cret")).to_have_count(0)
        window.shoot("info flags")
        window.switch("/settings")
        rows = page.get_by_role("row")
        limit = rows.filter(has=page.get_by_label("Request timeout", exact=True))
        expect(limit).to_contain_text(f"{name} has --timeout 5, from the command line.")
        ttl = rows.filter(has=page.get_by_label("Lifetime of tasks", exact=True))
        expect(ttl).to_contain_text(f"{file} (--config), environment: TTL")
        assert window.axe() == []
        window.shoot("settings flags")
        window.assert_clean()


@pytest.mark.parametrize(
    ("guessed", "leads_to"),
    [
        ("/servers/demo/tools", "/s/demo/tools"),
        ("/servers/demo/nonsense", "/servers/demo"),
        ("/s/demo/nonsense", "/s/demo/tools"),
    ],
)
def test_a_guessed_address_leads_to_a_screen_that_shows_something(
    opened: Watched, guessed: str, leads_to: str
) -> None:
    page = opened.goto(guessed)
    expect(page).to_have_url(re.compile(rf"{re.escape(leads_to)}$"))
    expect(page.get_by_role("main")).to_contain_text(re.compile(r"demo|Connect"))
