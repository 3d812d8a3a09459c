"""Menus and lists that drop down, open: in both themes, nothing that axe calls serious."""

from __future__ import annotations

import re

from playwright.sync_api import Browser, expect

from .browser import watched
from .calls import run
from .site import Site

# Where it is, the role and name of what opens it, and the role of what opens. Those of one name
# have another between them: the screen before may be there for a moment more.
MENUS = {
    "servers": ("/servers", "button", r"^Server: one", "menu"),
    "questions": ("/servers", "button", r"^1 question is waiting", "menu"),
    "server": ("/servers", "button", r"^More for two", "menu"),
    "copy": ("/s/one/tools/echo", "button", r"^Copy as", "menu"),
    "load": ("/s/one/raw", "button", r"^Load from history", "menu"),
    "export": ("/s/one/traffic", "button", r"^Export", "menu"),
    "filter": ("/s/one/traffic", "button", r"^Filter", "dialog"),
    "levels": ("/s/one/logs", "button", r"^All levels", "dialog"),
    "level": ("/s/one/logs", "combobox", r"^Minimum level", "listbox"),
    "logs": ("/s/one/logs", "button", r"^Export", "menu"),
    "choice": ("/s/one/tools/form-choices", "combobox", r"^One, plain", "listbox"),
    "several": ("/s/one/tools/form-choices", "combobox", r"^Several, plain", "listbox"),
}


def test_an_open_menu_is_as_clean_as_the_screen(browser: Browser, two: Site) -> None:
    findings: dict[str, list[str]] = {}
    with watched(browser, two, reduced_motion="reduce") as window:
        page = window.enter("/s/one/tools/log-levels")
        run(page)
        window.switch("/s/one/tools/echo")
        page.get_by_label(re.compile("^text")).fill("x")
        run(page)
        window.switch("/s/one/tools/elicit-form")
        page.get_by_role("button", name="Run", exact=True).click()
        expect(page.get_by_role("button", name="1 question is waiting")).to_be_visible()
        for name, (path, role, label, kind) in MENUS.items():
            window.switch(path)
            opener = page.locator(f"role={role}[name=/{label}/]").first
            opener.click()
            expect(opener, name).to_have_attribute("aria-expanded", "true")
            menu = f"#{opener.get_attribute('aria-controls')}"
            page.locator(menu).wait_for()  # it is drawn after its button says that it is open
            if found := window.axe_in_each_theme(f"menu-{name}", menu):
                findings[name] = found
            if kind != "dialog":
                page.keyboard.press("End")
                if found := window.axe("color-contrast", within=menu):
                    findings[f"{name}, the last item chosen"] = found
            page.keyboard.press("Escape")
            expect(opener, name).to_have_attribute("aria-expanded", "false")
        window.assert_clean()
    assert findings == {}
