"""Skills of a server: the list, one entry, its files as they were read, folders, verification.

Every command is sent because a person asked for it: nothing of a skill is read before.
"""

from __future__ import annotations

import asyncio
from typing import Final

import msgspec
from msgspec import Raw

from mcplens.errors import InspectorError
from mcplens.protocol.skill_folders import FolderVerdict
from mcplens.protocol.skill_text import HiddenPart, hidden_parts
from mcplens.protocol.skills import (
    SKILL_FILE,
    DirectoryEntry,
    Skill,
    SkillFile,
    SkillFinding,
    compare_directory,
    compare_entries,
)
from mcplens.session.client import Client
from mcplens.session.skill_folder import compare_with_served, read_folder
from mcplens.session.skill_verification import (
    FileVerdict,
    VerificationTotals,
    verify_file,
    verify_skills,
)
from mcplens.session.skills import SkillBudget
from mcplens.web.registry import Command, command
from mcplens.web.safe_json import json_safe, raw_json
from mcplens.workspace.server import Server
from mcplens.workspace.workspace import Workspace

# A page shows no more of a file; the command line gives all of it.
_MOST_TEXT: Final = 500_000
_MOST_VERIFIED_BYTES: Final = SkillBudget().list_bytes


class SkillView(msgspec.Struct, frozen=True, kw_only=True):
    """A skill as its server describes it; `problem` says why it must not be loaded.

    `requests` are tools, hooks and scripts that it asks for: they are shown and ignored.
    `fetched` is when the entry came, `ttl_ms` how long it may be taken for fresh.
    """

    uri: str
    name: str
    description: str
    directory: str
    frontmatter: Raw
    files: tuple[SkillFile, ...]
    size_bytes: int
    is_dynamic: bool
    problem: str | None
    findings: tuple[SkillFinding, ...]
    requests: tuple[str, ...]
    fetched: float
    ttl_ms: int | None
    cache_scope: str | None
    value: Raw


class SkillListView(msgspec.Struct, frozen=True, kw_only=True):
    """The skills that a server lists; `cut` says why there may be more."""

    server_id: str
    skills: list[SkillView]
    fetched: float
    cut: str | None
    findings: tuple[SkillFinding, ...]


class SkillComparison(msgspec.Struct, frozen=True, kw_only=True):
    """An entry as skills/get gives it now, and how it differs from that of skills/list."""

    got: SkillView
    is_listed: bool
    differences: tuple[SkillFinding, ...]


class SkillFileView(msgspec.Struct, frozen=True, kw_only=True):
    """A file of a skill as it was read, whatever came of the checks.

    `text` is null for bytes that are not text, `body` is what follows the front matter of a
    SKILL.md, `hidden` what a reader does not see. `is_cut` says that the text goes on.
    """

    verdict: FileVerdict
    mime_type: str | None
    text: str | None
    is_cut: bool
    body: str | None
    front_matter: Raw
    hidden: list[HiddenPart]


class SkillVerification(msgspec.Struct, frozen=True, kw_only=True):
    """What came of each file."""

    verdicts: list[FileVerdict]
    totals: VerificationTotals


class SkillFolderView(msgspec.Struct, frozen=True, kw_only=True):
    """What the server lists in the folders of a skill, and how it differs from the manifest."""

    entries: list[DirectoryEntry]
    cut: str | None
    findings: tuple[SkillFinding, ...]


class DiskComparison(msgspec.Struct, frozen=True, kw_only=True):
    """The skills of a folder on this computer beside those of the server; `cut` as in the list."""

    verdicts: list[FolderVerdict]
    cut: str | None


def skill_view(skill: Skill, fetched: float) -> SkillView:
    return SkillView(
        uri=skill.uri,
        name=skill.name,
        description=skill.description,
        directory=skill.directory,
        frontmatter=raw_json(msgspec.json.encode(json_safe(skill.frontmatter))),
        files=skill.files,
        size_bytes=skill.size_bytes,
        is_dynamic=skill.is_dynamic,
        problem=skill.problem,
        findings=skill.findings,
        requests=skill.requests(),
        fetched=fetched,
        ttl_ms=skill.ttl_ms,
        cache_scope=skill.cache_scope,
        value=raw_json(skill.raw),
    )


