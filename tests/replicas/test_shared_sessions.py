"""Sessions of 2025-11-25 that every replica serves; two gateways of this process share a store."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from types import SimpleNamespace
from typing import Any

import aiohttp
import pytest

from mcplens.clock import SystemClock
from mcplens.config.access_keys import NamedToken
from mcplens.config.views import GatewaySettings
from mcplens.errors import ServerError, StoreUnavailable
from mcplens.gateway import session_writer
from mcplens.gateway.session_search import SessionSearch
from mcplens.replicas.memory_store import MemoryStore
from mcplens.replicas.replica import Replica
from mcplens.session.client import Client
from tests.gateway.harness import NEW, OLD, RunningGateway, http_demo, running_gateway
from tests.replicas.choosing_client import HEADERS, Web, events_of

KEY = "k" * 32


class Pair:
    """Two replicas on one store."""

    def __init__(self, one: RunningGateway, two: RunningGateway, store: MemoryStore) -> None:
        self.one = one
        self.two = two
        self.store = store

    async def know_each_other(self) -> None:
        for gateway in (self.one, self.two):
            await gateway.gateway.replica.look()

    async def written(self) -> None:
        """What the first replica knows of its sessions is in the store."""
        shared = self.one.gateway.shared_sessions
        assert shared is not None
        await shared.writer.flush()

    def lose_data(self) -> None:
        """The store forgets everything."""
        self.store._values._values.clear()
        self.store._logs._values.clear()
        self.store._groups.clear()

    async def lose_one(self) -> None:
        """The first replica is gone for the second one, as after SIGKILL."""
        replica = self.one.gateway.replica
        await self.written()
        await replica._work.end()
        await self.store.leave("replicas", replica.id)
        await self.two.gateway.replica.look()


@pytest.fixture
async def pair() -> AsyncIterator[Pair]:
    clock = SystemClock()
    store = MemoryStore(clock)
    one, two = (Replica(store, clock, name=name, keys=(KEY,)) for name in ("one", "two"))
    async with (
        http_demo() as url,
        running_gateway({"demo": {"url": url}}, replica=one) as first,
        running_gateway({"demo": {"url": url}}, replica=two) as second,
    ):
        found = Pair(first, second, store)
        await found.know_each_other()
        yield found


@pytest.fixture
async def web() -> AsyncIterator[Web]:
    async with aiohttp.ClientSession() as http:
        yield Web(http)


async def test_a_session_is_served_by_every_replica(pair: Pair, web: Web) -> None:
    await web.begin(pair.one)
    kept = web.session_id
    for gateway in (pair.two, pair.one, pair.two):
        status, answer = await web.call(gateway, "echo", text="hi")
        assert (status, answer["result"]["content"][0]["text"]) == (200, "hi")
    assert web.session_id == kept
    assert len(pair.two.gateway.clients) == 0  # the owner has it
    async with web.http.delete(
        pair.two.url(), headers={**HEADERS, "Mcp-Session-Id": kept}
    ) as answer:
        assert answer.status == 200
    assert (await web.ask(pair.one, "ping"))[0] == 404
    assert (await web.ask(pair.two, "ping"))[0] == 404
    await pair.written()
    assert pair.store._values.items() == {}


async def test_a_session_goes_on_when_its_owner_is_gone(pair: Pair, web: Web) -> None:
    await web.begin(pair.one)
    kept = web.session_id
    assert (await web.ask(pair.one, "logging/setLevel", {"level": "debug"}))[0] == 200
    uri = "demo://note"
    assert "result" in (await web.ask(pair.one, "resources/subscribe", {"uri": uri}))[1]
    await pair.lose_one()
    status, answer = await web.call(pair.two, "echo", text="again")
    assert (status, answer["result"]["content"][0]["text"]) == (200, "again")
    assert web.session_id == kept
    client = next(iter(pair.two.gateway.clients.values()))
    assert (client.name, client.log_level) == ("web", "debug")
    shared = pair.two.gateway.shared_sessions
    assert shared is not None
    assert shared.takeovers == 1
    async with web.stream(pair.two) as answer:
        await pair.two.gateway._work.ended()  # its subscription is restored
        assert client.subscriptions == {uri}
        await web.call(pair.two, "touch-note")
        await events_of(answer, "notifications/resources/updated")


async def test_a_session_outlives_a_store_that_lost_its_data_unnoticed(
    pair: Pair, web: Web
) -> None:
    await web.begin(pair.one)
    kept = web.session_id
    await pair.written()
    pair.lose_data()  # a restart between two commands, so that none of them failed
    await pair.two.gateway.replica.look()
    assert (await web.call(pair.two, "echo", text="still"))[0] == 200
    # Its owner writes it again when it notices, and not before it is asked for.
    await pair.one.gateway.replica.look()
    await pair.lose_one()
    assert (await web.call(pair.two, "echo", text="taken over"))[0] == 200
    assert web.session_id == kept


async def test_a_session_that_nobody_wrote_again_is_found_at_its_owner(
    pair: Pair, web: Web
) -> None:
    await web.begin(pair.one)
    await pair.lose_one()
    assert (await web.call(pair.two, "echo", text="taken over"))[0] == 200
    clock = SystemClock()
    third = Replica(pair.store, clock, name="three", keys=(KEY,))
    async with running_gateway({}, replica=third) as gateway:
        pair.lose_data()
        # Its id names a replica that is gone, and the store names none.
        assert pair.two.gateway.replica.id in third.others
        status, answer = await web.call(gateway, "echo", text="found")
        assert (status, answer["result"]["content"][0]["text"]) == (200, "found")


async def test_a_session_whose_owner_and_facts_are_both_gone_is_lost(pair: Pair, web: Web) -> None:
    await web.begin(pair.one)
    await pair.lose_one()
    pair.lose_data()
    # Perhaps its owner is only slow to write it again.
    status, answer = await web.call(pair.two, "echo", text="early")
    assert status == 503
    assert "nothing was begun" in answer["error"]["message"]
    await pair.two.gateway.replica._beat()
    pair.two.gateway.replica._recovering_until = -1.0  # that time is over
    status, answer = await web.call(pair.two, "echo", text="late")
    assert status == 404
    assert "there is no such session, or it has ended" in answer["error"]["message"]


async def test_a_replica_that_lost_a_session_drops_it(pair: Pair, web: Web) -> None:
    await web.begin(pair.one)
    assert len(pair.one.gateway.clients) == 1
    await pair.lose_one()
    await web.ask(pair.two, "ping")
    assert len(pair.one.gateway.clients) == 0
    # Asked itself, it passes the request on to who has the session now.
    await pair.one.gateway.replica.look()
    assert (await web.ask(pair.one, "ping"))[0] == 200
    assert len(pair.one.gateway.clients) == 0


async def test_of_many_requests_one_takes_the_session_over(pair: Pair, web: Web) -> None:
    await web.begin(pair.one)
    await pair.lose_one()
    calls = [web.call(pair.two, "echo", text=str(number)) for number in range(10)]
    found = [answer["result"]["content"][0]["text"] for _, answer in await asyncio.gather(*calls)]
    assert found == [str(number) for number in range(10)]
    shared = pair.two.gateway.shared_sessions
    assert shared is not None
    assert shared.takeovers == 1


async def test_a_stream_is_resumed_at_another_replica(pair: Pair, web: Web) -> None:
    await web.begin(pair.one)
    async with web.stream(pair.two) as answer:
        client = next(iter(pair.one.gateway.clients.values()))
        for number in range(3):
            client.notify("notifications/message", {"level": "info", "data": f"event {number}"})
        seen = await events_of(answer, "event 2")
    first = next(event_id for event_id, data in seen if "event 0" in data)
    async with web.stream(pair.two, after=first) as answer:  # by the owner
        assert "event 1" in (await events_of(answer, "event 2"))[-2][1]
    await pair.lose_one()
    async with web.stream(pair.two, after=first) as answer:  # by the store
        found = await events_of(answer, "event 2")
        assert "event 1" in next(data for _, data in found if data)
        taken = next(iter(pair.two.gateway.clients.values()))
        taken.notify("notifications/message", {"level": "info", "data": "event 3"})
        event_id, _ = (await events_of(answer, "event 3"))[-1]
    async with web.stream(pair.two, after=event_id) as answer:
        taken.notify("notifications/message", {"level": "info", "data": "event 4"})
        again = await events_of(answer, "event 4")
        assert not [data for _, data in again if "event 3" in data]


async def test_a_call_whose_owner_died_is_told_that_it_may_have_run(pair: Pair, web: Web) -> None:
    await web.begin(pair.one)
    calling = asyncio.create_task(web.call(pair.two, "wait", seconds=60))
    async with asyncio.timeout(20):
        while not pair.one.gateway.running_calls:
            await SystemClock().sleep(0.01)
        await pair.lose_one()
        status, answer = await calling
    assert status == 200
    assert answer["error"]["data"] == {"code": "CONNECTION_LOST", "mayHaveRun": True}
    assert "may have been carried out" in answer["error"]["message"]
    assert (await web.ask(pair.two, "ping"))[0] == 200


async def test_the_stream_of_a_call_ends_with_that_error_wherever_it_is_resumed(
    pair: Pair, web: Web
) -> None:
    await web.begin(pair.one)
    message = {
        "jsonrpc": "2.0",
        "id": "steps",
        "method": "tools/call",
        "params": {
            "name": "progress-steps",
            "arguments": {"steps": 100, "seconds": 0.05},
            "_meta": {"progressToken": 1},
        },
    }
    headers = {**HEADERS, "Mcp-Session-Id": web.session_id}
    async with web.http.post(pair.two.url(), data=json.dumps(message), headers=headers) as answer:
        seen = await events_of(answer, '"progress":3')
        await pair.lose_one()
        last = await events_of(answer, "mayHaveRun")
    assert json.loads(last[-1][1])["id"] == "steps"
    # A client that lost that connection too resumes it from the first event it had.
    first = next(event_id for event_id, data in seen if "progress" in data)
    async with web.stream(pair.two, after=first) as answer:
        again = await events_of(answer, "mayHaveRun")
    assert json.loads(again[-1][1])["id"] == "steps"
    numbers = [json.loads(data)["params"]["progress"] for _, data in again if "progress" in data]
    assert numbers[:1] == [2]


async def test_a_replica_that_ends_hands_its_sessions_over(pair: Pair, web: Web) -> None:
    await web.begin(pair.one)
    await pair.one.gateway.ending.drain(5)
    assert len(pair.one.gateway.clients) == 0
    assert (await web.call(pair.one, "echo", text="still"))[1]["result"]["content"][0]["text"]
    assert len(pair.two.gateway.clients) == 1


@pytest.mark.parametrize("at_once", [1, 3])
async def test_a_client_that_calls_on_and_on_keeps_no_replica_from_ending(
    pair: Pair, web: Web, at_once: int
) -> None:
    await web.begin(pair.one)
    has_ended = asyncio.Event()

    async def call_on_and_on(gateway: RunningGateway, seconds: float) -> None:
        while not has_ended.is_set():
            status, answer = await web.call(gateway, "wait", seconds=seconds)
            assert status == 200, answer
            assert "result" in answer, answer

    async with asyncio.timeout(40):
        # At a balancer that has not noticed yet, and at one that has.
        kinds = ((pair.two, 0.07), (pair.one, 0.11), (pair.two, 0.15))[:at_once]
        calling = [asyncio.create_task(call_on_and_on(*each)) for each in kinds]
        while not pair.one.gateway.running_calls:
            await SystemClock().sleep(0.01)
        await pair.one.gateway.ending.drain(1.0)  # those that never pause wait after half of it
        assert len(pair.one.gateway.clients) == 0
        has_ended.set()
        await asyncio.gather(*calling)
        assert (await web.ask(pair.one, "ping"))[0] == 200
    assert len(pair.two.gateway.clients) == 1


async def test_the_session_of_another_caller_does_not_exist(web: Web) -> None:
    clock = SystemClock()
    store = MemoryStore(clock)
    one, two = (Replica(store, clock, name=name, keys=(KEY,)) for name in ("one", "two"))
    tokens = tuple(NamedToken(name=name, token=name[0] * 16) for name in ("ann", "bob"))
    settings = GatewaySettings(tokens=tokens)
    async with (
        running_gateway({}, replica=one, settings=settings) as first,
        running_gateway({}, replica=two, settings=settings) as second,
    ):
        pair = Pair(first, second, store)
        await pair.know_each_other()
        ann, bob = ({"Authorization": f"Bearer {token * 16}"} for token in ("a", "b"))
        about = {"protocolVersion": OLD, "capabilities": {}, "clientInfo": {"name": "web"}}
        assert (await web.ask(first, "initialize", about, ann))[0] == 200
        for gateway in (first, second):
            assert (await web.ask(gateway, "ping", None, ann))[0] == 200
            assert (await web.ask(gateway, "ping", None, bob))[0] == 404
        await pair.lose_one()
        assert (await web.ask(second, "ping", None, bob))[0] == 404
        assert len(second.gateway.clients) == 0  # nothing was taken over for a stranger
        assert (await web.ask(second, "ping", None, ann))[0] == 200


async def test_a_task_of_2026_07_28_is_found_at_its_replica(pair: Pair) -> None:
    options: dict[str, Any] = {
        "protocol_version": NEW,
        "capabilities": {"extensions": {"io.modelcontextprotocol/tasks": {}}},
    }
    async with (
        asyncio.timeout(40),
        pair.one.connect(**options) as maker,
        pair.two.connect(**options) as asker,
    ):
        call = {"name": "task-report", "arguments": {"steps": 2, "seconds": 0}}
        made = (await maker.request("tools/call", call)).value
        assert made["resultType"] == "task"
        named = {"taskId": made["taskId"]}
        while (found := (await asker.request("tasks/get", named)).value)["status"] == "working":
            pass
        assert found["taskId"] == made["taskId"]
        assert "2 pages" in str(found["result"])
        with pytest.raises(ServerError, match="there is no task"):
            await asker.request("tasks/get", {"taskId": "invented"})
        await pair.lose_one()
        for method in ("tasks/get", "tasks/cancel", "tasks/update"):
            with pytest.raises(ServerError, match="may have been carried out") as told:
                await asker.request(method, named)
            assert told.value.data == {"code": "CONNECTION_LOST", "mayHaveRun": True}


async def test_tasks_of_a_session_that_was_taken_over_may_have_been_carried_out(
    pair: Pair, web: Web
) -> None:
    await web.begin(pair.one)
    arguments = {"steps": 1, "seconds": 0}
    call = {"name": "task-report", "arguments": arguments, "task": {"ttl": 60_000}}
    _, made = await web.ask(pair.one, "tools/call", call)
    named = {"taskId": made["result"]["task"]["taskId"]}
    await pair.lose_one()
    for method in ("tasks/get", "tasks/result", "tasks/cancel"):
        _, answer = await web.ask(pair.two, method, named)
        assert "may have been carried out" in answer["error"]["message"]
        assert answer["error"]["data"] == {"code": "CONNECTION_LOST", "mayHaveRun": True}
    assert (await web.ask(pair.two, "tasks/list"))[1]["result"] == {"tasks": []}


async def test_a_session_is_taken_over_by_one_request_at_a_time(
    pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    shared = pair.two.gateway.shared_sessions
    assert shared is not None
    entered: asyncio.Queue[None] = asyncio.Queue()
    go_on = asyncio.Semaphore(0)
    running = most = 0

    async def attempt(*_given: Any) -> None:
        nonlocal running, most
        running += 1
        most = max(most, running)
        entered.put_nowait(None)
        await go_on.acquire()
        running -= 1
        raise StoreUnavailable("the shared store cannot be used", store="memory")

    monkeypatch.setattr(shared, "_take_over_once", attempt)
    search: Any = SessionSearch("session", "one", [])
    endpoint: Any = SimpleNamespace(sessions={})

    def begin() -> asyncio.Task[None]:
        return asyncio.create_task(shared._take_over(search, None, endpoint, endpoint))

    async with asyncio.timeout(20):
        first, second = begin(), begin()
        await entered.get()
        go_on.release()  # the first one fails, and the second one goes on
        await entered.get()
        third = begin()
        for _ in range(2):
            go_on.release()
        await asyncio.gather(first, second, third, return_exceptions=True)
    assert most == 1


async def test_sessions_that_end_while_the_store_is_away_are_remembered_within_a_limit(
    web: Web, pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    shared = pair.one.gateway.shared_sessions
    assert shared is not None

    async def gone(*_given: Any) -> bool:
        raise StoreUnavailable("the shared store cannot be used", store="memory")

    former = shared.writer
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(session_writer, "_MOST_ENDED", 2)
        shared.writer = session_writer.SessionWriter(pair.one.gateway)
    monkeypatch.setattr(pair.store, "delete", gone)
    for _ in range(4):
        web.session_id = ""
        await web.begin(pair.one)
        headers = {**HEADERS, "Mcp-Session-Id": web.session_id}
        async with web.http.delete(pair.one.url(), headers=headers) as answer:
            assert answer.status == 200
    assert len(shared.writer._ended) == 2
    monkeypatch.undo()
    await shared.writer.close()
    assert len(shared.writer._ended) == 0
    shared.writer = former


TASKS: dict[str, Any] = {"extensions": {"io.modelcontextprotocol/tasks": {}}}


@contextlib.asynccontextmanager
async def listening(
    gateway: RunningGateway, task_ids: list[str]
) -> AsyncIterator[AsyncIterator[dict[str, Any]]]:
    """The messages of a subscriptions/listen for these tasks."""
    body = {
        "jsonrpc": "2.0", "id": "stream", "method": "subscriptions/listen",
        "params": {"notifications": {"taskIds": task_ids}, "_meta": {
            "io.modelcontextprotocol/protocolVersion": NEW,
            "io.modelcontextprotocol/clientInfo": {"name": "x", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": TASKS,
        }},
    }  # fmt: skip
    headers = {**HEADERS, "MCP-Protocol-Version": NEW, "Mcp-Method": "subscriptions/listen"}
    async with (
        aiohttp.ClientSession() as http,
        http.post(gateway.url(), json=body, headers=headers) as stream,
    ):
        yield events_in(stream)


async def made_task(maker: Client) -> str:
    """A task that goes on until it is cancelled."""
    call = {"name": "task-report", "arguments": {"steps": 100, "seconds": 60}}
    task_id = (await maker.request("tools/call", call)).value["taskId"]
    assert isinstance(task_id, str)
    return task_id


async def test_a_stream_of_2026_07_28_tells_of_tasks_at_every_replica(pair: Pair) -> None:
    async with (
        asyncio.timeout(40),
        pair.one.connect(protocol_version=NEW, capabilities=TASKS) as first,
        pair.two.connect(protocol_version=NEW, capabilities=TASKS) as second,
    ):
        ids = [await made_task(first), await made_task(second)]
        for gateway in (pair.one, pair.two):  # wherever the client asks
            async with listening(gateway, [ids[1], "invented", ids[0]]) as told:
                acknowledged = await anext(told)
                assert acknowledged["method"] == "notifications/subscriptions/acknowledged"
                assert acknowledged["params"]["notifications"]["taskIds"] == [ids[1], ids[0]]
                for maker, task_id in ((second, ids[1]), (first, ids[0])):
                    await maker.request("tasks/cancel", {"taskId": task_id})
                    news = await anext(told)
                    assert news["method"] == "notifications/tasks"
                    found = news["params"]
                    assert (found["taskId"], found["status"]) == (task_id, "cancelled")
                    (subscription,) = found["_meta"].values()
                    assert subscription == "stream"
            ids = [await made_task(first), await made_task(second)]


async def test_a_stream_ends_when_a_replica_tells_no_more_of_its_tasks(pair: Pair) -> None:
    async with (
        asyncio.timeout(40),
        pair.one.connect(protocol_version=NEW, capabilities=TASKS) as first,
        pair.two.connect(protocol_version=NEW, capabilities=TASKS) as second,
    ):
        ids = [await made_task(first), await made_task(second)]
        async with listening(pair.two, ids) as told:
            assert (await anext(told))["params"]["notifications"]["taskIds"] == ids
            await pair.lose_one()
            over = await anext(told)  # the client listens again, and learns which tasks are lost
            assert over["result"]["resultType"] == "complete"
            assert [one async for one in told] == []
        async with listening(pair.two, ids) as told:
            assert (await anext(told))["params"]["notifications"]["taskIds"] == [ids[1]]
        for gateway in (pair.one, pair.two):
            await gateway.gateway._work.ended()  # the demo's own stream is closed
            assert gateway.gateway.fan_out.streams == []


async def test_a_stream_about_another_replica_delays_no_shutdown(pair: Pair) -> None:
    async with (
        asyncio.timeout(40),
        pair.one.connect(protocol_version=NEW, capabilities=TASKS) as first,
    ):
        ids = [await made_task(first)]
        async with listening(pair.two, ids) as told:
            assert (await anext(told))["params"]["notifications"]["taskIds"] == ids
            shared = pair.two.gateway.shared_sessions
            assert shared is not None
            assert shared.forwarder.idle.is_set()


async def events_in(stream: aiohttp.ClientResponse) -> AsyncIterator[dict[str, Any]]:
    """The messages of a stream, as they come."""
    async for line in stream.content:
        if line.startswith(b"data: {"):
            yield json.loads(line.removeprefix(b"data: "))


async def test_a_suspended_call_of_2026_07_28_is_found_at_its_replica() -> None:
    clock = SystemClock()
    store = MemoryStore(clock)
    one, two = (Replica(store, clock, name=name, keys=(KEY,)) for name in ("one", "two"))
    async with (
        asyncio.timeout(40),
        http_demo() as url,
        running_gateway({"demo": {"url": url, "protocolVersion": OLD}}, replica=one) as first,
        running_gateway({"demo": {"url": url, "protocolVersion": OLD}}, replica=two) as second,
    ):
        pair = Pair(first, second, store)
        await pair.know_each_other()
        options: dict[str, Any] = {
            "protocol_version": NEW,
            "capabilities": {"elicitation": {"form": {}}},
        }
        async with first.connect(**options) as asked, second.connect(**options) as answering:
            call = {"name": "elicit-form", "arguments": {"form": "name"}}
            question = (await asked.request("tools/call", call)).value
            (key,) = question["inputRequests"]
            answer = {"action": "accept", "content": {"name": "Ada"}}
            again = {
                **call,
                "requestState": question["requestState"],
                "inputResponses": {key: answer},
            }
            assert "Ada" in str((await answering.request("tools/call", again)).value)
            question = (await asked.request("tools/call", call)).value
            await pair.lose_one()
            with pytest.raises(ServerError, match="may have been carried out"):
                await answering.request(
                    "tools/call", {**again, "requestState": question["requestState"]}
                )
