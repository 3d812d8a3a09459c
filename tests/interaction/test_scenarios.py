"""The interaction suite: what a client does with a server, over every target that offers it."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import Callable
from typing import Any

import pytest

import mcplens
from mcplens import ConnectionState, InspectorError, ServerError
from mcplens.events import (
    EraDecided,
    FrameReceived,
    FrameSent,
    HttpRequestSent,
    HttpResponseReceived,
    InputRoundStarted,
    ListRefreshed,
    LogReceived,
    NotificationReceived,
    ProgressReceived,
    RequestPaused,
    RequestResumed,
    ResourceRefreshed,
    ServerRequestEnded,
    SubscriptionChanged,
)
from mcplens.protocol.frames import Frame

from .scenario import Ear, offered, over, seen_by, text_of, until_seen
from .targets import Door

pytestmark = pytest.mark.asyncio(loop_scope="module")


# -- the handshake ---------------------------------------------------------------------------


@over()
async def test_the_handshake_gives_version_name_and_capabilities(
    client: mcplens.Client, door: Door
) -> None:
    assert client.state is ConnectionState.CONNECTED
    assert client.protocol_version == door.target.speaks
    assert client.server_info["name"] == door.target.offer.name
    assert "tools" in client.capabilities
    decided = await Ear(client, from_start=True).hear(EraDecided)
    assert decided.protocol_version == door.target.speaks
    assert decided.era == ("stateless" if door.target.is_stateless else "handshake")
    assert decided.reason
    assert client.describe()["transport"] == door.target.transport.split("-")[0].replace(
        "ws", "websocket"
    )


@over("text", where=lambda target: target.transport == "sse")
async def test_a_server_of_the_older_http_transport_is_found_behind_its_url(door: Door) -> None:
    call = door.target.offer.text
    async with door.connect(transport=None) as client:
        assert client.describe()["transport"] == "sse"
        assert call.gives in text_of(await client.call_tool(call.name, call.arguments))


@over()
async def test_a_server_answers_a_ping_or_what_stands_for_it(client: mcplens.Client) -> None:
    assert 0 <= await client.ping() < 10


# -- tools -----------------------------------------------------------------------------------


@over()
async def test_all_tools_are_listed_from_all_pages(client: mcplens.Client, door: Door) -> None:
    tools = await client.list_tools()
    assert len({tool.name for tool in tools}) >= door.target.offer.tool_count
    assert [tool.name for tool in tools if tool.problem] == []
    assert all(json.loads(tool.raw)["name"] == tool.name for tool in tools)
    page = await client.list_page("tools")
    names = [tool.name for tool in page.items]
    pages = 1
    while page.next_cursor is not None:
        page = await client.list_page("tools", page.next_cursor)
        names += [tool.name for tool in page.items]
        pages += 1
    assert names == [tool.name for tool in tools]
    assert (pages > 1) == door.target.offer.is_paged


@over("text")
async def test_a_tool_gives_its_text(client: mcplens.Client, door: Door) -> None:
    call = door.target.offer.text
    result = await client.call_tool(call.name, call.inside(door.folder))
    assert result.is_error is False
    assert call.gives in text_of(result)
    assert json.loads(result.raw)["content"][0]["text"] == result.content[0].text


@over("structured")
async def test_structured_content_comes_decoded(client: mcplens.Client, door: Door) -> None:
    call = offered(door.target.offer.structured)
    await client.list_tools()  # the output schema is checked where it is known
    result = await client.call_tool(call.name, call.inside(door.folder))
    assert result.structured_content == call.gives
    assert result.findings == ()


@over("failing")
async def test_a_failure_of_the_tool_is_returned(client: mcplens.Client, door: Door) -> None:
    call = door.target.offer.failing
    result = await client.call_tool(call.name, call.inside(door.folder))
    assert result.is_error is True
    assert call.gives in text_of(result)


@over("refused")
async def test_a_json_rpc_error_is_raised_and_the_connection_goes_on(
    client: mcplens.Client, door: Door
) -> None:
    for method, call in door.target.offer.refused.items():
        key = "uri" if method == "resources/read" else "name"
        with pytest.raises(ServerError) as caught:
            await client.request(method, {key: call.name, "arguments": call.arguments})
        assert caught.value.rpc_code == call.gives
        assert caught.value.details["method"] == method
    assert await client.ping() >= 0


@over("text")
async def test_every_frame_of_a_call_is_published_as_it_was(
    client: mcplens.Client, door: Door
) -> None:
    call, ear = door.target.offer.text, Ear(client)
    result = await client.call_tool(call.name, call.inside(door.folder))
    sent = await ear.hear(FrameSent, lambda e: b'"tools/call"' in e.message.raw)
    assert isinstance(sent.message, Frame)
    answer = await ear.hear(
        FrameReceived,
        lambda e: isinstance(e.message, Frame) and e.message.id == sent.message.id,  # type: ignore[union-attr]
    )
    assert result.raw in answer.message.raw
    assert (sent.size_bytes, answer.size_bytes) == (
        len(sent.message.raw),
        len(answer.message.raw),
    )
    assert sent.mono <= answer.mono
    if door.target.transport.startswith("http"):
        posted = await ear.hear(HttpRequestSent, lambda e: e.body == sent.message.raw)
        answered = await ear.hear(
            HttpResponseReceived, lambda e: e.exchange_id == posted.exchange_id
        )
        assert answered.status == 200


@over("text")
async def test_twenty_calls_at_once_each_get_their_own_answer(
    client: mcplens.Client, door: Door
) -> None:
    call = door.target.offer.text
    results = await asyncio.gather(
        *(client.call_tool(call.name, call.inside(door.folder)) for _ in range(20))
    )
    assert all(call.gives in text_of(result) for result in results)
    argument = next(iter(call.arguments))
    if call.name == "echo":
        words = [f"word {number}" for number in range(20)]
        results = await asyncio.gather(
            *(client.call_tool("echo", {argument: word}) for word in words)
        )
        assert all(word in text_of(result) for word, result in zip(words, results, strict=True))


@over("big")
async def test_a_big_result_comes_whole(client: mcplens.Client, door: Door) -> None:
    call = offered(door.target.offer.big)
    result = await client.call_tool(call.name, call.arguments)
    assert len(result.content[0].text or "") == call.gives


@over(where=lambda target: not target.is_stateless)
async def test_bytes_can_be_sent_as_they_are_and_a_string_id_stays_one(
    client: mcplens.Client,
) -> None:
    answer = await client.send_raw(b'{"jsonrpc":"2.0", "method":"tools/list", "id":"7"}')
    assert answer is not None
    assert answer.id == "7"
    assert b'"tools"' in answer.raw


# -- while a call runs -----------------------------------------------------------------------


@over("progress")
async def test_progress_reaches_the_call_that_it_belongs_to(
    client: mcplens.Client, door: Door
) -> None:
    reports: list[mcplens.Progress] = []
    call, ear = offered(door.target.offer.progress), Ear(client)
    await client.call_tool(call.name, call.arguments, on_progress=reports.append)
    # On the stream of a GET the last report may come after the answer.
    await ear.hear(ProgressReceived, lambda e: e.progress == call.gives)
    assert [report.progress for report in reports] == list(range(1, call.gives + 1))
    assert {report.total for report in reports} == {call.gives}


@over("slow", "seen")
async def test_a_call_that_its_caller_cancels_is_cancelled_on_the_server(
    client: mcplens.Client, door: Door
) -> None:
    call, ear = offered(door.target.offer.slow), Ear(client)
    before, asked = await seen_by(client), 0

    def has_arrived(seen: dict[str, Any]) -> bool:
        nonlocal asked
        asked += 1  # asking is a call as well
        return bool(_calls_in(seen) == _calls_in(before) + asked + 1)

    running = asyncio.ensure_future(client.call_tool(call.name, call.arguments))
    sent = await ear.hear(FrameSent, lambda e: b'"slow"' in e.message.raw)
    await until_seen(client, has_arrived)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert isinstance(sent.message, Frame)
    record = await until_seen(client, lambda seen: len(seen["stopped"]) > len(before["stopped"]))
    assert record["stopped"][-1] == sent.message.id
    if door.target.is_stateless and door.target.transport.startswith("http"):
        assert record["closed_streams"][-1] == sent.message.id
    else:
        assert record["cancelled"][-1]["id"] == sent.message.id


@over("slow")
async def test_a_call_that_takes_too_long_fails_alone(client: mcplens.Client, door: Door) -> None:
    offer, lasting = door.target.offer, offered(door.target.offer.slow)
    slow = client.call_tool(lasting.name, lasting.arguments, timeout_s=0.05)
    quick = client.call_tool(offer.text.name, offer.text.inside(door.folder))
    late, result = await asyncio.gather(slow, quick, return_exceptions=True)
    assert isinstance(late, InspectorError)
    assert (late.code, late.category) == ("REQUEST_TIMEOUT", "timeout")
    assert isinstance(result, mcplens.ToolResult)
    again = await client.call_tool(offer.text.name, offer.text.inside(door.folder))
    assert offer.text.gives in text_of(again)


# -- logs ------------------------------------------------------------------------------------


@over("log")
async def test_log_messages_are_heard(client: mcplens.Client, door: Door) -> None:
    call, ear = offered(door.target.offer.log), Ear(client)
    await client.set_level("debug")
    await client.call_tool(call.name, call.arguments)
    heard = await ear.hear(LogReceived, lambda e: call.gives in (None, e.data))
    assert heard.level


@over("filtered_log")
async def test_only_logs_from_the_chosen_level_up_come(client: mcplens.Client, door: Door) -> None:
    call, ear = offered(door.target.offer.filtered_log), Ear(client)
    await client.set_level("error")
    for level in ("debug", "info", "warning", "alert"):
        await client.call_tool(call.name, {**call.arguments, "level": level})
    await ear.hear(LogReceived, lambda e: e.level == "alert")
    assert [event.level for event in ear.heard(LogReceived)] == ["alert"]


# -- resources, prompts, completion ------------------------------------------------------------


@over("resource")
async def test_a_resource_is_listed_and_read(client: mcplens.Client, door: Door) -> None:
    uri, text = offered(door.target.offer.resource)
    assert uri in [resource.uri for resource in await client.list_resources()]
    contents = (await client.read_resource(uri)).contents[0]
    assert contents.uri == uri
    assert text in (contents.text or "")


@over("blob")
async def test_a_binary_resource_keeps_its_bytes(client: mcplens.Client, door: Door) -> None:
    uri, size = offered(door.target.offer.blob)
    contents = (await client.read_resource(uri)).contents[0]
    assert base64.b64decode(contents.blob or "") == bytes(range(size))


@over("template")
async def test_a_resource_of_a_template_is_read(client: mcplens.Client, door: Door) -> None:
    template, uri, text = offered(door.target.offer.template)
    listed = [item.uri_template for item in await client.list_resource_templates()]
    assert template in listed
    assert text in ((await client.read_resource(uri)).contents[0].text or "")


@over("prompt")
async def test_a_prompt_is_listed_and_filled_in(client: mcplens.Client, door: Door) -> None:
    call = offered(door.target.offer.prompt)
    assert call.name in [prompt.name for prompt in await client.list_prompts()]
    message = (await client.get_prompt(call.name, call.arguments)).messages[0]
    assert (message.role, message.content.text) == ("user", call.gives)


@over("completions")
async def test_arguments_are_completed_and_earlier_ones_narrow_later_ones(
    client: mcplens.Client, door: Door
) -> None:
    for wanted in door.target.offer.completions:
        found = await client.complete(wanted.ref, wanted.argument, wanted.value, wanted.context)
        assert found.completion.values == wanted.gives


# -- what changes ------------------------------------------------------------------------------


@over("growing")
async def test_a_list_that_changed_is_fetched_again(door: Door) -> None:
    for kind, call in door.target.offer.growing.items():
        async with door.connect() as client:
            ear, fetch = Ear(client), getattr(client, f"list_{kind}")
            before = len(await fetch())
            if door.target.is_stateless:
                await ear.hear(SubscriptionChanged, lambda e: e.state == "open")
            await client.call_tool(call.name, call.arguments)
            refreshed = await ear.hear(ListRefreshed, _of(kind))
            assert (refreshed.error, refreshed.count) == (None, before + 1)
            assert len(client.catalog.known(kind) or ()) == before + 1


@over("growing")
async def test_a_list_that_was_never_fetched_is_not_fetched_for_a_change(door: Door) -> None:
    kind, call = next(iter(door.target.offer.growing.items()))
    async with door.connect() as client:
        ear = Ear(client)
        await client.call_tool(call.name, call.arguments)
        if not door.target.is_stateless:  # there it is not even told
            await ear.hear(NotificationReceived, lambda e: e.method.endswith("list_changed"))
        await client.ping()
        assert client.catalog.known(kind) is None
        sent = [event.message.raw for event in ear.heard(FrameSent)]
        if "tasks" in client.capabilities:  # how a tool is called depends on what its list says
            sent = [raw for raw in sent if b"tools/list" not in raw]
        assert not [raw for raw in sent if b"/list" in raw]


@over("burst")
async def test_a_burst_of_changes_costs_one_or_two_fetches(door: Door) -> None:
    call = offered(door.target.offer.burst)
    async with door.connect() as client:
        ear = Ear(client)
        before = len(await client.list_tools())
        if door.target.is_stateless:
            await ear.hear(SubscriptionChanged, lambda e: e.state == "open")
        since = Ear(client)
        await client.call_tool(call.name, call.arguments)
        changed = _all_of(since, call.arguments["times"])
        await since.hear(NotificationReceived, lambda _: changed())
        await since.hear(ListRefreshed, lambda e: e.count == before + 1)
        await client.ping()
        # On the stream of its own that HTTP has, a piece of the burst may come after a fetch.
        most = 4 if door.target.transport.startswith("http") else 2
        sent = [event.message.raw for event in since.heard(FrameSent)]
        assert 1 <= len([raw for raw in sent if b"s/list" in raw and b"cursor" not in raw]) <= most


@over("touching")
async def test_a_subscribed_resource_is_read_again_when_it_changed(door: Door) -> None:
    uri, call = offered(door.target.offer.touching)
    async with door.connect() as client:
        ear = Ear(client)
        await client.subscribe(uri)
        await client.call_tool(call.name, call.arguments)
        refreshed = await ear.hear(ResourceRefreshed)
        assert (refreshed.uri, refreshed.error) == (uri, None)
        assert client.catalog.resources[uri].contents[0].uri == uri
        await client.unsubscribe(uri)
        assert client.catalog.subscribed == frozenset()


@over("touching", "seen")
async def test_after_unsubscribing_nothing_more_is_heard(door: Door) -> None:
    uri, call = offered(door.target.offer.touching)
    async with door.connect() as client:
        await client.subscribe(uri)
        await client.unsubscribe(uri)
        ear = Ear(client)
        await client.call_tool(call.name, call.arguments)
        await client.ping()
        assert not [e for e in ear.heard(NotificationReceived) if e.method.endswith("updated")]


# -- what the server asks ------------------------------------------------------------------------


@over("questions")
async def test_a_server_that_asks_gets_the_answer_of_the_handler(
    client: mcplens.Client, door: Door
) -> None:
    for method, call in door.target.offer.questions.items():
        ear = Ear(client)
        result = await client.call_tool(call.name, call.arguments)
        assert call.gives in text_of(result)
        # server-everything asks for the roots by itself, right after the handshake.
        if method != "ping" and call.name != "get-roots-list":
            ended = await ear.hear(ServerRequestEnded, _asked_by(method))
            assert ended.outcome.startswith("refused" if "no/such" in method else "answered")


@over("inputs", where=lambda target: target.is_stateless)
async def test_a_server_that_asks_before_it_answers_gets_its_answers(
    client: mcplens.Client, door: Door
) -> None:
    for call in door.target.offer.inputs:
        ear = Ear(client)
        assert call.gives in text_of(await client.call_tool(call.name, call.arguments))
        assert (await ear.hear(InputRoundStarted)).round == 1


@over("questions", "seen")
async def test_the_clocks_stand_still_while_a_question_is_answered(door: Door) -> None:
    released = asyncio.Event()

    async def answer(_: Any) -> dict[str, Any]:
        await released.wait()
        return {"action": "decline"}

    async with door.connect(request_handlers={"elicitation/create": answer}) as client:
        ear = Ear(client)
        asking = asyncio.ensure_future(
            client.call_tool("ask", {"method": "elicitation/create"}, timeout_s=0.2)
        )
        paused = await ear.hear(RequestPaused)
        # Longer than the call's own timeout: another call waits its time out meanwhile.
        with pytest.raises(InspectorError) as caught:
            await client.call_tool("slow", {"seconds": 60}, timeout_s=0.3)
        assert caught.value.code == "REQUEST_TIMEOUT"
        released.set()
        assert "decline" in text_of(await asking)
        assert (await ear.hear(RequestResumed)).request_ids == paused.request_ids


def _calls_in(seen: dict[str, Any]) -> int:
    return int(seen["methods"].count("tools/call"))


def _asked_by(method: str) -> Callable[[ServerRequestEnded], bool]:
    return lambda event: event.method == method


def _of(kind: str) -> Any:
    return lambda event: event.kind == kind


def _all_of(ear: Ear, count: int) -> Any:
    return lambda: (
        len([e for e in ear.heard(NotificationReceived) if e.method.endswith("list_changed")])
        >= count
    )
