"""What npm's server-everything asks is answered from the page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.node_tools import everything_argv

from .asking import SERVER, asked, start, text_of, until_done
from .harness import site, write_config

pytestmark = pytest.mark.slow

LINK = "https://example.com/sign-in"


async def test_server_everything_is_answered_by_hand_and_by_a_profile(tmp_path: Path) -> None:
    command, *args = everything_argv()
    entry: dict[str, Any] = {"command": command, "args": args, "inheritEnv": True}
    write_config(tmp_path, **{SERVER: {**entry, "roots": [{"uri": "~", "name": "Home"}]}})
    async with site(tmp_path) as web, web.page() as page:
        await page.connected(SERVER)
        call_id = await start(page, "trigger-sampling-request", arguments={"prompt": "Hello?"})
        (question,) = await asked(page)
        await page.ask("AutoRespond", question_id=question["question_id"], profile="echo")
        assert "Hello?" in text_of(await page.ended(call_id))

        call_id = await start(page, "trigger-elicitation-request")
        (question,) = await asked(page)
        answer = {"action": "accept", "content": {"name": "Ada"}}
        await page.ask("AnswerElicitation", question_id=question["question_id"], **answer)
        await until_done(page, question)
        assert "Ada" in str((await page.ended(call_id))["result"])

        call_id = await start(page, "trigger-url-elicitation", arguments={"url": LINK})
        (question,) = await asked(page)
        assert (question["link"]["host"], question["link"]["warnings"]) == ("example.com", [])
        accept = {"question_id": question["question_id"], "action": "accept"}
        await page.ask("AnswerElicitation", **accept)
        assert (await page.ended(call_id))["status"] == "completed"

        call = await page.ended(await start(page, "get-roots-list"))
        assert "Home" in str(call["result"])
        await page.ask("AddRoot", server_id=SERVER, path="~/project", name="More")
        # The server asks for its roots again because it was told that they changed.
        await page.until(
            lambda: any(
                one["kind"] == "LogReceived" and "2 root" in str(one["detail"].get("data"))
                for one in page.events
            )
        )

        query = {"topic": "lenses", "ambiguous": True}
        call_id = await start(page, "simulate-research-query", arguments=query, as_task=True)
        (question,) = await asked(page)
        assert question["task_id"] == page.things["calls", call_id]["task_id"]
        await page.ask("AutoRespond", question_id=question["question_id"], profile="auto")
        assert "lenses" in text_of(await page.ended(call_id))
