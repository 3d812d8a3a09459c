"""Lists as a user meets them: broken, without end, of a server that is gone; and by keyboard."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from .browser import Watched, flip, retype, watched
from .site import Site, configure, site

# Pages of three tools without end, the third page of prompts never; one tool that needs tasks.
# With the argument "empty" there are no prompts, with "short" one page of tools.
ENDLESS = """
import json, sys, time
for line in sys.stdin:
    message = json.loads(line)
    method, params = message.get("method"), message.get("params") or {}
    if "id" not in message:
        continue
    page = int(params.get("cursor") or 0)
    result = {}
    if method == "initialize":
        capabilities = {"tools": {}, "prompts": {}}
        result = {"protocolVersion": "2025-11-25", "capabilities": capabilities,
                  "serverInfo": {"name": "endless", "version": "1"}}
    elif method == "tools/list":
        time.sleep(0.03)
        more = {} if "short" in sys.argv else {"nextCursor": str(page + 1)}
        result = {**more, "tools": [
            {"name": f"tool-{page}-{n}", "inputSchema": {"type": "object"},
             "execution": {"taskSupport": "required"}} for n in range(3)]}
    elif method == "prompts/list" and "empty" in sys.argv:
        result = {"prompts": []}
    elif method == "prompts/list":
        if page == 2:
            continue
        result = {"nextCursor": str(page + 1), "prompts": [{"name": f"prompt-{page}"}]}
    elif method == "tools/call":
        result = {"content": [{"type": "text", "text": f"called {json.dumps(params)}"}]}
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
"""


@pytest.fixture(scope="module")
def endless(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    home: Path = tmp_path_factory.mktemp("endless")
    program = home / "endless.py"
    program.write_text(ENDLESS)
    servers: dict[str, object] = {
        "endless": {"command": sys.executable, "args": [str(program)]},
        "empty": {"command": sys.executable, "args": [str(program), "empty"]},
        "stuck": {"command": sys.executable, "args": [str(program), "short"]},
        "short": {"command": sys.executable, "args": [str(program), "short"]},
    }
    configure(home, servers)
    with site(home) as running:
        yield running


def rows(page: Page, label: str = "Tools") -> object:
    return page.get_by_role("listbox", name=label).get_by_role("option")


def run(page: Page) -> None:
    page.get_by_role("button", name="Run", exact=True).click()


def test_broken_definitions_are_flagged_and_the_others_are_as_before(window: Watched) -> None:
    page = window.enter("/s/demo/tools/broken-list")
    run(page)
    expect(page.get_by_label("Call of broken-list")).to_contain_text("broken definitions are")
    page.get_by_label("Search tools").fill("broken")
    tools = page.get_by_role("listbox", name="Tools")
    broken = tools.get_by_role("option").filter(has_text="broken-types")
    expect(broken).to_contain_text("broken definition")
    window.shoot("broken list")
    broken.click()
    expect(page.get_by_text("The definition of this tool is broken:")).to_contain_text("str")
    run(page)
    expect(page.get_by_label("Call of broken-types")).to_be_visible()
    page.get_by_label("Search tools").fill("has no name")
    tools.get_by_text("(no name)").click()
    expect(page.get_by_role("heading", name="(no name)")).to_be_visible()
    page.get_by_role("tab", name="Schema").click()
    expect(page.get_by_label("Definition")).to_contain_text("Has no name.")
    window.switch("/s/demo/tools/broken-list")
    # The defaults are there: what comes later would stand in what is typed.
    page.get_by_role("checkbox", name="on").wait_for()
    page.get_by_text("JSON", exact=True).first.click()
    editor = page.get_by_label("Arguments as JSON")
    retype(editor, '{"on": false}')
    # The keys work inside the editor, too.
    editor.press("Control+Enter")
    expect(page.get_by_label("Call of broken-list")).to_contain_text("no broken definition is")
    editor.press("Control+k")
    expect(page.get_by_placeholder("Find a server, tool")).to_be_visible()
    window.assert_clean()


def test_a_list_without_end_is_cancelled_and_fetched_page_by_page(
    browser: Browser, endless: Site
) -> None:
    with watched(browser, endless) as window:
        page = window.enter("/s/endless/tools")
        page.get_by_role("button", name="Connect", exact=True).click()
        expect(page.get_by_text(re.compile(r"Waiting for page \d+ of tools/list"))).to_be_visible()
        expect(page.get_by_text("tool-1-0")).to_be_visible()
        window.shoot("endless")
        page.get_by_role("button", name="Cancel").click()
        status = page.get_by_text(re.compile(r"\d+ tools in \d+ pages, more available"))
        expect(status).to_be_visible()
        expect(page.get_by_text("tool-1-0")).to_be_visible()
        page.get_by_label("Load page by page").check()
        expect(page.get_by_text("3 tools, more available")).to_be_visible()
        assert window.axe() == []
        window.shoot("page by page")
        page.reload()
        following = page.get_by_role("button", name="Next page")
        expect(following).to_have_attribute("title", "Cursor: 1")
        following.click()
        expect(page.get_by_text("6 tools in 2 pages, more available")).to_be_visible()
        expect(rows(page).nth(5)).to_contain_text("tool-1-2")  # type: ignore[attr-defined]
        window.assert_clean()


def test_waiting_for_a_list_says_for_what_and_can_be_cancelled(
    browser: Browser, endless: Site
) -> None:
    with watched(browser, endless) as window:
        page = window.enter("/s/stuck/prompts")
        page.get_by_role("button", name="Connect", exact=True).click()
        expect(
            page.get_by_text(re.compile(r"Waiting for page 3 of prompts/list, "))
        ).to_be_visible()
        page.get_by_role("button", name="Cancel").click()
        expect(page.get_by_text("2 prompts in 2 pages, more available")).to_be_visible()
        window.assert_clean()


def test_an_empty_list_says_so(browser: Browser, endless: Site) -> None:
    with watched(browser, endless) as window:
        page = window.enter("/s/empty/prompts")
        page.get_by_role("button", name="Connect", exact=True).click()
        expect(page.get_by_text("No prompts", exact=True)).to_be_visible()
        window.shoot("no prompts")
        window.assert_clean()


def test_a_tool_that_needs_tasks_is_sent_anyway_to_a_server_without(
    browser: Browser, endless: Site
) -> None:
    with watched(browser, endless) as window:
        page = window.enter("/s/short/tools/tool-0-0")
        page.get_by_role("button", name="Connect", exact=True).click()
        expect(page.get_by_text("did not declare tasks.requests.tools.call")).to_be_visible()
        expect(page.get_by_role("switch", name=re.compile("Run as a task"))).to_be_disabled()
        expect(page.get_by_role("button", name="Run", exact=True)).to_be_disabled()
        window.shoot("no tasks")
        page.get_by_role("button", name="Send anyway").click()
        expect(page.get_by_label("Call of tool-0-0")).to_contain_text("called")
        expect(page.get_by_label("Call of tool-0-0")).not_to_contain_text('"task"')
        window.assert_clean()


def test_a_prompt_is_got_by_hand_with_completion(window: Watched) -> None:
    page = window.enter("/s/demo/prompts")
    page.get_by_role("listbox", name="Prompts").get_by_text("translate").click()
    page.get_by_role("textbox", name="text").fill("good morning")
    page.get_by_role("textbox", name="language").fill("Ger")
    page.get_by_role("option", name="German").click()
    page.get_by_role("textbox", name="tone").fill("h")
    page.get_by_role("option", name="herzlich").click()
    page.keyboard.press("Control+Enter")
    answer = page.get_by_label("Call of translate")
    expect(answer).to_contain_text("Translate into German in a herzlich tone: good morning")
    window.shoot("prompt")
    window.assert_clean()


def test_a_template_is_read_by_hand_with_completion(window: Watched) -> None:
    page = window.enter("/s/demo/resources")
    page.get_by_label("Search resources").fill("greet")
    page.get_by_role("listbox", name="Templates").get_by_text("A greeting").click()
    page.get_by_role("combobox", name="name").fill("Ba")
    page.get_by_role("option", name="Barbara").click()
    expect(page.get_by_text("demo://greeting/Barbara")).to_be_visible()
    page.get_by_role("button", name="Read it").click()
    expect(page.get_by_text("Hello, Barbara!")).to_be_visible()
    # The form stays for the next one, and so does the choice in the list.
    name = page.get_by_role("combobox", name="name")
    expect(name).to_have_value("Barbara")
    name.fill("Eve")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_text("Hello, Eve!")).to_be_visible()
    expect(name).to_be_focused()
    chosen = page.get_by_role("listbox", name="Templates").get_by_role("option", selected=True)
    expect(chosen).to_contain_text("A greeting")
    window.shoot("template")
    # Without its argument a prompt is sent only by who says so.
    window.switch("/s/demo/prompts/translate")
    page.get_by_role("button", name="Get the messages").click()
    # All of it is in its panel, also on a phone.
    for width in (1440, 390):
        page.set_viewport_size({"width": width, "height": 900})
        anyway = page.get_by_role("button", name="Send anyway")
        expect(anyway).to_be_in_viewport(ratio=1)
        expect(page.get_by_role("status").filter(has_text="2 missing")).to_be_visible()
        window.shoot(f"prompt missing {width}")
    window.assert_clean()


def test_the_palette_has_what_no_screen_has_fetched_and_opens_recent_reads(
    browser: Browser, tmp_path: Path
) -> None:
    with site(tmp_path, "demo") as own, watched(browser, own) as window:
        page = window.enter("/s/demo/logs")
        expect(page.get_by_label("Filter logs")).to_be_visible()
        page.keyboard.press("Control+k")
        find = page.get_by_placeholder("Find a server, tool")
        find.fill("greeting/{name}")
        expect(page.get_by_label("Found").get_by_role("option")).to_have_count(1)
        page.keyboard.press("Enter")
        expect(page.get_by_role("heading", name="A greeting")).to_be_visible()
        page.get_by_role("listbox", name="Resources").get_by_role("option").first.click()
        reading = page.get_by_label(re.compile("^Call of"))
        expect(reading.get_by_text("Done", exact=True)).to_be_visible()
        page.keyboard.press("Control+k")
        find.fill("resources/read")
        page.keyboard.press("Enter")
        expect(page).to_have_url(re.compile(r"\?call="))
        page.get_by_role("button", name="Read again").click()
        expect(page).not_to_have_url(re.compile(r"\?call="))
        expect(reading.get_by_text("Done", exact=True)).to_be_visible()
        # What was there stays when the server is gone, in a page that is loaded anew, too.
        for screen, item in (("tools", "add"), ("resources", "demo://"), ("prompts", "translate")):
            window.goto(f"/s/demo/{screen}")
            expect(page.get_by_role("listbox").get_by_text(item).first).to_be_visible()
        window.goto("/servers")
        flip(page.get_by_role("switch", name="Connection to demo", checked=True))
        expect(page.get_by_role("switch", name="Connection to demo", checked=False)).to_be_visible()
        for screen, item in (("tools", "add"), ("resources", "demo://"), ("prompts", "translate")):
            window.goto(f"/s/demo/{screen}")
            expect(page.get_by_text("The page shows the last known state")).to_be_visible()
            expect(page.get_by_role("listbox").get_by_text(item).first).to_be_visible()
        window.shoot("gone")
        window.goto("/s/demo/tools/echo")
        page.get_by_label(re.compile("text")).first.fill("hi")
        page.keyboard.press("Control+Enter")
        expect(page.get_by_role("button", name="Run", exact=True)).to_be_disabled()
        expect(page.get_by_text("Not called yet")).to_be_visible()
        # What is chosen meanwhile is read as soon as the server is there again.
        window.goto("/s/demo/resources/demo%3A%2F%2Ffolder")
        expect(page.get_by_text("Not read")).to_be_visible()
        page.get_by_role("button", name="Connect again").click()
        expect(reading.get_by_text("Done", exact=True)).to_be_visible()
        window.assert_clean()


def test_a_read_is_edited_before_it_is_sent_again_and_what_is_followed_is_let_go(
    window: Watched,
) -> None:
    page = window.enter("/s/demo/resources?uri=demo%3A%2F%2Fticker")
    expect(page.get_by_label("URI")).to_have_value("demo://ticker")
    expect(page.get_by_label(re.compile("^Call of"))).to_have_count(0)
    page.get_by_label("URI").press("Enter")
    expect(page.get_by_label("Call of demo://ticker")).to_be_visible()
    page.get_by_role("switch", name="Subscribe").click()
    page.get_by_role("button", name="Unsubscribe from demo://ticker").click()
    expect(page.get_by_text("Subscriptions (0)")).to_be_visible()
    assert window.axe() == []
    window.shoot("resource")
    window.assert_clean()


def test_a_value_with_a_slash_is_read_as_it_is_and_read_again_by_keyboard(window: Watched) -> None:
    page = window.enter("/s/demo/resources?template=demo%3A%2F%2Fgreeting%2F%7Bname%7D")
    page.get_by_role("combobox", name="name").fill("a/b")
    page.keyboard.press("Control+Enter")
    reading = page.get_by_label("Call of demo://greeting/a%2Fb")
    expect(reading.get_by_text("Hello, a/b!")).to_be_visible()
    expect(page).to_have_url(re.compile(r"\?call="))
    first = page.url
    page.keyboard.press("Control+Enter")
    expect(page.get_by_text("2 calls")).to_be_visible()
    expect(page).not_to_have_url(first)
    page.get_by_role("button", name="2 calls").click()
    page.get_by_role("menuitem", name=re.compile("Done · id")).last.click()
    expect(page).to_have_url(first)
    assert window.axe() == []
    window.shoot("calls of a resource")
    window.assert_clean()


def test_an_address_that_is_typed_wrong_is_a_name_like_any_other(window: Watched) -> None:
    page = window.enter("/s/demo/tools/100%")
    expect(page.get_by_role("heading", name="100%")).to_be_visible()
    expect(rows(page).first).to_be_visible()  # type: ignore[attr-defined]
    window.assert_clean()


def test_what_no_list_has_can_be_asked_for_and_left(browser: Browser, demo: Site) -> None:
    size = {"width": 390, "height": 844}
    with watched(browser, demo, viewport=size) as window:
        page = window.enter("/s/demo/prompts/unheard-of")
        page.get_by_role("button", name="Get the messages").click()
        call = page.get_by_label("Call of unheard-of")
        expect(call.get_by_text("there is no prompt called")).to_be_visible()
        call.get_by_role("button", name="Send again").click()
        expect(page.get_by_text("2 calls", exact=True)).to_be_visible()
        expect(call.get_by_text("there is no prompt called")).to_be_visible()
        assert window.axe_in_each_theme("unheard of") == []
        page.get_by_role("link", name="All prompts").click()
        expect(rows(page, "Prompts").first).to_be_visible()  # type: ignore[attr-defined]
        window.switch("/s/demo/resources?template=demo%3A%2F%2Fgreeting%2F%7Bwhom%7D")
        page.get_by_role("combobox", name="whom").fill("Eve")
        page.get_by_role("button", name="Read it").click()
        expect(page.get_by_text("Hello, Eve!")).to_be_visible()
        page.get_by_role("link", name="All resources").click()
        expect(rows(page, "Templates").first).to_be_visible()  # type: ignore[attr-defined]
        window.assert_clean()


def test_a_list_that_changed_says_when_it_was_fetched_again_and_what_changed(
    window: Watched,
) -> None:
    told = re.compile(r"^changed, refreshed at \d+:\d\d:\d\d")
    page = window.enter("/s/demo/tools/change-add")
    # Only where all was there before, it is known what changed.
    expect(page.get_by_text(re.compile(r"^\d+ tools in \d+ pages$"))).to_be_visible()
    run(page)
    page.get_by_label("Search tools").fill("added-1")
    new = rows(page).filter(has_text="added-1").get_by_text("new", exact=True)  # type: ignore[attr-defined]
    expect(new).to_be_visible()
    page.get_by_role("button", name=told).click()
    what = page.get_by_role("region", name="What changed")
    expect(what).to_contain_text("1 added")
    assert window.axe() == []
    window.shoot("changed-what")
    # It is no page's own: a reload has it, too.
    page.reload()
    expect(new).to_be_visible()
    page.get_by_role("button", name=told).click()
    what.get_by_role("link", name="added-1").click()
    expect(page).to_have_url(re.compile("/tools/added-1$"))
    expect(what).to_be_hidden()
    expect(new).to_have_count(0)
    window.switch("/s/demo/tools/change-reset")
    run(page)
    expect(page.get_by_label("Call of change-reset")).to_contain_text("1 entries were removed")
    page.get_by_label("Search tools").fill("added-1")
    expect(page.get_by_text("Nothing matches “added-1”")).to_be_visible()
    page.get_by_role("button", name=told).click()
    expect(what).to_contain_text("1 removedadded-1")
    window.assert_clean()


def test_nothing_is_claimed_before_the_backend_has_spoken(window: Watched) -> None:
    window.page.route_web_socket("**/api/socket", lambda _: None)
    page = window.enter("/s/demo/tools")
    for path in ("/s/demo/prompts", "/questions", "/questions/q1"):
        expect(page.get_by_text("Loading…")).to_be_visible()
        window.switch(path)
    expect(page.get_by_text("Loading…")).to_be_visible()
    window.assert_clean()
