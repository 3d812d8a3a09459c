"""What calls sent and gave, copied: the same result elsewhere, whole, and without a secret."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from .browser import Watched, copy_by, retype
from .calls import run
from .results import SECRET, called, gives, name_given, three_servers
from .wheel import own_folders


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder: Path = tmp_path_factory.mktemp("home")
    return folder


@pytest.fixture(scope="module")
def opened(browser: Browser, home: Path) -> Iterator[Watched]:
    with three_servers(browser, home) as window:
        yield window


@pytest.fixture(scope="module")
def given(opened: Watched) -> str:
    return name_given(opened)


def copied(page: Page, panel: Locator, name: str) -> str:
    """What `Copy as` puts on the clipboard."""
    panel.get_by_role("button", name="Copy as").click()
    return copy_by(page, page.get_by_role("menuitem", name=name))


def output_of(command: list[str], home: Path, **variables: str) -> str:
    environ = own_folders(home) | {"XDG_STATE_HOME": str(home / "elsewhere")} | variables
    done = subprocess.run(
        command, cwd=home, env=environ, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def run_command(text: str, home: Path) -> str:
    """What a copied command prints."""
    program, *words = shlex.split(text)
    assert program == "mcplens"
    return output_of([str(Path(sys.executable).with_name("mcplens")), *words], home)


def test_what_is_copied_gives_the_same_result_elsewhere(
    opened: Watched, given: str, home: Path
) -> None:
    page = opened.page
    panel = called(opened, given, "add", '{"a": 40, "b": 2}')
    expect(panel).to_contain_text("42")
    command = copied(page, panel, "mcplens command")
    assert "-m mcplens.demo" in command
    assert json.loads(run_command(f"mcplens call --json {command[13:]}", home))["content"] == [
        {"type": "text", "text": "42"}
    ]
    program = home / "copied.py"
    program.write_text(copied(page, panel, "Python"))
    result = json.loads(output_of([sys.executable, str(program)], home))
    assert result["content"] == [{"type": "text", "text": "42"}]
    panel = gives(opened, '{"content": [{"type": "text", "text": "it\'s me"}]}')
    expect(panel).to_contain_text("it's me")
    command = copied(page, panel, "mcplens command")
    assert command.startswith("mcplens call odd give --args ")
    assert "it's me" in run_command(command, home)
    opened.assert_clean()


def test_what_is_copied_for_curl_works_and_has_no_secret(opened: Watched, home: Path) -> None:
    panel = called(opened, "wire", "add", '{"a": 40, "b": 2}')
    expect(panel).to_contain_text("42")
    command = copied(opened.page, panel, "curl")
    assert "s3cret" not in command
    answer = output_of(["bash", "-c", command], home, AUTHORIZATION=SECRET)
    assert '"text":"42"' in answer.replace(" ", "")
    opened.assert_clean()


def test_a_large_request_is_shown_and_copied_whole_after_a_reload(
    opened: Watched, given: str
) -> None:
    page = opened.page
    text = "x" * 40_000
    panel = called(opened, given, "echo", json.dumps({"text": text}))
    expect(panel.get_by_text("Done", exact=True)).to_be_visible()
    page.reload()
    copy = copied(page, panel, "JSON-RPC request")
    assert json.loads(copy)["params"]["arguments"] == {"text": text}
    panel.get_by_text("Arguments").click()
    expect(panel.get_by_role("tree", name="Arguments")).to_contain_text("40 kB")
    opened.assert_clean()


def test_an_error_reply_to_a_raw_message_is_shown_and_copied_whole(
    opened: Watched, home: Path
) -> None:
    page = opened.goto("/s/odd/raw")
    message = '{"jsonrpc": "2.0", "id": 77, "method": "no/such"}'
    retype(page.get_by_label("Message to send"), message)
    page.get_by_role("button", name="Send", exact=True).click()
    panel = page.get_by_label("Call of no/such")
    expect(panel.get_by_role("alert")).to_contain_text("no such method")
    panel.get_by_text("Tree", exact=True).click()
    tree = panel.get_by_role("tree", name="Result")
    for words in ("jsonrpc", "77", "-32601", "no such method"):
        expect(tree).to_contain_text(words)
    assert opened.axe() == []
    opened.shoot("error reply")
    assert copied(page, panel, "JSON-RPC request") == message
    assert copied(page, panel, "mcplens command") == f"mcplens raw odd '{message}'"
    copy = panel.get_by_role("button", name="Copy the result")
    assert "no such method" in copy_by(page, copy)
    opened.assert_clean()


def test_the_messages_of_a_prompt_are_copied_as_text(opened: Watched, given: str) -> None:
    page = opened.goto(f"/s/{given}/prompts/conversation")
    page.get_by_role("textbox", name="name").fill("Ada")
    page.get_by_role("button", name="Get the messages").click()
    panel = page.get_by_label("Call of conversation")
    text = copy_by(page, panel.get_by_role("button", name="Copy text"))
    assert "Ada" in text
    assert '"role"' not in text
    opened.assert_clean()


def test_the_headers_and_the_timeout_of_a_call_count_and_are_copied(opened: Watched) -> None:
    page = opened.goto("/s/wire/tools/echo")
    page.get_by_role("textbox", name="text").fill("hello")
    page.get_by_role("button", name="Options", exact=True).click()
    page.get_by_role("button", name="Add a header").click()
    page.get_by_label("Name of header 1").fill("Authorization")
    page.get_by_label("Value of header 1").fill("Bearer wrong")
    # No limit, which is not at once.
    page.get_by_label("Timeout, seconds").fill("0")
    run(page)
    panel = page.get_by_label("Call of echo")
    note = panel.get_by_role("alert")
    expect(note).to_contain_text("401")
    command = copied(page, panel, "mcplens command")
    assert command.endswith(' --timeout 0 -H "Authorization: $AUTHORIZATION"')
    assert "wrong" not in command
    page.get_by_label("Value of header 1").fill(SECRET)
    run(page)
    expect(panel.get_by_role("status").first).to_contain_text("Done")
    page.get_by_label("Timeout, seconds").fill("5")
    run(page)
    expect(page.get_by_text("3 calls", exact=True)).to_be_visible()
    expect(panel.get_by_role("status").first).to_contain_text("Done")
    assert " --max-time 5 " in copied(page, panel, "curl")
    page.evaluate("sessionStorage.clear()")
    opened.assert_clean()
