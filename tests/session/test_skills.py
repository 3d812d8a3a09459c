"""Skills through the client: nothing is read that was not asked for, and everything is verified."""

from __future__ import annotations

from typing import Any

import pytest

import mcplens
from mcplens.errors import InspectorError, ProtocolError, ServerError, SkillMismatch
from mcplens.protocol.skill_files import digest_of
from mcplens.session.skill_verification import VerificationTotals, verify_skills

from .scripted import EVERYTHING, LEGACY, STATELESS, Refuse, Rig, ScriptedServer

EXTENSION = "io.modelcontextprotocol/skills"
FOLDER = "skill://pdf"
FILES = {
    f"{FOLDER}/SKILL.md": "---\nname: pdf\ndescription: Fill forms\n---\nBody\n",
    f"{FOLDER}/notes/A.md": "Notes\n",
}


def entry(name: str = "pdf", **changes: Any) -> dict[str, Any]:
    files = [
        {"uri": uri, "digest": digest_of(text.encode()), "size": len(text)}
        for uri, text in FILES.items()
    ]
    front = {"name": name, "description": "Fill forms"}
    if name != "pdf":
        files = [{**files[0], "uri": f"skill://{name}/SKILL.md"}]
    return {"uri": f"skill://{name}/SKILL.md", "frontmatter": front, "resources": files} | changes


def complete(**fields: Any) -> dict[str, Any]:
    return {"resultType": "complete", "ttlMs": 5000, "cacheScope": "private", **fields}


def pages(request: dict[str, Any]) -> dict[str, Any]:
    cursor = request["params"].get("cursor")
    following: dict[str | None, Any] = {
        None: complete(skills=[entry()], nextCursor=""),
        "": complete(skills=[entry("two"), {"uri": 5}], nextCursor="x"),
    }
    return following.get(cursor) or complete(skills=[entry("three")])


def read(request: dict[str, Any]) -> Any:
    uri = request["params"]["uri"]
    if uri not in FILES:
        return Refuse(-32602, "no such file")
    return complete(contents=[{"uri": uri, "text": FILES[uri], "mimeType": "text/markdown"}])


def directory(request: dict[str, Any]) -> Any:
    uri = request["params"]["uri"]
    children = {
        FOLDER: [
            {"uri": f"{FOLDER}/SKILL.md", "name": "SKILL.md", "mimeType": "text/markdown"},
            {"uri": f"{FOLDER}/notes", "name": "notes", "mimeType": "inode/directory"},
            {"uri": "skill://elsewhere/B.md", "name": "B.md"},
        ],
        f"{FOLDER}/notes": [{"uri": f"{FOLDER}/notes/A.md", "name": "A.md"}],
    }
    return complete(resources=children[uri]) if uri in children else Refuse(-32602)


def rig(version: str = STATELESS, settings: Any = None, **answers: Any) -> Rig:
    capabilities = EVERYTHING | {"extensions": {EXTENSION: settings or {"directoryRead": True}}}
    given = {
        "skills/list": pages,
        "skills/get": lambda request: complete(skill=entry()),
        "resources/read": read,
        "resources/directory/read": directory,
    } | {name.replace("__", "/"): answer for name, answer in answers.items()}
    server = ScriptedServer(given, is_stateless=version == STATELESS, capabilities=capabilities)
    return Rig(server, protocol_version=version)


@pytest.mark.parametrize("version", [LEGACY, STATELESS])
async def test_a_list_is_followed_to_its_end_and_no_file_is_read(version: str) -> None:
    async with rig(version) as one:
        found = await one.client.list_skills()
        assert [skill.name for skill in found] == ["pdf", "two", "", "three"]
        assert [skill.problem is None for skill in found] == [True, True, False, True]
        assert (found.pages, found.cut, found.ttl_ms, found.findings) == (3, None, 5000, ())
        assert one.server.sent("resources/read") == []
        assert one.server.sent("skills/get") == []


async def test_what_2026_07_28_demands_of_an_answer_is_not_demanded_before() -> None:
    bare = {"skills": [entry()]}
    async with rig(STATELESS, skills__list=bare) as one:
        texts = [finding.text for finding in (await one.client.list_skills()).findings]
        assert texts == [
            "the answer has no ttlMs",
            "the answer has no cacheScope",
            "the answer has no resultType",
        ]
    async with rig(LEGACY, skills__list=bare) as one:
        assert (await one.client.list_skills()).findings == ()


