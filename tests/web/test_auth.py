"""Signing in from the page, to servers of SDKs that we did not write."""

from __future__ import annotations

import json
import subprocess
from collections.abc import AsyncIterator, Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import aiohttp
import pytest

from tests.servers.run import ROOT, argv

from .harness import Page, Refusal, site, write_config


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MCPLENS_STATE_DIR", str(tmp_path / "state"))


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """The address of a server that lets in whoever signs in; it starts slowly, so one for all."""
    command = argv("sdk_oauth", "--transport", "http")
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=ROOT, stdin=pipe, stdout=pipe) as process:
        assert process.stdout is not None
        yield json.loads(process.stdout.readline())["url"]


@pytest.fixture
async def page(tmp_path: Path, server: str) -> AsyncIterator[Page]:
    write_config(tmp_path, closed={"url": server})
    async with site(tmp_path) as web, web.page() as opened:
        yield opened


def auth(page: Page) -> dict[str, Any]:
    found: dict[str, Any] = page.things["servers", "closed"]["auth"] or {}
    return found


async def until(page: Page, is_so: Callable[[dict[str, Any]], Any]) -> dict[str, Any]:
    await page.until(lambda: is_so(auth(page)))
    return auth(page)


async def follow(url: str, *, visits: bool = True) -> str:
    """What a browser does with the link of a person who agrees to everything."""
    async with aiohttp.ClientSession() as browser:
        async with browser.get(url, allow_redirects=False) as answer:
            returned = answer.headers["Location"]
        if visits:
            async with browser.get(returned) as last:
                assert "Answer received" in await last.text()
        return returned


def states(view: dict[str, Any]) -> dict[str, str]:
    return {step["step"]: step["state"] for step in view["runs"][0]["steps"]}


async def test_a_person_signs_in_by_the_link_of_the_page(page: Page, server: str) -> None:
    assert page.things["servers", "closed"]["auth"] is None  # nobody knows yet
    await page.ask("Connect", server_id="closed")
    waiting = await until(page, lambda view: view.get("open_url"))
    view = page.things["servers", "closed"]
    assert view["state"] == "CONNECTING"
    assert view["waiting_for"] == "waiting for a sign-in"
    assert waiting["site"] == urlsplit(server).netloc
    assert states(waiting) == {
        "refusal": "done",
        "protected_resource": "done",
        "authorization_server": "done",
        "client": "done",
        "authorization": "waiting",
        "token": "pending",
    }
    await follow(waiting["open_url"])
    await page.in_state("closed", "CONNECTED")
    done = await until(page, lambda view: view["kept"])
    assert set(states(done).values()) == {"done"}
    assert all(step["exchange_ids"] for step in done["runs"][0]["steps"][:4])
    assert done["open_url"] is None
    assert done["kept"]["granted"] == ["notes"]
    assert done["kept"]["expires_at"] > 0
    assert done["kept"]["token"].startswith("‹masked")


async def test_a_configured_sign_in_is_waited_for_before_the_server_is_asked(
    tmp_path: Path, server: str
) -> None:
    write_config(tmp_path, closed={"url": server, "auth": {"clientName": "me"}})
    async with site(tmp_path) as web, web.page() as page:
        await page.ask("Connect", server_id="closed")
        waiting = await until(page, lambda view: view.get("open_url"))
        assert page.things["servers", "closed"]["waiting_for"] == "waiting for a sign-in"
        assert states(waiting) == {  # nothing was refused
            "protected_resource": "done",
            "authorization_server": "done",
            "client": "done",
            "authorization": "waiting",
            "token": "pending",
        }
        await follow(waiting["open_url"])
        await page.in_state("closed", "CONNECTED")
        assert len((await until(page, lambda view: view["kept"]))["runs"]) == 1


async def test_the_tokens_are_in_no_message_until_they_are_asked_for(page: Page) -> None:
    await signed_in(page)
    shown = await page.ask("RevealToken", server_id="closed")
    assert shown == {"header": None, "claims": None, "token": None, "refresh_token": None}
    whole = await page.ask("RevealToken", server_id="closed", is_whole=True)
    said = json.dumps([page.events, page.changes, page.hello], ensure_ascii=False)
    assert whole["token"] not in said
    assert whole["refresh_token"] not in said


async def test_the_address_that_the_browser_came_to_can_be_pasted(page: Page) -> None:
    await page.ask("Connect", server_id="closed")
    waiting = await until(page, lambda view: view.get("open_url"))
    with pytest.raises(Refusal, match="code="):
        await page.ask("PasteRedirect", server_id="closed", url="http://127.0.0.1/nothing")
    returned = await follow(waiting["open_url"], visits=False)
    await page.ask("PasteRedirect", server_id="closed", url=returned)
    await page.in_state("closed", "CONNECTED")


async def test_a_sign_in_can_be_cancelled_and_begun_again(page: Page) -> None:
    await page.ask("Connect", server_id="closed")
    await until(page, lambda view: view.get("open_url"))
    await page.ask("CancelSignIn", server_id="closed")
    assert page.things["servers", "closed"]["state"] == "DISCONNECTED"
    assert auth(page)["runs"][0]["outcome"] == "cancelled"
    await page.ask("SignInTo", server_id="closed")
    again = await until(page, lambda view: view.get("open_url"))
    await follow(again["open_url"])
    await page.in_state("closed", "CONNECTED")


