"""Every screen in both themes, on a wide and on a narrow screen: nothing forbidden, nothing loaded
from elsewhere, nothing that axe calls serious."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pytest
from playwright.sync_api import Browser, expect

from .browser import Watched, watched
from .site import Site

# Where it is, and words that the screen before it does not have.
SCREENS = {
    "servers": ("/servers", "Add a server"),
    "info": ("/servers/demo", "What the server can do"),
    "roots": ("/servers/demo/roots", "Add a root"),
    "experimental": ("/servers/demo/experimental", "Raw JSON-RPC"),
    "tools": ("/s/demo/tools", "Choose a tool"),
    "tool": ("/s/demo/tools/form-nested", "Not called yet"),
    "resources": ("/s/demo/resources", "Choose a resource"),
    "resource": ("/s/demo/resources/demo%3A%2F%2Fmarkdown", "Read again"),
    "template": (
        "/s/demo/resources?template=demo%3A%2F%2Fgreeting%2F%7Bname%7D",
        "Read it",
    ),
    "tool alternatives": ("/s/demo/tools/form-alternatives", "Not called yet"),
    "prompts": ("/s/demo/prompts", "Choose a prompt"),
    "tasks": ("/s/demo/tasks", "No tasks"),
    "logs": ("/s/demo/logs", "All servers"),
    "traffic": ("/s/demo/traffic", "All events"),
    "auth": ("/s/demo/auth", "Sign-in comes later"),
    "settings": ("/settings", "Default"),
    "add": ("/servers?add", "From other tools"),
}
Visit = Callable[[str], None]


def visit(window: Watched, look: Visit, names: Iterable[str] = SCREENS) -> None:
    """Show each screen to `look`; none may be wider than the window, or do what it must not."""
    window.enter("/servers")
    for name in names:
        path, words = SCREENS[name]
        page = window.switch(path)
        # On a narrow screen the list comes first, and the empty place beside it is not shown.
        page.get_by_text(words).first.wait_for(state="attached")
        look(name)
        wide = page.evaluate("document.documentElement.scrollWidth - innerWidth")
        assert wide <= 0, f"{name} is {wide} px too wide"
    window.assert_clean()


@pytest.mark.parametrize("width", [1440, 390])
def test_a_screen_is_clean_in_each_theme_and_width(
    browser: Browser, demo: Site, width: int
) -> None:
    size = {"width": width, "height": 900 if width > 500 else 844}
    findings: dict[str, list[str]] = {}
    with watched(browser, demo, viewport=size, reduced_motion="reduce") as window:

        def look(name: str) -> None:
            # Of all rules only the one on contrast knows of themes.
            for theme, rules in (("light", ()), ("dark", ("color-contrast",))):
                window.page.emulate_media(color_scheme=theme)
                if found := window.axe(*rules):
                    findings[f"{name} {theme}"] = found
                window.shoot(f"{name}-{theme}-{width}")

        visit(window, look)
    assert findings == {}


@pytest.mark.parametrize("width", [360, 3840])
def test_a_screen_fits_the_narrowest_and_the_widest_window(
    browser: Browser, demo: Site, width: int
) -> None:
    size = {"width": width, "height": 640 if width < 500 else 2160}
    with watched(browser, demo, viewport=size, reduced_motion="reduce") as window:

        def look(name: str) -> None:
            window.settle()
            window.shoot(f"{name}-{width}")

        visit(window, look, ("servers", "info", "tool", "resource", "traffic", "settings"))
        chosen = window.page.get_by_role("navigation", name="Screens").locator(".active")
        expect(chosen).to_be_in_viewport()
