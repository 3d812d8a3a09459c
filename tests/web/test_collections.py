"""Saved calls over the page's socket: saved, edited, confirmed, run, kept over a restart."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from mcplens.collections.test_file import read_test_file
from mcplens.known_secrets import known_secrets
from mcplens.workspace.saved_calls import LARGEST_ARGUMENTS

from .harness import PATIENCE_S, Page, Refusal, machine, site, write_config

TOOL = {"server_id": "demo", "tool": "add"}
SECRET = "s3cret-of-the-user"


def folder(home: Path) -> Path:
    return home / ".config" / "mcplens" / "collections"


def files(home: Path, pattern: str) -> list[Path]:
    return list(home.rglob(pattern))


def put(home: Path, name: str, text: str) -> Path:
    """A file that somebody else wrote."""
    path = folder(home) / f"{name}.mcp.yaml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


async def confirmed(page: Page, key: str) -> dict[str, Any]:
    shown = await page.ask("ShowCollection", key=key)
    view: dict[str, Any] = await page.ask("ConfirmCollection", key=key, digest=shown["digest"])
    return view


async def finished(page: Page, run: dict[str, Any]) -> dict[str, Any]:
    key = ("collection_runs", run["collection_run_id"])

    def view() -> Any:
        found = page.things.get(key, run)
        return found if found["elapsed_s"] is not None else None

    found: dict[str, Any] = await page.until(view)
    return found


async def ran(page: Page, view: dict[str, Any], **options: Any) -> dict[str, Any]:
    given = {"key": view["key"], "digest": view["digest"], "may_change": True, **options}
    return await finished(page, await page.ask("RunCollection", **given))


async def add(page: Page, **arguments: Any) -> dict[str, Any]:
    return await page.call("CallTool", server_id="demo", name="add", arguments=arguments)


async def test_a_saved_call_outlives_the_run_and_can_be_deleted(tmp_path: Path) -> None:
    async with site(tmp_path) as web, web.page() as page:
        await page.connected("demo")
        call = await add(page, a=2, b=3)
        view = await page.ask(
            "SaveCall", call_id=call["call_id"], key="team/sums", name=" five ", description="2 + 3"
        )
        assert (view["key"], view["is_confirmed"]) == ("team/sums", True)
        assert (folder(tmp_path) / "team" / "sums.mcp.yaml").read_text() == (
            "version: 1\ntests:\n  - name: five\n    description: 2 + 3\n    server: demo\n"
            "    call: add\n    with:\n      a: 2\n      b: 3\n"
        )
        for name, says in ((" ", "needs a name"), ("five", "already")):
            with pytest.raises(Refusal, match=says):
                await page.ask("SaveCall", call_id=call["call_id"], key="team/sums", name=name)
    async with site(tmp_path) as web, web.page() as page:
        (kept,) = await page.ask("ListSavedCalls", **TOOL)
        assert (kept["name"], json.loads(kept["arguments"])) == ("five", {"a": 2, "b": 3})
        assert kept["result"]["content"][0]["text"] == "5"
        assert await page.ask("ListSavedCalls", server_id="demo", tool="echo") == []
        where = {name: kept[name] for name in ("key", "digest", "index")}
        assert (await page.ask("DeleteSavedCall", **where))["steps"] == []
        assert await page.ask("ListSavedCalls", **TOOL) == []


async def test_every_kind_of_call_can_be_saved_and_run(tmp_path: Path) -> None:
    async with site(tmp_path) as web, web.page() as page:
        await page.connected("demo")
        listed = await page.ask("List", server_id="demo", kind="resources")
        uri = listed["items"][0]["value"]["uri"]
        made = [
            ("reads", await page.call("ReadResource", server_id="demo", uri=uri)),
            ("lists", await page.call("Request", server_id="demo", method="tools/list")),
            ("adds", await add(page, a=1, b=1)),
        ]
        for name, call in made:
            await page.ask("SaveCall", call_id=call["call_id"], key="all", name=name)
        raw = await page.call(
            "SendRaw", server_id="demo", text='{"jsonrpc":"2.0","id":77,"method":"ping"}'
        )
        with pytest.raises(Refusal, match="raw bytes cannot be saved"):
            await page.ask("SaveCall", call_id=raw["call_id"], key="all", name="raw")
        view = await page.ask("ShowCollection", key="all")
        assert [step["kind"] for step in view["steps"]] == ["read", "request", "call"]
        run = await ran(page, view)
        assert [row["status"] for row in run["rows"]] == ["done"] * 3
        assert run["rows"][2]["text"] == "2"
        assert run["rows"][2]["call_id"] in {key for what, key in page.things if what == "calls"}


async def test_a_secret_argument_is_a_variable_and_is_known_for_this_run(tmp_path: Path) -> None:
    async with site(tmp_path) as web, web.page() as page:
        await page.connected("demo")
        call = await page.call(
            "CallTool", server_id="demo", name="echo", send_anyway=True,
            arguments={"text": "hi", "api_key": SECRET, "note": "${HOME}"},
        )  # fmt: skip
        view = await page.ask("SaveCall", call_id=call["call_id"], key="s", name="one")
        given = {"text": "hi", "api_key": "${API_KEY}", "note": "$${HOME}"}
        assert json.loads(view["steps"][0]["arguments"]) == given
        assert view["variables"] == [{"name": "API_KEY", "is_secret": True, "source": "typed"}]
        assert (await ran(page, view))["rows"][0]["status"] == "done"
        where = {"key": "s", "digest": view["digest"], "index": 0}
        with pytest.raises(Refusal, match="there is no call 8"):
            await page.ask("FillSavedCall", **{**where, "index": 7})
        filled = await page.ask("FillSavedCall", **where)
        assert json.loads(filled) == {"text": "hi", "api_key": SECRET, "note": "${HOME}"}
    assert SECRET not in "".join(path.read_text() for path in folder(tmp_path).rglob("*"))


async def test_a_variable_without_a_value_stops_the_run_before_anything_is_sent(
    tmp_path: Path,
) -> None:
    put(tmp_path, "v", """\
