"""Skills verified on request: one file, one skill or all of them, within a budget of bytes.

Used by `mcplens skills --verify` and the Skills screen. Failures are verdicts, not exceptions, so
that one broken file never hides the others.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from typing import Literal, Unpack

import msgspec

from mcplens.errors import InspectorError, SkillMismatch
from mcplens.protocol.skill_files import SkillFileReport
from mcplens.protocol.skill_text import text_findings
from mcplens.protocol.skills import SKILL_FILE, Skill, SkillFinding
from mcplens.session.client import Client
from mcplens.session.request_sender import RequestOptions
from mcplens.session.skills import SkillBudget

# broken: the entry or the answer breaks the protocol; unverifiable: nothing to verify against.
Status = Literal["verified", "mismatch", "broken", "failed", "unverifiable", "not-read"]


class FileVerdict(msgspec.Struct, kw_only=True):
    """What came of one file, or of an entry that could not be used at all."""

    skill: str
    uri: str
    path: str
    status: Status
    expected_size: int | None = None
    expected_digest: str | None = None
    size: int | None = None
    digest: str | None = None
    findings: tuple[SkillFinding, ...] = ()


class VerificationTotals(msgspec.Struct, kw_only=True):
    """What a run of verification added up to."""

    files: int = 0
    bytes: int = 0
    counts: dict[str, int] = msgspec.field(default_factory=dict)
    cut: str | None = None

    def add(self, verdict: FileVerdict) -> None:
        self.files += 1
        self.bytes += verdict.size or 0
        self.counts[verdict.status] = self.counts.get(verdict.status, 0) + 1


async def verify_skills(
    client: Client,
    skills: Iterable[Skill],
    totals: VerificationTotals,
    most_bytes: int,
    path: str | None = None,
    **options: Unpack[RequestOptions],
) -> AsyncIterator[FileVerdict]:
    """Every file of these skills, SKILL.md first; what the budget leaves out is `not-read`.

    `path` is for one file alone.
    """
    for skill in skills:
        if skill.problem is not None:
            verdict = _of_entry(skill)
            totals.add(verdict)
            yield verdict
            continue
        for uri in _files(skill) if path is None else [skill.uri_of(path)]:
            file = skill.file(uri)
            if totals.bytes + (file.size if file else 0) > most_bytes:
                totals.cut = f"stopped at {most_bytes:,} bytes"
                verdict = _verdict(skill, uri, "not-read")
            else:
                verdict, _ = await verify_file(client, skill, uri, **options)
            totals.add(verdict)
            yield verdict


async def verify_file(
    client: Client,
    skill: Skill,
    path: str = SKILL_FILE,
    budget: SkillBudget | None = None,
    **options: Unpack[RequestOptions],
) -> tuple[FileVerdict, SkillFileReport | None]:
    """One file, and what was read of it; warnings about its text are among the findings.

    Raises:
        InspectorError: the server is not there.
    """
    uri = skill.uri_of(path)
    try:
        report = await client.check_skill_file(skill, uri, budget, **options)
    except InspectorError as error:
        if error.category not in ("server", "protocol"):
            raise
        status: Status = "failed" if error.category == "server" else "broken"
        if isinstance(error, SkillMismatch):
            status = "mismatch"
        return _verdict(skill, uri, status, SkillFinding("read", error.message, uri=uri)), None
    findings = list(report.findings)
    if (text := report.text) is not None:
        findings += text_findings(skill, uri, text)
    verdict = _verdict(skill, uri, _status(report), *findings)
    verdict.size, verdict.digest = report.size, report.digest or None
    return verdict, report


def _files(skill: Skill) -> list[str]:
    """The files of the manifest, SKILL.md first; of a dynamic skill that alone."""
    others = [file.uri for file in skill.files if file.uri != skill.uri]
    return [skill.uri, *others]


def _status(report: SkillFileReport) -> Status:
    problem = report.problem
    if problem is not None:
        return "broken" if problem.check in ("contents", "limit") else "mismatch"
    return "verified" if report.is_verified else "unverifiable"


def _of_entry(skill: Skill) -> FileVerdict:
    return FileVerdict(
        skill=skill.uri, uri=skill.uri, path="", status="broken", findings=skill.findings
    )


def _verdict(skill: Skill, uri: str, status: Status, *findings: SkillFinding) -> FileVerdict:
    file = skill.file(uri)
    return FileVerdict(
        skill=skill.uri,
        uri=uri,
        path=skill.path_of(uri),
        status=status,
        expected_size=None if file is None else file.size,
        expected_digest=None if file is None else file.digest,
        findings=findings,
    )
