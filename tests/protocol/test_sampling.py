"""Sampling: what a request needs, what is wrong with it, and which answers fit."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcplens.protocol.sampling import (
    answer_findings,
    balance_findings,
    fresh_ids,
    last_user_text,
    needs,
    offered_tools,
    request_findings,
    text_answer,
    tool_use_answer,
)
from tests.protocol.values import JSON

WORDS = st.sampled_from(
    ["messages", "role", "content", "type", "id", "name", "input", "toolUseId", "tools", "data",
     "toolChoice", "mode", "maxTokens", "modelPreferences", "hints", "text", "stopReason", "model"]
)  # fmt: skip
NEARLY = st.recursive(
    JSON
    | st.sampled_from(["user", "assistant", "tool_use", "tool_result", "text", "image", "toolUse"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=5),
    max_leaves=25,
)

ADD = {"name": "add", "inputSchema": {"type": "object"}}
PIXEL = "iVBORw0KGgo="


def text(value: str) -> dict[str, Any]:
    return {"type": "text", "text": value}


def use(use_id: str, name: str = "add") -> dict[str, Any]:
    return {"type": "tool_use", "id": use_id, "name": name, "input": {}}


def outcome(use_id: str) -> dict[str, Any]:
    return {"type": "tool_result", "toolUseId": use_id, "content": [text("3")]}


def user(*blocks: Any) -> dict[str, Any]:
    return {"role": "user", "content": list(blocks)}


def assistant(*blocks: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": list(blocks)}


def request(*messages: Any, **options: Any) -> dict[str, Any]:
    return {"messages": list(messages) or [user(text("hi"))], "maxTokens": 10, **options}


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, set()),
        ({"includeContext": "none"}, set()),
        ({"includeContext": "thisServer"}, {"context"}),
        ({"includeContext": "allServers", "tools": []}, {"context", "tools"}),
        ({"tools": [ADD]}, {"tools"}),
        ({"toolChoice": {"mode": "none"}}, {"tools"}),
    ],
)
def test_a_request_needs_the_features_that_it_uses(options: Any, expected: set[str]) -> None:
    assert needs(request(**options)) == expected


@pytest.mark.parametrize(
    "params",
    [
        {"messages": [{"role": "user", "content": text("hi")}], "maxTokens": 1},
        request(user(text("a"), {"type": "image", "data": PIXEL, "mimeType": "image/png"})),
        request(user({"type": "audio", "data": "", "mimeType": "audio/wav"})),
        request(user({"type": "resource", "resource": {"uri": "a:b"}})),
        request(user({"type": "resource_link", "uri": "a:b", "name": "b"})),
        request(user(text("2+1")), assistant(use("1"), use("2")), user(outcome("2"), outcome("1"))),
        request(
            user(text("2+1")),
            assistant(text("let me see"), use("1")),
            user(outcome("1")),
            assistant(use("2")),
            user(outcome("2")),
            tools=[ADD],
            toolChoice={"mode": "required"},
        ),
        request(
            systemPrompt="be brief",
            temperature=0.7,
            stopSequences=["\n"],
            metadata={"a": 1},
            includeContext="thisServer",
            toolChoice={},
            modelPreferences={
                "hints": [{"name": "claude"}, {}],
                "costPriority": 0,
                "speedPriority": 1,
                "intelligencePriority": 0.5,
            },
        ),
    ],
)
def test_a_good_request_has_no_findings(params: Any) -> None:
    assert request_findings(params) == ()
    assert balance_findings(params) == ()


@pytest.mark.parametrize(
    ("params", "finding"),
    [
        ([], "params: must be an object"),
        ({"maxTokens": 1}, "messages: must be a list"),
        (request(5), "messages[0]: must be an object"),
        (request({"role": "system", "content": text("x")}), "messages[0].role: must be user or"),
        (request({"role": "user"}), "messages[0].content: must be a content block"),
        (request(user(text("a"), "b")), "messages[0].content[1]: must be a content block"),
        (request(user({"type": "video"})), "messages[0].content[0].type: must be one of text"),
        (request(user({"type": "text"})), "messages[0].content[0].text: must be a string"),
        (request(user({"type": "image", "data": PIXEL})), ".mimeType: must be a string in image"),
        (
            request(user({"type": "audio", "data": "no!", "mimeType": "a/b"})),
            ".data: is not base64",
        ),
        (request(assistant({**use("1"), "input": []}), user(outcome("1"))), ".input: must be an"),
        (request(user({"type": "tool_result", "toolUseId": "1"})), ".content: must be a list"),
        (
            request(assistant(use("1")), user({**outcome("1"), "isError": "no"})),
            ".isError: must be true or false",
        ),
        (
            request(assistant(use("1")), user({**outcome("1"), "content": [use("2")]})),
            "a tool_result cannot hold tool_use",
        ),
        (request(user({"type": "resource"})), ".resource: must be an object"),
        ({"messages": []}, "maxTokens: must be"),
        (request(maxTokens=0), "maxTokens: must be"),
        (request(maxTokens=True), "maxTokens: must be"),
        (request(maxTokens=1.5), "maxTokens: must be"),
        (request(maxTokens="9"), "maxTokens: must be"),
        (request(includeContext="world"), "includeContext: must be none or"),
        (request(temperature="hot"), "temperature: must be a number"),
        (request(systemPrompt=1), "systemPrompt: must be a string"),
        (request(stopSequences="x"), "stopSequences: must be a list of strings"),
        (request(stopSequences=[1]), "stopSequences: must be a list of strings"),
        (request(metadata=[]), "metadata: must be an object"),
        (request(modelPreferences=[]), "modelPreferences: must be an object"),
        (request(modelPreferences={"costPriority": 1.1}), "costPriority: must be a number from 0"),
        (request(modelPreferences={"speedPriority": True}), "speedPriority: must be a number"),
        (request(modelPreferences={"hints": {}}), "hints: must be a list"),
        (request(modelPreferences={"hints": ["x"]}), "hints[0]: must be an object"),
        (request(tools={}), "tools: must be a list"),
        (request(tools=[{"inputSchema": {}}]), "tools[0]: must be an object with a name"),
        (request(tools=[ADD, ADD]), "tools[1]: the name 'add' is already taken"),
        (request(tools=[{"name": "a"}]), "tools[0].inputSchema: must be an object"),
        (request(toolChoice="auto"), "toolChoice: must be an object"),
        (request(tools=[ADD], toolChoice={"mode": "any"}), "toolChoice.mode: must be auto or"),
        (request(toolChoice={"mode": "required"}), "required, but no tool is offered"),
    ],
)
def test_a_finding_says_where_and_what(params: Any, finding: str) -> None:
    assert any(finding in found for found in request_findings(params)), request_findings(params)


@pytest.mark.parametrize(
    ("messages", "finding"),
    [
        (
            [assistant(use("1")), user(outcome("1"), text("and"))],
            "messages[1]: a message with tool_result must hold nothing else",
        ),
        (
            [assistant(use("1")), user(text("x"))],
            "messages[1]: no tool_result for the tool_use '1'",
        ),
        (
            [assistant(use("1"), use("2")), user(outcome("1"))],
            "no tool_result for the tool_use '2'",
        ),
        ([assistant(use("1")), assistant(text("x"))], "messages[1]: comes before the tool_result"),
        ([user(text("a")), assistant(use("1"))], "the last one has tool_use '1' without a"),
        ([user(outcome("9"))], "messages[0]: tool_result for '9', which matches no tool_use"),
        (
            [assistant(use("1")), user(outcome("1")), user(outcome("1"))],
            "messages[2]: tool_result for '1', which matches no tool_use just before",
        ),
        ([assistant(outcome("1"))], "messages[0]: tool_result belongs in a user message"),
        ([user(use("1"))], "messages[0]: tool_use belongs in an assistant message"),
        ([assistant(use("1"), use("1")), user(outcome("1"))], "two tool_use blocks have the same"),
    ],
)
def test_tool_uses_and_results_must_match(messages: list[Any], finding: str) -> None:
    (found,) = balance_findings(request(*messages))
    assert finding in found
    assert found in request_findings(request(*messages))


def test_more_findings_than_help_anybody_are_cut_off() -> None:
    assert len(request_findings({"messages": [None] * 100_000})) == 20


TOOLS = request(tools=[ADD])


@pytest.mark.parametrize(
    ("params", "result"),
    [
        (request(), text_answer("hi")),
        (request(), text_answer("", model="m", stop_reason="maxTokens")),
        (request(), {"role": "assistant", "content": [text("a"), text("b")], "model": "m"}),
        (TOOLS, text_answer("no tool needed")),
        (TOOLS, tool_use_answer([("add", {"a": 1}), ("add", {})])),
        (request(tools=[ADD], toolChoice={"mode": "required"}), tool_use_answer([("add", {})])),
        (request(tools=[ADD], toolChoice={"mode": "none"}), text_answer("none")),
        (
            request(),
            {
                "role": "assistant",
                "content": {"type": "image", "data": PIXEL, "mimeType": "image/png"},
                "model": "m",
                "stopReason": "a reason of our own",
            },
        ),
    ],
)
def test_a_good_answer_has_no_findings(params: Any, result: Any) -> None:
    assert answer_findings(params, result) == ()


@pytest.mark.parametrize(
    ("params", "result", "finding"),
    [
        (request(), None, "the answer must be an object"),
        (request(), {**text_answer("x"), "role": "user"}, "role: must be assistant, not 'user'"),
        (request(), {**text_answer("x"), "model": None}, "model: must be a string"),
        (request(), {**text_answer("x"), "stopReason": 5}, "stopReason: must be a string"),
        (request(), {**text_answer("x"), "content": "x"}, "content: must be a content block"),
        (request(), {"role": "assistant", "model": "m"}, "content: must be a content block"),
        (request(), {**text_answer("x"), "content": {"type": "text"}}, "content.text: must be"),
        (request(), tool_use_answer([("add", {})]), "the request offers no tools"),
        (TOOLS, tool_use_answer([("sub", {})]), "tool_use of 'sub', which is not offered"),
        (TOOLS, tool_use_answer([("add", [])]), "content[0].input: must be an object"),
        (
            TOOLS,
            tool_use_answer([("add", {})] * 2, ids=lambda: "same"),
            "the tool_use id 'same' is used twice",
        ),
        (
            request(assistant(use("call_1")), user(outcome("call_1")), tools=[ADD]),
            tool_use_answer([("add", {})]),
            "the tool_use id 'call_1' is used twice",
        ),
        (TOOLS, {**tool_use_answer([("add", {})]), "stopReason": "endTurn"}, "must be toolUse"),
        (TOOLS, text_answer("x", stop_reason="toolUse"), "toolUse, but the content has no"),
        (
            request(tools=[ADD], toolChoice={"mode": "none"}),
            tool_use_answer([("add", {})]),
            "tool_use, but toolChoice is none",
        ),
        (
            request(tools=[ADD], toolChoice={"mode": "required"}),
            text_answer("x"),
            "no tool_use, but toolChoice is required",
        ),
        (request(), {**text_answer(""), "content": [outcome("1")]}, "cannot hold tool_result"),
    ],
)
def test_a_wrong_answer_is_found_out(params: Any, result: Any, finding: str) -> None:
    (found,) = answer_findings(params, result)
    assert finding in found


def test_a_text_answer_is_one_block() -> None:
    assert text_answer("hi") == {
        "role": "assistant",
        "content": {"type": "text", "text": "hi"},
        "model": "mcplens",
        "stopReason": "endTurn",
    }


def test_each_call_has_an_id_of_its_own() -> None:
    answer = tool_use_answer([("a", {"x": 1}), ("b", {})], model="m")
    assert answer["stopReason"] == "toolUse"
    assert answer["model"] == "m"
    assert answer["content"] == [
        {"type": "tool_use", "id": "call_1", "name": "a", "input": {"x": 1}},
        {"type": "tool_use", "id": "call_2", "name": "b", "input": {}},
    ]


def test_fresh_ids_go_round_those_in_use() -> None:
    params = request(assistant(use("call_1"), use("call_3")), user(outcome("call_1")), tools=[ADD])
    answer = tool_use_answer([("add", {})] * 2, ids=fresh_ids(params))
    assert [block["id"] for block in answer["content"]] == ["call_2", "call_4"]
    assert answer_findings(params, answer) == ()


@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        ([user(text("one")), assistant(text("two"))], "one"),
        ([user(text("one"), text("more"))], "one\nmore"),
        ([{"role": "user", "content": text("alone")}], "alone"),
        ([user(text("asked")), assistant(use("1")), user(outcome("1"))], "asked"),
        ([user({"type": "text", "text": 5})], ""),
        ([assistant(text("x")), 5], ""),
    ],
)
def test_the_last_text_of_the_user_is_found(messages: list[Any], expected: str) -> None:
    assert last_user_text(request(*messages)) == expected


def test_tools_without_a_name_are_not_offered() -> None:
    assert offered_tools({"tools": [ADD, 5, {"name": 5}, {}]}) == [ADD]
    assert offered_tools({"tools": ADD}) == []


@given(NEARLY, NEARLY)
def test_anything_can_be_judged(params: Any, result: Any) -> None:
    for one in (params, {"messages": params, "tools": params}):
        needs(one)
        assert all(isinstance(found, str) for found in request_findings(one))
        assert all(isinstance(found, str) for found in answer_findings(one, result))
        assert isinstance(last_user_text(one), str)
        assert isinstance(offered_tools(one), list)
        assert isinstance(fresh_ids(one)(), str)