version: 1
server: demo
tests:
  - {name: first, call: echo, with: {text: no variable}}
  - {name: second, call: echo, with: {text: "${GREETING}, ${NAME}"}}
""")  # fmt: skip
    async with site(tmp_path, {"NAME": "${HOME} is text"}) as web, web.page() as page:
        view = await confirmed(page, "v")
        given = {"key": "v", "digest": view["digest"]}
        plan = await page.ask("PlanRun", **given)
        assert plan["unset"] == [{"name": "GREETING", "is_secret": False, "source": None}]
        with pytest.raises(Refusal, match="not set: GREETING"):
            await page.ask("RunCollection", **given, may_change=True)
        assert page.events == []
        assert page.things["servers", "demo"]["state"] == "DISCONNECTED"
        await page.ask("SetVariables", values={"GREETING": "Hello"})
        assert (await page.ask("PlanRun", **given))["unset"] == []
        run = await ran(page, view)
        assert run["rows"][1]["text"] == "Hello, ${HOME} is text"


async def test_a_secret_value_is_masked_in_the_recording(tmp_path: Path) -> None:
    put(tmp_path, "s", """\
version: 1
server: demo
tests:
  - {name: by name, call: echo, with: {text: "Bearer ${SERVICE_TOKEN}"}}
""")  # fmt: skip
    known_secrets.forget()
    async with site(tmp_path, {"SERVICE_TOKEN": SECRET}) as web, web.page() as page:
        view = await confirmed(page, "s")
        assert view["variables"][0]["is_secret"] is True
        run = await ran(page, view)
        assert run["rows"][0]["text"] == f"Bearer {SECRET}"
        await page.until(lambda: [e for e in page.events if e["kind"] == "FrameReceived"])
        assert SECRET not in json.dumps(page.events)
    holders = [one for one in files(tmp_path, "recording*") if SECRET.encode() in one.read_bytes()]
    assert holders == []


async def test_a_file_from_elsewhere_is_confirmed_once_per_content(tmp_path: Path) -> None:
    text = "version: 1\nserver: demo\ntests:\n  - {name: a, call: echo, with: {text: '${HOME}'}}\n"
    path = put(tmp_path, "cloned", text)
    async with site(tmp_path) as web, web.page() as page:
        view = await page.ask("ShowCollection", key="cloned")
        assert (view["is_confirmed"], view["servers"]) == (False, ["demo"])
        assert [one["name"] for one in view["variables"]] == ["HOME"]
        given = {"key": "cloned", "digest": view["digest"]}
        assert (await page.ask("PlanRun", **given))["needs_confirmation"] is True
        for command, more in (
            ("RunCollection", {"may_change": True}),
            ("FillSavedCall", {"index": 0}),
        ):
            with pytest.raises(Refusal, match="confirm"):
                await page.ask(command, **given, **more)
        assert page.things["servers", "demo"]["state"] == "DISCONNECTED"
        assert (await page.ask("ConfirmCollection", **given))["is_confirmed"] is True
        assert (await ran(page, view))["rows"][0]["status"] == "done"
    async with site(tmp_path) as web, web.page() as page:
        assert (await page.ask("ShowCollection", key="cloned"))["is_confirmed"] is True
        path.write_text(text + "# more\n")
        assert (await page.ask("ShowCollection", key="cloned"))["is_confirmed"] is False
        with pytest.raises(Refusal, match="changed by another program"):
            await page.ask("ConfirmCollection", **given)


async def test_tools_that_may_change_something_are_asked_about(tmp_path: Path) -> None:
    put(tmp_path, "w", """\
