"""What the demo server asks is answered from the page, in both eras, over real sockets."""

from __future__ import annotations

import json
import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest
import pytest_asyncio

from .asking import (
    ERAS,
    HANDSHAKE,
    SERVER,
    STATELESS,
    asked,
    start,
    text_of,
    until_done,
    write_demo,
)
from .harness import PYTHON, Page, Refusal, Site, site, write_config

PROFILES = {
    "slow": {"kind": "delay", "seconds": 0.3, "then": "echo"},
    "wrong": {"kind": "nothing"},
    "unset": {"kind": "fixed", "text": "${NOT_SET_ANYWHERE}"},
    "mine": {"kind": "fixed", "text": "mine", "elicitation": "decline"},
}


@pytest_asyncio.fixture(params=ERAS)
async def era(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[tuple[Site, Page]]:
    write_demo(tmp_path, request.param, profiles=PROFILES)
    async with site(tmp_path) as web, web.page() as page:
        view = await page.connected(SERVER)
        assert view["protocol_version"] == request.param
        yield web, page


@pytest.fixture
def asker(era: tuple[Site, Page]) -> Page:
    return era[1]


def said(text: str) -> dict[str, Any]:
    content = {"type": "text", "text": text}
    return {"role": "assistant", "content": content, "model": "me", "stopReason": "endTurn"}


# -- sampling ----------------------------------------------------------------------------------


async def test_a_completion_is_given_by_hand(asker: Page) -> None:
    call_id = await start(asker, "sample", arguments={"prompt": "Hello?"})
    (question,) = await asked(asker)
    assert question["method"] == "sampling/createMessage"
    assert question["params"]["messages"][0]["content"]["text"] == "Hello?"
    assert (question["number"], question["count"]) == (1, 1)
    assert question["call_id"] == call_id
    assert question["server_name"]
    assert question["deadline"] > question["opened"]
    await asker.until(lambda: asker.things["calls", call_id]["is_waiting_on_user"])
    await asker.ask(
        "AnswerSampling", question_id=question["question_id"], result=said("a piece of glass")
    )
    assert text_of(await asker.ended(call_id)) == "me says: a piece of glass"
    ended = await until_done(asker, question)
    assert (ended["outcome"], ended["answered_by"]) == ("answered", "person")
    assert ended["call_id"] == call_id


async def test_an_invalid_answer_comes_back_with_its_findings_and_can_be_forced(
    asker: Page,
) -> None:
    call_id = await start(asker, "sample")
    (question,) = await asked(asker)
    bad = {"role": "assistant", "content": {"type": "text", "text": "hi"}}
    with pytest.raises(Refusal) as refused:
        await asker.ask("AnswerSampling", question_id=question["question_id"], result=bad)
    assert refused.value.error["code"] == "INVALID_ANSWER"
    assert refused.value.error["details"]["findings"] == ["model: must be a string"]
    await asker.ask("AnswerSampling", question_id=question["question_id"], result=bad, force=True)
    assert text_of(await asker.ended(call_id)) == "None says: hi"
    with pytest.raises(Refusal) as gone:
        await asker.ask("AnswerSampling", question_id=question["question_id"], result=bad)
    assert gone.value.error["code"] == "QUESTION_GONE"


async def test_a_question_is_rejected_with_the_users_reason(asker: Page) -> None:
    call_id = await start(asker, "sample")
    (question,) = await asked(asker)
    await asker.ask("RejectQuestion", question_id=question["question_id"], reason="not today")
    call = await asker.ended(call_id)
    shown = str(call["error"] or call["result"])
    assert "not today" in shown
    assert (await until_done(asker, question))["outcome"] == "rejected: not today"


async def test_tool_choice_steers_auto_respond(asker: Page) -> None:
    call_id = await start(asker, "sample-with-tools", arguments={"toolChoice": "required"})
    (first,) = await asked(asker)
    echo = {"question_id": first["question_id"], "profile": "echo"}
    options: dict[str, Any] = {"tool_choice": "specific", "tool": "subtract"}
    with pytest.raises(Refusal, match="choose the tool to call: add"):
        await asker.ask("AutoRespond", **echo, options=options)
    with pytest.raises(Refusal, match="options: Invalid enum value 'any'"):
        await asker.ask("AutoRespond", **echo, options={"tool_choice": "any"})
    # Words alone break the server's choice: they are not sent unless that is wanted.
    with pytest.raises(Refusal) as refused:
        await asker.ask("AutoRespond", **echo, options={"tool_choice": "none"})
    assert refused.value.error["code"] == "INVALID_ANSWER"
    options = {"tool_choice": "specific", "tool": "add"}
    await asker.ask("AutoRespond", **echo, options=options)
    await until_done(asker, first)
    (second,) = await asked(asker)
    content = second["params"]["messages"][1]["content"]
    assert [block["name"] for block in content] == ["add"]
    # Again, though its results are there: somebody wants to see the tool called.
    await asker.ask(
        "AutoRespond", question_id=second["question_id"], profile="auto", options=options
    )
    await until_done(asker, second)
    (third,) = await asked(asker)
    await asker.ask("AutoRespond", question_id=third["question_id"], profile="auto")
    assert "after 3 rounds" in text_of(await asker.ended(call_id))
    assert (await until_done(asker, third))["answered_by"] == "auto"


async def test_a_profile_that_takes_its_time_outlives_the_page(era: tuple[Site, Page]) -> None:
    web, page = era
    call_id = await start(page, "sample", arguments={"prompt": "echo me"})
    (question,) = await asked(page)
    async with web.page() as other:
        slow = {"type": "AutoRespond", "id": 99, "profile": "slow"}
        await other.socket.send(json.dumps(slow | {"question_id": question["question_id"]}))
        key = ("questions", question["question_id"])
        await page.until(lambda: page.things[key]["answering_by"] == "slow")
    assert "echo me" in text_of(await page.ended(call_id))


async def test_profiles_that_cannot_answer_leave_the_question_waiting(asker: Page) -> None:
    await start(asker, "sample")
    (question,) = await asked(asker)
    ask = {"question_id": question["question_id"]}
    with pytest.raises(Refusal, match="leaves this question to a person"):
        await asker.ask("AutoRespond", profile="manual", **ask)
    with pytest.raises(Refusal, match="there is no profile 'none'"):
        await asker.ask("AutoRespond", profile="none", **ask)
    with pytest.raises(Refusal, match="no kind 'nothing'"):
        await asker.ask("AutoRespond", profile="wrong", **ask)
    await asker.ask("AutoRespond", profile="refuse", **ask)
    assert (await until_done(asker, question))["outcome"].startswith("rejected")


async def test_a_profile_of_the_server_answers_at_once_until_it_is_taken_away(
    asker: Page,
) -> None:
    view = await asker.ask("SetProfile", server_id=SERVER, profile="mine")
    assert (view["profile"], view["is_saved"]) == ("mine", False)
    call = await asker.ended(await start(asker, "sample"))
    assert "mine" in text_of(call)
    declined = await asker.ended(await start(asker, "elicit-form"))
    assert "decline" in str(declined["result"] or declined["error"])
    await asker.ask("SetProfile", server_id=SERVER)
    await start(asker, "sample")
    (question,) = await asked(asker)
    assert question["profile"] is None
    with pytest.raises(Refusal, match="there is no profile"):
        await asker.ask("SetProfile", server_id=SERVER, profile="none")


async def test_the_snapshot_lists_the_profiles_without_their_settings(asker: Page) -> None:
    profiles = {one["name"]: one for one in asker.hello["profiles"]}
    assert profiles["echo"] == {
        "name": "echo", "kind": "echo", "is_built_in": True, "problem": None,
    }  # fmt: skip
    assert not profiles["mine"]["is_built_in"]
    assert "no kind 'nothing'" in profiles["wrong"]["problem"]
    assert profiles["unset"]["kind"] == "fixed"
    assert "NOT_SET_ANYWHERE" in profiles["unset"]["problem"]


# -- elicitation -------------------------------------------------------------------------------


async def test_a_form_is_submitted_declined_and_cancelled(asker: Page) -> None:
    call_id = await start(asker, "elicit-form")
    (question,) = await asked(asker)
    assert question["mode"] == "form"
    assert question["link"] is None
    ask = {"question_id": question["question_id"]}
    with pytest.raises(Refusal) as refused:
        await asker.ask("AnswerElicitation", action="accept", content={}, **ask)
    assert refused.value.error["code"] == "INVALID_ANSWER"
    assert "name" in refused.value.error["details"]["findings"][0]
    await asker.ask("AnswerElicitation", action="accept", content={"name": "Ada"}, **ask)
    # The form has defaults; a page shows them, so what it sends without them was emptied.
    assert (await asker.ended(call_id))["result"]["structuredContent"] == {"name": "Ada"}
    for action in ("decline", "cancel"):
        call_id = await start(asker, "elicit-form")
        (question,) = await asked(asker)
        await asker.ask("AnswerElicitation", question_id=question["question_id"], action=action)
        assert action in str((await asker.ended(call_id))["result"])


async def test_a_second_form_of_the_same_call_is_another_round(asker: Page) -> None:
    call_id = await start(asker, "elicit-steps")
    (first,) = await asked(asker)
    await asker.ask("AutoRespond", question_id=first["question_id"], profile="auto")
    await until_done(asker, first)
    (second,) = await asked(asker)
    assert second["call_id"] == call_id
    is_stateless = asker.things["servers", SERVER]["protocol_version"] == STATELESS
    assert second["origin"] == ("input_required" if is_stateless else "request")
    assert (first["round"], second["round"]) == ((1, 2) if is_stateless else (None, None))
    answer = {"action": "accept", "content": {"sure": False}}
    await asker.ask("AnswerElicitation", question_id=second["question_id"], **answer)
    assert text_of(await asker.ended(call_id)).endswith("is not sure")


async def test_a_url_is_judged_accepted_and_awaited(asker: Page) -> None:
    call_id = await start(asker, "elicit-url")
    (question,) = await asked(asker)
    link = question["link"]
    assert question["mode"] == "url"
    assert link["host"] == "127.0.0.1"
    assert link["is_openable"]
    is_stateless = asker.things["servers", SERVER]["protocol_version"] == STATELESS
    answer = {"question_id": question["question_id"], "action": "accept"}
    assert link["warnings"] == []
    if is_stateless:
        await visit(link["url"])
        await asker.ask("AnswerElicitation", **answer)
    else:
        await asker.ask("AnswerElicitation", **answer)
        call = await asker.until(
            lambda: (one := asker.things["calls", call_id])["awaiting"] and one
        )
        assert call["awaiting"] == [link]
        await visit(link["url"])
    ended = await asker.ended(call_id)
    assert text_of(ended) == "the page was visited"
    assert ended["awaiting"] == []


URL_WITHOUT_ID = """
import json, sys
URL = {"mode": "url", "message": "Open it", "url": "http://127.evil.com/x"}
def say(**message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)
for line in sys.stdin:
    message = json.loads(line)
    method, identity = message.get("method"), message.get("id")
    if method == "initialize":
        say(id=identity, result={"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                                 "serverInfo": {"name": "urls", "version": "1"}})
    elif method == "tools/list":
        say(id=identity, result={"tools": [{"name": "ask", "inputSchema": {"type": "object"}}]})
    elif method == "tools/call":
        say(id="u", method="elicitation/create", params=URL)
"""


async def test_a_call_shows_that_a_page_is_awaited_whose_end_no_server_will_report(
    tmp_path: Path,
) -> None:
    entry = {"command": PYTHON, "args": ["-c", URL_WITHOUT_ID], "inheritEnv": True}
    write_config(tmp_path, urls=entry)
    async with site(tmp_path) as web, web.page() as page:
        await page.connected("urls")
        call = await page.ask("CallTool", server_id="urls", name="ask", arguments={})
        (question,) = await asked(page)
        link = question["link"]
        assert link["warnings"] == ["It is http: others can read what you type there."]
        accept = {"question_id": question["question_id"], "action": "accept"}
        await page.ask("AnswerElicitation", **accept)
        await page.until(lambda: page.things["calls", call["call_id"]]["awaiting"] == [link])
        await page.ask("CancelCall", call_id=call["call_id"])
        await page.until(lambda: page.things["calls", call["call_id"]]["awaiting"] == [])


async def visit(url: str) -> None:
    async with aiohttp.ClientSession() as session, session.get(url) as page:
        assert page.status == 200


# -- roots and capabilities --------------------------------------------------------------------


async def test_roots_are_added_and_removed_and_the_server_sees_them(
    asker: Page, tmp_path: Path
) -> None:
    folder = tmp_path / "a folder"
    folder.mkdir()
    view = await asker.ask("AddRoot", server_id=SERVER, path=str(folder), name="Work")
    assert view["roots"] == [{"uri": folder.as_uri(), "name": "Work"}]
    assert not view["is_saved"]
    call = await asker.ended(await start(asker, "list-roots"))
    assert folder.as_uri() in str(call["result"])
    with pytest.raises(Refusal, match="cannot be a root"):
        await asker.ask("AddRoot", server_id=SERVER, path="https://example.com/")
    view = await asker.ask("RemoveRoot", server_id=SERVER, uri=folder.as_uri())
    assert view["roots"] == []
    with pytest.raises(Refusal, match="is not a root of"):
        await asker.ask("RemoveRoot", server_id=SERVER, uri=folder.as_uri())
    call = await asker.ended(await start(asker, "list-roots"))
    assert folder.as_uri() not in str(call["result"])


async def test_capabilities_count_from_the_next_connection_on(asker: Page) -> None:
    before = asker.things["servers", SERVER]
    assert before["client_capabilities"]["sampling"] == {"tools": {}, "context": {}}
    assert "io.modelcontextprotocol/tasks" in before["client_capabilities"]["extensions"]
    assert not before["needs_reconnect"]
    chosen: dict[str, Any] = {"sampling": None, "experimental": {"mine": {}}}
    view = await asker.ask("SetCapabilities", server_id=SERVER, capabilities=chosen)
    assert view["needs_reconnect"]
    assert "sampling" not in view["client_capabilities"]
    assert "sampling" in view["declared_capabilities"]
    await asker.ask("Disconnect", server_id=SERVER)
    view = await asker.connected(SERVER)
    assert not view["needs_reconnect"]
    assert view["declared_capabilities"]["experimental"] == {"mine": {}}
    call = await asker.ended(await start(asker, "sample"))
    assert call["status"] == "error" or call["is_error"], call
    view = await asker.ask("AddRoot", server_id=SERVER, path=os.sep, name=None)
    assert not view["is_saved"]
    view = await asker.ask("SetCapabilities", server_id=SERVER, reset=True)
    assert view["roots"] == []
    assert "sampling" in view["client_capabilities"]
    assert view["is_saved"]


async def test_error_32042_asks_for_its_urls(tmp_path: Path) -> None:
    write_demo(tmp_path, HANDSHAKE)
    async with site(tmp_path) as web, web.page() as page:
        await page.connected(SERVER)
        call_id = await start(page, "elicit-url-required")
        (question,) = await asked(page)
        assert (question["origin"], question["call_id"]) == ("error", call_id)
        await visit(question["link"]["url"])
        assert (await until_done(page, question))["outcome"] == "answered"
        assert text_of(await page.ended(call_id)).startswith("the page was visited")
