"""Debian's Chromium by Playwright, and pages that watch themselves.

Every page notes violations of its Content-Security-Policy, requests to other origins and errors of
its scripts; `Watched.assert_clean` is the last line of each test.
"""

from __future__ import annotations

import os
import re
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, Literal
from weakref import WeakKeyDictionary

from playwright.sync_api import (
    Browser,
    Error,
    Locator,
    Page,
    Playwright,
    expect,
    sync_playwright,
)

from .site import Site
from .wheel import own_folders

ROOT = Path(__file__).parents[2]
AXE = ROOT / "web" / "node_modules" / "axe-core" / "axe.min.js"
# When a file was saved, as its name has it.
TIME = r"\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d"
# Where screenshots go, if they are wanted.
SHOTS = os.environ.get("MCPLENS_SHOTS")
# The first has no windows, and so needs a quarter less of the processor for the same pages.
_PROGRAMS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
_ARGUMENTS = [
    "--no-sandbox", "--disable-background-networking", "--disable-component-update",
    "--disable-sync",
    # Nothing here has a graphics processor; a process of its own for it costs a twentieth.
    "--in-process-gpu",
    # A test ends before optimised code has paid for being compiled: an eighth of the processor.
    "--js-flags=--no-maglev,--no-turbofan",
    # A camera and a microphone that are given to whoever asks, so that what a policy must stop is
    # stopped by nothing else. Chromium without windows knows no other way to allow them.
    "--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream",
]  # fmt: skip
# Long enough for a busy machine; a test that passes waits no longer than it must.
PATIENCE_S = 30
START_S = 60
expect.set_options(timeout=PATIENCE_S * 1000)
_WATCH = """
window.__violations = [];
document.addEventListener("securitypolicyviolation", (event) =>
  __violations.push(`${event.violatedDirective} ${event.blockedURI}`));
"""
# Loading all code in advance costs as much as the page itself, and few tests need it.
_SAVE_DATA = """
Object.defineProperty(NetworkInformation.prototype, "saveData", { get: () => true });
"""
_SWITCH = """(path) => {
  history.pushState(null, "", path);
  dispatchEvent(new PopStateEvent("popstate", { state: null }));
}"""
# The key by which a page comes back after a restart is in a database.
_FORGET = """async () => {
  localStorage.clear();
  sessionStorage.clear();
  for (const { name } of await indexedDB.databases())
    await new Promise((resolve, reject) => {
      const request = indexedDB.deleteDatabase(name);
      request.onsuccess = resolve;
      request.onerror = request.onblocked = reject;
    });
}"""
# Twice: what one animation leads to may be another. What is folded away never comes to an end.
_SETTLE = """async () => {
  const drawn = () => new Promise((resolve) =>
    requestAnimationFrame(() => requestAnimationFrame(resolve)));
  await document.fonts.ready;
  for (let turn = 0; turn < 2; turn++) {
    await drawn();
    const ending = document.getAnimations()
      .filter((one) => one.effect?.getComputedTiming().iterations !== Infinity)
      .filter((one) => one.effect.target?.checkVisibility());
    await Promise.allSettled(ending.map((one) => one.finished));
  }
}"""
# These compare each element with what is around it, and cost more than all other rules together.
# Every screen, menu, question and component is checked by them, in each theme; not each step of
# each test.
_COSTLY: Final = ("color-contrast", "target-size")
THEMES: Final[tuple[Literal["light", "dark"], ...]] = ("light", "dark")
_TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
_AXE = """async ([runOnly, rules, within]) =>
  (await axe.run(within, { runOnly, rules, resultTypes: ["violations"], preload: false }))
    .violations.filter((one) => one.impact === "serious" || one.impact === "critical")
    .flatMap(({ id, nodes }) =>
      nodes.map((one) => `${id} ${one.html.slice(0, 200)} ${one.failureSummary}`))
"""


def inside(page: Page) -> str:
    """Where all is that needs the cookie, as the page knows it."""
    folder = until(page, "localStorage.getItem('mcplens.folder')")
    return str(page.evaluate("location.origin")) + str(folder)


def until(page: Page, expression: str, argument: Any = None) -> Any:
    """The first value of an expression that is true. `wait_for_function` would evaluate text inside
    the page from its second try on, which the page's policy forbids."""
    end = time.monotonic() + PATIENCE_S
    while not (value := page.evaluate(expression, argument)):
        assert time.monotonic() < end, f"never true: {expression}"
        page.wait_for_timeout(20)
    return value


def copy_by(page: Page, button: Locator) -> str:
    """What a click on this copies; what was copied before does not count."""
    page.evaluate("navigator.clipboard.writeText('')")
    button.click()
    return str(until(page, "navigator.clipboard.readText()"))


