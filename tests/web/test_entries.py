"""The configuration file from the page: servers added, changed and copied, and settings."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from .harness import Refusal, Site, good, machine, site, user_config, write_config


async def test_a_server_is_added_changed_and_removed_and_its_secret_stays(tmp_path: Path) -> None:
    raw = {
        "url": "http://127.0.0.1:9/mcp",
        "headers": {"Authorization": "Bearer s3cret", "X": "${V}"},
    }
    async with site(tmp_path) as web, web.page() as page:
        await page.ask("ServerAdd", name="mine", raw=raw)
        view = await page.until(lambda: page.things.get(("servers", "mine")))
        assert view["is_editable"]
        assert not view["needs_confirmation"]
        assert "s3cret" not in json.dumps(page.changes)
        shown = (await page.ask("ServerEntryOf", server_id="mine"))["raw"]
        assert "s3cret" not in json.dumps(shown)
        assert shown["headers"]["X"] == "${V}"
        shown["requestTimeout"] = 5000
        await page.ask("ServerEdit", server_id="mine", raw=shown, name="renamed")
        await page.until(lambda: page.things.get(("servers", "renamed")))
        assert page.things["servers", "mine"] is None
        kept = json.loads(user_config(tmp_path).read_text())["mcpServers"]
        assert kept == {"renamed": {**raw, "requestTimeout": 5000}}
        await page.ask("ServerRemove", server_id="renamed")
        await page.until(lambda: page.things["servers", "renamed"] is None)
        assert json.loads(user_config(tmp_path).read_text())["mcpServers"] == {}


async def test_a_copy_of_a_server_works_and_its_secret_is_never_shown(tmp_path: Path) -> None:
    write_config(tmp_path, mine={**good(), "env": {"TOKEN": "s3cret"}})
    async with site(tmp_path) as web, web.page() as page:
        shown = (await page.ask("ServerEntryOf", server_id="mine"))["raw"]
        with pytest.raises(Refusal, match=r"env\.TOKEN"):
            await page.ask("ServerAdd", name="copy", raw=shown)
        await page.ask("ServerAdd", name="copy", raw=shown, copy_of="mine")
        await page.connected("copy")
        assert "s3cret" not in json.dumps(page.changes)
        kept = json.loads(user_config(tmp_path).read_text())["mcpServers"]
        assert kept["copy"] == kept["mine"]


async def test_a_server_that_was_changed_while_connected_says_so(tmp_path: Path) -> None:
    write_config(tmp_path, mine=good())
    async with site(tmp_path) as web, web.page() as page:
        view = await page.connected("mine")
        assert not view["is_outdated"]
        raw = {**good(), "requestTimeout": 5000}
        await page.ask("ServerEdit", server_id="mine", raw=raw)
        await page.until(lambda: page.things["servers", "mine"]["is_outdated"])
        await page.ask("Disconnect", server_id="mine")
        view = await page.connected("mine")
        assert not view["is_outdated"]


@pytest.mark.parametrize(
    "name", ["requestTimeoutSeconds", "capabilitiesTimeoutSeconds", "taskTtlSeconds"]
)
async def test_a_setting_that_counts_from_the_next_connection_on_says_so(
    tmp_path: Path, name: str
) -> None:
    async with site(tmp_path) as web, web.page() as page:
        await page.connected("demo")
        await page.ask("SetSetting", name=name, value=7)
        await page.until(lambda: page.things["servers", "demo"]["is_outdated"])
        await page.ask("SetSetting", name=name, value=None)
        await page.until(lambda: not page.things["servers", "demo"]["is_outdated"])
        await page.ask("SetSetting", name="secretKeys", value=["pin"])
        assert not (await page.ask("Connect", server_id="demo"))["is_outdated"]


async def test_how_often_to_try_again_is_a_setting_and_the_server_s_own_wins(
    tmp_path: Path,
) -> None:
    nobody = {"url": "http://127.0.0.1:9/mcp", "retryBackoff": [1]}
    write_config(tmp_path, nobody=nobody, stubborn={**nobody, "maxRetries": 2})
    async with site(tmp_path) as web, web.page() as page:
        await page.ask("SetSetting", name="connectionRetryCount", value=1)
        for name, attempts in (("nobody", 2), ("stubborn", 3)):
            await page.ask("Connect", server_id=name)

            def told(name: str = name) -> int | None:
                error = page.things["servers", name]["error"]
                return error["details"].get("attempts") if error else None

            assert await page.until(told) == attempts


async def test_a_setting_that_nothing_reads_is_not_shown(tmp_path: Path) -> None:
    async with site(tmp_path) as web, web.page() as page:
        settings = {one["name"]: one for one in page.hello["settings"]}
        assert "settings" not in settings
        used = settings["connectionRetryCount"]
        assert (used["is_editable"], used["note"]) == (True, None)


async def test_what_the_command_line_said_is_shown_without_its_secrets(tmp_path: Path) -> None:
    overrides = {
        "headers": {"Authorization": "s3cret"}, "env": {"TOKEN": "s3cret"}, "cwd": "/there",
        "request_timeout_s": 5.0, "connection_timeout_s": None, "max_retries": 0,
        "insecure": True,
    }  # fmt: skip
    async with site(tmp_path) as web:
        raw = {"url": "http://127.0.0.1:9/mcp", "headers": {"X-Own": "1"}}
        web.workspace.give(web.workspace.new_server("given", raw, overrides))
        async with web.page() as page:
            view = page.things["servers", "given"]
            assert view["header_names"] == ["Authorization", "X-Own"]
            assert (view["env_names"], view["cwd"]) == (["TOKEN"], "/there")
            assert view["flags"] == [
                "--header Authorization", "--env TOKEN", "--cwd /there", "--insecure",
                "--timeout 5", "--connect-timeout 0", "--retries 0",
            ]  # fmt: skip
            notes = {one["name"]: one["note"] for one in page.hello["settings"]}
            assert notes["requestTimeoutSeconds"] == "given has --timeout 5, from the command line."
            assert notes["connectionRetryCount"] == "given has --retries 0, from the command line."
            assert "s3cret" not in json.dumps(page.hello)


async def test_what_is_built_in_is_not_removable(tmp_path: Path) -> None:
    async with site(tmp_path) as web, web.page() as page:
        assert not page.things["servers", "demo"]["is_removable"]
        with pytest.raises(Refusal, match="built in"):
            await page.ask("ServerRemove", server_id="demo")


async def test_tasks_of_both_roles_live_as_long_as_the_setting_says(tmp_path: Path) -> None:
    async with site(tmp_path) as web, web.page() as page:
        await page.ask("SetSetting", name="taskTtlSeconds", value=7)
        await page.connected("demo")
        call = await page.call(
            "CallTool", server_id="demo", name="echo", arguments={"text": "x"}, as_task=True,
            send_anyway=True,
        )  # fmt: skip
        assert call["request"]["task"] == {"ttl": 7000}
        client = web.workspace.find("demo").client
        assert client is not None
        assert client._options.receiver_task_ttl_s == 7


async def test_a_pasted_command_line_or_address_becomes_an_entry(web: Site) -> None:
    async with web.page() as page:
        found = await page.ask("ParseTarget", text="TOKEN=x npx -y some-server --flag 'a b'")
        assert found["name"] == "some-server"
        assert found["raw"]["args"] == ["-y", "some-server", "--flag", "a b"]
        assert found["raw"]["env"] == {"TOKEN": "x"}
        remote = await page.ask("ParseTarget", text="https://example.com:8080/mcp")
        assert (remote["name"], remote["transport"]) == ("example.com:8080", "http")
        with pytest.raises(Refusal):
            await page.ask("ParseTarget", text="echo 'half")


async def test_servers_are_given_out_in_another_shape(tmp_path: Path) -> None:
    write_config(tmp_path, one={"command": "x", "env": {"A": "${B}"}}, other={"command": "y"})
    async with site(tmp_path) as web, web.page() as page:
        exported = await page.ask("ServerExport", shape="vscode")
        assert "${env:B}" in exported["text"]
        assert "mcplens.demo" not in exported["text"]
        chosen = await page.ask("ServerExport", shape="mcpServers", servers=["other"])
        assert list(json.loads(chosen["text"])["mcpServers"]) == ["other"]


async def test_a_setting_is_written_and_put_back(tmp_path: Path) -> None:
    async with site(tmp_path) as web, web.page() as page:
        changed = await page.ask("SetSetting", name="requestTimeoutSeconds", value=5)
        assert (changed["value"], changed["default"]) == (5, 60)
        assert json.loads(user_config(tmp_path).read_text()) == {"requestTimeoutSeconds": 5}
        back = await page.ask("SetSetting", name="requestTimeoutSeconds", value=None)
        assert (back["value"], back["source"]) == (60, "default")
        with pytest.raises(Refusal):
            await page.ask("SetSetting", name="requestTimeoutSeconds", value="soon")


async def test_folders_are_listed_and_files_are_not(tmp_path: Path) -> None:
    (tmp_path / "a folder").mkdir()
    (tmp_path / "a file").write_text("x")
    async with site(tmp_path) as web, web.page() as page:
        found = await page.ask("BrowseFolder")
        assert "a folder" in found["folders"]
        assert "a file" not in found["folders"]
        inside = await page.ask("BrowseFolder", path=str(tmp_path / "a folder"))
        assert inside["uri"].endswith("/a%20folder")
        for wrong in (str(tmp_path / "nowhere"), "http://example.com/", "a\0b"):
            with pytest.raises(Refusal, match=r"cannot be (listed|a root)"):
                await page.ask("BrowseFolder", path=wrong)


async def test_choosing_a_folder_begins_near_to_what_was_typed(tmp_path: Path) -> None:
    folder = tmp_path / "a folder"
    folder.mkdir()
    (folder / "a file").write_text("x")
    async with site(tmp_path) as web, web.page() as page:
        for typed in (
            str(folder), folder.as_uri(), f"{folder.as_uri()}/nowhere/at/all", "~/a folder/typo",
            str(folder / "a file"), "../a folder",
        ):  # fmt: skip
            found = await page.ask("BrowseFolder", path=typed, is_start=True)
            assert found["path"] == str(folder), typed
        for typed in ("file:half", "http://example.com/", "a\0b"):
            found = await page.ask("BrowseFolder", path=typed, is_start=True)
            assert found["path"] == str(tmp_path), typed


@pytest.mark.skipif(os.name != "posix", reason="there are no named pipes")
async def test_a_path_that_is_a_pipe_is_refused_and_the_page_goes_on(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    write_config(tmp_path, piped={"command": "x", "envFile": str(tmp_path / "pipe")})
    async with site(tmp_path) as web, web.page() as page:
        assert "it is a pipe or a device" in page.things["servers", "piped"]["problem"]["message"]
        with pytest.raises(Refusal, match="it is a pipe or a device"):
            await page.ask("ServerRead", path=str(tmp_path / "pipe"))


async def test_a_form_shows_all_values_but_secrets(tmp_path: Path) -> None:
    env = {
        "LOG_LEVEL": "debug", "API_TOKEN": "t0ken", "PIN": "1234", "CODE": "${CODE}",
        "DATABASE": "postgres://me:pw@db/x", "DOCS": "https://h/?page=2",
        "HEADERS": '{"Authorization": "Bearer n0ted"}', "NOTE": "a bearer of news",
    }  # fmt: skip
    write_config(
        tmp_path,
        local={**good(), "env": env, "secretKeys": {"PIN": None, "OTP": "77"}},
        remote={
            "url": "http://127.0.0.1:9/mcp",
            "headers": {"X-Tenant": "blue", "X-Sent-As": "Bearer b", "Cookie": "c"},
        },
    )
    async with site(tmp_path) as web, web.page() as page:
        local = await page.ask("ServerEntryOf", server_id="local")
        assert {
            name: local["raw"]["env"][name] for name in ("LOG_LEVEL", "CODE", "DOCS", "NOTE")
        } == {name: env[name] for name in ("LOG_LEVEL", "CODE", "DOCS", "NOTE")}
        assert [(one["key"], one["name"]) for one in local["secrets"]] == [
            ("env", "API_TOKEN"), ("env", "PIN"), ("env", "DATABASE"), ("env", "HEADERS"),
            ("secretKeys", "OTP"),
        ]  # fmt: skip
        assert not {"t0ken", "1234", "me:pw", "77"} & set(json.dumps(local["raw"]).split('"'))
        remote = await page.ask("ServerEntryOf", server_id="remote")
        assert remote["raw"]["headers"]["X-Tenant"] == "blue"
        assert [one["name"] for one in remote["secrets"]] == ["X-Sent-As", "Cookie"]
        # What was shown is edited as it is, what was not stays.
        local["raw"]["env"]["LOG_LEVEL"] = "info"
        await page.ask("ServerEdit", server_id="local", raw=local["raw"])
        kept = json.loads(user_config(tmp_path).read_text())["mcpServers"]["local"]
        assert kept["env"] == {**env, "LOG_LEVEL": "info"}


def files_with(folder: Path, data: bytes) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file() and data in path.read_bytes()]


async def test_a_secret_is_revealed_to_the_page_that_asks_and_is_kept_nowhere(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    write_config(tmp_path, mine={**good(), "env": {"TOKEN": "s3cret", "MODE": "eager"}})
    async with site(tmp_path) as web, web.page() as page, web.page() as other:
        shown = await page.ask("RevealSecret", server_id="mine", key="env", name="TOKEN")
        assert shown == {"value": "s3cret"}
        for key, name in (("env", "MODE"), ("env", "GONE"), ("command", "TOKEN"), ("auth", "x")):
            with pytest.raises(Refusal, match="has no secret"):
                await page.ask("RevealSecret", server_id="mine", key=key, name=name)
        await page.connected("mine")
        assert "s3cret" not in json.dumps([page.changes, page.events, other.changes, other.hello])
        # Other than by the client of this test, which logs what it receives.
        logged = [one for one in caplog.records if not one.name.startswith("websockets.client")]
        assert not [one for one in logged if "s3cret" in one.getMessage()]
    assert files_with(tmp_path, b"s3cret") == [user_config(tmp_path)]


async def test_what_is_refused_on_save_names_its_fields(tmp_path: Path) -> None:
    async def fields(command: str, **what: object) -> dict[str, str]:
        with pytest.raises(Refusal) as refused:
            await page.ask(command, **what)
        return {one["key"]: one["text"] for one in refused.value.error["details"]["fields"]}

    write_config(tmp_path, mine={**good(), "env": {"TOKEN": "one", "SECRET": "two"}})
    async with site(tmp_path) as web, web.page() as page:
        wrong = {"command": "x", "maxConcurrency": 0, "retryBackoff": [5, -1], "meta": 3}
        assert await fields("ServerAdd", name="new", raw=wrong) == {
            "maxConcurrency": "must be 1 or more",
            "retryBackoff[1]": "must not be negative",
            "meta": "must be an object, not a number",
        }
        assert list(await fields("ServerAdd", name="a/b", raw={"command": "x"})) == ["@name"]
        url = {"url": "http://x/", "transport": "websocket"}
        assert list(await fields("ServerAdd", name="new", raw=url)) == ["url"]
        shown = (await page.ask("ServerEntryOf", server_id="mine"))["raw"]
        renamed = dict(zip(("A", "B"), shown["env"].values(), strict=True))
        told = await fields("ServerEdit", server_id="mine", raw={**shown, "env": renamed})
        assert list(told) == ["env.A", "env.B"]
        # What this computer lacks may come later.
        later = {"command": "x", "args": ["${NOT_YET}"], "envFile": str(tmp_path / "not-yet.env")}
        await page.ask("ServerAdd", name="new", raw=later)
        view = await page.until(lambda: page.things.get(("servers", "new")))
        assert "NOT_YET" in view["problem"]["message"]
        assert "not-yet.env" in view["problem"]["message"]


async def test_a_server_with_a_missing_env_file_is_imported_and_says_what_is_missing(
    tmp_path: Path,
) -> None:
    vscode = Path(machine(tmp_path).cwd) / ".vscode" / "mcp.json"
    vscode.parent.mkdir(parents=True)
    servers = {
        "late": {**good(), "envFile": "its.env"},
        "wrong": {"command": "x", "args": 5, "envFile": "its.env"},
    }
    vscode.write_text(json.dumps({"servers": servers}))
    async with site(tmp_path) as web, web.page() as page:
        found = {one["name"]: one for one in await page.ask("FoundServers")}
        assert (found["late"]["can_be_added"], found["wrong"]["can_be_added"]) == (True, False)
        (problem,) = found["late"]["problems"]
        missing = Path(machine(tmp_path).cwd) / "its.env"
        assert (problem["key"], problem["is_local"], str(missing) in problem["text"]) == (
            "envFile", True, True,
        )  # fmt: skip
        late = found["late"]
        offers = {"late": late["offer_id"]}
        await page.ask("ServerImport", servers={"late": late["raw"]}, offers=offers)
        view = await page.until(lambda: page.things.get(("servers", "late")))
        assert str(missing) in view["problem"]["message"]
        await page.confirmed("late")
        with pytest.raises(Refusal, match=r"its\.env"):
            await page.ask("Connect", server_id="late")
        # It works as soon as the file is there.
        missing.write_text("A=1\n")
        assert await page.connected("late")


async def test_an_export_tells_what_is_not_in_the_entry(tmp_path: Path) -> None:
    write_config(tmp_path, socket={"url": "ws://h"})
    async with site(tmp_path) as web:
        given = web.workspace.new_server("given", {"command": "x"}, {"env": {"TOKEN": "t"}})
        web.workspace.give(given)
        async with web.page() as page:
            made = await page.ask("ServerExport", shape="mcpServers")
            told = [(one["server"], one["text"]) for one in made["remarks"]]
            assert told == [
                ("socket", "left out: mcpServers does not support websocket"),
                ("given", "what the command line said is not in it: --env TOKEN"),
            ]


async def test_secrets_of_one_length_are_renamed_as_the_form_says(tmp_path: Path) -> None:
    write_config(tmp_path, mine={**good(), "env": {"A_TOKEN": "one", "B_TOKEN": "two"}})
    async with site(tmp_path) as web, web.page() as page:
        raw = (await page.ask("ServerEntryOf", server_id="mine"))["raw"]
        swapped = {"env": {"A_TOKEN": "B_TOKEN", "B_TOKEN": "A_TOKEN"}}
        await page.ask("ServerEdit", server_id="mine", raw=raw, saved=swapped)
        renamed = {**raw, "env": {"X": raw["env"]["A_TOKEN"], "Y": raw["env"]["B_TOKEN"]}}
        saved = {"env": {"X": "A_TOKEN", "Y": "B_TOKEN"}}
        await page.ask("ServerAdd", name="copy", raw=renamed, copy_of="mine", saved=saved)
        kept = json.loads(user_config(tmp_path).read_text())["mcpServers"]
        assert kept["mine"]["env"] == {"A_TOKEN": "two", "B_TOKEN": "one"}
        assert kept["copy"]["env"] == {"X": "two", "Y": "one"}
