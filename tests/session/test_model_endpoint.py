"""The model profile against a fake of the chat API: what is sent, what comes back, what is not."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import Awaitable, Callable
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pytest
from aiohttp import web

from mcplens.bus import Bus
from mcplens.clock import ManualClock
from mcplens.errors import ConfigurationError
from mcplens.events import ServerRequestEnded
from mcplens.session import model_endpoint
from mcplens.session.profiles import Profiles, TestingProfile
from mcplens.store.recorder import Recorder

from .scripted import Rig

SAMPLE = "sampling/createMessage"
KEY = "sk-very-secret-0123456789"
HELLO = {"role": "user", "content": {"type": "text", "text": "hello"}}
ADD = {"name": "add", "inputSchema": {"type": "object"}}
# What is refused for its time is refused after this; the others take milliseconds.
BOUND_S = 20


def params(*messages: Any, **more: Any) -> dict[str, Any]:
    return {"messages": list(messages or [HELLO]), "maxTokens": 50} | more


def reply(message: dict[str, Any], finish: str = "stop") -> dict[str, Any]:
    return {"model": "fake-1", "choices": [{"message": message, "finish_reason": finish}]}


class FakeApi:
    """An endpoint on loopback that answers as it is told, and keeps what it was asked."""

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers) or [reply({"role": "assistant", "content": "hi"})]
        self.bodies: list[Any] = []
        self.headers: list[dict[str, str]] = []
        self.paths: list[str] = []
        self.arrived = asyncio.Event()
        self.hung_up = asyncio.Event()

    async def __aenter__(self) -> Self:
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", self._handle)
        # A handler hears of it when its client hangs up.
        self._runner = web.AppRunner(app, handler_cancellation=True)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        port = self._runner.addresses[0][1]
        self.url = f"http://127.0.0.1:{port}/v1"
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self._runner.cleanup()

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        self.paths.append(request.path_qs)
        self.headers.append(dict(request.headers))
        self.bodies.append(await request.json())
        self.arrived.set()
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if callable(answer):
            made: Awaitable[web.StreamResponse] = answer(request)
            return await made
        return answer if isinstance(answer, web.Response) else web.json_response(answer)

    async def never(self, request: web.Request) -> web.StreamResponse:
        try:
            await asyncio.Event().wait()
        finally:
            self.hung_up.set()
        raise AssertionError("it waits for ever")

    def profile(self, **more: Any) -> TestingProfile:
        values = {"kind": "model", "url": self.url, "model": "fake", "apiKey": KEY, **more}
        return Profiles({"gpt": values}).get("gpt")


async def answer_to(rig: Rig, identity: str, question: Any) -> Any:
    """Ask, and wait for the client's answer."""
    rig.server.ask(identity, SAMPLE, question)
    async with asyncio.timeout(BOUND_S):
        async for event in rig.client.events():
            if isinstance(event, ServerRequestEnded) and event.request_id == identity:
                break
    await rig.settle()
    answer = rig.server.answer_to(identity)
    assert answer is not None
    return answer.get("result", answer.get("error"))


async def asked(profile: TestingProfile, question: Any = None) -> Any:
    async with Rig(sampling=profile) as rig:
        return await answer_to(rig, "q1", question or params())


# -- a conversation --------------------------------------------------------------------------------


async def test_a_question_is_handed_over_and_its_answer_brought_back() -> None:
    async with FakeApi() as api:
        question = params(systemPrompt="be brief", temperature=0.5, stopSequences=["END"])
        assert await asked(api.profile(), question) == {
            "role": "assistant",
            "content": {"type": "text", "text": "hi"},
            "model": "fake-1",
            "stopReason": "endTurn",
        }
        assert api.bodies == [
            {
                "model": "fake",
                "messages": [
                    {"role": "system", "content": "be brief"},
                    {"role": "user", "content": "hello"},
                ],
                "max_tokens": 50,
                "temperature": 0.5,
                "stop": ["END"],
            }
        ]
        assert api.paths == ["/v1/chat/completions"]


async def test_images_and_sounds_are_handed_over() -> None:
    image = {"type": "image", "data": "AAAA", "mimeType": "image/png"}
    sound = {"type": "audio", "data": "BBBB", "mimeType": "audio/mpeg"}
    async with FakeApi() as api:
        await asked(api.profile(), params({"role": "user", "content": [image, sound]}))
        kinds = [part["type"] for part in api.bodies[0]["messages"][0]["content"]]
        assert kinds == ["image_url", "input_audio"]


