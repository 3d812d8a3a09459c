"""`mcplens gateway` has a web UI beside it: the same servers, the same traffic, another token."""

from __future__ import annotations

import asyncio
import re
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import pytest

import mcplens
from mcplens.errors import InspectorError
from mcplens.inbound.server import Address
from mcplens.web.server import Opened
from tests.cli.shell import Shell
from tests.cli.test_gateway import DEMO, START_S, TOKEN, Started, bearer, configure, started
from tests.web.harness import Page, Site

WEB = re.compile(r"http://127\.0\.0\.1:(\d+)/#token=(\S+)")
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}


async def web_of(gateway: Started) -> Opened:
    """The web UI, as the second line of stdout has it."""
    assert gateway.process.stdout is not None
    async with asyncio.timeout(START_S):
        line = (await gateway.process.stdout.readline()).decode()
    return opened_of(line)


def opened_of(line: str) -> Opened:
    found = WEB.search(line)
    assert found is not None, line
    return Opened(Address("127.0.0.1", int(found[1])), found[2], "")


@asynccontextmanager
async def page_at(opened: Opened) -> AsyncIterator[Page]:
    workspace: Any = None  # it is in another process
    jar = aiohttp.CookieJar(unsafe=True)
    async with aiohttp.ClientSession(cookie_jar=jar) as http:
        site = Site(opened, workspace, http)
        await site.sign_in()
        async with site.page() as page:
            yield page


@asynccontextmanager
async def watched(shell: Shell) -> AsyncIterator[tuple[Started, Page]]:
    """A gateway, and a page that looks at it."""
    configure(shell)
    async with started(shell, "--token", TOKEN, "--web-port", "0") as gateway:
        opened = await web_of(gateway)
        async with page_at(opened) as page:
            yield gateway, page


async def test_the_token_of_one_opens_nothing_of_the_other(shell: Shell) -> None:
    configure(shell)
    async with started(shell, "--token", TOKEN, "--web-port", "0") as gateway:
        opened = await web_of(gateway)
        mcp, web = gateway.url, opened.url.rstrip("/")
        async with aiohttp.ClientSession() as http:
            for where, token, status in (
                (mcp, opened.token, 401),
                (mcp.replace("/mcp", "/status"), opened.token, 401),
                (mcp, TOKEN, 200),
            ):
                accept = {"Accept": "application/json, text/event-stream"}
                async with http.post(
                    where, json=INITIALIZE, headers={**bearer(token), **accept}
                ) as answer:
                    assert answer.status == status, where
            origin = {"Origin": web}
            for token, status in ((TOKEN, 401), (opened.token, 200)):
                session = f"{web}/api/session"
                async with http.post(session, json={"token": token}, headers=origin) as answer:
                    assert answer.status == status
            cookies = {"Cookie": f"mcplens-{opened.address.port}={TOKEN}"}
            for headers in (bearer(TOKEN), bearer(opened.token), cookies):
                async with http.get(f"{web}/api/runs", headers=headers) as answer:
                    assert answer.status in (401, 403, 404)


async def test_the_page_shows_the_gateways_servers_and_sees_what_flows_through_it(
    shell: Shell,
) -> None:
    async with watched(shell) as (gateway, page):
        view = await page.in_state("demo", "CONNECTED")
        pid = view["channel"]["pid"]
        async with mcplens.connect(gateway.url, headers=bearer(TOKEN)) as client:
            await client.call_tool("demo__echo", {"text": "hi"})

        def answered() -> list[dict[str, Any]]:
            return [
                event
                for event in page.events
                if event["kind"] == "InboundAnswered" and event["method"] == "tools/call"
            ]

        await page.until(answered)
        asked = next(
            event
            for event in page.events
            if event["kind"] == "InboundReceived" and event["method"] == "tools/call"
        )
        assert asked["detail"]["client_name"] == "mcplens"
        passed_on = [
            event
            for event in page.events
            if event["kind"] == "FrameSent" and event["detail"].get("inbound_seq")
        ]
        assert [event["server_id"] for event in passed_on] == ["demo"]
        assert passed_on[0]["detail"]["inbound_seq"] == asked["seq"]
        assert answered()[0]["request_seq"] == asked["seq"]
        call = await page.call(
            "CallTool", server_id="demo", name="echo", arguments={"text": "from the page"}
        )
        assert call["status"] == "completed"
        assert page.things["servers", "demo"]["channel"]["pid"] == pid


