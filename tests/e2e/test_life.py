"""Connections that do not go well: slow, dying, restarted, from somebody else."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from .browser import Watched, flip, watched
from .site import configure, demo_over_http, site

DEMO = {"command": sys.executable, "args": ["-m", "mcplens.demo"]}
# Starts and never says a word.
MUTE = {"command": sys.executable, "args": ["-c", "import sys; sys.stdin.read()"]}
GONE = {"url": "http://127.0.0.1:9/mcp", "maxRetries": 3, "retryBackoff": [600_000]}
UNSET = {"url": "http://127.0.0.1:9/${MCPLENS_IS_NOT_SET}"}
# Counts its starts in a file, and fails those that it is told to.
FLAKY = """
import pathlib, runpy, sys
path = pathlib.Path(sys.argv[1])
start = path.read_text() + "x" if path.exists() else "x"
path.write_text(start)
if str(len(start)) in sys.argv[2].split(","):
    sys.exit("not this time")
sys.argv = sys.argv[:1]
runpy.run_module("mcplens.demo", run_name="__main__", alter_sys=True)
"""
# Whether a button is out of use right after it was pressed.
_PRESSED = """(button) => {
  button.click();
  return new Promise((resolve) => requestAnimationFrame(() => resolve(button.disabled)));
}"""


@pytest.fixture(scope="module")
def wire() -> Iterator[str]:
    """The address of the demo server over HTTP."""
    with demo_over_http() as url:
        yield url


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory, wire: str) -> Path:
    folder: Path = tmp_path_factory.mktemp("home")
    flaky = {
        "command": sys.executable, "args": ["-c", FLAKY, str(folder / "starts"), "2,4,5"],
        "maxRetries": 1, "retryBackoff": [500],
    }  # fmt: skip
    servers = {"dying": {**DEMO, "maxRetries": 0}, "mute": MUTE, "gone": GONE, "unset": UNSET}
    configure(folder, {**servers, "flaky": flaky, "wire": {"url": wire}})
    env = {"NODE_OPTIONS": "--import=data:text/javascript,hidden()", "THEIR_TOKEN": "s3cret"}
    project = {"mcpServers": {"theirs": {**DEMO, "env": env}}}
    (folder / "mcp.json").write_text(json.dumps(project))
    return folder


@pytest.fixture(scope="module")
def opened(browser: Browser, home: Path) -> Iterator[Watched]:
    with site(home) as running, watched(browser, running) as window:
        window.enter("/servers")
        yield window


def test_a_server_that_dies_in_a_call_leaves_its_last_words_and_a_way_back(
    opened: Watched,
) -> None:
    page = opened.switch("/servers")
    flip(page.get_by_role("switch", name="Connection to dying", checked=False))
    expect(page.get_by_role("article", name="dying")).to_contain_text("Connected")
    opened.switch("/s/dying/tools/wait")
    page.get_by_label("seconds", exact=True).fill("60")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_text("Running")).to_be_visible()
    page.keyboard.press("Control+k")
    page.get_by_placeholder("Find a server, tool").fill("broken-crash")
    expect(page.get_by_label("Found").get_by_role("option").first).to_contain_text("broken-crash")
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="broken-crash").wait_for()
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.keyboard.press("Control+Enter")
    expect(page.get_by_text("ended with exit code 3").first).to_be_visible()
    expect(page.locator("pre").get_by_text("demo: crashing, as asked")).to_be_visible()
    # The call tells why too, and not only that its server ended.
    failure = page.get_by_label("Call of broken-crash").get_by_role("alert")
    expect(failure).to_contain_text("The call failed")
    expect(failure).to_contain_text("demo: crashing, as asked")
    assert opened.axe() == []
    opened.shoot("died in a call")

    # What was in flight failed too; one button has it sent again, by a new process.
    opened.switch("/s/dying/tools/wait")
    call = page.get_by_label("Call of wait")
    expect(call).to_contain_text("The call failed")
    call.get_by_role("button", name="Connect and send again").click()
    expect(page.get_by_text("Running")).to_be_visible()
    expect(call).to_contain_text('{"seconds":60}')
    call.get_by_role("button", name="Cancel", exact=True).click()
    expect(page.get_by_text("Cancelled").first).to_be_visible()
    opened.assert_clean()


def test_connecting_is_cancelled(opened: Watched) -> None:
    page = opened.switch("/servers")
    card = page.get_by_role("article", name="mute")
    flip(page.get_by_role("switch", name="Connection to mute", checked=False))
    expect(card).to_contain_text("Waiting for")
    card.get_by_role("button", name="Cancel").click()
    expect(card).to_contain_text("Disconnected")
    opened.assert_clean()


def test_retries_are_counted_down_and_cancelled(opened: Watched) -> None:
    page = opened.switch("/servers")
    card = page.get_by_role("article", name="gone")
    flip(page.get_by_role("switch", name="Connection to gone", checked=False))
    expect(card.get_by_role("status")).to_have_text("Failed, retry 1 of 3 scheduled")
    expect(card.get_by_role("alert")).to_contain_text("Retry attempt 1 of 3")
    expect(card.get_by_role("timer")).to_contain_text(re.compile(r"Next attempt in [56]\d\d s"))
    # In plain words; the system's own are one click away.
    expect(card.get_by_role("alert")).to_contain_text("refused the connection")
    expect(card.get_by_role("alert")).not_to_contain_text("Connect call failed")
    card.get_by_role("button", name="Show full error").click()
    expect(card.get_by_text('"code": "CONNECTION_REFUSED"')).to_be_visible()
    expect(card.get_by_role("alert")).to_contain_text("Connect call failed")
    expect(card.get_by_text(re.compile(r"^POST .+[^…]$"))).to_be_visible()
    card.get_by_role("button", name="Show less").click()
    assert opened.axe() == []
    opened.shoot("retries")

    # A work screen counts and can be stopped as well.
    opened.switch("/s/gone/tools")
    # The screen that is left has these too.
    expect(card).to_have_count(0)
    expect(page.get_by_role("timer")).to_contain_text(re.compile(r"Next attempt in [56]\d\d s"))
    expect(page.get_by_role("button", name="Try now")).to_be_visible()
    assert opened.axe() == []
    opened.shoot("retries on a work screen")
    page.get_by_role("button", name="Cancel", exact=True).click()
    expect(page.get_by_role("timer")).to_be_hidden()
    expect(page.get_by_role("button", name="Connect", exact=True)).to_be_visible()
    opened.switch("/s/unset/tools")
    unset = page.get_by_role("alert").filter(has_text="MCPLENS_IS_NOT_SET")
    expect(unset.first).to_be_visible()
    opened.assert_clean()


def test_a_call_is_sent_again_by_the_attempt_that_connects_and_told_if_none_does(
    opened: Watched,
) -> None:
    page = opened.switch("/servers")
    flip(page.get_by_role("switch", name="Connection to flaky", checked=False))
    expect(page.get_by_role("article", name="flaky")).to_contain_text("Connected")
    opened.switch("/s/flaky/tools/wait")
    page.get_by_label("seconds", exact=True).fill("60")
    page.get_by_role("button", name="Run", exact=True).click()
    panel = page.get_by_label("Call of wait")
    status = panel.get_by_role("status").first
    expect(status).to_have_text("Running")
    again = panel.get_by_role("button", name="Connect and send again")

    def leave() -> None:
        opened.switch("/servers")
        flip(page.get_by_role("switch", name="Connection to flaky", checked=True))
        expect(page.get_by_role("article", name="flaky")).to_contain_text("Disconnected")
        opened.switch("/s/flaky/tools/wait")

    leave()
    # The first attempt fails, and the one that follows by itself does not.
    assert again.evaluate(_PRESSED), "it can be pressed a second time"
    expect(status).to_have_text("Running")
    expect(page.get_by_text("2 calls", exact=True)).to_be_visible()
    leave()
    again.click()
    told = page.get_by_role("alert").filter(has_text="Not sent: could not connect")
    expect(told).to_be_visible()
    expect(again).to_be_enabled()
    expect(page.get_by_text("2 calls", exact=True)).to_be_visible()
    opened.shoot("not sent again")
    opened.assert_clean()


def test_a_server_over_http_is_connected_again_with_other_capabilities(opened: Watched) -> None:
    page = opened.switch("/servers")
    flip(page.get_by_role("switch", name="Connection to wire", checked=False))
    expect(page.get_by_role("article", name="wire")).to_contain_text("Connected")
    opened.switch("/servers/wire")
    again = page.get_by_role("button", name="Connect again")
    for _ in range(3):
        page.get_by_role("switch", name="Sampling", exact=True).click()
        again.click()
        expect(again).to_be_hidden()
        expect(page.locator("header").get_by_role("status")).to_have_text("Connected")
    opened.assert_clean()


def test_a_server_of_a_project_is_started_only_after_its_command_was_confirmed(
    opened: Watched,
) -> None:
    page = opened.switch("/servers")
    card = page.get_by_role("article", name="theirs")
    expect(card).to_contain_text("not confirmed yet")
    flip(page.get_by_role("switch", name="Connection to theirs", checked=False))
    dialog = page.get_by_role("dialog", name="Start theirs?")
    for words in (DEMO["command"], "mcplens.demo", "mcp.json", "NODE_OPTIONS", "hidden()"):
        expect(dialog).to_contain_text(str(words))
    expect(dialog).not_to_contain_text("s3cret")
    dialog.get_by_role("button", name="Show THEIR_TOKEN").click()
    expect(dialog).to_contain_text("s3cret")
    assert opened.axe() == []
    opened.shoot("confirmation")
    dialog.get_by_role("button", name="Not now").click()
    expect(dialog).to_be_hidden()
    expect(card).to_contain_text("Disconnected")
    flip(page.get_by_role("switch", name="Connection to theirs", checked=False))
    dialog.get_by_role("button", name="Start it").click()
    expect(card).to_contain_text("Connected")
    expect(card).not_to_contain_text("not confirmed yet")
    opened.assert_clean()


def test_lists_and_calls_need_no_mouse(opened: Watched) -> None:
    page = opened.switch("/servers")
    card = page.get_by_role("article", name="theirs")
    expect(card).to_contain_text("onnected")
    if "Disconnected" in card.inner_text():
        flip(card.get_by_role("switch"))
        page.get_by_role("dialog").get_by_role("button", name="Start it").click()
        expect(card).to_contain_text("Connected")
    opened.switch("/s/theirs/tools")
    page.get_by_text("Gives back the text").wait_for()
    page.keyboard.press("/")
    page.keyboard.type("form-")
    expect(page.get_by_role("option")).to_have_count(9)
    page.keyboard.press("Escape")
    expect(page.get_by_label("Search tools")).to_have_value("")
    expect(page.get_by_role("option").first).to_contain_text("echo")
    page.get_by_role("listbox", name="Tools").focus()
    for tool in ("echo", "add"):
        page.keyboard.press("ArrowDown")
        expect(page).to_have_url(re.compile(f"/s/theirs/tools/{tool}$"))
    page.keyboard.press("7")
    expect(page).to_have_url(re.compile("/s/theirs/traffic"))
    opened.assert_clean()
