"""Skills of a server (io.modelcontextprotocol/skills): listed, got, read and verified.

Lazy: nothing is fetched that was not asked for, and nothing is kept. Every file is checked on every
read. What the server sends is bounded by a budget. The rules are in protocol/skills.py and
protocol/skill_files.py.
"""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, Final, Unpack

import msgspec

from mcplens.errors import ProtocolError, SkillMismatch
from mcplens.protocol.frames import Frame, decode_value
from mcplens.protocol.result_types import Page, ReadResult, ShapeError, decode_result
from mcplens.protocol.skill_files import SkillFileReport, check_file
from mcplens.protocol.skills import (
    DIRECTORY_TYPE,
    MOST_BYTES,
    DirectoryEntry,
    Skill,
    SkillFinding,
    SkillList,
    check_list,
    read_entry,
    why_outside,
)
from mcplens.session.connection import Connection
from mcplens.session.input_rounds import InputRounds
from mcplens.session.paging import each_page, read_page
from mcplens.session.request_sender import RequestOptions
from mcplens.session.results import invalid, typed

# Of checks: these are about the answer, the others about the file.
_BROKEN_ANSWER: Final = ("contents",)


class SkillBudget(msgspec.Struct, frozen=True, kw_only=True):
    """How much one listing may fetch, and how large one file may be.

    A folder with the folders within it is one listing. The last page of each is not counted.

    The defaults are far above what people publish: the official Inspector stops at 64 pages, 256
    skills and 64 MiB.
    """

    pages: int = 64
    skills: int = 1000
    entries: int = 10_000  # of folders, the broken ones too
    list_bytes: int = 64 * 1024 * 1024
    file_bytes: int = MOST_BYTES


class Directory(msgspec.Struct, kw_only=True):
    """What is in a folder, as the server lists it; `cut` says why there may be more."""

    uri: str
    entries: list[DirectoryEntry]
    cut: str | None = None
    findings: tuple[SkillFinding, ...] = ()


class _Cacheable(msgspec.Struct, rename="camel"):
    result_type: Any = None
    ttl_ms: Any = None
    cache_scope: Any = None
    skill: msgspec.Raw = msgspec.Raw(b"null")
    next_cursor: Any = None


class _Walk(msgspec.Struct):
    """What came of a folder and those within it so far."""

    found: Directory
    budget: SkillBudget
    findings: list[SkillFinding]
    items: int = 0
    pages: int = 0
    size: int = 0


class _FetchedPage(msgspec.Struct):
    page: Page
    frame: Frame

    @property
    def next_cursor(self) -> str | None:
        return self.page.next_cursor


