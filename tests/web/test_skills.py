"""The Skills screen's commands against the demo server: list, files, verification, folders."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from .asking import SERVER, STATELESS, write_demo
from .harness import Page, Refusal, site

RIGHT = "skill://mcplens-demo/release-notes/SKILL.md"
BROKEN = "skill://mcplens-demo/meeting-minutes/SKILL.md"


@pytest_asyncio.fixture
async def page(tmp_path: Path) -> AsyncIterator[Page]:
    write_demo(tmp_path, STATELESS)
    async with site(tmp_path) as web, web.page() as opened:
        await opened.connected(SERVER)
        yield opened


async def test_a_skill_is_listed_opened_verified_and_compared(page: Page) -> None:
    with pytest.raises(Refusal, match="was not listed"):
        await page.ask("CheckSkillFile", server_id=SERVER, uri=BROKEN)
    listed = await page.ask("ListSkills", server_id=SERVER)
    assert [skill["name"] for skill in listed["skills"]] == ["release-notes", "meeting-minutes"]
    broken = listed["skills"][1]
    assert broken["requests"] == ['allowed-tools: "Bash Read"']
    assert broken["frontmatter"]["beta"] is True
    assert (broken["ttl_ms"], broken["fetched"]) == (10_000, listed["fetched"])

    read = await page.ask("CheckSkillFile", server_id=SERVER, uri=BROKEN)
    assert read["verdict"]["status"] == "mismatch"
    assert read["front_matter"]["beta"] == "yes"
    assert read["text"].startswith("---\nname: meeting-minutes\n")
    assert read["body"].lstrip().startswith("# Meeting minutes")
    assert [part["kind"] for part in read["hidden"]] == ["comment", *["character"] * 3]
    image = await page.ask("CheckSkillFile", server_id=SERVER, uri=RIGHT, path="assets/badge.png")
    assert (image["verdict"]["status"], image["text"]) == ("verified", None)
    unlisted = await page.ask("CheckSkillFile", server_id=SERVER, uri=BROKEN, path="drafts.txt")
    assert unlisted["verdict"]["status"] == "mismatch"
    assert unlisted["text"] is None

    verified = await page.ask("VerifySkills", server_id=SERVER)
    assert verified["totals"]["counts"] == {"verified": 4, "mismatch": 3}
    one = await page.ask("VerifySkills", server_id=SERVER, uri=RIGHT)
    assert [verdict["status"] for verdict in one["verdicts"]] == ["verified"] * 4

    folder = await page.ask("ReadSkillFolder", server_id=SERVER, uri=BROKEN)
    assert "drafts.txt" in [entry["name"] for entry in folder["entries"]]
    assert [found["text"] for found in folder["findings"]] == [
        "drafts.txt is in the folder and not in the manifest"
    ]
    compared = await page.ask("GetSkill", server_id=SERVER, uri=BROKEN)
    assert (compared["is_listed"], compared["differences"]) == (True, [])
    with pytest.raises(Refusal, match="no such skill"):
        await page.ask("GetSkill", server_id=SERVER, uri="skill://mcplens-demo/none/SKILL.md")
