"""Adding servers in the browser: by paste, by file, from other tools; changing and copying them.

Whatever came from elsewhere is first started after its whole command was confirmed.
"""

from __future__ import annotations

import json
import re
import shlex
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from tomllib import loads as toml
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from .browser import Watched, copy_by, flip, watched
from .site import configure, demo_over_http, site

DEMO = {"command": sys.executable, "args": ["-m", "mcplens.demo"]}
DEMO_WORDS = [sys.executable, "-m", "mcplens.demo"]
SERVER_JSON = {
    "name": "io.github.someone/weather",
    "packages": [
        {
            "registryType": "npm",
            "identifier": "weather",
            "transport": {"type": "stdio"},
            "environmentVariables": [
                {"name": "KEY", "description": "Key", "isRequired": True, "isSecret": True}
            ],
        },
        {"registryType": "oci", "identifier": "someone/weather", "transport": {"type": "stdio"}},
    ],
    "remotes": [
        {
            "type": "streamable-http",
            "url": "https://weather.example/mcp",
            "headers": [{"name": "X-Token", "isRequired": True}],
        }
    ],
}  # fmt: skip


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder: Path = tmp_path_factory.mktemp("home")
    configure(folder, {"mine": {**DEMO, "env": {"TOKEN": "s3cret"}}, "plain": DEMO})
    for tool in (".cursor/mcp.json", ".codeium/windsurf/mcp_config.json"):
        path = folder / tool
        path.parent.mkdir(parents=True)
        path.write_text(
            json.dumps({"mcpServers": {"github": {**DEMO, "env": {"TOKEN": "s3cret"}}}})
        )
    return folder


@pytest.fixture(scope="module")
def opened(browser: Browser, home: Path) -> Iterator[Watched]:
    permissions = ["clipboard-read", "clipboard-write"]
    with site(home) as running, watched(browser, running, permissions=permissions) as window:
        window.enter("/servers")
        yield window