async def test_tools_are_called_and_their_results_handed_over() -> None:
    function = {"name": "add", "arguments": '{"a": 2}'}
    call = {"id": "c1", "type": "function", "function": function}
    first = reply({"content": None, "tool_calls": [call]}, "tool_calls")
    async with (
        FakeApi(first, reply({"content": "it is 5"}, "length")) as api,
        Rig(sampling=api.profile()) as rig,
    ):
        offered = {"tools": [ADD], "toolChoice": {"mode": "auto"}}
        answer = await answer_to(rig, "q1", params(**offered))
        assert answer["stopReason"] == "toolUse"
        assert answer["content"] == [
            {"type": "tool_use", "id": "c1", "name": "add", "input": {"a": 2}}
        ]
        content = [{"type": "text", "text": "5"}]
        results = [{"type": "tool_result", "toolUseId": "c1", "content": content}]
        said = {"role": "assistant", "content": answer["content"]}
        follow_up = params(HELLO, said, {"role": "user", "content": results}, **offered)
        last = await answer_to(rig, "q2", follow_up)
        assert (last["content"]["text"], last["stopReason"]) == ("it is 5", "maxTokens")
        assert [message["role"] for message in api.bodies[1]["messages"]] == [
            "user",
            "assistant",
            "tool",
        ]
        assert api.bodies[0]["tools"][0]["function"]["name"] == "add"
        assert api.bodies[0]["tool_choice"] == "auto"


async def test_an_answer_that_breaks_the_rules_is_not_sent() -> None:
    call = {"id": "c1", "function": {"name": "subtract", "arguments": "{}"}}
    async with FakeApi(reply({"tool_calls": [call]})) as api:
        error = await asked(api.profile(), params(tools=[ADD]))
        assert error["code"] == -32603
        assert "subtract" in error["message"]


# -- the key ---------------------------------------------------------------------------------------


async def test_the_key_is_in_the_header_and_nowhere_else(tmp_path: Path) -> None:
    file = tmp_path / "history.db"
    clock = ManualClock()
    bus = Bus(clock)
    recorder = Recorder(bus, file, clock=clock)
    echoes_key = web.Response(status=401, text=f"bad key {'x' * 480}{KEY}")
    async with FakeApi(reply({"content": "hi"}), echoes_key) as api:
        profile = api.profile()
        async with Rig(sampling=profile, bus=bus, clock=clock) as rig:
            await answer_to(rig, "q1", params())
            error = await answer_to(rig, "q2", params())
            kept = [repr(event) for event in bus.kept()]
        await recorder.aclose()
        assert [headers["Authorization"] for headers in api.headers] == [f"Bearer {KEY}"] * 2
        assert KEY not in json.dumps(api.bodies) + json.dumps(api.paths)
    assert "HTTP 401" in error["message"]
    shown = [error["message"], repr(profile), *kept]
    # Not even the beginning of it, where the text was cut.
    assert not [text for text in shown if KEY[:6] in text]
    connection = sqlite3.connect(file)
    dumped = "\n".join(connection.iterdump()).upper()  # bytes are hexadecimal in it
    connection.close()
    assert b"hello".hex().upper() in dumped
    assert KEY.upper() not in dumped
    assert KEY.encode().hex().upper() not in dumped


async def test_without_a_key_none_is_sent() -> None:
    async with FakeApi() as api:
        await asked(api.profile(apiKey=""))
        assert "Authorization" not in api.headers[0]


async def test_a_redirect_is_not_followed() -> None:
    async with FakeApi() as elsewhere, FakeApi() as api:
        api.answers = [web.Response(status=307, headers={"Location": elsewhere.url})]
        error = await asked(api.profile())
        assert "HTTP 307, a redirect, which is not followed" in error["message"]
        assert elsewhere.headers == []


async def test_neither_netrc_nor_cookies_nor_a_proxy_come_in(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login me password p\n")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    async with FakeApi() as api:
        answer = await asked(api.profile(apiKey=""))
        assert answer["content"]["text"] == "hi"
        assert "Authorization" not in api.headers[0]


# -- what goes wrong -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (web.Response(status=401, text='{"error": "bad key"}'), 'HTTP 401: {"error": "bad key"}'),
        (web.Response(status=500, text="boom"), "HTTP 500: boom"),
        (web.Response(text="<html>"), "its answer is not JSON"),
        (web.Response(body=b"\xff\xfe"), "its answer is not JSON"),
        (web.Response(text="{}"), "its answer cannot be used: there is no choices[0].message"),
        (web.Response(text=""), "its answer is not JSON"),
    ],
    ids=["401", "500", "no JSON", "no text", "no answer", "nothing"],
)
async def test_what_is_wrong_is_told_to_the_server(answer: web.Response, words: str) -> None:
    async def give(request: web.Request) -> web.Response:
        return web.Response(status=answer.status, body=answer.body)

    async with FakeApi(give) as api:
        error = await asked(api.profile())
        assert error["code"] == -32603
        assert f"the model at {api.url}/chat/completions did not answer" in error["message"]
        assert words in error["message"]


