"""Settings in the browser: changed, refused, put back, and where each value comes from."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from .browser import Watched, watched
from .site import site


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder: Path = tmp_path_factory.mktemp("home")
    (folder / "mcp.json").write_text(json.dumps({"requestTimeoutSeconds": 5}))
    return folder


@pytest.fixture(scope="module")
def opened(browser: Browser, home: Path) -> Iterator[Watched]:
    with site(home) as running, watched(browser, running) as window:
        window.enter("/settings")
        yield window


def row(page: Page, name: str) -> Locator:
    return page.get_by_role("row").filter(has=page.get_by_label(name, exact=True))


def test_a_setting_is_changed_and_put_back(opened: Watched, home: Path) -> None:
    page, file = opened.switch("/settings"), home / "config" / "mcplens" / "mcp.json"
    ttl = row(page, "Lifetime of tasks")
    expect(ttl).to_contain_text("taskTtlSeconds")
    groups = page.get_by_role("rowheader")
    titles = ["Connecting", "Calls and tasks", "Recording", "Answering servers"]
    titles += ["Checking servers", "Apps", "Gateway"]
    expect(groups).to_have_text(titles)
    expect(page.get_by_role("button", name="Reset")).to_have_count(0)
    expect(ttl).to_contain_text("default")
    field = page.get_by_label("Lifetime of tasks", exact=True)
    field.fill("")
    field.press("Enter")
    expect(ttl).to_contain_text("Enter a number")
    field.fill("0")
    field.press("Enter")
    # What the backend refuses is said at the field, and nowhere else.
    expect(ttl).to_contain_text("Not saved: must be 1 or more")
    expect(page.get_by_text("The setting was not changed")).to_have_count(0)
    field.fill("90")
    field.press("Enter")
    expect(ttl).to_contain_text(str(file))
    assert json.loads(file.read_text()) == {"taskTtlSeconds": 90}

    names = page.get_by_label("Values that are never recorded", exact=True)
    names.fill("pin\n\nX-Key")
    names.blur()
    expect(row(page, "Values that are never recorded")).to_contain_text(str(file))
    assert json.loads(file.read_text())["secretKeys"] == ["pin", "X-Key"]
    assert opened.axe() == []
    opened.shoot("settings")
    page.get_by_role("button", name="Reset Lifetime of tasks").click()
    expect(field).to_have_value("60")
    expect(ttl).to_contain_text("default")
    opened.assert_clean()


def test_what_counts_from_the_next_connection_on_says_so(opened: Watched) -> None:
    page = opened.switch("/servers")
    page.get_by_role("button", name="demo server").click()
    page.get_by_role("listbox", name="Tools").get_by_role("option").first.wait_for()
    opened.switch("/settings")
    field = page.get_by_label("Lifetime of tasks", exact=True)
    field.fill("91")
    field.press("Enter")
    expect(page.get_by_role("button", name="Reset Lifetime of tasks")).to_be_visible()
    opened.switch("/servers")
    card = page.get_by_role("article", name="demo")
    expect(card).to_contain_text("Changed since it was connected.")
    card.get_by_role("button", name="Connect again").click()
    expect(card).not_to_contain_text("Changed since it was connected.")
    expect(card).to_contain_text("Connected")
    opened.switch("/settings")
    page.get_by_role("button", name="Reset Lifetime of tasks").click()
    expect(row(page, "Lifetime of tasks")).to_contain_text("default")
    opened.assert_clean()


def test_what_a_project_decides_names_its_file_also_on_a_narrow_screen(
    opened: Watched, home: Path
) -> None:
    page = opened.switch("/settings")
    page.set_viewport_size({"width": 390, "height": 844})
    limit = row(page, "Request timeout")
    expect(limit.get_by_text(str(home / "mcp.json"))).to_be_visible()
    expect(limit.get_by_text("Default", exact=False)).to_be_visible()
    expect(page.get_by_label("Request timeout", exact=True)).not_to_be_editable()
    expect(limit).to_contain_text("The file overrides it.")
    page.emulate_media(color_scheme="dark")
    assert opened.axe() == []
    opened.shoot("settings narrow")
    opened.assert_clean()


def test_theme_and_density_are_chosen_in_the_settings_and_kept(opened: Watched) -> None:
    page = opened.switch("/settings")
    page.set_viewport_size({"width": 1440, "height": 900})
    page.emulate_media(color_scheme="light")
    page.get_by_role("radiogroup", name="Theme").get_by_text("Dark").click()
    page.get_by_role("radiogroup", name="Density").get_by_text("Compact").click()
    page.reload()
    expect(page.get_by_role("radio", name="Compact")).to_be_checked()
    expect(page.get_by_role("radio", name="Dark")).to_be_checked()
    expect(
        page.locator("html[data-density=compact][data-mantine-color-scheme=dark]")
    ).to_have_count(1)
    page.get_by_label("Filter settings").fill("density")
    expect(page.get_by_role("region", name="Appearance")).to_be_visible()
    page.get_by_role("radiogroup", name="Density").get_by_text("Comfortable").click()
    page.get_by_role("radiogroup", name="Theme").get_by_text("System").click()
    expect(
        page.locator("html[data-density=comfortable][data-mantine-color-scheme=light]")
    ).to_have_count(1)
    opened.assert_clean()