async def test_a_question_is_answered_by_whoever_made_the_call(shell: Shell) -> None:
    async with watched(shell) as (gateway, page):
        await page.in_state("demo", "CONNECTED")

        def decline(_request: Any) -> dict[str, Any]:
            return {"action": "decline"}

        async with mcplens.connect(
            gateway.url, headers=bearer(TOKEN), elicitation=decline
        ) as client:
            result = await client.call_tool("demo__elicit-form", {})
            assert "decline" in str(result.content[0].text)
        assert not [key for key in page.things if key[0] == "questions"]

        started_call = await page.ask(
            "CallTool", server_id="demo", name="elicit-form", arguments={}
        )
        question = await page.until(
            lambda: next((view for key, view in page.things.items() if key[0] == "questions"), None)
        )
        await page.ask("AnswerElicitation", question_id=question["question_id"], action="cancel")
        assert (await page.ended(started_call["call_id"]))["status"] == "completed"


async def test_a_question_that_nobody_can_answer_is_refused_while_no_page_is_open(
    shell: Shell,
) -> None:
    old = "2025-11-25"  # in which a server asks by a request, whatever the client can do
    configure(shell, mcpServers={"demo": {**DEMO, "protocolVersion": old}})
    async with started(shell, "--token", TOKEN, "--web-port", "0") as gateway:
        await web_of(gateway)
        async with mcplens.connect(
            gateway.url, headers=bearer(TOKEN), protocol_version=old
        ) as client:
            async with asyncio.timeout(START_S):
                result = await client.call_tool("demo__elicit-form", {})
            assert "no client can answer" in str(result.content[0].text)


async def test_over_pipes_the_address_of_the_web_ui_is_on_stderr(shell: Shell) -> None:
    configure(shell)
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "mcplens", "gateway", "--stdio", "--web-port", "0",
        env=shell.environment, cwd=shell.home,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    try:
        assert process.stderr is not None
        async with asyncio.timeout(START_S):
            async for line in process.stderr:
                if b"web UI" in line:
                    break
            async with page_at(opened_of(line.decode())) as page:
                await page.in_state("demo", "CONNECTED")
            assert process.stdin is not None
            process.stdin.close()
            out, _ = await process.communicate()
        assert out == b""
        assert process.returncode == 0
    finally:
        if process.returncode is None:
            process.kill()
            await process.communicate()


async def test_without_a_web_ui_one_address_is_printed(shell: Shell) -> None:
    configure(shell)
    async with started(shell, "--no-auth", "--no-web") as gateway:
        async with mcplens.connect(gateway.url) as client:
            await client.call_tool("demo__echo", {"text": "hi"})
        await gateway.stop()
        assert gateway.process.stdout is not None
        assert await gateway.process.stdout.read() == b""


async def test_the_endpoint_of_a_server_that_cannot_be_used_says_why(shell: Shell) -> None:
    headers = {"Authorization": "Bearer a-secret-of-1234"}
    broken = {"url": "http://127.0.0.1:9/mcp", "headers": headers, "requestTimeout": "soon"}
    switched_off = {"command": "nothing", "enabled": False}
    configure(shell, mcpServers={"demo": DEMO, "broken": broken, "off": switched_off})
    for how in ("--no-web", "--web-port=0"):
        async with started(shell, "--no-auth", how) as gateway:
            one_server = gateway.url.removesuffix("/mcp") + "/servers/{}/mcp"
            with pytest.raises(InspectorError) as wrong:
                await mcplens.connect(one_server.format("broken"), max_retries=0).client.connect()
            assert "requestTimeout: must be a number, not a string" in str(wrong.value)
            assert "correct broken in the configuration" in str(wrong.value)
            assert "a-secret" not in str(wrong.value)
            off = one_server.format("off")
            async with aiohttp.ClientSession() as http, http.post(off) as answer:
                assert answer.status == 404
                assert "the server off is not served: it is disabled" in await answer.text()
            async with mcplens.connect(gateway.url) as client:
                assert await client.list_tools()