async def test_a_list_that_never_ends_stops_at_a_repeated_cursor_or_at_the_budget() -> None:
    async with rig(skills__list=complete(skills=[entry()], nextCursor="a")) as one:
        found = await one.client.list_skills()
        assert found.pages == 2
        assert "twice" in (found.cut or "")

    def endless(request: dict[str, Any]) -> Any:
        return complete(skills=[entry()], nextCursor=request["params"].get("cursor", "") + "x")

    async with rig(skills__list=endless) as one:
        for budget, words in (
            (mcplens.SkillBudget(pages=3), "3 pages"),
            (mcplens.SkillBudget(skills=2), "2 skills"),
            (mcplens.SkillBudget(list_bytes=100), "bytes"),
        ):
            found = await one.client.list_skills(budget)
            assert words in (found.cut or "")
            assert len(found) <= 3


async def test_a_server_with_skills_and_without_resources_is_told_that_files_are_out_of_reach() -> (
    None
):
    capabilities: dict[str, Any] = {"extensions": {EXTENSION: {}}}
    server = ScriptedServer({"skills/list": complete(skills=[])}, capabilities=capabilities)
    async with Rig(server) as one:
        (finding,) = (await one.client.list_skills()).findings
        assert "does not declare resources" in finding.text
        (hello,) = server.sent("initialize")
        assert hello["params"]["capabilities"]["extensions"][EXTENSION] == {}


async def test_verification_counts_the_bytes_that_came_and_not_those_that_a_manifest_claims() -> (
    None
):
    files = [
        {"uri": f"{FOLDER}/{name}", "digest": digest_of(b"x"), "size": 1}
        for name in ("SKILL.md", "a", "b", "c")
    ]

    def large(request: dict[str, Any]) -> Any:
        return complete(contents=[{"uri": request["params"]["uri"], "text": "x" * 1000}])

    async with rig(
        skills__get=complete(skill=entry(resources=files)), resources__read=large
    ) as one:
        skill = await one.client.get_skill(f"{FOLDER}/SKILL.md")
        totals = VerificationTotals()
        verdicts = [each async for each in verify_skills(one.client, [skill], totals, 1500)]
        assert [each.status for each in verdicts] == ["mismatch"] * 2 + ["not-read"] * 2
        assert (totals.bytes, totals.cut) == (2000, "stopped at 1,500 bytes")
        assert len(one.server.sent("resources/read")) == 2


async def test_a_server_that_does_not_declare_skills_is_never_asked() -> None:
    async with Rig(ScriptedServer(capabilities=EVERYTHING)) as one:
        for ask in (one.client.list_skills(), one.client.get_skill("skill://a/SKILL.md")):
            with pytest.raises(InspectorError, match="the server did not declare") as caught:
                await ask
            assert caught.value.code == "CAPABILITY_NOT_SUPPORTED"
    async with rig(settings={"other": True}) as one:
        with pytest.raises(InspectorError, match="directoryRead"):
            await one.client.read_directory(FOLDER)
        assert one.server.sent("resources/directory/read") == []


async def test_an_entry_is_got_by_its_uri() -> None:
    async with rig() as one:
        skill = await one.client.get_skill(f"{FOLDER}/SKILL.md")
        assert (skill.name, skill.ttl_ms, skill.problem) == ("pdf", 5000, None)
        other = await one.client.get_skill("skill://x/SKILL.md")
        assert "asked for skill://x/SKILL.md" in (other.problem or "")
    async with rig(skills__get=Refuse(-32602, "no such skill")) as one:
        with pytest.raises(ServerError) as refused:
            await one.client.get_skill("skill://x/SKILL.md")
        assert refused.value.rpc_code == -32602
    async with rig(skills__get={}) as one:
        with pytest.raises(ProtocolError, match="has no skill") as broken:
            await one.client.get_skill("skill://x/SKILL.md")
        assert broken.value.code == "INVALID_RESPONSE"


