"""Skills of a folder on a disk, compared with what a server serves: why one is missing or differs.

Pure: the files are given as bytes (session/skill_folder.py reads them). The same rules are applied
to a folder that a server would have to apply, and the reasons why servers silently drop a skill are
named: a front matter that cannot be read, a wrong name, a date without quotes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Literal

import msgspec

from mcplens.protocol.skill_files import SkillFileReport, check_bytes, digest_of
from mcplens.protocol.skill_front_matter import FrontMatter, read_front_matter
from mcplens.protocol.skills import SKILL_FILE, Skill, SkillFinding, name_findings


class LocalSkill(msgspec.Struct, kw_only=True):
    """A folder with a SKILL.md: its path below the compared folder, and its files."""

    path: str
    files: dict[str, bytes]  # by path within the skill
    marker: str = SKILL_FILE  # as the file is spelled on the disk
    cut: str | None = None  # why not all files were read

    @property
    def front_matter(self) -> FrontMatter:
        return read_front_matter(self.files.get(self.marker, b""))

    @property
    def name(self) -> str:
        """The name in the front matter, else that of the folder."""
        name = self.front_matter.value.get("name")
        return name if isinstance(name, str) and name else self.path.rpartition("/")[2]


class FolderVerdict(msgspec.Struct, kw_only=True):
    """How one skill stands on the disk and on the server."""

    name: str
    status: Literal["same", "differs", "missing", "unlisted", "only-served", "unknown"]
    path: str | None = None
    uri: str | None = None
    findings: tuple[SkillFinding, ...] = ()


def local_findings(skill: LocalSkill) -> list[SkillFinding]:
    """What can keep a server from serving a folder as a skill."""
    found: list[SkillFinding] = []
    front = skill.front_matter
    if skill.marker != SKILL_FILE:
        text = f"the file is named {skill.marker}, and must be {SKILL_FILE}"
        found.append(SkillFinding("name", text))
    if front.problem is not None:
        return [*found, SkillFinding("frontmatter", front.problem)]
    for key in ("name", "description"):
        if not isinstance(front.value.get(key), str) or not front.value[key]:
            found.append(SkillFinding("frontmatter", f"the front matter has no {key}"))
    found += name_findings(skill.name, skill.path) if front.value.get("name") else []
    if front.has_mark:
        text = f"{SKILL_FILE} begins with a byte order mark, so some servers see no front matter"
        found.append(SkillFinding("frontmatter", text, False, "byte-order-mark"))
    found += [
        SkillFinding("yaml", f"{text}; some servers drop such a skill", False, "yaml-1.1")
        for text in front.quote
    ]
    return found


def compare_folder(
    local: Sequence[LocalSkill],
    served: Sequence[Skill],
    unlisted: Mapping[str, Skill],
    cut: str | None = None,
) -> list[FolderVerdict]:
    """Every skill of the folder and of the server.

    `unlisted` are those that skills/get gave, by name, though skills/list did not. `cut` says why
    the list has an end before its last skill; then nothing is missing for sure.
    """
    others = dict(unlisted)
    pairs, left = _pairs(local, served)
    verdicts = []
    for number, skill in enumerate(local):
        name, own = skill.name, local_findings(skill)
        entry = pairs.get(number) or others.pop(name, None)
        if entry is None:
            verdict = FolderVerdict(name=name, status="missing", path=skill.path)
            verdict.findings = tuple(own) or (_no_reason(),)
            if cut is not None:
                verdict.status = "unknown"
                verdict.findings = (_cut_list(cut), *own)
        else:
            differences = _differences(skill, entry)
            verdict = FolderVerdict(name=name, status="same", path=skill.path, uri=entry.uri)
            if differences:
                verdict.status = "differs"
            if number not in pairs and cut is None:
                verdict.status = "unlisted"
            verdict.findings = (*differences, *(finding for finding in own if finding.is_error))
        verdicts.append(verdict)
    for entry in left:
        name = entry.name or entry.uri
        verdicts.append(FolderVerdict(name=name, status="only-served", uri=entry.uri))
    return verdicts


def _pairs(
    local: Sequence[LocalSkill], served: Sequence[Skill]
) -> tuple[dict[int, Skill], list[Skill]]:
    """For each skill of the folder, by its number, the entry of its name; and what is left.

    Of several with one name: the one with the same SKILL.md, else in the same folder, else the
    first.
    """
    left: dict[str, list[Skill]] = {}
    for entry in served:
        left.setdefault(entry.name, []).append(entry)
    names = [skill.name for skill in local]
    pairs: dict[int, Skill] = {}
    for make_test in (_has_text_of, _is_in_folder_of, _is_any):
        for number, skill in enumerate(local):
            same = left.get(names[number], ())
            if number in pairs or not same:
                continue
            fits = make_test(skill)
            chosen = next((one for one in same if fits(one)), None)
            if chosen is not None:
                pairs[number] = chosen
                left[names[number]] = [one for one in same if one is not chosen]
    taken = {id(entry) for entry in pairs.values()}
    return pairs, [entry for entry in served if id(entry) not in taken]


_Test = Callable[[Skill], bool]


def _has_text_of(skill: LocalSkill) -> _Test:
    digest = digest_of(skill.files.get(skill.marker, b""))
    return lambda entry: (file := entry.file(entry.uri)) is not None and file.digest == digest


def _is_in_folder_of(skill: LocalSkill) -> _Test:
    return lambda entry: entry.directory.endswith(f"/{skill.path}")


def _is_any(skill: LocalSkill) -> _Test:
    return lambda entry: True


def _cut_list(cut: str) -> SkillFinding:
    return SkillFinding("missing", f"the server may list it later: {cut}", is_error=False)


def _no_reason() -> SkillFinding:
    text = (
        "nothing is wrong with it here; does the server look into this folder, and was it "
        "started again?"
    )
    return SkillFinding("missing", text)


def _differences(skill: LocalSkill, entry: Skill) -> list[SkillFinding]:
    """How the files on the disk differ from what the server's manifest says."""
    found = [finding for finding in entry.findings if finding.is_error]
    for path, data in skill.files.items():
        uri = entry.uri_of(SKILL_FILE if path == skill.marker else path)
        if entry.file(uri) is None:
            if not entry.is_dynamic:
                text = f"{path} is on the disk and not in the manifest"
                found.append(SkillFinding("manifest", text, uri=uri))
            continue
        report = SkillFileReport(uri=uri, path=path, expected=entry.file(uri), data=data)
        check_bytes(entry, report)
        found += [_on_disk(finding) for finding in report.findings if finding.is_error]
    local = {entry.uri_of(SKILL_FILE if path == skill.marker else path) for path in skill.files}
    if skill.cut is None:
        for file in entry.files:
            if file.uri not in local:
                text = f"{entry.path_of(file.uri)} is in the manifest and not on the disk"
                found.append(SkillFinding("manifest", text, uri=file.uri))
    return found


def _on_disk(finding: SkillFinding) -> SkillFinding:
    """A mismatch of a file that was read from the disk, and not from the server."""
    text = finding.text.replace("the file is served", "the file on the disk is")
    return msgspec.structs.replace(finding, text=text.replace(" in the file", " on the disk"))
