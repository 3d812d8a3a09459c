"""The older HTTP+SSE transport."""

from __future__ import annotations

from mcplens.inbound.limits import Limits

from .harness import INITIALIZE, AsgiExchange, Http, note, request, served


async def endpoint_of(http: Http) -> tuple[AsgiExchange, str]:
    stream = http.open("GET", "/sse")
    await stream.until(lambda it: it.events)
    assert stream.events[0].event == "endpoint"
    return stream, stream.events[0].data.decode()


async def messages(stream: AsgiExchange, count: int) -> list[int | None]:
    """The ids of the messages after the endpoint event."""
    import json

    await stream.until(lambda it: len(it.events) > count)
    return [json.loads(event.data).get("id") for event in stream.events[1:]]


async def test_the_stream_names_the_endpoint_and_brings_the_answers() -> None:
    async with served() as http:
        stream, endpoint = await endpoint_of(http)
        for message in (INITIALIZE, request("echo", 1)):
            done = await http.open("POST", endpoint, message).ended()
            assert done.status == 202
        assert await messages(stream, 2) == [0, 1]
        assert all(event.event == "message" for event in stream.events[1:])


async def test_an_unknown_session_is_404_and_none_400() -> None:
    async with served() as http:
        assert (await http.open("POST", "/messages?session_id=x", INITIALIZE).ended()).status == 404
        assert (await http.open("POST", "/messages", INITIALIZE).ended()).status == 400


async def test_a_post_to_the_stream_is_405_which_sends_newer_clients_here() -> None:
    async with served() as http:
        done = await http.open("POST", "/sse", INITIALIZE).ended()
        assert (done.status, done.headers["allow"]) == (405, "GET")
        assert (await http.open("GET", "/messages").ended()).status == 405


async def test_when_the_stream_is_gone_so_is_the_client() -> None:
    async with served() as http:
        stream, endpoint = await endpoint_of(http)
        await http.open("POST", endpoint, INITIALIZE).ended()
        await stream.leave()
        assert [reason for _, reason in http.script.gone] == ["the client closed its stream"]
        assert (await http.open("POST", endpoint, request("echo")).ended()).status == 404


async def test_what_is_no_message_is_answered_on_the_stream() -> None:
    async with served() as http:
        stream, endpoint = await endpoint_of(http)
        assert (await http.open("POST", endpoint, b"{").ended()).status == 202
        assert await messages(stream, 1) == [None]
        assert b"-32700" in stream.events[1].data


async def test_a_client_that_does_not_read_is_disconnected_and_nobody_else() -> None:
    async with served(limits=Limits(max_backlog_bytes=1000)) as http:
        slow, endpoint = await endpoint_of(http)
        await http.open("POST", endpoint, INITIALIZE).ended()
        peer = http.script.peer
        other, other_endpoint = await endpoint_of(http)
        slow.reads.clear()
        for number in range(100):
            peer.send(note(number))
        assert http.script.gone == [(peer, "the client reads too slowly")]
        await http.open("POST", other_endpoint, INITIALIZE).ended()
        assert await messages(other, 1) == [0]


async def test_a_silent_stream_shows_that_it_is_alive() -> None:
    async with served(limits=Limits(keepalive_s=15)) as http:
        stream, _ = await endpoint_of(http)
        await http.clock.settle()
        await http.clock.advance(15)
        assert stream.body.endswith(b": still here\n\n")


async def test_there_is_a_limit_to_streams() -> None:
    async with served(limits=Limits(max_sessions=1)) as http:
        await endpoint_of(http)
        assert (await http.open("GET", "/sse").ended()).status == 503
