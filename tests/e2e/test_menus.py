"""Menus and lists that drop down, open: in both themes, nothing that axe calls serious."""

from __future__ import annotations

import re

from playwright.sync_api import Browser, expect

from .browser import Watched, watched
from .calls import run
from .site import Site
from .test_screens import THEMES

# Where it is, the role and name of what opens it, and the role of what opens.
MENUS = {
    "servers": ("/servers", "button", r"^Server: demo", "menu"),
    "questions": ("/servers", "button", r"^0 questions are waiting", "menu"),
    "server": ("/servers", "button", r"^More for demo", "menu"),
    "copy": ("/s/demo/tools/echo", "button", r"^Copy as", "menu"),
    "load": ("/servers/demo/experimental", "button", r"^Load from history", "menu"),
    "export": ("/s/demo/traffic", "button", r"^Export", "menu"),
    "filter": ("/s/demo/traffic", "button", r"^Filter", "dialog"),
    "logs": ("/s/demo/logs", "button", r"^Export", "menu"),
    "levels": ("/s/demo/logs", "button", r"^All levels", "dialog"),
    "level": ("/s/demo/logs", "combobox", r"^Minimum level", "listbox"),
    "choice": ("/s/demo/tools/form-choices", "combobox", r"^One, plain", "listbox"),
    "several": ("/s/demo/tools/form-choices", "combobox", r"^Several, plain", "listbox"),
}


def look(window: Watched, name: str) -> list[str]:
    """What axe finds in both themes."""
    found: list[str] = []
    for theme, rules in THEMES.items():
        window.page.emulate_media(color_scheme=theme)
        found += [f"{theme}: {one}" for one in window.axe(*rules)]
        window.shoot(f"menu-{name}-{theme}")
    return found


def test_an_open_menu_is_as_clean_as_the_screen(browser: Browser, demo: Site) -> None:
    findings: dict[str, list[str]] = {}
    with watched(browser, demo, reduced_motion="reduce") as window:
        page = window.enter("/s/demo/tools/log-levels")
        run(page)
        window.switch("/s/demo/tools/echo")
        page.get_by_label(re.compile("^text")).fill("x")
        run(page)
        for name, (path, role, label, kind) in MENUS.items():
            window.switch(path)
            page.locator(f"role={role}[name=/{label}/]").first.click()
            opened = page.locator(f"role={kind} >> visible=true")
            expect(opened.first).to_be_visible()
            if found := look(window, name):
                findings[name] = found
            page.keyboard.press("ArrowDown")
            if found := look(window, f"{name} with an item chosen"):
                findings[f"{name}, an item chosen"] = found
            page.keyboard.press("Escape")
            expect(opened).to_have_count(0)
        window.assert_clean()
    assert findings == {}
