"""What we declare to a server is what we handle."""

from __future__ import annotations

from typing import Any

import pytest

from .scripted import SKILLS, STATELESS, Rig, ScriptedServer
from .server_questions import ELICIT, HELLO, SAMPLE, everything, result_of


async def test_nothing_but_skills_is_declared_unless_it_was_asked_for() -> None:
    async with Rig() as rig:
        (initialize,) = rig.server.sent("initialize")
        assert initialize["params"]["capabilities"] == SKILLS
        for number, method in enumerate((SAMPLE, ELICIT, "roots/list", "tasks/list", "tasks/get")):
            rig.server.ask(f"q{number}", method, HELLO)
        await rig.settle()
        assert [result_of(rig, f"q{number}")["code"] for number in range(5)] == [-32601] * 5


async def test_all_that_is_on_is_declared() -> None:
    async with everything(
        receiver_tasks=True,
        capabilities={"experimental": {"mine": {"x": 1}}, "extensions": {"a/b": {}}},
    ) as rig:
        (initialize,) = rig.server.sent("initialize")
        assert initialize["params"]["capabilities"] == {
            "sampling": {"tools": {}, "context": {}},
            "elicitation": {"form": {}, "url": {}},
            "roots": {"listChanged": True},
            "tasks": {
                "list": {},
                "cancel": {},
                "requests": {"sampling": {"createMessage": {}}, "elicitation": {"create": {}}},
            },
            "experimental": {"mine": {"x": 1}},
            "extensions": {"a/b": {}},
        }


async def test_what_was_chosen_word_for_word_wins_and_is_handled() -> None:
    async with everything(capabilities={"sampling": None, "elicitation": {"url": {}}}) as rig:
        (initialize,) = rig.server.sent("initialize")
        declared = initialize["params"]["capabilities"]
        assert declared == {"elicitation": {"url": {}}, "roots": {"listChanged": True}, **SKILLS}
        rig.server.ask("q1", SAMPLE, HELLO)
        await rig.settle()
        assert result_of(rig, "q1")["code"] == -32601


@pytest.mark.parametrize(
    ("options", "requests"),
    [
        ({"sampling": False}, {"elicitation": {"create": {}}}),
        ({"capabilities": {"elicitation": None}}, {"sampling": {"createMessage": {}}}),
        ({"sampling": False, "elicitation": False}, None),
    ],
)
async def test_what_nobody_answers_is_not_offered_as_a_task(
    options: dict[str, Any], requests: Any
) -> None:
    async with everything(receiver_tasks=True, **options) as rig:
        (initialize,) = rig.server.sent("initialize")
        tasks = initialize["params"]["capabilities"].get("tasks")
        assert tasks == (requests and {"list": {}, "cancel": {}, "requests": requests})


async def test_other_capabilities_are_declared_with_the_next_connection() -> None:
    async with Rig() as rig:
        rig.client.choose_capabilities({"sampling": {}})
        await rig.client.disconnect()
        await rig.client.connect()
        declared = rig.server.sent("initialize")[-1]["params"]["capabilities"]
        assert declared == {"sampling": {}, **SKILLS}
        rig.server.ask("q1", SAMPLE, HELLO)
        await rig.settle()
        assert len(rig.client.sampling.get_pending()) == 1


async def test_in_2026_07_28_tasks_are_no_capability_and_roots_do_not_change() -> None:
    server = ScriptedServer(is_stateless=True)
    async with everything(
        server=server,
        protocol_version=STATELESS,
        receiver_tasks=True,
        capabilities={"extensions": {"io.modelcontextprotocol/tasks": {}}},
    ) as rig:
        await rig.client.list_tools()
        (listed,) = rig.server.sent("tools/list")
        meta = listed["params"]["_meta"]
        assert meta["io.modelcontextprotocol/clientCapabilities"] == {
            "sampling": {"tools": {}, "context": {}},
            "elicitation": {"form": {}, "url": {}},
            "roots": {},
            "extensions": {"io.modelcontextprotocol/tasks": {}},
        }
        rig.client.roots.add("/srv")
        await rig.settle()
        assert rig.server.sent("notifications/roots/list_changed") == []
