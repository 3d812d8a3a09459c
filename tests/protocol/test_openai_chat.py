"""Sampling in the words of OpenAI's chat API, and back."""

from __future__ import annotations

from typing import Any

import pytest

from mcplens.protocol.openai_chat import answer_from_chat, chat_request
from mcplens.protocol.sampling import answer_findings

ADD = {"name": "add", "description": "Adds.", "inputSchema": {"type": "object", "properties": {}}}


def said(content: Any, role: str = "user") -> dict[str, Any]:
    return {"role": role, "content": content}


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def asked(*messages: Any, **more: Any) -> dict[str, Any]:
    return {"messages": list(messages), "maxTokens": 10} | more


def messages_of(*messages: Any, **more: Any) -> list[Any]:
    found: list[Any] = chat_request(asked(*messages, **more), "m")["messages"]
    return found


# -- there -----------------------------------------------------------------------------------------


def test_a_question_becomes_messages() -> None:
    params = asked(said(text("hi")), said(text("yes?"), "assistant"), systemPrompt="be brief")
    assert chat_request(params, "m") == {
        "model": "m",
        "max_tokens": 10,
        "messages": [
            {"role": "system", "content": "be brief"},
            {"role": "user", "content": "hi"},
            {"role": "assistant", "content": "yes?"},
        ],
    }


def test_temperature_and_stop_sequences_go_along() -> None:
    body = chat_request(asked(temperature=0, stopSequences=["END"]), "m")
    assert (body["temperature"], body["stop"]) == (0, ["END"])
    assert "stop" not in chat_request(asked(stopSequences=[]), "m")


def test_several_texts_are_one() -> None:
    assert messages_of(said([text("a"), text("b")])) == [{"role": "user", "content": "a\nb"}]


def test_images_and_sounds_are_parts() -> None:
    image = {"type": "image", "data": "AAAA", "mimeType": "image/png"}
    sound = {"type": "audio", "data": "BBBB", "mimeType": "audio/wav"}
    (message,) = messages_of(said([text("look"), image, sound]))
    assert message["content"] == [
        text("look"),
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
        {"type": "input_audio", "input_audio": {"data": "BBBB", "format": "wav"}},
    ]


def test_a_sound_that_the_api_has_no_name_for_is_mentioned() -> None:
    sound = {"type": "audio", "data": "BBBB", "mimeType": "audio/ogg"}
    assert messages_of(said(sound)) == [{"role": "user", "content": "[audio, audio/ogg]"}]


def test_tools_are_functions() -> None:
    body = chat_request(asked(tools=[ADD, {"name": "now"}], toolChoice={"mode": "required"}), "m")
    assert body["tools"] == [
        {
            "type": "function",
            "function": {
                "name": "add",
                "description": "Adds.",
                "parameters": {"type": "object", "properties": {}},
            },
        },
        {"type": "function", "function": {"name": "now", "parameters": {"type": "object"}}},
    ]
    assert body["tool_choice"] == "required"
    choices: list[dict[str, Any]] = [{"mode": "?"}, {"mode": {}}, {"mode": None}]
    for choice in choices:
        assert "tool_choice" not in chat_request(asked(tools=[ADD], toolChoice=choice), "m")
    assert "tool_choice" not in chat_request(asked(toolChoice={"mode": "none"}), "m")


def test_calls_and_results_are_messages_of_their_own() -> None:
    uses = [{"type": "tool_use", "id": f"t{n}", "name": "add", "input": {"a": n}} for n in (1, 2)]
    results = [
        {"type": "tool_result", "toolUseId": "t1", "content": [text("5"), text("6")]},
        {"type": "tool_result", "toolUseId": "t2", "content": [text("oh")], "isError": True},
    ]
    calls = [
        {
            "id": f"t{n}",
            "type": "function",
            "function": {"name": "add", "arguments": f'{{"a":{n}}}'},
        }
        for n in (1, 2)
    ]
    assert messages_of(said([text("wait"), *uses], "assistant"), said(results)) == [
        {"role": "assistant", "content": "wait", "tool_calls": calls},
        {"role": "tool", "tool_call_id": "t1", "content": "5\n6"},
        {"role": "tool", "tool_call_id": "t2", "content": "error: oh"},
    ]
    (alone,) = messages_of(said(uses[:1], "assistant"))
    assert alone == {"role": "assistant", "content": None, "tool_calls": calls[:1]}