def written(home: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((home / "config" / "mcplens" / "mcp.json").read_text())
    return dict(found["mcpServers"])


def card(page: Page, name: str) -> Locator:
    return page.get_by_role("article", name=name, exact=True)


def choose(page: Page, tool: str) -> None:
    """The tool that servers are copied or exported for."""
    page.get_by_role("combobox", name="For").click()
    page.get_by_role("option", name=tool).click()


def assert_confirmed_first(page: Page, name: str, *words: str) -> None:
    """It is started only after its command was shown, whole."""
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(card(page, name)).to_contain_text("not confirmed yet")
    flip(card(page, name).get_by_role("switch"))
    dialog = page.get_by_role("dialog", name=f"Start {name}?")
    expect(dialog.get_by_role("listitem")).to_have_text(list(words))
    dialog.get_by_role("button", name="Not now").click()
    expect(dialog).to_be_hidden()
    expect(card(page, name)).to_contain_text("Disconnected")


def test_a_pasted_file_is_imported_and_confirmed_before_it_is_started(
    opened: Watched, home: Path
) -> None:
    page = opened.switch("/servers?add")
    args = [*DEMO["args"], "--", "a b"]
    text = json.dumps({"mcpServers": {"mine": DEMO, "pasted": {**DEMO, "args": args}}})
    page.get_by_label("Command line, URL").fill(text)
    page.get_by_role("button", name="Continue").click()
    # One of them has a name that is taken, so that it is offered under another.
    known = page.get_by_role("group", name="mine, mcplens")
    expect(known.get_by_role("checkbox")).not_to_be_checked()
    known.get_by_role("checkbox").check()
    name = known.get_by_label("Add it as")
    expect(name).to_have_value("mine-mcplens")
    name.fill("mine")
    expect(known).to_contain_text("with this name already exists")
    expect(page.get_by_role("button", name="Add 2 servers")).to_be_disabled()
    known.get_by_role("checkbox").uncheck()
    assert opened.axe() == []
    opened.shoot("adding pasted")
    page.get_by_role("button", name="Add 1 server").click()
    assert_confirmed_first(page, "pasted", str(DEMO["command"]), *args)
    assert written(home)["pasted"] == {**DEMO, "args": args}
    opened.assert_clean()


def paste_for_real(page: Page, text: str) -> Locator:
    """By the keys, into the empty field; what is said below it."""
    field = page.get_by_label("Command line, URL")
    field.fill("")
    page.evaluate("(text) => navigator.clipboard.writeText(text)", text)
    field.press("Control+v")
    return page.get_by_role("dialog")


def test_a_piece_of_a_file_is_read_as_it_is_pasted(opened: Watched, home: Path) -> None:
    page = opened.switch("/servers?add")
    entry = {"url": "http://127.0.0.1:9/mcp", "headers": {"X-Key": "k"}}
    piece = f'// of a README\n"piece": {json.dumps(entry)}, // that is all'
    dialog = paste_for_real(page, piece)
    found = dialog.get_by_role("group", name="piece, mcplens")
    expect(found).to_contain_text("http://127.0.0.1:9/mcp")
    expect(found).to_contain_text("Headers: X-Key")
    assert opened.axe() == []
    opened.shoot("adding piece")
    paste_for_real(page, '{"weather": 5}')
    expect(dialog).to_contain_text("No server is named in there.")
    paste_for_real(page, '"piece": {"url" 5}')
    expect(dialog.get_by_role("alert")).to_contain_text("The text, line 1")
    paste_for_real(page, piece)
    dialog.get_by_role("button", name="Add 1 server").click()
    expect(card(page, "piece")).to_contain_text("not confirmed yet")
    assert written(home)["piece"] == entry
    opened.assert_clean()


def test_a_pasted_line_fills_the_form_in(opened: Watched) -> None:
    page = opened.switch("/servers?add")
    dialog = paste_for_real(page, "claude mcp add given -e KEY=v -- npx -y given")
    expect(dialog.get_by_label("Name", exact=False).first).to_have_value("given")
    expect(dialog.get_by_label("Program")).to_have_value("npx")
    expect(dialog.get_by_label("Name of variable 1")).to_have_value("KEY")
    page.get_by_role("tab", name="Paste or file").click()
    paste_for_real(page, "localhost:3000/mcp")
    page.keyboard.press("Control+Enter")
    expect(dialog.get_by_role("textbox", name="URL")).to_have_value("http://localhost:3000/mcp")
    dialog.get_by_role("button", name="Cancel").click()
    opened.assert_clean()


def test_an_address_is_connected_to_and_not_started(opened: Watched, home: Path) -> None:
    page = opened.switch("/servers?add")
    with demo_over_http() as url:
        entry = {"url": url, "headers": {"Authorization": "Bearer abc"}}
        dialog = paste_for_real(page, json.dumps({"address": entry}))
        dialog.get_by_role("button", name="Add 1 server").click()
        flip(card(page, "address").get_by_role("switch"))
        asked = page.get_by_role("dialog", name="Connect to address?")
        expect(asked).to_contain_text("mcplens would connect to this address")
        headers = asked.get_by_role("region", name="mcplens would send these headers")
        expect(headers).to_contain_text("Authorization")
        expect(headers).not_to_contain_text("Bearer abc")
        assert "start" not in asked.inner_text().lower()
        assert opened.axe() == []
        opened.shoot("confirming address")
        asked.get_by_role("button", name="Connect to it").click()
        expect(card(page, "address")).to_contain_text("Connected")
        # The tabs now mean the server that was just connected.
        page.get_by_role("link", name="Tools").click()
        expect(page).to_have_url(re.compile("/s/address/tools"))
    opened.assert_clean()


def test_a_server_is_copied_for_another_tool(opened: Watched) -> None:
    page = opened.switch("/servers")
    page.get_by_role("button", name="More for mine", exact=True).click()
    page.get_by_role("menuitem", name="Copy as").click()
    dialog = page.get_by_role("dialog", name="Copy mine as")
    expect(dialog).to_contain_text("1 value in it looks like a secret")
    assert opened.axe() == []
    opened.shoot("copying a server")
    choose(page, "VS Code")
    expect(dialog).to_contain_text(".vscode/mcp.json")
    expect(dialog.locator("pre")).to_contain_text('"servers"')
    choose(page, "Command line")
    line = f"mcplens servers add mine -e TOKEN=s3cret -- {shlex.join(DEMO_WORDS)}"
    expect(dialog.locator("pre")).to_have_text(line)
    page.set_viewport_size({"width": 390, "height": 844})
    opened.shoot("copying a server narrow")
    page.set_viewport_size({"width": 1440, "height": 900})
    assert copy_by(page, dialog.get_by_role("button", name="Copy", exact=True)).strip() == line
    expect(dialog).to_be_hidden()
    opened.assert_clean()


def paste(page: Page, text: str) -> Locator:
    """Read a command or a URL; the name that it is given."""
    page.get_by_role("tab", name="Paste or file").click()
    page.get_by_label("Command line, URL").fill(text)
    page.get_by_role("button", name="Continue").click()
    return page.get_by_role("dialog").get_by_label("Name", exact=False).first


def test_a_pasted_command_is_added_connected_and_then_the_current_server(
    opened: Watched, home: Path
) -> None:
    page = opened.switch("/servers?add")
    dialog = page.get_by_role("dialog")
    expect(paste(page, "https://one.example:8443/mcp")).to_have_value("one.example:8443")
    page.reload()
    expect(dialog).to_contain_text("You typed this before")
    command = shlex.join([sys.executable, "-m", "mcplens.demo"])
    name = paste(page, command)
    expect(name).to_have_value("mcplens.demo")
    expect(dialog).not_to_contain_text("You typed this before")
    name.fill("mine")
    expect(dialog).to_contain_text("A server with this name already exists.")
    for button in ("Add", "Add and connect"):
        expect(dialog.get_by_role("button", name=button, exact=True)).to_be_disabled()
    assert opened.axe() == []
    opened.shoot("adding taken name")
    name.fill("typed")
    dialog.get_by_role("button", name="Add and connect").click()
    expect(dialog).to_have_count(0)
    # Whoever connects a server wants to use it.
    expect(page).to_have_url(re.compile("/s/typed/tools$"))
    expect(page.get_by_role("listbox", name="Tools").get_by_role("option").first).to_be_visible()
    opened.switch("/servers")
    expect(card(page, "typed")).to_contain_text("Connected")
    expect(page.get_by_role("banner")).to_contain_text("typed")
    assert written(home)["typed"]["command"] == sys.executable
    # The built-in server stays the last, also when the page is loaded anew.
    expect(page.get_by_role("article").last).to_have_accessible_name("demo")
    opened.switch("/servers?add")
    expect(paste(page, "typed --flag")).to_have_value("typed-2")
    page.set_viewport_size({"width": 390, "height": 844})
    opened.shoot("adding narrow")
    page.set_viewport_size({"width": 1440, "height": 900})
    dialog.get_by_role("button", name="Cancel").click()
    expect(page.get_by_role("article").last).to_have_accessible_name("demo")
    opened.assert_clean()


def test_the_inputs_of_a_file_are_asked_for(opened: Watched, home: Path) -> None:
    page = opened.switch("/servers?add")
    inputs = [
        {"id": "key", "type": "promptString", "description": "The key", "password": True},
        {"id": "place", "type": "pickString", "options": ["here", "there"]},
    ]
    env = {"KEY": "${input:key}", "PLACE": "${input:place}"}
    text = json.dumps({"inputs": inputs, "servers": {"editor": {**DEMO, "env": env}}})
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Choose a file").click()
    chooser.value.set_files(
        {"name": "mcp.json", "mimeType": "application/json", "buffer": text.encode()}
    )
    found = page.get_by_role("group", name="editor, vscode")
    expect(found).to_contain_text("mcp.json")
    key = found.get_by_label("The key")
    expect(key).to_have_attribute("type", "password")
    key.fill("s3cret")
    assert opened.axe() == []
    opened.shoot("adding inputs")
    page.get_by_role("button", name="Add 1 server").click()
    assert_confirmed_first(page, "editor", str(DEMO["command"]), *DEMO["args"])
    # What was left empty is looked for in the environment.
    assert written(home)["editor"]["env"] == {"KEY": "s3cret", "PLACE": "${PLACE}"}
    expect(card(page, "editor")).to_contain_text("PLACE")
    opened.assert_clean()


def test_a_package_of_the_registry_is_chosen_and_filled_in(opened: Watched, home: Path) -> None:
    page = opened.switch("/servers?add")
    page.get_by_label("Command line, URL").fill(json.dumps(SERVER_JSON, indent=2))
    page.get_by_role("button", name="Continue").click()
    found = page.get_by_role("group", name="weather, registry")
    expect(found).to_contain_text("npx -y weather")
    expect(found.get_by_role("textbox", name="Key")).to_be_visible()
    found.get_by_role("combobox", name="Package").click()
    expect(page.get_by_role("option")).to_have_text(["npm", "oci", "remote"])
    page.get_by_role("option", name="remote").click()
    expect(found).to_contain_text("https://weather.example/mcp")
    found.get_by_label("X-Token").fill("t")
    opened.shoot("adding package")
    page.get_by_role("button", name="Add 1 server").click()
    expect(card(page, "weather")).to_be_visible()
    assert written(home)["weather"]["headers"] == {"X-Token": "t"}
    opened.assert_clean()


def test_two_tools_with_a_server_of_one_name_are_both_taken(opened: Watched, home: Path) -> None:
    page = opened.switch("/servers?add")
    page.get_by_role("tab", name="From other tools").click()
    for tool in ("cursor", "windsurf"):
        found = page.get_by_role("group", name=f"github, {tool}")
        expect(found).to_contain_text(tool)
        found.get_by_role("checkbox").check()
    opened.shoot("adding found")
    page.get_by_role("button", name="Add 2 servers").click()
    for name in ("github", "github-windsurf"):
        assert_confirmed_first(page, name, str(DEMO["command"]), *DEMO["args"])
    flip(card(page, "github").get_by_role("switch"))
    page.get_by_role("dialog").get_by_role("button", name="Start it").click()
    expect(page.get_by_role("alert").filter(has_text="Connected to github")).to_be_visible()
    expect(card(page, "github")).to_contain_text("Connected")
    assert written(home)["github"] == written(home)["github-windsurf"]
    # The page never had it.
    assert written(home)["github"]["env"] == {"TOKEN": "s3cret"}
    opened.assert_clean()


def test_another_tools_server_gets_the_tap_after_its_change_was_shown(
    opened: Watched, home: Path
) -> None:
    file = home / ".cursor" / "mcp.json"
    before = file.read_text()
    page = opened.switch("/servers?add")
    page.get_by_role("tab", name="From other tools").click()
    found = page.get_by_role("group", name="github, cursor")
    found.get_by_role("button", name="See what this client sends").click()
    dialog = page.get_by_role("dialog", name="See what Cursor sends")
    expect(dialog).to_contain_text("mcpServers › github")
    expect(dialog).to_contain_text(f"- {shlex.join(DEMO_WORDS)}")
    expect(dialog).to_contain_text(f"tap --name github -- {shlex.join(DEMO_WORDS)}")
    assert opened.axe() == []
    opened.shoot("tap offered")
    assert file.read_text() == before
    dialog.get_by_role("button", name="Change the file").click()
    expect(page.get_by_role("alert").filter(has_text="Restart Cursor")).to_be_visible()
    expect(found).to_contain_text("recorded by mcplens")
    assert '"tap", "--name", "github", "--"' in file.read_text()
    found.get_by_role("button", name="Stop recording this client").click()
    dialog = page.get_by_role("dialog", name="Stop recording Cursor")
    dialog.get_by_role("button", name="Change the file").click()
    expect(found.get_by_role("button", name="See what this client sends")).to_be_visible()
    assert file.read_text() == before
    opened.assert_clean()


def test_an_export_says_that_secrets_are_in_it_before_it_is_downloaded(opened: Watched) -> None:
    page = opened.switch("/servers")
    page.get_by_role("button", name="Export").click()
    choose(page, "VS Code")
    page.get_by_role("button", name="Download mcp.vscode.json").click()
    dialog = page.get_by_role("dialog", name="Download mcp.vscode.json?")
    expect(dialog).to_contain_text(re.compile("looks? like (a secret|secrets)"))
    opened.shoot("exporting secrets")
    assert opened.axe() == []
    with page.expect_download() as download:
        dialog.get_by_role("button", name="Download").click()
    assert "s3cret" in Path(download.value.path()).read_text()
    opened.assert_clean()


@pytest.mark.parametrize(
    ("tool", "file", "read"), [("mcp.json", "mcp.json", json.loads), ("Codex", "config.toml", toml)]
)
def test_servers_are_chosen_for_an_export(
    opened: Watched, tool: str, file: str, read: Callable[[str], dict[str, Any]]
) -> None:
    page = opened.switch("/servers")
    page.get_by_role("button", name="Export").click()
    dialog = page.get_by_role("dialog", name="Export servers")
    expect(dialog.get_by_role("checkbox", name="demo")).to_have_count(0)
    choose(page, tool)
    expect(dialog.get_by_role("checkbox", name="plain")).to_be_checked()
    for chosen in dialog.get_by_role("checkbox").all():
        chosen.uncheck()
    expect(dialog.get_by_role("button", name=f"Download {file}")).to_be_disabled()
    dialog.get_by_role("checkbox", name="plain").check()
    assert opened.axe() == []
    opened.shoot("exporting")
    with page.expect_download() as download:
        dialog.get_by_role("button", name=f"Download {file}").click()
    assert download.value.suggested_filename == file
    found = read(Path(download.value.path()).read_text())
    (servers,) = found.values()
    assert list(servers) == ["plain"]
    assert servers["plain"]["command"] == DEMO["command"]
    opened.assert_clean()


def test_a_copy_has_the_secrets_and_a_changed_server_asks_to_be_connected_again(
    opened: Watched, home: Path
) -> None:
    page = opened.switch("/servers")
    page.get_by_role("button", name="More for mine", exact=True).click()
    page.get_by_role("menuitem", name="Duplicate").click()
    page.get_by_role("button", name="Add", exact=True).click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    copy = card(page, "mine-copy")
    flip(copy.get_by_role("switch"))
    expect(copy).to_contain_text("Connected")
    assert written(home)["mine-copy"] == written(home)["mine"]

    copy.get_by_role("button", name="Edit").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name of variable 1").fill("RENAMED")
    dialog.get_by_role("button", name="Timeouts, revision and more").click()
    dialog.get_by_label("Request in total, ms").fill("9000")
    dialog.get_by_label("Waits between retries").fill("10, 20")
    expect(dialog.get_by_label("Progress restarts the clock")).to_be_visible()
    assert opened.axe() == []
    opened.shoot("editing")
    # Neither a click beside the dialog nor a reload loses it.
    page.mouse.click(5, 5)
    expect(dialog).to_be_visible()
    page.reload()
    expect(dialog).to_contain_text("You typed this before and did not save it.")
    expect(dialog.get_by_label("Name of variable 1")).to_have_value("RENAMED")
    assert "s3cret" not in page.evaluate("JSON.stringify(sessionStorage)")
    opened.shoot("editing again")
    dialog.get_by_role("button", name="Save").click()
    expect(copy).to_contain_text("Changed since it was connected")
    entry = written(home)["mine-copy"]
    assert entry["env"] == {"RENAMED": "s3cret"}
    assert (entry["maxTotalTimeout"], entry["retryBackoff"]) == (9000, [10, 20])
    opened.shoot("changed")
    copy.get_by_role("button", name="Connect again").click()
    expect(copy).not_to_contain_text("Changed since it was connected")
    expect(copy).to_contain_text("Connected")
    opened.assert_clean()
