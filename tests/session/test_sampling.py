"""Completions that a server asks for, and what is refused before anybody is asked."""

from __future__ import annotations

from typing import Any

import pytest

from mcplens.events import Remark

from .server_questions import ELICIT, FORM, HELLO, SAMPLE, everything, result_of


async def test_tools_that_were_not_declared_are_refused() -> None:
    request = HELLO | {"tools": [{"name": "add", "inputSchema": {"type": "object"}}]}
    async with everything(capabilities={"sampling": {}}) as rig:
        rig.server.ask("q1", SAMPLE, request)
        await rig.settle()
        assert result_of(rig, "q1")["code"] == -32602
        assert rig.client.sampling.get_pending() == []


@pytest.mark.parametrize(
    ("method", "right", "wrong", "told"),
    [
        (SAMPLE, HELLO, HELLO | {"maxTokens": "many"}, "maxTokens"),
        (ELICIT, FORM, FORM | {"requestedSchema": {"type": "array"}}, "object"),
    ],
)
async def test_a_question_that_breaks_the_rules_is_told_of_and_can_be_answered(
    method: str, right: Any, wrong: Any, told: str
) -> None:
    async with everything() as rig:
        rig.server.ask("q1", method, right)
        await rig.settle()
        assert rig.events(Remark) == []
        rig.server.ask("q2", method, wrong)
        await rig.settle()
        assert told in rig.events(Remark)[-1].message
        handler = rig.client.sampling if method == SAMPLE else rig.client.elicitation
        assert len(handler.get_pending()) == 2


async def test_a_conversation_that_is_out_of_balance_is_refused() -> None:
    use = {"type": "tool_use", "id": "t1", "name": "add", "input": {}}
    messages = [
        {"role": "user", "content": {"type": "text", "text": "add"}},
        {"role": "assistant", "content": [use]},
        {"role": "user", "content": {"type": "text", "text": "well?"}},
    ]
    async with everything() as rig:
        rig.server.ask("q1", SAMPLE, {"messages": messages, "maxTokens": 1})
        await rig.settle()
        error = result_of(rig, "q1")
        assert error["code"] == -32602
        assert "t1" in error["message"]


@pytest.mark.parametrize("params", [None, [], "x", 7])
async def test_params_that_are_no_object_are_refused(params: Any) -> None:
    async with everything() as rig:
        for identity, method in (("q1", SAMPLE), ("q2", ELICIT)):
            rig.server.send_json(
                {"jsonrpc": "2.0", "id": identity, "method": method, "params": params}
            )
        await rig.settle()
        assert result_of(rig, "q1")["code"] == result_of(rig, "q2")["code"] == -32602