class Skills:
    """The requests about the skills of one server."""

    def __init__(self, connection: Connection, rounds: InputRounds) -> None:
        self._connection = connection
        self._rounds = rounds

    def __repr__(self) -> str:
        return f"<Skills of {self._connection!r}>"

    # -- entries -------------------------------------------------------------------------------

    async def list_all(
        self, budget: SkillBudget | None = None, **options: Unpack[RequestOptions]
    ) -> SkillList:
        """All skills of the list, within the budget."""
        budget = budget or SkillBudget()
        found = SkillList(skills=[])
        size = 0
        async for fetched in self._pages("skills/list", "skills", {}, options, found):
            found.pages += 1
            size += len(fetched.frame.body)
            self._note_cache(found, fetched.frame)
            for raw in fetched.page.items[: budget.skills + 1 - len(found.skills)]:
                skill = _entry(bytes(raw))
                skill.ttl_ms, skill.cache_scope = found.ttl_ms, found.cache_scope
                found.skills.append(skill)
            found.cut = found.cut or _cut(budget, found.pages, len(found.skills), size, fetched)
            if found.cut is not None:
                break
        del found.skills[budget.skills :]
        check_list(found.skills)
        if self._connection.server_capabilities.get("resources") is None:
            text = "the server does not declare resources, by which the files of skills are read"
            found.findings += (SkillFinding("capability", text),)
        return found

    async def get(self, uri: str, **options: Unpack[RequestOptions]) -> Skill:
        """The entry of one skill.

        Raises:
            ProtocolError: the answer has no skill.
        """
        frame = await self._rounds.send("skills/get", {"uri": uri}, options)
        answer = self._answer("skills/get", frame)
        if bytes(answer.skill) == b"null":
            problem = invalid("skills/get", "the result has no skill", frame)
            raise self._connection.describe(problem, "skills/get")
        found = SkillList(skills=[])
        self._note_cache(found, frame)
        skill = _entry(bytes(answer.skill))
        skill.ttl_ms, skill.cache_scope = found.ttl_ms, found.cache_scope
        skill.add(*found.findings)
        if skill.uri and skill.uri != uri:
            skill.add(SkillFinding("uri", f"asked for {uri}, the server gave {skill.uri}"))
        if answer.next_cursor is not None:
            skill.add(SkillFinding("entry", "skills/get has a nextCursor; one entry is not a list"))
        return skill

    def _answer(self, method: str, frame: Frame) -> _Cacheable:
        try:
            return decode_result(frame.body, _Cacheable)
        except ShapeError as problem:
            error = invalid(method, str(problem), frame)
            raise self._connection.describe(error, method) from None

    def _note_cache(self, found: SkillList, frame: Frame) -> None:
        """How long the answer may be kept, and what 2026-07-28 demands and it lacks."""
        answer = self._answer("skills/list", frame)
        ttl, scope = answer.ttl_ms, answer.cache_scope
        found.ttl_ms = ttl if isinstance(ttl, int) and not isinstance(ttl, bool) else None
        found.cache_scope = scope if isinstance(scope, str) else None
        if not self._connection.is_stateless:
            return
        fields = {"ttlMs": ttl, "cacheScope": scope, "resultType": answer.result_type}
        for name in [name for name, value in fields.items() if value is None]:
            finding = SkillFinding("cache", f"the answer has no {name}", is_error=False)
            if finding not in found.findings:
                found.findings += (finding,)

    # -- files ---------------------------------------------------------------------------------

    async def check(
        self,
        skill: Skill,
        path: str,
        budget: SkillBudget | None = None,
        **options: Unpack[RequestOptions],
    ) -> SkillFileReport:
        """Read a file of a skill; the report says whether it may be used.

        Raises:
            ProtocolError: the entry of the skill is invalid, so nothing of it is read.
            SkillMismatch: the manifest does not have the file, so it is not read.
        """
        budget, uri = budget or SkillBudget(), skill.uri_of(path)
        self._refuse(skill, uri)
        frame = await self._rounds.send("resources/read", {"uri": uri}, options)
        result = typed(frame, "resources/read", ReadResult, self._connection.names)
        report = check_file(skill, uri, result, budget.file_bytes)
        report.raw = result.raw
        return report

    async def read(
        self,
        skill: Skill,
        path: str,
        budget: SkillBudget | None = None,
        **options: Unpack[RequestOptions],
    ) -> SkillFileReport:
        """Read a file of a skill that may be used.

        Raises:
            SkillMismatch: it may not be.
        """
        report = await self.check(skill, path, budget, **options)
        problem = report.problem
        if problem is None:
            return report
        texts = tuple(finding.text for finding in report.findings if finding.is_error)
        message = f"skill {skill.name}: {'; '.join(texts)}"
        error: ProtocolError
        if problem.check in _BROKEN_ANSWER:
            error = ProtocolError("INVALID_RESPONSE", message, findings=texts)
        elif problem.check == "limit":
            error = ProtocolError("MESSAGE_TOO_LARGE", message, findings=texts)
        else:
            error = SkillMismatch(
                message, check=problem.check, cause=problem.cause, data=report.data, findings=texts
            )
        error.with_details(skill=skill.uri, uri=report.uri)
        raise self._connection.describe(error, "resources/read")

    def _refuse(self, skill: Skill, uri: str) -> None:
        error: ProtocolError
        if skill.problem is not None:
            text = f"the entry of the skill {skill.name or skill.uri} is invalid: {skill.problem}"
            error = ProtocolError("INVALID_RESPONSE", text, findings=(skill.problem,))
        elif why := None if uri == skill.uri else why_outside(skill.directory, uri):
            error = SkillMismatch(f"{uri} {why}", check="manifest")
        elif not skill.is_dynamic and skill.file(uri) is None:
            text = f"{uri} is not in the manifest of the skill {skill.name}, so it is not read"
            error = SkillMismatch(text, check="manifest")
        else:
            return
        error.with_details(skill=skill.uri, uri=uri)
        raise self._connection.describe(error, "resources/read")

    # -- folders -------------------------------------------------------------------------------

    async def directory(
        self,
        uri: str,
        *,
        recursive: bool = False,
        budget: SkillBudget | None = None,
        **options: Unpack[RequestOptions],
    ) -> Directory:
        """What is in a folder, and with `recursive` in those within it."""
        budget, uri = budget or SkillBudget(), uri.rstrip("/")
        found = Directory(uri=uri, entries=[])
        walk = _Walk(found, budget, [])
        folders, seen = deque([uri]), {uri}
        while folders and found.cut is None:
            if walk.size >= budget.list_bytes:
                found.cut = f"stopped after {walk.size:,} bytes"
                break
            for entry in await self._children(folders.popleft(), walk, options):
                if recursive and entry.is_directory and entry.uri not in seen:
                    seen.add(entry.uri)
                    folders.append(entry.uri)
        found.findings = tuple(walk.findings)
        return found

    async def _children(
        self, folder: str, walk: _Walk, options: RequestOptions
    ) -> list[DirectoryEntry]:
        found, budget, children = walk.found, walk.budget, []
        method, params = "resources/directory/read", {"uri": folder}
        async for fetched in self._pages(method, "resources", params, options, found):
            walk.pages += fetched.next_cursor is not None
            walk.size += len(fetched.frame.body)
            left = budget.entries - walk.items
            walk.items += len(fetched.page.items)
            for raw in fetched.page.items[:left]:
                entry, finding = _child(folder, bytes(raw))
                walk.findings += [] if finding is None else [finding]
                children += [] if entry is None else [entry]
            if walk.items > budget.entries:
                found.cut = f"stopped after {budget.entries} entries"
            found.cut = found.cut or _cut(budget, walk.pages, 0, walk.size, fetched)
            if found.cut is not None:
                break
        found.entries += children
        return children

    def _pages(
        self,
        method: str,
        key: str,
        params: dict[str, Any],
        options: RequestOptions,
        found: SkillList | Directory,
    ) -> AsyncIterator[_FetchedPage]:
        if "tag" not in options:
            options["tag"] = self._connection.new_tag("catalog")

        async def fetch(cursor: str | None) -> _FetchedPage:
            asked = params if cursor is None else {**params, "cursor": cursor}
            frame = await self._rounds.send(method, dict(asked), options)
            return _FetchedPage(read_page(key, method, key, frame, self._connection), frame)

        def remark(text: str) -> None:
            found.cut = text
            self._connection.remark(text)

        fetch_page: Callable[[str | None], Awaitable[_FetchedPage]] = fetch
        return each_page(key, fetch_page, remark)


