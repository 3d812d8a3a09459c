"""Profile, roots and capabilities of a server: of the moment, or written into its entry."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mcplens.session.capabilities import EXTENSIONS

from .asking import HANDSHAKE, SERVER, write_demo
from .harness import Refusal, good, machine, site, user_config


def entry(home: Path, name: str = SERVER) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(user_config(home).read_text())["mcpServers"][name]
    return found


async def test_nothing_is_written_unless_the_user_asks(tmp_path: Path) -> None:
    write_demo(tmp_path, HANDSHAKE, roots=["~"], profile="echo")
    before = user_config(tmp_path).read_text()
    async with site(tmp_path) as web, web.page() as page:
        view = page.hello["servers"][0]
        assert view["roots"] == [{"uri": tmp_path.as_uri(), "name": None}]
        assert (view["profile"], view["is_saved"]) == ("echo", True)
        assert "sampling" in view["client_capabilities"]
        await page.ask("AddRoot", server_id=SERVER, path="~/project", name="Project")
        view = await page.ask("SetProfile", server_id=SERVER, profile="refuse")
        assert not view["is_saved"]
        assert user_config(tmp_path).read_text() == before
        saved = {"roots": {"listChanged": False}}
        view = await page.ask("SetCapabilities", server_id=SERVER, capabilities=saved, save=True)
        assert view["is_saved"]
        assert len(view["roots"]) == 2
        written = entry(tmp_path)
        assert (written["profile"], written["capabilities"]) == ("refuse", saved)
        assert written["roots"][1] == {
            "uri": (tmp_path / "project").as_uri(), "name": "Project",
        }  # fmt: skip
        for root in view["roots"]:
            view = await page.ask("RemoveRoot", server_id=SERVER, uri=root["uri"], save=True)
        await page.ask("SetProfile", server_id=SERVER, save=True)
        assert not {"roots", "profile"} & entry(tmp_path).keys()
    async with site(tmp_path) as web, web.page() as page:
        assert page.hello["servers"][0]["client_capabilities"]["roots"] == {"listChanged": False}


async def test_what_is_not_ours_or_not_confirmed_is_not_written(tmp_path: Path) -> None:
    home = machine(tmp_path)
    path = Path(home.cwd) / "mcp.json"
    path.write_text(json.dumps({"mcpServers": {"theirs": good()}}))
    async with site(tmp_path) as web, web.page() as page:
        with pytest.raises(Refusal, match="cannot be changed"):
            await page.ask("AddRoot", server_id="demo", path="~", save=True)
        with pytest.raises(Refusal, match="not confirmed yet"):
            await page.ask("AddRoot", server_id="theirs", path="~", save=True)
        await page.confirmed("theirs")
        view = await page.ask("AddRoot", server_id="theirs", path="~", save=True)
        assert not view["needs_confirmation"]
        assert json.loads(path.read_text())["mcpServers"]["theirs"]["roots"]


async def test_what_could_not_be_written_counts_and_is_shown(tmp_path: Path) -> None:
    async with site(tmp_path) as web, web.page() as page:
        with pytest.raises(Refusal, match="cannot be changed"):
            await page.ask("AddRoot", server_id="demo", path="~", save=True)
        view = await page.until(lambda: (one := page.things["servers", "demo"])["roots"] and one)
        assert view["roots"] == [{"uri": tmp_path.as_uri(), "name": None}]
        assert not view["is_saved"]


async def test_choosing_what_is_declared_anyway_is_no_choice(tmp_path: Path) -> None:
    write_demo(tmp_path, HANDSHAKE)
    async with site(tmp_path) as web, web.page() as page:
        before = page.hello["servers"][0]["client_capabilities"]

        async def choose(**capabilities: Any) -> dict[str, Any]:
            view = await page.ask(
                "SetCapabilities", server_id=SERVER, capabilities=capabilities, save=True
            )
            found: dict[str, Any] = view["client_capabilities"]
            return found

        off = await choose(sampling=None, tasks=None, extensions=dict.fromkeys(EXTENSIONS))
        assert not {"sampling", "tasks"} & off.keys()
        assert off["extensions"] == {}
        assert entry(tmp_path)["capabilities"]["sampling"] is None
        tasks = await choose(tasks=before["tasks"])
        assert tasks["tasks"]["requests"].keys() == {"elicitation"}
        on = await choose(sampling=before["sampling"], extensions=before["extensions"])
        assert on == before
        assert "capabilities" not in entry(tmp_path)


async def test_a_profile_that_is_not_there_is_said_when_connecting(tmp_path: Path) -> None:
    write_demo(tmp_path, HANDSHAKE, profile="nobody")
    async with site(tmp_path) as web, web.page() as page:
        with pytest.raises(Refusal, match="there is no profile 'nobody'"):
            await page.ask("Connect", server_id=SERVER)
        await page.ask("SetProfile", server_id=SERVER)
        assert (await page.connected(SERVER))["error"] is None


async def test_folders_are_listed_as_far_as_they_may_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("open", "closed"):
        (tmp_path / name).mkdir()
    (tmp_path / "a file").write_text("")
    monkeypatch.setattr("os.access", lambda path, mode: not str(path).endswith("closed"))
    async with site(tmp_path) as web, web.page() as page:
        home = await page.ask("BrowseFolder")
        assert home["path"] == str(tmp_path)
        assert "open" in home["folders"]
        assert not {"closed", "a file"} & set(home["folders"])
        with pytest.raises(Refusal, match="cannot be listed"):
            await page.ask("BrowseFolder", path=str(tmp_path / "a file"))
