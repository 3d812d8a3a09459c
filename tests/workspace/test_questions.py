"""Questions of servers: what is known of them when events were missed, and who answers."""

from __future__ import annotations

import asyncio

from mcplens.app import create_mcp_client
from mcplens.config.model import ServerEntry, Source
from mcplens.session.capabilities import EXTENSIONS
from mcplens.session.question_handler import ServerRequest
from mcplens.workspace.answer_settings import AnswerSettings
from mcplens.workspace.questions import QuestionList

FORM = {"message": "who?", "requestedSchema": {"type": "object", "properties": {}}}
SOURCE = Source("mcplens", "/mcp.json", "user")


async def test_missed_events_are_made_up_for_by_asking_the_client() -> None:
    client = create_mcp_client(server_id="s", elicitation=True)
    told: list[str] = []
    questions = QuestionList(lambda key, server_id: told.append(key))
    request = ServerRequest(7, "elicitation/create", FORM, b"{}", caused_by_seq=3)
    waits = asyncio.ensure_future(client.elicitation.on_request(request))
    await asyncio.sleep(0)
    (opened,) = questions.reconcile("s", client)
    assert (opened.question_id, opened.caused_by_seq) == ("s/elicitation-1", 3)
    assert opened.deadline == opened.opened + 300
    assert questions.reconcile("s", client) == []
    client.elicitation.decline("elicitation-1")
    assert await waits == {"action": "decline"}
    questions.reconcile("s", client)
    assert questions.waiting() == []
    assert opened.outcome == "no longer waits"
    assert told == ["s/elicitation-1"] * 2
    await client.disconnect()


def test_what_an_entry_says_anew_counts_and_the_rest_stays() -> None:
    old = ServerEntry(name="s", source=SOURCE, profile="echo", roots=({"uri": "file:///a"},))
    answering = AnswerSettings(old)
    answering.profile = "refuse"
    answering.choose({"sampling": None})
    new = ServerEntry(name="s", source=SOURCE, profile="echo", roots=({"uri": "file:///b"},))
    answering.follow(old, new)
    assert answering.profile == "refuse"
    assert [root.uri for root in answering.roots] == ["file:///b"]
    assert "sampling" not in answering.capabilities
    assert not answering.is_as_in(new)


def test_extensions_are_declared_beside_our_own_unless_taken_away() -> None:
    answering = AnswerSettings(ServerEntry(name="s", source=SOURCE))
    assert answering.capabilities["extensions"] == EXTENSIONS
    answering.choose({"extensions": {"mine": {}, **dict.fromkeys(EXTENSIONS)}})
    assert answering.capabilities["extensions"] == {"mine": {}}
    answering.choose({"extensions": None})
    assert "extensions" not in answering.capabilities