def _entry(raw: bytes) -> Skill:
    try:
        value, _ = decode_value(raw)
    except ValueError as problem:
        broken = Skill(uri="", raw=raw)
        broken.add(SkillFinding("entry", f"the entry cannot be decoded: {problem}"))
        return broken
    return read_entry(value, raw)


def _child(folder: str, raw: bytes) -> tuple[DirectoryEntry | None, SkillFinding | None]:
    try:
        value, _ = decode_value(raw)
    except ValueError:
        value = None
    uri = value.get("uri") if isinstance(value, dict) else None
    if not isinstance(value, dict) or not isinstance(uri, str):
        return None, SkillFinding("directory", f"{folder} has an entry without a uri")
    name, kind, size = (value.get(key) for key in ("name", "mimeType", "size"))
    inside = uri.removesuffix("/")
    why = why_outside(folder, inside)
    if why is None and "/" in inside[len(folder) + 1 :]:
        why = f"is not directly in {folder}"
    if why is not None:
        return None, SkillFinding("directory", f"{uri} {why}", uri=uri)
    entry = DirectoryEntry(
        uri=uri,
        name=name if isinstance(name, str) else inside.rpartition("/")[2],
        is_directory=kind == DIRECTORY_TYPE,
        mime_type=kind if isinstance(kind, str) else None,
        size=size if isinstance(size, int) else None,
    )
    return entry, None


def _cut(
    budget: SkillBudget, pages: int, skills: int, size: int, fetched: _FetchedPage
) -> str | None:
    """Why no further page is asked for; None if it may be."""
    if skills > budget.skills:
        return f"stopped after {budget.skills} skills"
    if fetched.next_cursor is None:
        return None
    if skills == budget.skills:
        return f"stopped after {budget.skills} skills"
    if pages >= budget.pages:
        return f"stopped after {budget.pages} pages"
    if size >= budget.list_bytes:
        return f"stopped after {size:,} bytes"
    return None
