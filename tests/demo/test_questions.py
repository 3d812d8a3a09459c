"""What the demo asks of its client: by requests in 2025-11-25, by input_required in 2026-07-28."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import aiohttp
import pytest

import mcplens
from mcplens import ServerError
from mcplens.events import LogReceived, NotificationReceived, ServerRequestReceived

from .doors import (
    EVERYTHING,
    HANDSHAKE,
    PATIENCE_S,
    STATELESS,
    Answers,
    House,
    Way,
    accept,
    call,
    converse,
    handlers,
    heard,
    in_memory,
    say,
    text_of,
)

pytestmark = pytest.mark.asyncio(loop_scope="module")

FILLED = {"name": "Ada", "email": "ada@example.com", "days": ["tue"], "age": 36}
ROOTS = [{"uri": "file:///work", "name": "work"}]
ANSWERS: Answers = {
    "elicitation/create": lambda _: accept(name="Ada"),
    "sampling/createMessage": lambda params: say(params["messages"][0]["content"]["text"].upper()),
    "roots/list": lambda _: {"roots": ROOTS},
}


def connect(house: House, way: Way, answers: Answers = ANSWERS) -> mcplens.connect:
    return house.connect(way, capabilities=EVERYTHING, request_handlers=handlers(answers))


async def test_sampling_carries_everything_and_brings_the_answer(house: House, way: Way) -> None:
    asked: list[Any] = []

    def answer(params: Any) -> Any:
        asked.append(params)
        return say("a curved glass")

    async with connect(house, way, {"sampling/createMessage": answer}) as client:
        result = await call(
            client, "sample", {"prompt": "what?"}, {"sampling/createMessage": answer}
        )
    assert text_of(result) == "parrot says: a curved glass"
    assert asked[0]["messages"][0]["content"]["text"] == "what?"
    assert {"systemPrompt", "modelPreferences", "temperature", "stopSequences"} <= asked[0].keys()


async def test_a_model_may_call_tools_until_it_is_done(house: House, way: Way) -> None:
    rounds: list[Any] = []

    def answer(params: Any) -> Any:
        rounds.append(params)
        if len(rounds) == 1:
            use = {"type": "tool_use", "id": "u1", "name": "add", "input": {"a": 2, "b": 2}}
            return {**say(""), "stopReason": "toolUse", "content": [use]}
        return say("it is 4")

    answers = {"sampling/createMessage": answer}
    async with connect(house, way, answers) as client:
        result = await call(client, "sample-with-tools", {"toolChoice": "required"}, answers)
    assert text_of(result) == "parrot says after 2 rounds: it is 4"
    assert rounds[0]["tools"][0]["name"] == "add"
    assert [one["toolChoice"]["mode"] for one in rounds] == ["required", "auto"]
    *_, uses, results = rounds[1]["messages"]
    assert uses["content"][0]["id"] == results["content"][0]["toolUseId"] == "u1"
    assert results["content"][0]["content"][0]["text"] == "4"


async def test_a_form_is_filled_in_declined_or_cancelled(house: House, way: Way) -> None:
    for given, is_error in (
        (accept(**FILLED), False),
        ({"action": "decline"}, True),
        ({"action": "cancel"}, True),
        (accept(nick="no name"), True),
    ):
        answers = {"elicitation/create": lambda _, given=given: given}
        async with connect(house, way, answers) as client:
            result = await call(client, "elicit-form", None, answers)
        assert bool(result.get("isError")) is is_error
        if not is_error:
            assert json.loads(text_of(result)) == FILLED


async def test_a_second_form_may_depend_on_the_first(house: House, way: Way) -> None:
    def answer(params: Any) -> Any:
        return (
            accept(name="Ada")
            if "name?" in params["message"]
            else accept(sure="Ada" in params["message"])
        )

    answers = {"elicitation/create": answer}
    async with connect(house, way, answers) as client:
        assert text_of(await call(client, "elicit-steps", None, answers)) == "Ada is sure"


async def test_several_things_are_asked_at_once(house: House, way: Way) -> None:
    async with connect(house, way) as client:
        assert text_of(await call(client, "elicit-two", None, ANSWERS)) == "Ada and Ada"
        result = await call(client, "ask-everything", None, ANSWERS)
        assert text_of(result) == "Ada has 1 roots, and the model says: SAY SOMETHING NICE."
        assert json.loads(text_of(await call(client, "list-roots", None, ANSWERS))) == ROOTS


async def test_prompts_and_resources_ask_too(house: House, way: Way) -> None:
    async with connect(house, way) as client:
        prompt = await converse(client, "prompts/get", {"name": "for-you"}, ANSWERS)
        assert "poem about Ada" in str(prompt["messages"])
        uri = {"uri": "demo://for-you"}
        read = await converse(client, "resources/read", uri, ANSWERS)
        assert read["contents"][0]["text"] == "written for Ada"


async def test_a_page_is_visited_and_the_call_goes_on(house: House, way: Way) -> None:
    visits: list[Any] = []

    async def visit(url: str) -> None:
        async with aiohttp.ClientSession() as http, http.get(url) as response:
            visits.append(response.status)

    if way.is_stateless:
        async with connect(house, way) as client:
            params = {"name": "elicit-url", "arguments": {}}
            first = (await client.request("tools/call", params)).value
            question = first["inputRequests"]["page-1"]
            assert question["params"]["mode"] == "url"
            again = {
                **params,
                "inputResponses": {"page-1": {"action": "accept"}},
                "requestState": first["requestState"],
            }
            second = (await client.request("tools/call", again)).value
            assert second["resultType"] == "input_required"  # promised, but not visited yet
            await visit(question["params"]["url"])
            assert (
                text_of((await client.request("tools/call", again)).value) == "the page was visited"
            )
    else:
        pending: list[asyncio.Task[None]] = []

        def answer(params: Any) -> Any:
            pending.append(asyncio.ensure_future(visit(params["url"])))
            return {"action": "accept"}

        async with connect(house, way, {"elicitation/create": answer}) as client:
            assert text_of(await client.call_tool("elicit-url")) == "the page was visited"
            asked = await heard(client, ServerRequestReceived)
            done = await heard(
                client,
                NotificationReceived,
                lambda e: e.method == "notifications/elicitation/complete",
            )
            assert done.params["elicitationId"] == asked.params["elicitationId"]
            await asyncio.gather(*pending)
    assert visits == [200]


async def test_a_page_that_is_not_the_right_one_is_404_and_visits_nothing() -> None:
    async with in_memory(revision=STATELESS, capabilities=EVERYTHING) as (client, _):
        params = {"name": "elicit-url-required", "arguments": {}}
        value = (await client.request("tools/call", params)).value
        url = value["inputRequests"]["page-1"]["params"]["url"]
        async with aiohttp.ClientSession() as http:
            assert (await http.get(f"{url}x")).status == 404
            assert (await http.get(url)).status == 200
        assert text_of(await call(client, "elicit-url-required")) == "the page was visited"


async def test_a_page_ends_with_its_demo_and_the_next_demo_has_one_of_its_own() -> None:
    params = {"name": "elicit-url-required", "arguments": {}}
    urls: list[str] = []
    for _ in range(2):
        async with in_memory(revision=STATELESS, capabilities=EVERYTHING) as (client, _):
            asked = [client.request("tools/call", params) for _ in range(2)]
            values = [one.value for one in await asyncio.gather(*asked)]
            first, second = [one["inputRequests"]["page-1"]["params"]["url"] for one in values]
            assert first == second  # one client, one page
        urls.append(first)
        async with aiohttp.ClientSession() as http:
            with pytest.raises(aiohttp.ClientConnectionError):
                await http.get(first)
    assert urls[0] != urls[1]


async def test_error_32042_names_the_page_and_the_retry_passes() -> None:
    answers = handlers({"elicitation/create": lambda _: {"action": "decline"}})
    async with in_memory(capabilities=EVERYTHING, request_handlers=answers) as (client, _):
        elicitations = []
        for _ in range(2):
            with pytest.raises(ServerError) as refused:
                await client.call_tool("elicit-url-required")
            assert refused.value.rpc_code == -32042
            elicitations += refused.value.data["elicitations"]
        _, elicitation = elicitations
        assert elicitation["mode"] == "url"
        async with aiohttp.ClientSession() as http:
            await http.get(elicitation["url"])
        await heard(
            client,
            NotificationReceived,
            lambda e: e.params == {"elicitationId": elicitation["elicitationId"]},
        )
        assert "thank you" in text_of(await client.call_tool("elicit-url-required"))


async def test_roots_that_change_are_asked_for_again() -> None:
    answers = handlers(ANSWERS)
    async with in_memory(capabilities=EVERYTHING, request_handlers=answers) as (client, _):
        client.notify("notifications/roots/list_changed")
        log = await heard(client, LogReceived)
        assert log.data == {"what": "the roots changed", "roots": ROOTS}


async def test_a_client_that_refuses_is_a_failure_of_the_tool() -> None:
    def refuse(_: Any) -> Any:
        raise ServerError(-1, "the user said no")

    options: Any = {
        "capabilities": EVERYTHING,
        "request_handlers": {"sampling/createMessage": refuse},
    }
    async with in_memory(**options) as (client, _):
        result = await client.call_tool("sample")
        assert result.is_error
        assert "the user said no" in text_of(result)


async def test_a_question_is_withdrawn_when_the_call_is_cancelled() -> None:
    asked = asyncio.Event()

    async def never(_: Any) -> Any:
        asked.set()
        await asyncio.get_running_loop().create_future()

    options: Any = {"capabilities": EVERYTHING, "request_handlers": {"elicitation/create": never}}
    async with in_memory(**options) as (client, _), asyncio.timeout(PATIENCE_S):
        waiting = asyncio.ensure_future(client.call_tool("elicit-form"))
        await asked.wait()
        waiting.cancel()
        await heard(client, NotificationReceived, lambda e: e.method == "notifications/cancelled")


# -- the rules of input_required ---


async def asked_once(client: mcplens.Client) -> tuple[dict[str, Any], dict[str, Any]]:
    params = {"name": "elicit-steps", "arguments": {}}
    return params, (await client.request("tools/call", params)).value


@pytest.mark.parametrize(
    ("more", "code"),
    [
        ({"requestState": "forged"}, -32602),
        ({"requestState": 7}, -32602),
        ({"inputResponses": {"who": 12}}, -32602),
        ({"inputResponses": {"who": {"no": "action"}}}, -32602),
        ({"inputResponses": None}, -32602),
    ],
)
async def test_state_and_answers_that_are_not_right_are_refused(
    more: dict[str, Any], code: int
) -> None:
    async with in_memory(revision=STATELESS, capabilities=EVERYTHING) as (client, _):
        params, value = await asked_once(client)
        given = {
            "inputResponses": {"who": accept(name="Ada")},
            "requestState": value["requestState"],
        }
        with pytest.raises(ServerError) as refused:
            await client.request("tools/call", {**params, **given, **more})
        assert refused.value.rpc_code == code


async def test_state_belongs_to_the_request_that_it_was_given_for() -> None:
    async with in_memory(revision=STATELESS, capabilities=EVERYTHING) as (client, _):
        _, value = await asked_once(client)
        other = {"name": "elicit-form", "arguments": {}, "requestState": value["requestState"]}
        with pytest.raises(ServerError) as refused:
            await client.request("tools/call", other)
        assert refused.value.rpc_code == -32602


async def test_what_is_not_answered_is_asked_again_and_what_nobody_asked_is_ignored() -> None:
    async with in_memory(revision=STATELESS, capabilities=EVERYTHING) as (client, _):
        params = {"name": "elicit-two", "arguments": {}}
        value = (await client.request("tools/call", params)).value
        given = {"first": accept(name="Ada"), "stray": accept(x=1)}
        again = {**params, "inputResponses": given, "requestState": value["requestState"]}
        value = (await client.request("tools/call", again)).value
        assert list(value["inputRequests"]) == ["second"]
        last = {"second": accept(name="Bob")}
        done = {**params, "inputResponses": last, "requestState": value["requestState"]}
        assert text_of((await client.request("tools/call", done)).value) == "Ada and Bob"


@pytest.mark.parametrize("capability", [{"elicitation": {"url": {}}}, {"elicitation": {}}])
async def test_a_client_without_forms_is_not_asked_for_one(capability: dict[str, Any]) -> None:
    has_forms = capability == {"elicitation": {}}  # an empty capability means forms
    async with in_memory(revision=STATELESS, capabilities=capability) as (client, _):
        if has_forms:
            assert (await asked_once(client))[1]["resultType"] == "input_required"
        else:
            with pytest.raises(ServerError) as refused:
                await asked_once(client)
            assert refused.value.data == {"requiredCapabilities": {"elicitation": {"form": {}}}}


async def test_the_handshake_era_never_hears_of_input_required() -> None:
    async with in_memory(
        revision=HANDSHAKE, capabilities=EVERYTHING, request_handlers=handlers(ANSWERS)
    ) as (client, _):
        value = (await client.request("tools/call", {"name": "elicit-two", "arguments": {}})).value
        assert "resultType" not in value