def launch(playwright: Playwright, home: Path, *arguments: str) -> Browser:
    """A browser that shares nothing with others on this machine: Playwright gives it a profile of
    its own, and what Chromium keeps beside its profile is in this home."""
    program = next(filter(None, map(shutil.which, _PROGRAMS)), None)
    assert program, 'these tests need Chromium: install the system\'s package "chromium"'
    return playwright.chromium.launch(
        executable_path=program,
        args=[*_ARGUMENTS, *arguments],
        env={**own_folders(home)},
        timeout=START_S * 1000,
    )


@contextmanager
def chromium(home: Path) -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = launch(playwright, home)
        yield browser
        browser.close()


def switch(page: Page, path: str) -> None:
    """Go to a screen as its links do, without loading the page anew."""
    page.evaluate(_SWITCH, path)


class Watched:
    """A page, and what must not happen on it."""

    def __init__(self, page: Page, site: Site) -> None:
        self.site = site
        self.strangers: list[str] = []
        # The port of apps, for tests that show one.
        self.framed: tuple[str, ...] = ()
        self.faults: list[str] = []
        self._is_in = False
        self.page = page
        page.set_default_timeout(PATIENCE_S * 1000)
        page.on("request", self._note_request)
        page.on("pageerror", self._note_error)
        page.on("console", self._note_console)

    def release(self) -> None:
        """Note nothing more: the page is cleaned for another test."""
        self.page.remove_listener("request", self._note_request)
        self.page.remove_listener("pageerror", self._note_error)
        self.page.remove_listener("console", self._note_console)

    def __repr__(self) -> str:
        return f"<Watched {self.page.url}>"

    def _note_request(self, request: Any) -> None:
        if not request.url.startswith((self.site.url, "data:", *self.framed)):
            self.strangers.append(request.url)

    def _note_error(self, error: Any) -> None:
        self.faults.append(str(error))

    def _note_console(self, message: Any) -> None:
        if message.type == "error":
            # Of a response the browser says its status, not what it answers.
            self.faults.append(f"{message.text} {message.location.get('url', '')}".rstrip())

    def enter(self, path: str = "") -> Page:
        """Sign in by the token, as the printed address does, at this path. A page that is in is not
        loaded again, which costs more than most of what tests do in it."""
        if self._is_in:
            return self.switch(path or "/")
        self._is_in = True
        self.page.goto(f"{self.site.url}{path}#token={self.site.token}")
        self.page.get_by_role("navigation", name="Screens").wait_for()
        inside(self.page)  # who leaves before is not signed in
        return self.page

    def goto(self, path: str) -> Page:
        self.page.goto(self.site.url + path)
        return self.page

    def switch(self, path: str) -> Page:
        """Go to a screen as its links do, without loading the page anew."""
        switch(self.page, path)
        return self.page

    def settle(self) -> None:
        """Wait until nothing moves: axe takes what fades in or out for too pale."""
        self.page.evaluate(_SETTLE)

    def axe(self, *rules: str, within: str = "html") -> list[str]:
        """Serious and critical findings of axe by these rules, or by all that cost little; each
        with the element that it is about."""
        if rules:
            return self._axe({"type": "rule", "values": rules}, {}, within)
        left_out = {rule: {"enabled": False} for rule in _COSTLY}
        return self._axe({"type": "tag", "values": _TAGS}, left_out, within)

    def axe_by_all_rules(self, within: str = "html") -> list[str]:
        return self._axe({"type": "tag", "values": _TAGS}, {}, within)

    def _axe(self, wanted: dict[str, Any], rules: dict[str, Any], within: str) -> list[str]:
        self.settle()
        if not self.page.evaluate("'axe' in window"):
            self.page.evaluate(AXE.read_text())
        return list(self.page.evaluate(_AXE, [wanted, rules, within]))

    def axe_in_each_theme(self, name: str, within: str = "html") -> list[str]:
        """What axe finds by all rules in the light theme, and in the dark one by the only rule that
        knows of themes; the pictures have this name."""
        self.page.emulate_media(color_scheme="light")
        found = self.axe_by_all_rules(within)
        self.shoot(f"{name}-light")
        self.page.emulate_media(color_scheme="dark")
        found += [f"dark: {one}" for one in self.axe("color-contrast", within=within)]
        self.shoot(f"{name}-dark")
        self.page.emulate_media(color_scheme="light")
        return found

    def shoot(self, name: str) -> None:
        if SHOTS:
            folder = Path(SHOTS)
            folder.mkdir(parents=True, exist_ok=True)
            self.page.screenshot(path=folder / f"{re.sub(r'[^a-z0-9]+', '-', name.lower())}.png")

    def assert_clean(self) -> None:
        violations = self.page.evaluate("window.__violations")
        noted = {"violations": violations, "strangers": self.strangers, "faults": self.faults}
        assert noted == {"violations": [], "strangers": [], "faults": []}, noted