@pytest.mark.parametrize(
    ("result", "words"),
    [
        ({"content": []}, ""),
        ({"content": [], "structuredContent": {"sum": 5}}, '{"sum":5}'),
        ({"content": [{"type": "image", "data": "x", "mimeType": "image/png"}]}, "[image, image/"),
        ({"content": [{"type": "resource_link", "uri": "a://b", "name": "b"}]}, "a://b"),
        ({}, ""),
    ],
)
def test_whatever_a_tool_gave_is_text(result: dict[str, Any], words: str) -> None:
    (message,) = messages_of(said({"type": "tool_result", "toolUseId": "t1", **result}))
    assert message["role"] == "tool"
    assert words in message["content"]
    assert message["content"] or not words


@pytest.mark.parametrize(
    "params",
    [None, [], {}, {"messages": 7}, {"messages": [7, {}, {"content": 7}, {"content": []}]}],
)
def test_nonsense_makes_a_request_without_messages(params: Any) -> None:
    assert chat_request(params, "m") == {"model": "m", "messages": []}


# -- and back --------------------------------------------------------------------------------------


def reply(message: Any, finish: Any = "stop", **more: Any) -> dict[str, Any]:
    return {"choices": [{"message": message, "finish_reason": finish}]} | more


def call(name: str = "add", arguments: Any = "{}", **more: Any) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, "arguments": arguments}} | more


@pytest.mark.parametrize(
    ("finish", "reason"),
    [
        ("stop", "endTurn"),
        ("length", "maxTokens"),
        ("content_filter", "content_filter"),
        ("tool_calls", "endTurn"),
        (None, "endTurn"),
        (7, "endTurn"),
    ],
)
def test_a_text_is_an_answer_with_its_reason_to_stop(finish: Any, reason: str) -> None:
    answer = answer_from_chat(reply({"content": "hi"}, finish, model="m-1"), asked(), "m")
    assert answer == {
        "role": "assistant",
        "content": text("hi"),
        "model": "m-1",
        "stopReason": reason,
    }
    assert answer_findings(asked(), answer) == ()


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ({"content": [text("a"), text("b")]}, "a\nb"),
        ({"content": None, "refusal": "I will not"}, "I will not"),
        ({"content": None}, ""),
        ({}, ""),
    ],
)
def test_text_is_found_wherever_it_stands(message: Any, words: str) -> None:
    answer = answer_from_chat(reply(message), asked(), "m")
    assert (answer["content"], answer["model"]) == (text(words), "m")


def test_calls_are_tool_uses() -> None:
    params = asked(tools=[ADD])
    message = {"content": "let me see", "tool_calls": [call(arguments='{"a": 1}', id="x1")]}
    answer = answer_from_chat(reply(message, "tool_calls"), params, "m")
    assert answer["content"] == [
        text("let me see"),
        {"type": "tool_use", "id": "x1", "name": "add", "input": {"a": 1}},
    ]
    assert answer["stopReason"] == "toolUse"
    assert answer_findings(params, answer) == ()


def test_ids_are_made_unique_in_the_conversation() -> None:
    earlier = {"type": "tool_use", "id": "call_1", "name": "add", "input": {}}
    result = {"type": "tool_result", "toolUseId": "call_1", "content": []}
    params = asked(said([earlier], "assistant"), said([result]), tools=[ADD])
    calls = [call(id="call_2"), call(id="call_1"), call(), call(id=7), call(arguments={"a": 1})]
    answer = answer_from_chat(reply({"tool_calls": calls}), params, "m")
    ids = [use["id"] for use in answer["content"]]
    assert ids == ["call_2", "call_3", "call_4", "call_5", "call_6"]
    assert answer["content"][-1]["input"] == {"a": 1}
    assert answer_findings(params, answer) == ()


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (None, "choices"),
        ([], "choices"),
        ({"choices": []}, "choices"),
        ({"choices": [7]}, "choices"),
        ({"error": {"message": "no"}}, "choices"),
        (reply("hi"), "choices"),
        (reply({"tool_calls": [7]}), "no function name"),
        (reply({"tool_calls": [{"function": {}}]}), "no function name"),
        (reply({"tool_calls": [call(arguments="{")]}), "the arguments of add are not valid JSON"),
        (reply({"tool_calls": [call(arguments="[1]")]}), "the arguments of add are not an object"),
    ],
)
def test_what_is_no_answer_is_told(given: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        answer_from_chat(given, asked(), "m")