def _client(workspace: Workspace, server_id: str) -> tuple[Server, Client]:
    server = workspace.find(server_id)
    if server.client is None:
        raise InspectorError("NOT_CONNECTED", f"{server_id} is not connected")
    return server, server.client


class ListSkills(Command, frozen=True, kw_only=True):
    """The skills of a server; the kept list unless `refresh`."""

    server_id: str
    refresh: bool = False


@command
async def list_skills(workspace: Workspace, command: ListSkills) -> SkillListView:
    server, client = _client(workspace, command.server_id)
    found = await server.skills.fetch(client, refresh=command.refresh)
    fetched = server.skills.fetched
    return SkillListView(
        server_id=server.server_id,
        skills=[skill_view(skill, fetched) for skill in found],
        fetched=fetched,
        cut=found.cut,
        findings=found.findings,
    )


class GetSkill(Command, frozen=True, kw_only=True):
    """The entry of one skill, fetched now and compared with that of the list."""

    server_id: str
    uri: str


@command
async def get_skill(workspace: Workspace, command: GetSkill) -> SkillComparison:
    server, client = _client(workspace, command.server_id)
    got = await server.skills.get(client, command.uri)
    listed = server.skills.listed_entry(command.uri)
    return SkillComparison(
        got=skill_view(got, workspace.clock.wall()),
        is_listed=listed is not None,
        differences=() if listed is None else compare_entries(listed, got),
    )


class CheckSkillFile(Command, frozen=True, kw_only=True):
    """Read one file of a skill, by its path or URI, and verify it."""

    server_id: str
    uri: str
    path: str = SKILL_FILE


@command
async def check_skill_file(workspace: Workspace, command: CheckSkillFile) -> SkillFileView:
    server, client = _client(workspace, command.server_id)
    skill = server.skills.entry(client, command.uri)
    verdict, report = await verify_file(client, skill, command.path)
    text = None if report is None else report.text
    front = None if report is None else report.front_matter
    return SkillFileView(
        verdict=verdict,
        mime_type=None if report is None else report.mime_type,
        text=None if text is None else text[:_MOST_TEXT],
        is_cut=len(text or "") > _MOST_TEXT,
        body=None if front is None else front.body[:_MOST_TEXT],
        front_matter=raw_json(None if front is None else msgspec.json.encode(front.value)),
        hidden=hidden_parts((text or "")[:_MOST_TEXT]),
    )


class VerifySkills(Command, frozen=True, kw_only=True):
    """Read every file of a skill and verify it; without `uri`, of all skills of the list."""

    server_id: str
    uri: str | None = None


@command
async def verify(workspace: Workspace, command: VerifySkills) -> SkillVerification:
    server, client = _client(workspace, command.server_id)
    if command.uri is None:
        found = (await server.skills.fetch(client, refresh=False)).skills
    else:
        found = [server.skills.entry(client, command.uri)]
    totals = VerificationTotals()
    verdicts = [one async for one in verify_skills(client, found, totals, _MOST_VERIFIED_BYTES)]
    return SkillVerification(verdicts=verdicts, totals=totals)


class ReadSkillFolder(Command, frozen=True, kw_only=True):
    """List the folders of a skill, for servers that declare `directoryRead`."""

    server_id: str
    uri: str


@command
async def list_folder(workspace: Workspace, command: ReadSkillFolder) -> SkillFolderView:
    server, client = _client(workspace, command.server_id)
    skill = server.skills.entry(client, command.uri)
    found = await client.read_directory(skill.directory, recursive=True)
    differences = compare_directory(skill, found.entries)
    return SkillFolderView(
        entries=found.entries, cut=found.cut, findings=(*found.findings, *differences)
    )


class CompareSkillFolder(Command, frozen=True, kw_only=True):
    """Compare a folder on this computer with what the server serves: what is missing, and why."""

    server_id: str
    path: str


@command
async def compare_disk(workspace: Workspace, command: CompareSkillFolder) -> DiskComparison:
    server, client = _client(workspace, command.server_id)
    local = await asyncio.to_thread(read_folder, command.path)
    # As the server has them now: a skill may have come since it was listed.
    found = await server.skills.fetch(client, refresh=True)
    verdicts = await compare_with_served(client, found, local)
    return DiskComparison(verdicts=verdicts, cut=found.cut)