async def test_no_more_is_read_than_may_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_endpoint, "_LARGEST_ANSWER", 100_000)

    async def flood(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        try:
            while True:
                await response.write(b" " * 65_536)
        except ConnectionError:
            return response

    async with FakeApi(flood) as api:
        error = await asked(api.profile())
        assert "larger than 100,000 bytes" in error["message"]


async def test_an_endpoint_that_is_too_slow_is_given_up() -> None:
    async with FakeApi() as api:
        api.answers = [api.never]
        error = await asked(api.profile(timeoutSeconds=0.05))
        assert "no answer within 0.05 s" in error["message"]
        async with asyncio.timeout(BOUND_S):
            await api.hung_up.wait()


async def test_an_endpoint_that_is_not_there_is_told() -> None:
    async with FakeApi() as api:
        pass
    error = await asked(api.profile())
    assert "did not answer: Cannot connect to host 127.0.0.1" in error["message"]


async def cancel_by_server(rig: Rig) -> None:
    rig.server.notify("notifications/cancelled", {"requestId": "q1"})


async def cancel_by_disconnect(rig: Rig) -> None:
    await rig.client.disconnect()


async def cancel_by_answer(rig: Rig) -> None:
    (pending,) = rig.client.sampling.get_pending()
    rig.client.sampling.resolve(pending.id, "a person was faster")


@pytest.mark.parametrize("cancel", [cancel_by_server, cancel_by_disconnect, cancel_by_answer])
async def test_when_the_question_is_over_the_request_is_too(
    cancel: Callable[[Rig], Awaitable[None]],
) -> None:
    async with FakeApi() as api:
        api.answers = [api.never]
        async with Rig(sampling=api.profile()) as rig:
            rig.server.ask("q1", SAMPLE, params())
            async with asyncio.timeout(BOUND_S):
                await api.arrived.wait()
                await cancel(rig)
                await api.hung_up.wait()
            assert rig.client.sampling.get_pending() == []


# -- settings --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"url": "ftp://x"}, "url has to be http:// or https://"),
        ({"url": "http://"}, "url has to be http:// or https://"),
        ({"url": "http://x:99999999"}, "url has to be http:// or https://"),
        ({"url": f"http://me:{KEY}@x/v1"}, "url has no place for a user"),
        ({"url": 7}, "url has to be a text"),
        ({"model": None}, "model has to be a text"),
        ({"apiKey": 7}, "apiKey has to be a text"),
        ({"apiKey": f"{KEY}\r\nX-Other: 1"}, "apiKey has characters that no header can carry"),
        ({"timeoutSeconds": "soon"}, "timeoutSeconds has to be a number"),
        ({"apikey": KEY}, "apikey: model has no such setting"),
    ],
)
def test_a_wrong_setting_is_named_and_the_key_is_not(values: Any, words: str) -> None:
    good = {"kind": "model", "url": "http://127.0.0.1:1", "model": "m", "apiKey": "k"}
    with pytest.raises(ConfigurationError) as problem:
        Profiles({"gpt": good | values}).get("gpt")
    assert problem.value.message.startswith("the profile gpt: ")
    assert words in problem.value.message
    assert KEY not in problem.value.message


async def test_a_base_url_may_have_a_query_and_a_key_line_ends() -> None:
    async with FakeApi() as api:
        profile = api.profile(url=f"{api.url}/?api-version=1", apiKey=f"{KEY}\n")
        answer = await asked(profile)
        assert answer["content"]["text"] == "hi"
        assert api.paths == ["/v1/chat/completions?api-version=1"]
        assert api.headers[0]["Authorization"] == f"Bearer {KEY}"


async def test_a_model_takes_its_turn_in_a_script() -> None:
    async with FakeApi() as api:
        inner = {"kind": "model", "url": api.url, "model": "m"}
        values = {"kind": "script", "steps": ["echo", inner]}
        script = Profiles({"mixed": values}).get("mixed")
        async with Rig(sampling=script) as rig:
            texts = [(await answer_to(rig, q, params()))["content"]["text"] for q in ("q1", "q2")]
        assert texts == ["hello", "hi"]
