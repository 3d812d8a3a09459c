"""What is secret reaches no file of the web UI's, and no page that need not have it."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from .harness import PATIENCE_S, Page, Refusal, Site, machine, site, user_config, write_config
from .test_history import recorded

SECRET = "s3cr3t-in-the-arguments"
DEMO: dict[str, Any] = {"command": sys.executable, "args": ["-m", "mcplens.demo"]}


def configure(home: Path, servers: dict[str, Any], **top: Any) -> None:
    path = user_config(home)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"mcpServers": servers, **top}))


def holders(folder: Path) -> list[str]:
    return [
        path.name
        for path in folder.rglob("*")
        if path.is_file() and SECRET.encode() in path.read_bytes()
    ]


async def echo(page: Page, server_id: str, text: str = SECRET) -> dict[str, Any]:
    await page.connected(server_id)
    return await page.call("CallTool", server_id=server_id, name="echo", arguments={"text": text})


def sent(page: Page, call: dict[str, Any]) -> dict[str, Any] | None:
    ids = call["request_ids"]
    found = (e for e in page.events if e["kind"] == "FrameSent" and e["request_id"] in ids)
    return next(found, None)


async def written(web: Site, count: int) -> None:
    """Until so many replies to calls are on the disk."""
    async with asyncio.timeout(PATIENCE_S):
        while True:
            query = {"method": "tools/call", "kind": "FrameReceived"}
            if len(await recorded(web, **query)) >= count:
                return
            await asyncio.sleep(0.05)  # the recorder writes on a thread of its own; nothing tells


@pytest.mark.parametrize("way", ["of a server", "of all servers"])
async def test_values_of_secret_keys_are_in_no_file(tmp_path: Path, way: str) -> None:
    if way == "of a server":
        configure(tmp_path, {"calc": {**DEMO, "secretKeys": ["text"]}})
    else:
        configure(tmp_path, {"calc": DEMO}, secretKeys=["text"])
    async with site(tmp_path) as web, web.page() as page:
        call = await echo(page, "calc")
        assert call["result"]["content"][0]["text"] == SECRET
        event = await page.until(lambda: sent(page, call))
        (pinned,) = await page.ask("Pin", run_id=event["run_id"], seq=event["seq"], label="it")
        assert SECRET not in json.dumps(pinned)
        example = await page.ask("SaveCall", call_id=call["call_id"], key="kept", name="one")
        assert SECRET not in json.dumps(example)
        await written(web, 1)
        assert holders(tmp_path) == []
        for shape in ("jsonl", "har"):
            status, exported = await web.get("/api/export", format=shape)
            assert status == 200
            assert SECRET.encode() not in exported
    assert holders(tmp_path) == []


async def test_a_known_secret_that_a_server_repeats_is_masked_in_all_but_the_result(
    tmp_path: Path,
) -> None:
    configure(tmp_path, {"calc": {**DEMO, "env": {"SERVICE_TOKEN": SECRET}}})
    async with site(tmp_path) as web, web.page() as page:
        call = await echo(page, "calc")
        assert call["result"]["content"][0]["text"] == SECRET
        event = await page.until(lambda: sent(page, call))
        assert SECRET not in json.dumps(page.events)
        where = f"{event['run_id']}/{event['seq']}"
        whole = await web.get_json(f"/api/event/{where}")
        (mark,) = whole["masked"]
        assert whole["text"][mark["start"] : mark["end"]] == "*" * len(SECRET)
        for path in (f"/api/event/{where}", f"/api/event/{where}/bytes"):
            assert SECRET.encode() not in (await web.get(path))[1]
        again = await page.call("ReplayCall", seq=event["seq"])
        assert again["result"] == call["result"]  # of this run it is in memory
        (pinned,) = await page.ask("Pin", run_id=event["run_id"], seq=event["seq"], label="it")
        assert SECRET not in json.dumps(pinned)
        await page.ask("SaveCall", call_id=call["call_id"], key="kept", name="one")
        await written(web, 2)
        for shape in ("jsonl", "har"):
            _, exported = await web.get("/api/export", format=shape)
            assert SECRET.encode() not in exported
        found = await web.get_json("/api/history/matches", run=event["run_id"], text=SECRET)
        assert found["seqs"] == []
    assert holders(tmp_path) == ["mcp.json"]
    async with site(tmp_path) as web, web.page() as page:
        await page.connected("calc")
        with pytest.raises(Refusal, match="a token or password that was masked"):
            await page.ask("ReplayCall", run_id=event["run_id"], seq=event["seq"])


async def test_a_server_that_nobody_confirmed_cannot_choose_what_is_masked(tmp_path: Path) -> None:
    project = Path(machine(tmp_path).cwd)
    entry = {**DEMO, "env": {"TOKEN": "of another server"}}
    (project / "mcp.json").write_text(json.dumps({"mcpServers": {"cloned": entry}}))
    async with site(tmp_path) as web, web.page() as page:
        await echo(page, "demo", "of another server")
        await written(web, 1)
        _, exported = await web.get("/api/export", format="jsonl")
        assert b"of another server" in exported


async def test_a_key_that_becomes_secret_is_secret_from_then_on(tmp_path: Path) -> None:
    configure(tmp_path, {"calc": DEMO, "open": DEMO})
    async with site(tmp_path) as web, web.page() as page:
        await echo(page, "calc", "before")
        await page.ask("ServerEdit", server_id="calc", raw={**DEMO, "secretKeys": ["text"]})
        await echo(page, "calc")
        await echo(page, "open", "of another server")
        await written(web, 3)
        assert holders(tmp_path) == []
        _, exported = await web.get("/api/export", format="jsonl")
        # What was recorded before is masked on its way out; what is another server's stays.
        assert b"before" not in exported
        assert b"of another server" in exported
        url, headers = f"{web.inside}/api/export/rows", {"Origin": web.origin}
        async with web.http.post(url, data="[1, 99999]", headers=headers) as answer:
            rows = (await answer.json())["rows"]
        _, exported = await web.get("/api/export", run=web.workspace.bus.run_id, rows=rows)
        assert b"before" not in exported
        assert b"of another server" in exported


async def test_nothing_is_recorded_while_it_cannot_be_known_what_is_secret(tmp_path: Path) -> None:
    user_config(tmp_path).parent.mkdir(parents=True)
    user_config(tmp_path).write_text('{"secretKeys": 5}')
    async with site(tmp_path) as web, web.page() as page:
        assert "the secret keys are not known" in page.hello["recording_problem"]
        assert (await web.get("/api/export", format="jsonl"))[0] == 409
        user_config(tmp_path).write_text('{"secretKeys": ["text"]}')
        web.workspace.reload()
        await echo(page, "demo")
        await written(web, 1)
        assert holders(tmp_path) == []


async def test_what_a_placeholder_stands_for_is_not_shown(tmp_path: Path) -> None:
    args = ["-c", "raise SystemExit(3)", "--token", "${API_TOKEN}", "https://u:pw@host/?key=k3y"]
    write_config(tmp_path, mine={**DEMO, "args": args, "env": {"A": "${API_TOKEN}"}})
    async with site(tmp_path, variables={"API_TOKEN": SECRET}) as web, web.page() as page:
        view = page.things["servers", "mine"]
        assert view["command"][3:5] == ["--token", "${API_TOKEN}"]
        assert "${API_TOKEN}" in view["shown"]
        assert "pw" not in view["command"][5]
        assert "k3y" not in view["command"][5]
        await page.ask("Connect", server_id="mine")
        view = await page.in_state("mine", "ERROR")
        assert view["error"]["details"]["exit_code"] == 3
        assert SECRET not in json.dumps(view)


async def test_secrets_of_other_tools_are_imported_and_never_shown(tmp_path: Path) -> None:
    cursor = tmp_path / ".cursor" / "mcp.json"
    cursor.parent.mkdir()
    raw = {"command": "x", "env": {"TOKEN": SECRET, "PLAIN": "${HOME}"}}
    cursor.write_text(json.dumps({"mcpServers": {"theirs": raw}}))
    async with site(tmp_path) as web, web.page() as page:
        (found,) = await page.ask("FoundServers")
        (read,) = await page.ask("ServerRead", path=str(cursor))
        assert SECRET not in json.dumps([found, read])
        assert found["raw"]["env"]["PLAIN"] == "${HOME}"
        for name, one in (("found", found), ("read", read)):
            offers = {name: one["offer_id"]}
            await page.ask("ServerImport", servers={name: one["raw"]}, offers=offers)
        servers = json.loads(user_config(tmp_path).read_text())["mcpServers"]
        assert servers == {"found": raw, "read": raw}
        with pytest.raises(Refusal, match="search for servers again"):
            await page.ask("ServerImport", servers={"x": found["raw"]}, offers={"x": "o99"})
        with pytest.raises(Refusal, match="mask of a secret"):
            await page.ask("ServerImport", servers={"x": found["raw"]})


async def test_an_export_of_servers_says_how_many_secrets_are_in_it(tmp_path: Path) -> None:
    write_config(
        tmp_path,
        one={
            "command": "x",
            "args": ["--api-key", "k", "--token=t", "--password", "${P}", "--verbose", "5"],
            "env": {"TOKEN": "t", "LOG_LEVEL": "debug", "API_KEY": "${K}", "PIN": "1"},
            "secretKeys": ["PIN"],
        },
        two={"url": "https://h/mcp?key=k", "headers": {"Authorization": "Bearer b", "X": "y"}},
    )
    async with site(tmp_path) as web, web.page() as page:
        made = await page.ask("ServerExport", shape="mcpServers")
        assert made["secret_count"] == 6
        made = await page.ask("ServerExport", shape="mcpServers", servers=["two"])
        assert made["secret_count"] == 2


async def test_an_import_waits_for_a_yes_in_every_process_that_runs(tmp_path: Path) -> None:
    async with site(tmp_path) as web, web.page() as page, site(tmp_path) as other:
        await page.ask("ServerImport", servers={"brought": DEMO})
        other.workspace.reload()
        entry = other.workspace.servers["brought"].entry
        assert other.workspace.confirmations.is_needed(entry)
        # What the other one writes does not take the mark away.
        async with other.page() as second:
            await second.ask("ServerImport", servers={"another": DEMO})
        web.workspace.reload()
        for name in ("brought", "another"):
            assert web.workspace.confirmations.is_needed(web.workspace.servers[name].entry)


async def test_what_cannot_be_marked_is_not_imported(tmp_path: Path) -> None:
    state = Path(machine(tmp_path).home) / ".local" / "state"
    state.mkdir(parents=True)
    (state / "mcplens").write_text("no folder")
    async with site(tmp_path) as web, web.page() as page:
        with pytest.raises(Refusal, match=r"imported\.json"):
            await page.ask("ServerImport", servers={"brought": DEMO})
        assert not user_config(tmp_path).exists()
        assert "brought" not in web.workspace.servers


async def test_what_was_masked_is_sent_again_with_todays_value_or_not_at_all(
    tmp_path: Path,
) -> None:
    configure(tmp_path, {"calc": {**DEMO, "secretKeys": ["text"]}})
    async with site(tmp_path) as web, web.page() as page:
        call = await echo(page, "calc")
        again = await page.call(
            "ReplayCall", seq=(await page.until(lambda: sent(page, call)))["seq"]
        )
        assert again["result"] == call["result"]  # of this run it is in memory
        await written(web, 2)
        (first, *_) = await recorded(web, method="tools/call", kind="FrameSent")
    asked = {"run_id": first["run_id"], "seq": first["seq"]}
    async with site(tmp_path) as web, web.page() as page:
        whole = await web.get_json(f"/api/event/{first['run_id']}/{first['seq']}")
        assert [one["key"] for one in whole["masked"]] == ["text"]
        await page.connected("calc")
        with pytest.raises(Refusal) as refused:
            await page.ask("ReplayCall", **asked)
        assert refused.value.error["details"]["missing"] == ["text"]
        assert not [one for one in page.events if one["method"] == "tools/call"]
    configure(tmp_path, {"calc": {**DEMO, "secretKeys": {"text": "${TODAY}"}}})
    async with site(tmp_path, variables={"TODAY": "today's"}) as web, web.page() as page:
        await page.connected("calc")
        call = await page.call("ReplayCall", **asked)
        assert call["result"]["content"][0]["text"] == "today's"
        assert "_meta" not in call["request"]


async def test_values_of_secret_keys_are_masked_in_the_form_and_kept_by_it(tmp_path: Path) -> None:
    keys = {"pin": SECRET, "code": "${CODE:-}", "other": None}
    configure(
        tmp_path, {"calc": {**DEMO, "secretKeys": keys}, "plain": {**DEMO, "secretKeys": ["a"]}}
    )
    async with site(tmp_path) as web, web.page() as page:
        shown = (await page.ask("ServerEntryOf", server_id="calc"))["raw"]
        assert SECRET not in json.dumps(shown)
        assert list(shown["secretKeys"]) == list(keys)
        await page.ask("ServerEdit", server_id="calc", raw={**shown, "requestTimeout": 5})
        kept = json.loads(user_config(tmp_path).read_text())["mcpServers"]["calc"]
        assert kept["secretKeys"] == keys
        plain = (await page.ask("ServerEntryOf", server_id="plain"))["raw"]
        assert plain["secretKeys"] == ["a"]
