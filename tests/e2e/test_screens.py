"""Every screen in both themes, on a wide and on a narrow screen: nothing forbidden, nothing loaded
from elsewhere, nothing that axe calls serious."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, expect

from .browser import watched
from .site import Site

SCREENS = {
    "servers": ("/servers", "Servers"),
    "info": ("/servers/demo", "demo"),
    "roots": ("/servers/demo/roots", "Add a root"),
    "experimental": ("/servers/demo/experimental", "Raw JSON-RPC"),
    "tools": ("/s/demo/tools", "Choose a tool"),
    "tool": ("/s/demo/tools/form-nested", "Not called yet"),
    "tool alternatives": ("/s/demo/tools/form-alternatives", "Not called yet"),
    "resources": ("/s/demo/resources", "Choose a resource"),
    "resource": ("/s/demo/resources/demo%3A%2F%2Fmarkdown", "Read again"),
    "template": (
        "/s/demo/resources?template=demo%3A%2F%2Fgreeting%2F%7Bname%7D",
        "Read it",
    ),
    "prompts": ("/s/demo/prompts", "Choose a prompt"),
    "tasks": ("/s/demo/tasks", "Tasks"),
    "logs": ("/s/demo/logs", "All servers"),
    "traffic": ("/s/demo/traffic", "All events"),
    "auth": ("/s/demo/auth", "Sign-in comes later"),
    "settings": ("/settings", "Default"),
    "add": ("/servers?add", "From other tools"),
}


@pytest.mark.parametrize("width", [1440, 390])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_screen_is_clean_in_each_theme_and_width(
    browser: Browser, demo: Site, theme: str, width: int
) -> None:
    size = {"width": width, "height": 900 if width > 500 else 844}
    findings: dict[str, list[str]] = {}
    with watched(browser, demo, viewport=size, color_scheme=theme) as window:
        page = window.enter("/servers")
        for name, (path, words) in SCREENS.items():
            window.goto(path)
            # On a narrow screen the list comes first, and the empty place beside it is not shown.
            visible = page.get_by_text(words, exact=False)
            visible.first.wait_for(state="attached")
            page.wait_for_timeout(300)
            window.shoot(f"{name}-{theme}-{width}")
            if found := window.axe():
                findings[name] = found
            wide = page.evaluate("document.documentElement.scrollWidth - innerWidth")
            assert wide <= 0, f"{name} is {wide} px too wide"
        window.assert_clean()
    assert findings == {}


@pytest.mark.parametrize("width", [360, 3840])
def test_a_screen_fits_the_narrowest_and_the_widest_window(
    browser: Browser, demo: Site, width: int
) -> None:
    size = {"width": width, "height": 640 if width < 500 else 2160}
    with watched(browser, demo, viewport=size) as window:
        page = window.enter("/servers")
        for name in ("servers", "info", "tool", "resource", "traffic", "settings"):
            path, words = SCREENS[name]
            window.goto(path)
            page.get_by_text(words, exact=False).first.wait_for(state="attached")
            window.shoot(f"{name}-{width}")
            wide = page.evaluate("document.documentElement.scrollWidth - innerWidth")
            assert wide <= 0, f"{name} is {wide} px too wide"
        chosen = page.get_by_role("navigation", name="Screens").locator(".active")
        expect(chosen).to_be_in_viewport()
        window.assert_clean()