version: 1
server: demo
tests:
  - {name: reads, call: annotated-read-only}
  - {name: deletes, call: annotated-destructive}
  - {name: lists, request: tools/list}
  - {name: sends, request: logging/setLevel, with: {level: info}}
""")  # fmt: skip
    async with site(tmp_path) as web, web.page() as page:
        await page.connected("demo")
        tools = await page.ask("List", server_id="demo", kind="tools")
        marked = {
            item["value"]["name"]: item["value"].get("annotations", {}).get("readOnlyHint")
            for item in tools["items"]
        }
        reading = next(name for name, mark in marked.items() if mark is True)
        changing = next(name for name, mark in marked.items() if not mark)
        path = folder(tmp_path) / "w.mcp.yaml"
        text = path.read_text().replace("annotated-read-only", reading)
        path.write_text(text.replace("annotated-destructive", changing))
        view = await confirmed(page, "w")
        given = {"key": "w", "digest": view["digest"]}
        plan = await page.ask("PlanRun", **given)
        assert plan["changing"] == [f"{changing} on demo", "logging/setLevel on demo"]
        assert (await page.ask("PlanRun", **given, steps=[0, 2]))["changing"] == []
        with pytest.raises(Refusal, match="may change something"):
            await page.ask("RunCollection", **given)
        run = await finished(page, await page.ask("RunCollection", **given, steps=[0, 2]))
        assert [row["index"] for row in run["rows"]] == [0, 2]


async def test_a_run_goes_across_servers_and_says_what_failed(tmp_path: Path) -> None:
    import sys

    demo = {"command": sys.executable, "args": ["-m", "mcplens.demo"], "inheritEnv": True}
    write_config(tmp_path, other=demo, broken={"command": "/no/such/program"})
    put(tmp_path, "mixed", """\
version: 1
server: demo
tests:
  - {name: one, call: add, with: {a: 1, b: 2}}
  - {name: two, server: other, call: add, with: {a: 3, b: 4}}
  - {name: bad arguments, call: add, with: {a: two}}
  - {name: no tool, call: none-such}
  - {name: not started, server: broken, call: add}
  - {name: not configured, server: nowhere, call: add}
  - {name: not a call, wait: 5}
  - {name: last, call: echo, with: {text: done}}