class Pages:
    """The pages of one browser. The last one that was used is kept, empty, for the next test of the
    same address: its process has the scripts of the page already.
    """

    def __init__(self, browser: Browser) -> None:
        self._browser = browser
        self._idle: _Tab | None = None

    def __repr__(self) -> str:
        return f"<Pages {self._idle or 'without one to use again'}>"

    def take(self, site: Site, options: dict[str, Any]) -> _Tab:
        idle, self._idle = self._idle, None
        if idle is not None and idle.fits(site, options):
            idle.adapt(site, options)
            return idle
        if idle is not None:
            idle.close()
        return _Tab(self._browser, site, options)

    def give_back(self, tab: _Tab) -> None:
        if self._idle is None and tab.clean():
            self._idle = tab
        else:
            tab.close()


class _Tab:
    """A page in a context of its own, for one site."""

    # What stays with a page or its context, and would be there in the next test.
    _LASTING = (
        "add_init_script", "expose_binding", "expose_function", "on", "once", "route",
        "route_web_socket",
    )  # fmt: skip

    def __init__(self, browser: Browser, site: Site, options: dict[str, Any]) -> None:
        known = {name: value for name, value in options.items() if name != "saves_data"}
        self._context = context = browser.new_context(**known)
        self._site = site
        self._options = options
        self._is_marked = False
        context.add_init_script(_WATCH + (_SAVE_DATA if options["saves_data"] else ""))
        self.page = context.new_page()
        for owner in (context, self.page):
            for name in self._LASTING:
                setattr(owner, name, self._marking(getattr(owner, name)))

    def __repr__(self) -> str:
        return f"<_Tab of {self._site}>"

    def _marking(self, method: Any) -> Any:
        def mark(*arguments: Any, **keywords: Any) -> Any:
            # Of listeners, only one to dialogs changes what happens.
            if method.__name__ not in ("on", "once") or arguments[0] == "dialog":
                self._is_marked = True
            return method(*arguments, **keywords)

        return mark

    def fits(self, site: Site, options: dict[str, Any]) -> bool:
        return site.url == self._site.url and _lasting(options) == _lasting(self._options)

    def adapt(self, site: Site, options: dict[str, Any]) -> None:
        """Serve another test: its site may be a new one at the same address."""
        self._site, self._options = site, options
        self.page.set_viewport_size(options["viewport"])
        self.page.emulate_media(
            color_scheme=options.get("color_scheme", "light"),
            reduced_motion=options["reduced_motion"],
        )
        self._context.grant_permissions(options.get("permissions", []))

    def clean(self) -> bool:
        """Leave nothing of one test for the next; False if that cannot be done."""
        page = self.page
        if self._is_marked or page.is_closed():
            return False
        try:
            for other in self._context.pages:
                if other is not page:
                    other.close()
            # Another document of the same origin and policy, so that the process stays; what a page
            # keeps as it is left is cleared there.
            page.goto(f"{self._site.url}/docs/errors/cancelled", timeout=PATIENCE_S * 1000)
            page.evaluate(_FORGET)
            self._context.clear_cookies()
            self._context.clear_permissions()
        except Error:
            return False
        return True

    def close(self) -> None:
        self._context.close()


def _lasting(options: dict[str, Any]) -> dict[str, Any]:
    """The options that a page keeps from its beginning to its end."""
    changing = ("viewport", "color_scheme", "reduced_motion", "permissions")
    return {name: value for name, value in options.items() if name not in changing}


_pages: WeakKeyDictionary[Browser, Pages] = WeakKeyDictionary()


@contextmanager
def watched(browser: Browser, site: Site, **options: Any) -> Iterator[Watched]:
    """A page at this site; what a test before left in it is gone. With `saves_data=False` it loads
    the code of all screens in advance."""
    # A toast that is still fading in has too little contrast.
    usual = {
        "viewport": {"width": 1440, "height": 900},
        "reduced_motion": "reduce",
        "saves_data": True,
    }
    pages = _pages.setdefault(browser, Pages(browser))
    tab = pages.take(site, {**usual, **options})
    try:
        window = Watched(tab.page, site)
        yield window
        window.release()
    except BaseException:
        tab.close()  # a page in which something went wrong is used for nothing else
        raise
    pages.give_back(tab)


def flip(switch: Locator) -> None:
    """Click what is drawn of a switch without a word beside it: nothing hits the input below it. A
    forced click would go to whatever is there."""
    switch.locator("xpath=following-sibling::*[1]").click()


def retype(editor: Locator, text: str) -> None:
    """Replace what an editor holds. Typed over coloured text, Chromium would keep its style, which
    the page's policy forbids."""
    editor.press("Control+a")
    editor.press("Delete")
    editor.fill(text)


def sent_by(window: Watched) -> list[str]:
    """What the page sends to mcplens from now on, message by message."""
    sent: list[str] = []

    def note(text: str | bytes) -> None:
        sent.append(str(text))

    window.page.on("websocket", lambda socket: socket.on("framesent", note))
    return sent
