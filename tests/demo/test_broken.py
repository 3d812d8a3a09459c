"""The misbehaving tools: what the engine makes of each, over every transport and in both eras.

They are the demo's, so that a new user sees what a broken server looks like; here we see that the
faults are really committed, and that none of them hangs a caller or harms the next call.
"""

from __future__ import annotations

import asyncio

import pytest

import mcplens
from mcplens import InspectorError
from mcplens.demo.broken_list import BROKEN_TOOLS
from mcplens.demo.registry import TOOLS, load_features
from mcplens.events import FrameReceived, ListRefreshed, LogReceived, StderrLine
from mcplens.protocol.frames import Malformed

from .doors import COMMAND, HANDSHAKE, PATIENCE_S, STATELESS, WAYS, House, Way, heard, text_of

pytestmark = pytest.mark.asyncio(loop_scope="module")

load_features()

# What a call ends with: the code of an error, or None where there is a result after all.
ENDS: dict[str, str | None] = {
    "broken-output": "INVALID_RESPONSE",
    "broken-result": "INVALID_RESPONSE",
    "broken-content": "INVALID_RESPONSE",
    "broken-silent": "REQUEST_TIMEOUT",
    "broken-progress": None,
    "broken-flood": None,
    "broken-question": None,
    "broken-json": "INVALID_RESPONSE",
    "broken-truncated": "INVALID_RESPONSE",
    "broken-utf8": None,  # what can be read of it is shown, with a finding
    "broken-id": "INVALID_RESPONSE",
    "broken-twice": None,
    "broken-version": "INVALID_RESPONSE",
    "broken-batch": "INVALID_RESPONSE",
    "broken-error": "INVALID_RESPONSE",
    "broken-nothing": "INVALID_RESPONSE",
    "broken-print": None,
    "broken-list": None,
    "broken-http": None,
}
# What cannot be attributed to a call fails it after a second; nothing at all, after its time.
SLOW = ("broken-id", "broken-json", "broken-silent")
OTHERWISE = ("broken-list", "broken-http")
LOSES_THE_CONNECTION = ("broken-hang-up", "broken-crash")


async def test_every_broken_tool_is_looked_at() -> None:
    broken = {name for name in TOOLS if name.startswith("broken-")}
    assert broken == {*ENDS, *LOSES_THE_CONNECTION}


@pytest.mark.parametrize("name", [name for name in ENDS if name not in (*SLOW, *OTHERWISE)])
async def test_a_broken_tool_ends_the_call_as_it_must_and_harms_no_other(
    client: mcplens.Client, name: str
) -> None:
    if client.catalog.known("tools") is None:
        await client.list_tools()  # output schemas are known from then on
    assert await ending(client, name, PATIENCE_S) == ENDS[name]
    assert text_of(await client.call_tool("echo", {"text": "alive"})) == "alive"


@pytest.mark.parametrize("name", SLOW)
async def test_what_must_be_waited_out_ends_too_and_harms_no_other(house: House, name: str) -> None:
    async def check(way: Way) -> None:
        expected = ENDS[name]
        if name == "broken-json" and way.transport != "http":
            expected = "REQUEST_TIMEOUT"  # on a channel that all share it is nobody's answer
        async with house.connect(way) as client:
            timeout_s = 0.2 if expected == "REQUEST_TIMEOUT" else PATIENCE_S
            assert await ending(client, name, timeout_s) == expected
            assert text_of(await client.call_tool("echo", {"text": "alive"})) == "alive"

    async with asyncio.TaskGroup() as group:
        for way in WAYS:
            group.create_task(check(way))


async def ending(client: mcplens.Client, name: str, timeout_s: float) -> str | None:
    try:
        await client.call_tool(name, timeout_s=timeout_s)
    except InspectorError as error:
        return error.code
    return None


async def test_an_answer_by_http_alone_has_its_status(house: House, way: Way) -> None:
    async with house.connect(way) as client:
        if way.transport != "http":
            assert (await client.call_tool("broken-http")).is_error
            return
        with pytest.raises(mcplens.HttpError) as error:
            await client.call_tool("broken-http", {"status": 502})
        assert error.value.status == 502
        assert b"nginx" in error.value.body
        assert text_of(await client.call_tool("echo", {"text": "alive"})) == "alive"


async def test_a_stray_line_is_shown(house: House, way: Way) -> None:
    async with house.connect(way) as client:
        await client.call_tool("broken-print")
        stray = await heard(client, FrameReceived, lambda e: isinstance(e.message, Malformed))
        assert stray.message.raw == b"Loading model... done."


async def test_a_flood_arrives_whole(house: House, way: Way) -> None:
    async with house.connect(way) as client:
        await client.call_tool("broken-flood", {"messages": 2_000})
        await heard(client, LogReceived, lambda e: e.data == "message 2000")


async def test_broken_definitions_are_listed_and_flagged_beside_the_good_ones(
    house: House, way: Way
) -> None:
    async with house.connect(way) as client:
        before = [tool.name for tool in await client.list_tools()]
        await client.call_tool("broken-list")
        try:
            tools = await client.list_tools()
            assert [tool.name for tool in tools][: len(before)] == before
            broken = [tool for tool in tools[len(before) :] if tool.problem]
            dropped = client.catalog.dropped_tools if way.transport == "http" else []
            assert len(tools) + len(dropped) == len(before) + len(BROKEN_TOOLS)
            assert len(broken) >= 4
            assert text_of(await client.call_tool("echo", {"text": "alive"})) == "alive"
        finally:
            await client.call_tool("broken-list", {"on": False})
        if not way.is_stateless:
            await heard(client, ListRefreshed, lambda e: e.count == len(before))


async def test_a_connection_that_is_hung_up_is_an_error_of_the_call(house: House, way: Way) -> None:
    async with house.connect(way) as client:
        with pytest.raises(InspectorError) as error:
            await client.call_tool("broken-hang-up", timeout_s=PATIENCE_S)
        assert error.value.code != "REQUEST_TIMEOUT"


@pytest.mark.parametrize("revision", [HANDSHAKE, STATELESS])
async def test_a_crash_leaves_its_code_and_its_last_words(revision: str) -> None:
    async with mcplens.connect(COMMAND, protocol_version=revision) as client:
        with pytest.raises(InspectorError) as error:
            await client.call_tool("broken-crash")
        assert error.value.code == "SERVER_EXITED"
        assert error.value.details["exit_code"] == 3
        assert await heard(client, StderrLine, lambda e: "crashing, as asked" in e.text)


async def test_a_crash_is_only_asked_for_where_many_share_a_process(house: House) -> None:
    async with house.connect(Way("ws", HANDSHAKE)) as client:
        assert (await client.call_tool("broken-crash")).is_error
    assert house.exits == [3]
