"""Collections in the browser: saved, run, edited, confirmed; by mouse, by keyboard, on a phone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from .browser import Watched, copy_by, watched
from .site import Site, site

FOREIGN = """\
# What the team tries after each release
version: 1
server: demo
tests:
  - name: two and three
    description: The smallest call there is
    call: add
    with: {a: 2, b: 3}
  - name: greets
    call: echo
    with: {text: "Hello, ${NAME}"}
  - name: fails
    call: fail-result
  - name: of a later version
    wait: 5
"""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder: Path = tmp_path_factory.mktemp("home")
    (folder / "team.mcp.yaml").write_text(FOREIGN)
    return folder


@pytest.fixture(scope="module")
def running(home: Path) -> Iterator[Site]:
    with site(home, "--collection", "team.mcp.yaml") as running:
        yield running


@pytest.fixture(scope="module")
def opened(browser: Browser, running: Site) -> Iterator[Watched]:
    allowed = ["clipboard-read", "clipboard-write"]
    with watched(browser, running, permissions=allowed) as window:
        page = window.enter("/servers")
        page.get_by_role("button", name="demo server").click()
        page.get_by_role("listbox", name="Tools").get_by_role("option").first.wait_for()
        yield window


def row(page: Page, name: str) -> Locator:
    return page.get_by_role("row").filter(has=page.get_by_role("button", name=f"Run {name}"))


def folder(home: Path) -> Path:
    return home / "config" / "mcplens" / "collections"


def save(opened: Watched, name: str, collection: str, *, offered: str | None = None) -> None:
    """Call echo with some text, and save the call."""
    page = opened.switch("/s/demo/tools/echo")
    page.get_by_label("text *").fill("kept")
    page.get_by_role("button", name="Run", exact=True).click()
    panel = page.get_by_label("Call of echo")
    expect(panel).to_contain_text("Done")
    panel.get_by_role("button", name="Save this call", exact=True).click()
    page.get_by_label("Name", exact=True).fill(name)
    page.get_by_label("Description", exact=True).fill("Says it again")
    if offered is not None:
        expect(page.get_by_role("combobox", name="Collection")).to_have_value(offered)
    page.get_by_role("combobox", name="Collection").fill(collection)
    page.get_by_role("dialog").get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text("Saved to ").first).to_be_visible()


def test_a_file_from_elsewhere_is_confirmed_asked_for_and_run(opened: Watched, home: Path) -> None:
    page = opened.switch("/collections")
    page.get_by_role("option", name="team").click()
    expect(page.get_by_role("heading", name="team")).to_be_visible()
    expect(page.get_by_text("was not written by mcplens")).to_be_visible()
    expect(page.get_by_role("row").filter(has_text="of a later version")).to_contain_text(
        "only `mcplens test` runs steps with"
    )
    page.get_by_role("button", name="Run all").click()
    asked = page.get_by_role("dialog", name="Use team?")
    expect(asked).to_contain_text("NAME")
    expect(asked).to_contain_text("demo")
    opened.shoot("collection confirm")
    assert opened.axe() == []
    asked.get_by_role("button", name="Use this file").click()
    asked = page.get_by_role("dialog", name="Values for this run")
    expect(asked.get_by_role("button", name="Continue")).to_be_disabled()
    asked.get_by_label("NAME").fill("Ada")
    page.keyboard.press("Enter")
    asked = page.get_by_role("dialog", name="Run these calls?")
    expect(asked).to_contain_text("fail-result on demo")
    opened.shoot("collection changes")
    asked.get_by_label("Run them anyway").check()
    asked.get_by_role("button", name="Run", exact=True).click()
    expect(row(page, "two and three")).to_contain_text("Done")
    expect(row(page, "two and three")).to_contain_text("5")
    expect(row(page, "greets")).to_contain_text("Hello, Ada")
    expect(row(page, "fails")).to_contain_text("Failed")
    expect(page.get_by_text("2 failed")).to_be_visible()
    expect(page.get_by_label("Variables")).to_contain_text("typed, until mcplens ends")
    opened.shoot("collection run")
    assert opened.axe() == []
    row(page, "greets").get_by_role("link").click()
    expect(page.get_by_label("Call of echo")).to_contain_text("Hello, Ada")
    page.go_back()
    page.get_by_role("tab", name="File").click()
    expect(page.get_by_label("Text of team")).to_contain_text("What the team tries")
    path = copy_by(page, page.get_by_role("button", name="Copy path"))
    assert path == str(home / "team.mcp.yaml")
    opened.assert_clean()


def test_a_call_is_saved_run_edited_and_deleted(opened: Watched, home: Path) -> None:
    # The file that was named at the start is offered first, then the one that was chosen last.
    save(opened, "again", "mine/echoes", offered=str(home / "team.mcp.yaml"))
    file = folder(home) / "mine" / "echoes.mcp.yaml"
    assert "name: again" in file.read_text()
    page = opened.page
    page.get_by_role("link", name="Saved calls").click()
    page.get_by_role("option", name="echoes").click()
    row(page, "again").get_by_role("button", name="Run again").click()
    changes = page.get_by_role("dialog", name="Run this call?")
    expect(changes).to_contain_text("echo on demo may change something")
    opened.shoot("collection change")
    changes.get_by_role("button", name="Run", exact=True).click()
    expect(row(page, "again")).to_contain_text("kept")
    opened.shoot("collection result")
    # Asked once for this content of the file.
    opens = row(page, "again").get_by_role("link")
    first = opens.get_attribute("href") or ""
    row(page, "again").get_by_role("button", name="Run again").click()
    expect(opens).not_to_have_attribute("href", first)
    expect(row(page, "again")).to_contain_text("Done")
    name = row(page, "again").get_by_role("button", name="again", exact=True)
    name.click()
    expect(page.get_by_label("Arguments of again")).to_contain_text('"text": "kept"')
    expect(page.get_by_label("How to show the result")).to_be_visible()
    opened.shoot("collection unfolded")
    name.click()

    row(page, "again").get_by_role("button", name="More for again").click()
    page.get_by_role("menuitem", name="Edit").click()
    dialog = page.get_by_role("dialog", name="Edit again")
    dialog.get_by_label("Name", exact=True).fill("once more")
    opened.shoot("collection edit")
    assert opened.axe() == []
    # Another program changes the file meanwhile.
    file.write_text(f"# of an editor\n{file.read_text()}")
    dialog.get_by_role("button", name="Save").click()
    expect(dialog).to_contain_text("Another program changed this file")
    assert "once more" not in file.read_text()
    dialog.get_by_role("button", name="Save").click()
    expect(row(page, "once more")).to_be_visible()
    assert file.read_text().startswith("# of an editor\n")
    assert "name: once more" in file.read_text()

    row(page, "once more").get_by_role("button", name="More for once more").click()
    page.get_by_role("menuitem", name="Delete").click()
    page.get_by_role("button", name="Delete", exact=True).click()
    expect(page.get_by_text("No calls in this collection")).to_be_visible()
    page.get_by_role("button", name="More for echoes").click()
    page.get_by_role("menuitem", name="Rename or move").click()
    dialog = page.get_by_role("dialog", name="Rename echoes")
    dialog.get_by_label("Name").fill("other")
    dialog.get_by_role("button", name="Rename").click()
    expect(page.get_by_role("heading", name="other")).to_be_visible()
    assert not file.exists()
    page.get_by_role("button", name="More for other").click()
    page.get_by_role("menuitem", name="Delete").click()
    page.get_by_role("button", name="Delete", exact=True).click()
    expect(page.get_by_role("option", name="other")).to_have_count(0)
    # The only one left needs no choice.
    expect(page.get_by_role("heading", name="team")).to_be_visible()
    assert not file.with_name("other.mcp.yaml").exists()
    opened.assert_clean()


def test_a_call_is_saved_as_a_test_where_it_was_made_and_in_traffic(
    opened: Watched, home: Path
) -> None:
    page = opened.switch("/s/demo/tools/echo")
    page.get_by_label("text *").fill("tested")
    page.get_by_role("button", name="Run", exact=True).click()
    # An earlier call of this tool would be done already.
    panel = page.get_by_label("Call of echo").filter(has_text='{"text":"tested"}')
    expect(panel).to_contain_text("Done")
    save = panel.get_by_role("button", name="Save this call", exact=True)
    save.click()
    page.get_by_label("Name", exact=True).fill("says it")
    chosen = page.get_by_role("combobox", name="Collection")
    chosen.fill("checks")
    opened.shoot("save-as-test")
    page.get_by_role("button", name="Save as test").click()
    expect(chosen).to_be_hidden()
    expect(page.get_by_text("Saved to ").last).to_be_visible()
    save.click()
    # What was chosen last in this window.
    expect(chosen).to_have_value("checks")
    page.keyboard.press("Escape")
    expect(chosen).to_be_hidden()
    page = opened.switch("/s/demo/traffic")
    page.get_by_role("row").filter(has_text="tools/call").filter(has_text="tested").last.click()
    page.get_by_role("button", name="Save as test").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name", exact=True).fill("recorded")
    dialog.get_by_role("combobox", name="Collection").fill("checks")
    opened.shoot("save-recorded-as-test")
    dialog.get_by_role("button", name="Save as test").click()
    expect(dialog).to_be_hidden()
    text = (folder(home) / "checks.mcp.yaml").read_text()
    assert text.count("snapshot: true") == 2
    assert (folder(home) / "checks.mcp.snap.json").read_text().count('"tested"') == 2
    opened.assert_clean()


def test_a_collection_is_found_and_run_by_keyboard_alone(opened: Watched) -> None:
    page = opened.switch("/servers")
    page.keyboard.press("Control+k")
    expect(page.get_by_role("combobox", name="Find a server")).to_be_focused()
    page.keyboard.type("saved calls")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Collections")).to_be_visible()
    expect(page.get_by_role("option", name="team")).to_be_visible()
    page.get_by_role("listbox", name="Collections").focus()
    page.keyboard.press("ArrowDown")
    expect(page.get_by_role("heading", name="team")).to_be_visible()
    run = page.get_by_role("button", name="Run two and three")
    for _ in range(60):
        page.keyboard.press("Tab")
        if run.evaluate("(one) => one === document.activeElement"):
            break
    page.keyboard.press("Enter")
    changes = page.get_by_role("dialog", name="Run this call?")
    expect(changes.or_(page.get_by_text("1 done")).first).to_be_visible()
    if changes.is_visible():
        expect(changes.get_by_role("button", name="Run", exact=True)).to_be_focused()
        page.keyboard.press("Enter")
    expect(page.get_by_text("1 done")).to_be_visible()
    opened.assert_clean()


@pytest.mark.parametrize("width", [1440, pytest.param(390, marks=pytest.mark.soak)])
def test_collections_are_clean_in_each_theme_and_width(
    browser: Browser, running: Site, width: int
) -> None:
    size = {"width": width, "height": 900 if width > 500 else 844}
    with watched(browser, running, viewport=size, reduced_motion="reduce") as window:
        page = window.enter("/servers")
        for path, words in (("/collections", "team"), ("/collections/team", "two and three")):
            where = path.replace("/team", "")
            page = window.switch(where)
            page.get_by_role("option", name="team").wait_for(state="attached")
            if path != where:
                page.get_by_role("option", name="team").click()
            expect(page.get_by_text(words).first).to_be_visible()
            name = f"{path.strip('/').replace('/', ' ')}-{width}"
            assert window.axe_in_each_theme(name) == []
            assert page.evaluate("document.documentElement.scrollWidth") <= width
        window.assert_clean()
