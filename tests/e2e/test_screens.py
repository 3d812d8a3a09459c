"""Every screen in both themes, on a wide and on a narrow screen: nothing forbidden, nothing loaded
from elsewhere, nothing that axe calls serious."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pytest
from playwright.sync_api import Browser, expect

from .browser import Watched, watched
from .pair import call, connect
from .site import Site

# Where it is, and words that the screen before it does not have.
SCREENS = {
    "servers": ("/servers", "Add a server"),
    "info": ("/servers/demo", "What the server can do"),
    "roots": ("/servers/demo/roots", "Add a root"),
    "experimental": ("/servers/demo/experimental", "Experimental capabilities"),
    "raw": ("/s/demo/raw", "Sends any message, valid or not"),
    "tools": ("/s/demo/tools", "Choose a tool"),
    "tool": ("/s/demo/tools/form-nested", "Not called yet"),
    "apps": ("/s/demo/apps", "Choose an app"),
    "resources": ("/s/demo/resources", "Choose a resource"),
    "resource": ("/s/demo/resources/demo%3A%2F%2Fmarkdown", "Subscribe"),
    "template": (
        "/s/demo/resources?template=demo%3A%2F%2Fgreeting%2F%7Bname%7D",
        "Read it",
    ),
    "tool alternatives": ("/s/demo/tools/form-alternatives", "Not called yet"),
    "prompts": ("/s/demo/prompts", "Choose a prompt"),
    "tasks": ("/s/demo/tasks", "No tasks"),
    "logs": ("/s/demo/logs", "All servers"),
    "traffic": ("/s/demo/traffic", "All events"),
    "auth": ("/s/demo/auth", "demo has not asked for a sign-in"),
    "skills": ("/s/demo/skills", "Turn a transcript into minutes."),
    "skill": (
        "/s/demo/skills/skill%3A%2F%2Fmcplens-demo%2Fmeeting-minutes%2FSKILL.md",
        "Requested, ignored",
    ),
    "collections": ("/collections", "No saved calls yet"),
    "gateway": ("/gateway", "The gateway is off"),
    "settings": ("/settings", "Default"),
    "add": ("/servers?add", "From other tools"),
}
Visit = Callable[[str], None]
# The focused element, if neither it nor what is drawn for it has a ring.
_UNSEEN = """() => {
  const at = document.activeElement;
  const drawn = [at, at.parentElement, ...at.parentElement.children];
  const hasRing = (one) => {
    const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(one);
    return (outlineStyle !== "none" && parseFloat(outlineWidth) >= 1) || boxShadow !== "none";
  };
  return at === document.body || drawn.some(hasRing) ? null : at.outerHTML.slice(0, 160);
}"""
# Elements whose content is cut off or has to be scrolled sideways. Text that ends in an ellipsis,
# what only screen readers read, and what scrolls sideways on purpose (a tree, an editor, the tabs)
# do so by their style; `.scroll` is for long content, not for wide.
_SPILLED = """() => [...document.querySelectorAll("body *")].filter((one) => {
  if (!one.checkVisibility() || one.scrollWidth <= one.clientWidth + 1) return false;
  if (one.closest("[aria-hidden=true], svg, .sr, .cm-editor, input, textarea")) return false;
  const style = getComputedStyle(one);
  if (style.textOverflow === "ellipsis" || style.clipPath !== "none") return false;
  if (one.classList.contains("scroll")) return true;
  return style.overflowX === "hidden" || style.overflowX === "clip";
}).map((one) => `${one.outerHTML.slice(0, 160)} is ${one.scrollWidth} in ${one.clientWidth}`)"""


def visit(window: Watched, look: Visit, names: Iterable[str] = SCREENS) -> None:
    """Show each screen to `look`; none may be wider than the window, or do what it must not."""
    window.enter("/servers")
    spilled: dict[str, list[str]] = {}
    for name in names:
        path, words = SCREENS[name]
        page = window.switch(path)
        # On a narrow screen the list comes first, and the empty place beside it is not shown.
        page.get_by_text(words).first.wait_for(state="attached")
        look(name)
        if found := page.evaluate(_SPILLED):
            spilled[name] = found
    assert spilled == {}
    window.assert_clean()


@pytest.mark.parametrize(("width", "extreme"), [(1440, 3840), (390, 360)])
def test_a_screen_is_clean_in_each_theme_and_fits_the_window(
    browser: Browser, demo: Site, width: int, extreme: int
) -> None:
    height = 900 if width > 500 else 844
    findings: dict[str, list[str]] = {}
    too_wide: dict[str, list[str]] = {}
    usual = {"width": width, "height": height}
    with watched(browser, demo, viewport=usual, reduced_motion="reduce") as window:

        def look(name: str) -> None:
            # Colours are the same in a window of any width.
            is_wide = width > 500
            if is_wide:
                found = window.axe_in_each_theme(f"{name}-{width}")
            else:
                found = window.axe() + window.axe("target-size")
            if found:
                findings[name] = found
            window.page.set_viewport_size({"width": extreme, "height": height})
            window.settle()
            window.shoot(f"{name}-{extreme}")
            if found := window.page.evaluate(_SPILLED):
                too_wide[name] = found
            chosen = window.page.get_by_role("navigation", name="Screens").locator(".active")
            if chosen.count():
                expect(chosen).to_be_in_viewport()
            window.page.set_viewport_size({"width": width, "height": height})

        visit(window, look)
    assert findings == {}
    assert too_wide == {}


def test_what_servers_send_is_not_wider_than_a_phone(browser: Browser, two: Site) -> None:
    with watched(browser, two, viewport={"width": 360, "height": 740}) as window:
        page = window.enter("/servers")
        connect(page, "two")
        spilled: dict[str, list[str]] = {}

        def fits(name: str) -> None:
            window.settle()
            window.shoot(f"full-{name}-360")
            if found := page.evaluate(_SPILLED):
                spilled[name] = found

        fits("servers")
        call(page, "echo", **{"text *": "unbroken" * 40})
        expect(page.get_by_label("Call of echo")).to_contain_text("Done")
        fits("text")
        for tool in ("content-mixed", "fail-error", "log-levels"):
            call(page, tool)
            expect(page.get_by_label(f"Call of {tool}")).not_to_contain_text("Running")
            fits(tool)
        call(page, "elicit-form")
        page.get_by_role("button", name="Decline").wait_for()
        fits("elicitation")
        # The primary button does not stand alone below the others.
        tops = "(all) => new Set(all.map((one) => one.getBoundingClientRect().top)).size"
        assert page.locator("[data-answers] button").evaluate_all(tops) == 1
        page.get_by_role("button", name="Decline").click()
        expect(page.get_by_label("Call of elicit-form")).to_contain_text("not filled in")
        call(page, "sample-with-tools")
        page.get_by_role("combobox", name="Stop reason").fill("toolUse")
        page.keyboard.press("Tab")
        page.get_by_role("button", name="Add", exact=True).click()
        page.get_by_label("Input of call 1").wait_for()
        fits("sampling")
        page.get_by_role("button", name="Reject").click()
        expect(page.get_by_role("button", name="Reject")).to_be_hidden()
        call(page, "client-task-elicit")
        page.get_by_role("link", name="Tasks").click()
        page.locator("[data-task]").first.wait_for()
        fits("tasks")
        page.locator("[data-task]").first.click()
        page.get_by_role("region", name="Task", exact=True).wait_for()
        fits("task")
        for screen, words in (("logs", "level emergency"), ("traffic", "tools/call")):
            window.switch(f"/s/one/{screen}")
            row = page.locator("main [role=option], main [role=row]").filter(has_text=words).last
            row.wait_for()
            fits(screen)
            row.click()
            page.get_by_role("button", name="Close").first.wait_for()
            fits(f"{screen}-chosen")
        window.switch("/questions")
        page.get_by_role("table").wait_for()
        fits("questions")
        window.switch("/servers?add")
        page.get_by_role("tab", name="Form").click()
        page.get_by_role("button", name="Add a variable").click()
        page.get_by_label("Value of variable 1").wait_for()
        fits("pairs")
        assert spilled == {}
        window.assert_clean()


def test_no_pane_is_squeezed_away(browser: Browser, demo: Site) -> None:
    with watched(browser, demo) as window:
        page = window.enter("/s/demo/tools/echo")
        page.get_by_label("text *", exact=True).fill("here")
        page.keyboard.press("Control+Enter")
        result = page.get_by_label("Call of echo")
        expect(result).to_contain_text("Done")
        run = page.get_by_role("button", name="Run", exact=True)
        back = page.get_by_role("link", name="All tools")
        tools = page.get_by_role("listbox", name="Tools")
        monitor = page.get_by_role("complementary", name="Monitor")

        def roomy(name: str) -> None:
            window.settle()
            window.shoot(f"panes-{name}")
            for part in (result, run):
                part.scroll_into_view_if_needed()  # stacked, the result is below a whole form
                expect(part).to_be_in_viewport()
            box = result.bounding_box()
            assert box
            assert box["width"] >= 200, name
            # What is hidden has a way back to it; both are never there.
            expect(tools.or_(back).filter(visible=True)).to_have_count(1)

        # As kept from a large monitor.
        big = {"tools.list": 640, "tools.call": 1200, "monitor.right": 1200, "monitor.bottom": 1200}
        for sizes in ({}, big):
            for key, size in sizes.items():
                page.evaluate(
                    "([k, v]) => localStorage.setItem(k, v)", [f"mcplens.split.{key}", str(size)]
                )
            page.reload()
            expect(result).to_contain_text("Done")
            for width in (800, 1024, 1440):
                page.set_viewport_size({"width": width, "height": 768})
                roomy(f"{width}-{len(sizes)}")
            page.get_by_role("button", name="Monitor").click()
            for side in ("bottom", "right"):
                expect(monitor).to_be_visible()
                for width in (800, 1024, 1440):
                    page.set_viewport_size({"width": width, "height": 768})
                    roomy(f"{width}-{len(sizes)}-{side}")
                other = "right" if side == "bottom" else "bottom"
                page.get_by_role("button", name=f"Move the monitor to the {other}").click()
            page.get_by_role("button", name="Close the monitor").click()
        window.assert_clean()


def test_the_width_of_a_pane_is_kept_and_the_focus_is_seen(browser: Browser, demo: Site) -> None:
    with watched(browser, demo) as window:
        page = window.enter("/s/demo/tools")
        tools = page.get_by_role("listbox", name="Tools")
        handle = page.get_by_role("separator", name="Width of the list")
        page.get_by_role("option").first.wait_for()
        window.settle()
        before = tools.evaluate("(one) => one.offsetWidth")
        handle.focus()
        page.keyboard.press("ArrowRight")
        page.keyboard.press("ArrowRight")
        expect(tools).to_have_js_property("offsetWidth", before + 48)
        box = handle.bounding_box()
        assert box
        page.mouse.move(box["x"], 400)
        page.mouse.down()
        page.mouse.move(box["x"] + 60, 400)
        page.mouse.up()
        expect(tools).to_have_js_property("offsetWidth", before + 108)
        page.reload()
        expect(tools).to_have_js_property("offsetWidth", before + 108)
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            page.reload()
            page.get_by_role("option").first.wait_for()
            unseen = []
            for _ in range(24):
                page.keyboard.press("Tab")
                if lacking := page.evaluate(_UNSEEN):
                    unseen.append(lacking)
            assert unseen == [], scheme
        window.shoot("focus")
        window.assert_clean()
