"""MCP Apps behind the page: its port, its messages, and what it may ask of its server."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

import mcplens.workspace.apps as kept_apps

from .asking import SERVER, STATELESS, write_demo
from .harness import Page, Refusal, Site, site


@pytest.fixture
async def web(tmp_path: Any) -> AsyncIterator[Site]:
    write_demo(tmp_path, STATELESS)
    async with site(tmp_path) as web:
        yield web


def sandbox(web: Site, path: str) -> str:
    return f"http://127.0.0.1:{web.workspace.apps.port}{path}"


async def opened(page: Page, tool: str = "app-everything", **more: Any) -> dict[str, Any]:
    await page.connected(SERVER)
    found: dict[str, Any] = await page.ask("OpenApp", server_id=SERVER, tool=tool, **more)
    return found


async def asked(page: Page, app: dict[str, Any], method: str, **params: Any) -> dict[str, Any]:
    message = {"jsonrpc": "2.0", "id": 7, "method": method, "params": params}
    answer = await page.ask("RequestForApp", app_id=app["app_id"], text=json.dumps(message))
    found: dict[str, Any] = answer["message"]
    assert found["id"] == 7
    return found


async def test_the_page_may_frame_the_port_of_apps_and_nothing_else(web: Site) -> None:
    async with web.http.get(web.origin + "/s/asker/apps") as answer:
        policy = answer.headers["Content-Security-Policy"]
        granting = answer.headers["Permissions-Policy"]
    apps = f"http://127.0.0.1:{web.workspace.apps.port}"
    assert policy.endswith(f"; frame-src {apps}")
    assert policy.count("http:") == 1
    assert granting == (
        f'camera=(self "{apps}"), microphone=(self "{apps}"), geolocation=(self "{apps}"), '
        "payment=(), usb=()"
    )


async def test_the_proxy_frames_its_own_port_for_the_page_alone(web: Site) -> None:
    async with web.http.get(sandbox(web, "/proxy")) as answer:
        policy, html = answer.headers["Content-Security-Policy"], await answer.text()
        assert answer.headers["Cache-Control"] == "no-store"
        assert answer.cookies == {}
    assert "frame-src 'self'" in policy
    assert f"frame-ancestors {web.origin}" in policy
    nonce = policy.partition("'nonce-")[2].partition("'")[0]
    assert f'<script nonce="{nonce}">' in html


async def test_an_app_is_served_byte_for_byte_under_its_own_policy(web: Site) -> None:
    async with web.page() as page:
        app = await opened(page)
    async with web.http.get(sandbox(web, f"/doc/{app['key']}")) as answer:
        body, headers = await answer.read(), answer.headers
    assert len(body) == app["size_bytes"]
    assert b"title.textContent = `Connected to ${hostInfo.name}`" in body
    policy = headers["Content-Security-Policy"]
    assert policy.startswith("default-src 'none'; script-src 'unsafe-inline'; ")
    assert f"frame-ancestors {web.origin} {sandbox(web, '')};" in policy
    assert "sandbox allow-scripts allow-forms; report-uri /report/" in policy
    assert (headers["Cache-Control"], headers["X-Content-Type-Options"]) == ("no-store", "nosniff")
    assert set(app["permissions"]) == {"clipboardWrite", "geolocation"}
    assert app["prefers_border"] is True


async def test_what_is_not_a_frame_of_ours_gets_nothing_from_the_port_of_apps(web: Site) -> None:
    async with web.page() as page:
        app = await opened(page)
    path = f"/doc/{app['key']}"
    refused = [
        (path, {"Host": "rebound.example"}, 421),
        (path, {"Sec-Fetch-Dest": "document"}, 403),
        (path, {"Sec-Fetch-Dest": "script"}, 403),
        ("/proxy", {"Sec-Fetch-Dest": "empty"}, 403),
        ("/doc/guess", {}, 404),
        ("/api/session", {}, 404),
    ]
    for where, headers, status in refused:
        async with web.http.get(sandbox(web, where), headers=headers) as answer:
            assert answer.status == status
    kept = web.workspace.apps.find(app["app_id"])
    kept.opened_mono -= 1_000
    async with web.http.get(sandbox(web, path)) as answer:
        assert answer.status == 404
    assert kept.data is None


async def test_documents_make_room_for_newer_ones(
    web: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with web.page() as page:
        first = await opened(page)
        monkeypatch.setattr(kept_apps, "MOST_KEPT_BYTES", first["size_bytes"])
        second = await opened(page)
    for app, status in ((first, 404), (second, 200)):
        async with web.http.get(sandbox(web, f"/doc/{app['key']}")) as answer:
            assert answer.status == status


async def test_what_is_too_large_of_an_app_or_too_much_is_refused(
    web: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with web.page() as page:
        app = await opened(page)
        monkeypatch.setattr(kept_apps, "MOST_MESSAGE_BYTES", 20)
        text = '{"jsonrpc":"2.0","id":1,"method":"resources/list"}'
        for command, fields in (("RecordAppMessage", {"side": "app"}), ("RequestForApp", {})):
            with pytest.raises(Refusal, match="the message has 50 bytes; 20 are the most"):
                await page.ask(command, app_id=app["app_id"], text=text, **fields)
        monkeypatch.setattr(kept_apps, "MOST_DOCUMENT_BYTES", 100)
        with pytest.raises(Refusal, match=r"the app has [\d,]+ bytes; 100 are the most"):
            await opened(page)
        kept = web.workspace.apps.find(app["app_id"])
        for _ in range(kept_apps.MOST_VIOLATIONS + 10):
            web.workspace.apps.violated(kept.report_key, {"blocked-uri": "https://a.example"})
        monkeypatch.undo()
        await page.ask("RecordAppMessage", app_id=app["app_id"], side="app", text=text)
        await page.until(lambda: events(page, "AppMessageReceived"))  # they came before it
        assert len(events(page, "AppPolicyViolated")) == kept_apps.MOST_VIOLATIONS


async def test_an_ipv6_address_is_in_brackets_in_policies(web: Site) -> None:
    async with web.page() as page:
        app = await opened(page)
    port, page_port = web.workspace.apps.port, web.origin.rpartition(":")[2]
    headers = {"Host": f"[::1]:{port}"}
    for path in ("/proxy", f"/doc/{app['key']}"):
        async with web.http.get(sandbox(web, path), headers=headers) as answer:
            policy = answer.headers["Content-Security-Policy"]
        assert f"frame-ancestors http://[::1]:{page_port}" in policy
    headers = {"Host": f"[::1]:{page_port}"}
    async with web.http.get(web.origin + "/", headers=headers) as answer:
        policy = answer.headers["Content-Security-Policy"]
    assert policy.endswith(f"; frame-src http://[::1]:{port}")


async def test_violations_become_events_without_the_key_of_the_document(web: Site) -> None:
    async with web.page() as page:
        view = await opened(page, "app-blank")
        codes = {one["code"] for one in view["findings"]}
        assert codes == {"policy-on-tool", "undeclared-origin"}
        app = web.workspace.apps.find(view["app_id"])
        report = {
            "effective-directive": "script-src-elem",
            "blocked-uri": "https://cdn.mcplens.invalid/app.js",
            "line-number": 6,
        }
        url = sandbox(web, f"/report/{app.report_key}")
        for body, status in ((b"{", 204), (b"x" * 20_000, 413)):
            async with web.http.post(url, data=body) as answer:
                assert answer.status == status
        await web.http.post(url, json={"csp-report": report})
        event = await page.until(lambda: events(page, "AppPolicyViolated"))
    assert event[0]["detail"]["blocked"] == report["blocked-uri"]
    assert event[0]["detail"]["line"] == 6
    assert app.key not in json.dumps(page.events)


def events(page: Page, kind: str) -> list[dict[str, Any]]:
    return [event for event in page.events if event["kind"] == kind]


async def test_what_an_app_calls_is_linked_through_both_lanes(web: Site) -> None:
    async with web.page() as page:
        app = await opened(page)
        answer = await asked(page, app, "tools/call", name="app-roll", arguments={"sides": 6})
        assert answer["result"]["content"][0]["text"] == "A die of 6 sides shows 3"
        read = await asked(page, app, "resources/read", uri="demo://text")
        assert read["result"]["contents"][0]["uri"] == "demo://text"
        assert (await asked(page, app, "prompts/list"))["result"]["prompts"]
        sent = await page.until(lambda: len(events(page, "AppMessageSent")) == 3 and page.events)
    (first, *_), (reply, *_) = events(page, "AppMessageReceived"), events(page, "AppMessageSent")
    assert (first["method"], first["status"]) == ("tools/call", "request")
    assert (reply["method"], reply["request_seq"]) == ("tools/call", first["seq"])
    (frame,) = [one for one in sent if one["caused_by_seq"] == first["seq"]]
    assert (frame["kind"], frame["method"]) == ("FrameSent", "tools/call")


async def test_what_is_not_for_an_app_is_refused_with_the_reason(web: Site) -> None:
    async with web.page() as page:
        app = await opened(page)
        model_only = await asked(page, app, "tools/call", name="app-secret")
        unknown = await asked(page, app, "tools/call", name="no-such-tool")
        nameless = await asked(page, app, "tools/call")
        other = await asked(page, app, "ui/open-link", url="https://example.com")
        gone = await asked(page, app, "resources/read", uri="demo://gone")
        frames = [one for one in page.events if one["method"] == "tools/call"]
    assert 'does not include "app"' in model_only["error"]["message"]
    assert "has no tool no-such-tool" in unknown["error"]["message"]
    assert nameless["error"]["code"] == -32602
    assert other["error"]["code"] == -32601
    assert gone["error"]["code"] == -32602
    assert not [one for one in frames if one["kind"] == "FrameSent"]


async def test_messages_of_the_page_and_their_refusals_are_recorded(web: Site) -> None:
    async with web.page() as page:
        app = await opened(page)
        hello = '{"jsonrpc":"2.0","id":1,"method":"ui/initialize","params":{}}'
        seq = await page.ask("RecordAppMessage", app_id=app["app_id"], side="app", text=hello)
        for side, text in (("host", '{"jsonrpc":"2.0","id":1,"result":{}}'), ("app", "[1")):
            more = {"refusal": "not JSON"} if side == "app" else {}
            await page.ask("RecordAppMessage", app_id=app["app_id"], side=side, text=text, **more)
        await page.until(lambda: len(events(page, "AppMessageReceived")) == 2)
        with pytest.raises(Refusal, match="no longer open"):
            await page.ask("RecordAppMessage", app_id="app-9", side="app", text="{}")
    (answer,) = events(page, "AppMessageSent")
    assert (answer["request_seq"], answer["method"]) == (seq, "ui/initialize")
    broken = events(page, "AppMessageReceived")[1]
    assert (broken["status"], broken["detail"]["refusal"]) == ("malformed", "not JSON")


async def test_a_tool_without_an_app_and_a_wrong_type_say_so(web: Site) -> None:
    async with web.page() as page:
        await page.connected(SERVER)
        for tool, text in (("echo", "has no app"), ("nothing", "lists no tool nothing")):
            with pytest.raises(Refusal, match=text):
                await page.ask("OpenApp", server_id=SERVER, tool=tool)


async def test_a_completion_for_an_app_is_a_question_that_goes_with_the_app(web: Site) -> None:
    content = {"type": "text", "text": "Hello"}
    result = {"role": "assistant", "content": content, "model": "me", "stopReason": "endTurn"}
    async with web.page() as page:
        app = await opened(page)

        def asking() -> asyncio.Future[dict[str, Any]]:
            message = {"role": "user", "content": {"type": "text", "text": "Hi"}}
            params: Any = {"messages": [message], "maxTokens": 10}
            return asyncio.ensure_future(asked(page, app, "sampling/createMessage", **params))

        def waiting() -> Any:
            kept = page.things.items()
            return [v for (what, _), v in kept if what == "questions" and v and not v["is_done"]]

        answer = asking()
        (question,) = await page.until(waiting)
        assert (question["origin"], question["call_id"]) == ("app", None)
        question_id = question["question_id"]
        await page.ask("AnswerSampling", question_id=question_id, result=result)
        assert (await answer)["result"] == result
        await page.until(lambda: not waiting())
        # What an app asks that is closed is withdrawn.
        answer = asking()
        await page.until(waiting)
        await page.ask("Abandon", command_id=page.last_id)
        with pytest.raises(Refusal, match="cancelled by the user"):
            await answer
        await page.until(lambda: not waiting())
        # Nor is anybody asked on behalf of a server that was disconnected, and the app is told.
        answer = asking()
        await page.until(waiting)
        await page.ask("Disconnect", server_id=SERVER)
        refusal = (await answer)["error"]["message"]
        assert refusal == "the connection ended while sampling/createMessage was being answered"
        await page.until(lambda: not waiting())
        closed = await page.until(lambda: [*map(outcome, events(page, "QuestionClosed"))][2:])
        assert closed == ["withdrawn"]


def outcome(event: dict[str, Any]) -> str:
    return str(event["detail"]["outcome"])