""")  # fmt: skip
    async with site(tmp_path) as web, web.page() as page:
        view = await confirmed(page, "mixed")
        run = await ran(page, view)
        rows = {row["name"]: row for row in run["rows"]}
        assert [row["status"] for row in run["rows"]] == [
            "done", "done", "error", "error", "error", "error", "error", "done",
        ]  # fmt: skip
        assert (rows["one"]["text"], rows["two"]["text"]) == ("3", "7")
        assert rows["two"]["server_id"] == "other"
        assert "broken is not connected" in rows["not started"]["text"]
        assert "there is no server 'nowhere'" in rows["not configured"]["text"]
        assert "only `mcplens test` runs" in rows["not a call"]["text"]
        stopped = await ran(page, view, stops_at_failure=True)
        assert [row["status"] for row in stopped["rows"]][2:] == ["error"] + ["skipped"] * 5
    async with site(tmp_path) as web, web.page() as page:
        assert page.hello["collection_runs"] == []


async def test_a_run_is_stopped_and_its_call_cancelled(tmp_path: Path) -> None:
    put(tmp_path, "slow", """\
version: 1
server: demo
tests:
  - {name: asks, call: elicit-form}
  - {name: never, call: add, with: {a: 1, b: 2}}
""")  # fmt: skip
    async with site(tmp_path) as web, web.page() as page:
        await page.connected("demo")
        tools = await page.ask("List", server_id="demo", kind="tools")
        names = [item["value"]["name"] for item in tools["items"]]
        asking = next(name for name in names if "elicit" in name or "ask" in name)
        path = folder(tmp_path) / "slow.mcp.yaml"
        path.write_text(path.read_text().replace("elicit-form", asking))
        view = await confirmed(page, "slow")
        given = {"key": "slow", "digest": view["digest"], "may_change": True}
        run = await page.ask("RunCollection", **given)
        await page.until(lambda: [key for what, key in page.things if what == "questions"])
        with pytest.raises(Refusal, match="is running already"):
            await page.ask("RunCollection", **given)
        await page.ask("StopRun", collection_run_id=run["collection_run_id"], cancel=True)
        ended = await finished(page, run)
        assert [row["status"] for row in ended["rows"]] == ["cancelled", "skipped"]


async def test_a_step_is_edited_and_a_file_that_changed_meanwhile_is_not(tmp_path: Path) -> None:
    path = put(tmp_path, "mine", "version: 1\nserver: demo\ntests:\n"
               "  # why\n  - name: a\n    call: add\n    expect: {is_error: false}\n")  # fmt: skip
    async with site(tmp_path) as web, web.page() as page:
        view = await page.ask("ShowCollection", key="mine")
        fields = {"key": "mine", "index": 0, "name": "b", "description": "d", "server_id": "",
                  "kind": "call", "target": "echo", "arguments": '{"text": "${X}"}'}  # fmt: skip
        edited = await page.ask("EditSavedCall", **fields, digest=view["digest"])
        assert edited["steps"][0]["name"] == "b"
        assert "# why" in edited["text"]
        assert "expect: {is_error: false}" in edited["text"]
        with pytest.raises(Refusal, match="changed by another program") as caught:
            await page.ask("EditSavedCall", **fields, digest=view["digest"])
        assert caught.value.error["details"]["changed_on_disk"] is True
        for wrong, says in (("{", "not valid JSON"), ("[]", "must be an object"),
                            ('{"a": "${"}', "is not a placeholder")):  # fmt: skip
            changed = {**fields, "arguments": wrong, "digest": edited["digest"]}
            with pytest.raises(Refusal, match=says):
                await page.ask("EditSavedCall", **changed)
        assert path.read_text() == edited["text"]
        renamed = await page.ask(
            "RenameCollection", key="mine", digest=edited["digest"], folder="f", name="new"
        )
        assert renamed["key"] == "f/new"
        await page.ask("DeleteCollection", key="f/new", digest=renamed["digest"])
        listed = await page.ask("ListCollections")
        assert (listed["files"], listed["folders"]) == ([], ["f"])


async def test_the_page_writes_only_files_that_it_was_given(tmp_path: Path) -> None:
    here = machine(tmp_path)
    outside = Path(here.cwd) / "team.mcp.yaml"
    outside.write_text("version: 1\ntests: []\n")
    async with site(tmp_path) as web, web.page() as page:
        await page.connected("demo")
        call = await add(page, a=1, b=2)
        for key in (str(outside), "../team", "a/../../team", "..", ""):
            with pytest.raises(Refusal):
                await page.ask("SaveCall", call_id=call["call_id"], key=key, name="x")
        assert outside.read_text() == "version: 1\ntests: []\n"
        assert files(tmp_path, "*.mcp.yaml") == [outside]


async def test_what_is_too_large_is_not_saved(tmp_path: Path) -> None:
    async with site(tmp_path) as web, web.page() as page:
        await page.connected("demo")
        text = "x" * LARGEST_ARGUMENTS
        call = await page.call("CallTool", server_id="demo", name="echo", arguments={"text": text})
        with pytest.raises(Refusal, match="too large"):
            await page.ask("SaveCall", call_id=call["call_id"], key="big", name="big")
        call = await page.call(
            "CallTool", server_id="demo", name="echo", arguments={"text": text[:20_000]}
        )
        await page.ask("SaveCall", call_id=call["call_id"], key="big", name="half")
        (kept,) = await page.ask("ListSavedCalls", server_id="demo", tool="echo")
        assert kept["result"] is None


async def test_two_pages_save_to_one_file_and_nothing_is_lost(tmp_path: Path) -> None:
    async with site(tmp_path) as web, web.page() as one, web.page() as other:
        await one.connected("demo")
        call = await add(one, a=1, b=2)
        await one.ask("CreateCollection", folder="", name="both")
        async with asyncio.timeout(PATIENCE_S), asyncio.TaskGroup() as group:
            for page, names in ((one, "abc"), (other, "xyz")):
                group.create_task(_save_all(page, call["call_id"], names))
        view = await one.ask("ShowCollection", key="both")
        assert sorted(step["name"] for step in view["steps"]) == list("abcxyz")


async def _save_all(page: Page, call_id: str, names: str) -> None:
    for name in names:
        await page.ask("SaveCall", call_id=call_id, key="both", name=name)


async def test_a_call_and_a_recorded_request_are_saved_as_tests(tmp_path: Path) -> None:
    async with site(tmp_path) as web, web.page() as page:
        await page.connected("demo")
        call = await add(page, a=2, b=3)
        failed = await page.call("CallTool", server_id="demo", name="fail-error", arguments={})
        for one, name in ((call, "five"), (failed, "refused")):
            await page.ask("SaveCall", call_id=one["call_id"], key="t", name=name, is_test=True)
        seq = (await page.until(lambda: page.things["calls", call["call_id"]]["request_seqs"]))[0]
        await page.ask("SaveRecordedTest", seq=seq, key="t", name="recorded")
        with pytest.raises(Refusal, match="not a request"):
            await page.ask("SaveRecordedTest", seq=1, key="t", name="nothing")
    path = folder(tmp_path) / "t.mcp.yaml"
    five, refused, recorded = read_test_file(path.read_text()).steps
    assert (five.expect, five.arguments) == ({"snapshot": True}, {"a": 2, "b": 3})
    assert (recorded.expect, recorded.arguments) == (five.expect, five.arguments)
    assert set(refused.expect or {}) == {"error"}
    found = json.loads((folder(tmp_path) / "t.mcp.snap.json").read_text())["snapshots"]
    assert found["five"] == found["recorded"]
    assert found["five"]["structuredContent"] == {"sum": 5}
    async with site(tmp_path) as web, web.page() as page:  # snapshots follow their tests
        view = await page.ask("ShowCollection", key="t")
        given = {"key": "t", "digest": view["digest"], "index": 0}
        fields = {"kind": "call", "target": "add", "arguments": '{"a": 2}', "server_id": "demo"}
        view = await page.ask("EditSavedCall", **given, name="sum", description="", **fields)
        given = {"key": "t", "digest": view["digest"]}
        view = await page.ask("DeleteSavedCall", **given, index=2)
        await page.ask("RenameCollection", key="t", digest=view["digest"], folder="", name="u")
    found = json.loads((folder(tmp_path) / "u.mcp.snap.json").read_text())["snapshots"]
    assert list(found) == ["sum"]