async def test_a_file_is_verified_on_every_read() -> None:
    async with rig() as one:
        skill = await one.client.get_skill(f"{FOLDER}/SKILL.md")
        report = await one.client.read_skill_file(skill)
        assert report.is_verified
        assert report.front_matter is not None
        assert report.front_matter.body == "Body\n"
        assert (await one.client.read_skill_file(skill, "notes/A.md")).text == "Notes\n"
        changed = complete(contents=[{"uri": skill.uri, "text": "evil"}])
        one.server.answers["resources/read"] = changed
        with pytest.raises(SkillMismatch, match="bytes are missing") as mismatch:
            await one.client.read_skill_file(skill)
        error = mismatch.value
        assert (error.code, error.check, error.cause) == ("SKILL_MISMATCH", "size", "truncated")
        assert error.data == b"evil"
        checked = await one.client.check_skill_file(skill)
        assert not checked.is_verified
        assert len(one.server.sent("resources/read")) == 4


async def test_what_must_not_be_read_is_not_asked_for() -> None:
    async with rig() as one:
        skill = await one.client.get_skill(f"{FOLDER}/SKILL.md")
        for path in ("other.md", "skill://elsewhere/SKILL.md", "../x", "file:///etc/passwd"):
            with pytest.raises(SkillMismatch) as refused:
                await one.client.read_skill_file(skill, path)
            assert refused.value.check == "manifest"
        broken = (await one.client.list_skills()).skills[2]
        with pytest.raises(ProtocolError, match="is invalid") as invalid:
            await one.client.check_skill_file(broken)
        assert invalid.value.code == "INVALID_RESPONSE"
        assert one.server.sent("resources/read") == []


async def test_an_answer_that_is_not_a_file_and_a_file_that_is_too_large_have_their_codes() -> None:
    async with rig(resources__read=complete(contents=[])) as one:
        skill = await one.client.get_skill(f"{FOLDER}/SKILL.md")
        with pytest.raises(ProtocolError) as broken:
            await one.client.read_skill_file(skill)
        assert broken.value.code == "INVALID_RESPONSE"
    async with rig() as one:
        with pytest.raises(ProtocolError) as large:
            await one.client.read_skill_file(skill, budget=mcplens.SkillBudget(file_bytes=3))
        assert large.value.code == "MESSAGE_TOO_LARGE"


async def test_a_folder_is_listed_with_those_within_it() -> None:
    async with rig() as one:
        flat = await one.client.read_directory(f"{FOLDER}/")
        assert [child.name for child in flat.entries] == ["SKILL.md", "notes"]
        assert "is outside" in flat.findings[0].text
        deep = await one.client.read_directory(FOLDER, recursive=True)
        assert [child.name for child in deep.entries] == ["SKILL.md", "notes", "A.md"]
        cut = await one.client.read_directory(
            FOLDER, recursive=True, budget=mcplens.SkillBudget(entries=1)
        )
        assert len(cut.entries) == 1
        assert cut.cut == "stopped after 1 entries"


async def test_a_walk_through_folders_has_one_budget_and_broken_entries_count() -> None:
    many = complete(resources=[{}] * 500)
    async with rig(resources__directory__read=many) as one:
        found = await one.client.read_directory(FOLDER, budget=mcplens.SkillBudget(entries=20))
        assert (found.entries, found.cut) == ([], "stopped after 20 entries")
        assert len(found.findings) == 20

    def endless(request: dict[str, Any]) -> Any:
        uri, cursor = request["params"]["uri"], request["params"].get("cursor", "")
        child = {"uri": f"{uri}/a{len(cursor)}", "name": "a", "mimeType": "inode/directory"}
        return complete(resources=[child], **({} if cursor else {"nextCursor": "x"}))

    for budget, words, most in (
        (mcplens.SkillBudget(pages=3), "stopped after 3 pages", 5),
        (mcplens.SkillBudget(list_bytes=1000), "bytes", 10),
    ):
        async with rig(resources__directory__read=endless) as one:
            found = await one.client.read_directory(FOLDER, recursive=True, budget=budget)
            assert words in (found.cut or "")
            assert len(one.server.sent("resources/directory/read")) <= most


async def test_a_walk_ends_at_its_bytes_though_every_folder_has_one_page() -> None:
    def deeper(request: dict[str, Any]) -> Any:
        uri = f"{request['params']['uri']}/a"
        return complete(resources=[{"uri": uri, "name": "a", "mimeType": "inode/directory"}])

    async with rig(resources__directory__read=deeper) as one:
        budget = mcplens.SkillBudget(list_bytes=1000, entries=50)
        found = await one.client.read_directory(FOLDER, recursive=True, budget=budget)
        assert "bytes" in (found.cut or "")
        assert len(found.entries) < 20