async def test_signing_out_disconnects_and_forgets(page: Page) -> None:
    await signed_in(page)
    told = await page.ask("SignOut", server_id="closed")
    assert told["outcome"].startswith("signed out")
    await until(page, lambda view: view["kept"] is None)
    assert page.things["servers", "closed"]["state"] == "DISCONNECTED"
    assert auth(page)["registration"] is not None
    await page.ask("ForgetRegistration", server_id="closed")
    await until(page, lambda view: view["registration"] is None)


async def test_the_refresh_token_is_used_when_asked_to(page: Page) -> None:
    await signed_in(page)
    before = await page.ask("RevealToken", server_id="closed", is_whole=True)
    await page.ask("RefreshToken", server_id="closed")
    after = await page.ask("RevealToken", server_id="closed", is_whole=True)
    assert after["token"] != before["token"]
    assert states(auth(page)) == {"refresh": "done"}


async def test_each_step_waits_to_be_let_go_and_can_be_changed(page: Page) -> None:
    await page.ask("SignInTo", server_id="closed", is_stepwise=True)
    for name in ("protected_resource", "authorization_server", "client"):
        paused = await until(page, partial(_is_paused, name))
        assert states(paused)[name] == "paused"
        await page.ask("ContinueSignIn", server_id="closed")
    paused = await until(page, lambda view: view["paused"] == "authorization")
    assert page.things["servers", "closed"]["state"] == "CONNECTING"
    assert paused["draft"]["scopes"] == ["notes"]
    await page.ask("ContinueSignIn", server_id="closed", scopes="notes more", at_once=True)
    waiting = await until(page, lambda view: view["open_url"])
    assert "scope=notes+more" in waiting["open_url"]


async def test_a_failing_step_says_what_was_expected_and_what_came(page: Page) -> None:
    await page.ask("SignInTo", server_id="closed", client_id="nobody-knows")
    waiting = await until(page, lambda view: view.get("open_url"))
    assert "client_id=nobody-knows" in waiting["open_url"]
    url = waiting["runs"][0]["steps"][4]["facts"]["redirectUri"]
    await page.ask("PasteRedirect", server_id="closed", url=f"{url}?code=stolen&state=another")
    failed = await until(page, lambda view: view["runs"][0]["outcome"] == "failed")
    step = failed["runs"][0]["steps"][4]
    assert (step["step"], step["state"]) == ("authorization", "failed")
    assert "another state" in step["text"]
    assert step["expected"] == "the state that was sent along"
    off = await page.in_state("closed", "DISCONNECTED")
    assert off["error"]["code"] == "SIGN_IN_FAILED"


async def test_a_token_can_be_pasted_kept_and_removed(page: Page, tmp_path: Path) -> None:
    await signed_in(page)
    token = (await page.ask("RevealToken", server_id="closed", is_whole=True))["token"]
    await page.ask("Disconnect", server_id="closed")
    with pytest.raises(Refusal, match="not a valid token"):
        await page.ask("SetToken", server_id="closed", token="two words")
    view = await page.ask("SetToken", server_id="closed", token=token)
    assert view["kept"]["issuer"] is None
    await page.connected("closed")
    await page.ask("SignOut", server_id="closed")
    await until(page, lambda view: view["kept"] is None)


async def test_a_sign_in_is_there_after_a_restart(page: Page, tmp_path: Path) -> None:
    await signed_in(page)
    async with site(tmp_path) as web, web.page() as later:
        view = later.things["servers", "closed"]
        assert view["auth"]["runs"] == []
        looked = await later.ask("LookAtAuth", server_id="closed")
        assert looked["kept"]["granted"] == ["notes"]
        await later.connected("closed")


async def test_a_projects_auth_block_is_confirmed_with_the_files_it_names(
    tmp_path: Path, server: str
) -> None:
    block = {"grant": "client_credentials", "clientId": "ci", "privateKeyFile": "~/.ssh/id_ed25519"}
    entry = {"url": server, "auth": block}
    project = tmp_path / "project"
    project.mkdir()
    (project / "mcp.json").write_text(json.dumps({"mcpServers": {"theirs": entry}}))
    async with site(tmp_path) as web, web.page() as page:
        assert page.things["servers", "theirs"]["needs_confirmation"]
        for command in ("Connect", "SignInTo"):
            with pytest.raises(Refusal, match="review what it starts"):
                await page.ask(command, server_id="theirs")
        shown = await page.ask("ConfirmationOf", server_id="theirs")
        assert shown["files"] == ["~/.ssh/id_ed25519"]


def _is_paused(step: str, view: dict[str, Any]) -> bool:
    return view.get("paused") == step


async def signed_in(page: Page) -> None:
    await page.ask("Connect", server_id="closed")
    waiting = await until(page, lambda view: view.get("open_url"))
    await follow(waiting["open_url"])
    await page.in_state("closed", "CONNECTED")
    await page.ask("LookAtAuth", server_id="closed")
    await until(page, lambda view: view["kept"])
