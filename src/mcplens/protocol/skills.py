"""Skills (io.modelcontextprotocol/skills, SEP-2640): entries as values, and the rules for them.

An entry is what skills/list and skills/get give of one skill. A broken entry becomes a `Skill` with
`problem` set, and is never loaded. What was read of a skill's files is checked in skill_files.py.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, Final

import msgspec

from mcplens.protocol.json_comparison import depth_of, differences, kind_of, shown
from mcplens.protocol.result_types import Item

SKILL_FILE: Final = "SKILL.md"
DIRECTORY_TYPE: Final = "inode/directory"

# What every host must accept of one skill; more is a warning.
MOST_FILES: Final = 512
MOST_BYTES: Final = 16 * 1024 * 1024
# Front matter that is nested deeper is refused.
DEEPEST: Final = 64
# The Agent Skills format has these limits.
_LONGEST_NAME: Final = 64
_LONGEST_DESCRIPTION: Final = 1024

_NAME: Final = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_DIGEST: Final = re.compile(r"sha256:[0-9a-f]{64}")
_RESERVED: Final = "io.modelcontextprotocol/"
# Fields of front matter that ask a host to do something; we only show them.
_REQUESTS: Final = ("allowed-tools", "hooks", "tools", "permissions", "mcp-servers")
_SCRIPTS: Final = (".sh", ".py", ".js", ".mjs", ".ts", ".rb", ".pl", ".ps1", ".bat", ".cmd")


class SkillFinding(msgspec.Struct, frozen=True):
    """One thing that is wrong with a skill, as a sentence; a warning does not keep it from use."""

    check: str  # which rule: uri, name, manifest, size, digest, frontmatter, …
    text: str
    is_error: bool = True
    cause: str = ""  # of a mismatch, where it can be told: line-ends, yaml-1.1, truncated, …
    uri: str = ""  # of the file that it is about
    expected: str = ""
    actual: str = ""


class SkillFile(msgspec.Struct, frozen=True):
    """A file as the manifest of a skill has it."""

    uri: str
    digest: str
    size: int


class Skill(Item, kw_only=True):
    """A skill as its server describes it; one with `problem` set must not be loaded."""

    uri: str
    frontmatter: dict[str, Any] = msgspec.field(default_factory=dict)
    files: tuple[SkillFile, ...] = ()
    is_dynamic: bool = False  # its files are not listed, so they cannot be verified
    findings: tuple[SkillFinding, ...] = ()
    ttl_ms: int | None = None  # how long the entry may be taken for fresh: a hint
    cache_scope: str | None = None

    @property
    def name(self) -> str:
        """The name in the front matter; empty if there is none."""
        return _text(self.frontmatter.get("name"))

    @property
    def description(self) -> str:
        return _text(self.frontmatter.get("description"))

    @property
    def directory(self) -> str:
        """The URI of its folder, without a slash at the end."""
        return self.uri.removesuffix("/" + SKILL_FILE)

    @property
    def size_bytes(self) -> int:
        """What its manifest says that all its files have together."""
        return sum(file.size for file in self.files)

    def file(self, path: str) -> SkillFile | None:
        """A file of the manifest, by its URI or by its path within the skill."""
        uri = self.uri_of(path)
        return next((file for file in self.files if file.uri == uri), None)

    def uri_of(self, path: str) -> str:
        """The URI of a path within the skill; a URI stays as it is."""
        return path if _SCHEME.match(path) else f"{self.directory}/{path}"

    def path_of(self, uri: str) -> str:
        """The path of one of its files within the skill."""
        return uri.removeprefix(self.directory + "/")

    def requests(self) -> tuple[str, ...]:
        """What the skill asks a host for, in words; a host that obeys is not this one."""
        asked = [
            f"{key}: {shown(self.frontmatter[key])}" for key in _REQUESTS if key in self.frontmatter
        ]
        scripts = [self.path_of(file.uri) for file in self.files]
        scripts = [path for path in scripts if path.startswith("scripts/") or _is_script(path)]
        return (*asked, *(f"script: {path}" for path in scripts))

    def add(self, *findings: SkillFinding) -> None:
        """Note more findings; an error keeps the skill from use."""
        self.findings += findings
        errors = [finding.text for finding in self.findings if finding.is_error]
        self.problem = "; ".join(errors) or None


class SkillList(msgspec.Struct, kw_only=True):
    """The skills that a server lists; `cut` says why there may be more."""

    skills: list[Skill]
    pages: int = 0
    cut: str | None = None
    ttl_ms: int | None = None
    cache_scope: str | None = None
    findings: tuple[SkillFinding, ...] = ()  # about the answer itself

    def __iter__(self) -> Any:
        return iter(self.skills)

    def __len__(self) -> int:
        return len(self.skills)


class DirectoryEntry(msgspec.Struct, frozen=True):
    """A direct child of a folder that a server listed."""

    uri: str
    name: str
    is_directory: bool = False
    mime_type: str | None = None
    size: int | None = None


# -- entries -----------------------------------------------------------------------------------


def read_entry(value: Any, raw: bytes = b"") -> Skill:
    """An entry as a skill, with everything that is wrong with it."""
    if not isinstance(value, dict):
        broken = Skill(uri="", raw=raw)
        broken.add(SkillFinding("entry", f"the entry is not an object but {kind_of(value)}"))
        return broken
    uri, front = value.get("uri"), value.get("frontmatter")
    skill = Skill(
        uri=_text(uri), frontmatter=front if isinstance(front, dict) else {}, raw=raw
    )  # fmt: skip
    skill.add(*_uri_findings(uri), *_front_findings(front, skill))
    _read_manifest(skill, value.get("resources"))
    return skill


def _uri_findings(uri: Any) -> list[SkillFinding]:
    if not isinstance(uri, str) or not uri:
        return [SkillFinding("uri", "the entry has no uri")]
    if not _SCHEME.match(uri):
        return [SkillFinding("uri", f"{uri!r} is not a URI: it has no scheme", uri=uri)]
    if not uri.endswith("/" + SKILL_FILE):
        return [SkillFinding("uri", f"the uri {uri} does not end with /{SKILL_FILE}", uri=uri)]
    why = _why_unsafe(uri[uri.index(":") + 1 :].lstrip("/"))
    return [SkillFinding("uri", f"the uri {uri} {why}", uri=uri)] if why else []


def _front_findings(front: Any, skill: Skill) -> list[SkillFinding]:
    if not isinstance(front, dict):
        return [SkillFinding("frontmatter", f"frontmatter is not an object but {kind_of(front)}")]
    if depth_of(front) > DEEPEST:
        return [SkillFinding("frontmatter", f"frontmatter is nested deeper than {DEEPEST} levels")]
    found = [
        SkillFinding("frontmatter", f"frontmatter has no {key}")
        for key in ("name", "description")
        if not isinstance(front.get(key), str) or not front[key]
    ]
    found += name_findings(skill.name, skill.directory) if skill.name else []
    if len(skill.description) > _LONGEST_DESCRIPTION:
        text = f"the description is longer than {_LONGEST_DESCRIPTION} characters"
        found.append(SkillFinding("frontmatter", text, is_error=False))
    metadata = front.get("metadata")
    for key in metadata if isinstance(metadata, dict) else ():
        if str(key).startswith(_RESERVED):
            text = f"metadata has {key}, whose prefix is reserved for MCP extensions"
            found.append(SkillFinding("frontmatter", text, is_error=False))
    return found


def name_findings(name: str, directory: str) -> list[SkillFinding]:
    """What is wrong with the name of a skill that is in this folder."""
    found = []
    if len(name) > _LONGEST_NAME or not _NAME.fullmatch(name):
        text = (
            f"the name {name!r} breaks the rules: 1 to {_LONGEST_NAME} of a-z, 0-9 and single "
            "hyphens, none at an end"
        )
        found.append(SkillFinding("name", text))
    segment = directory.rpartition("/")[2]
    if segment != name:
        text = f"the folder is {segment!r} and the name {name!r}: they must be the same"
        found.append(SkillFinding("name", text, expected=name, actual=segment))
    return found


def _read_manifest(skill: Skill, resources: Any) -> None:
    if resources == "dynamic":
        skill.is_dynamic = True
        return
    if not isinstance(resources, list):
        text = f'resources must be a list or "dynamic", and is {kind_of(resources)}'
        skill.add(SkillFinding("manifest", text))
        return
    files, findings = [], []
    for index, one in enumerate(resources):
        file, problems = _read_file(index, one, skill.directory)
        files += [file] if file is not None else []
        findings += problems
    skill.files = tuple(files)
    skill.add(*findings, *_manifest_findings(skill))


def _read_file(
    index: int, value: Any, directory: str
) -> tuple[SkillFile | None, list[SkillFinding]]:
    where = f"resources[{index}]"
    if not isinstance(value, dict) or not isinstance(value.get("uri"), str):
        return None, [SkillFinding("manifest", f"{where} has no uri")]
    uri, digest, size = value["uri"], value.get("digest"), value.get("size")
    found = []
    if why := why_outside(directory, uri):
        found.append(SkillFinding("manifest", f"{uri} {why}", uri=uri))
    if not isinstance(digest, str) or not _DIGEST.fullmatch(digest):
        text = f"the digest of {uri} is not sha256: and 64 lowercase hex digits"
        found.append(SkillFinding("manifest", text, uri=uri, actual=shown(digest)))
    if not isinstance(size, int) or isinstance(size, bool) or size < 0:
        text = f"the size of {uri} is not a number of bytes"
        found.append(SkillFinding("manifest", text, uri=uri, actual=shown(size)))
        size = 0
    return SkillFile(uri, _text(digest), size), found


def _manifest_findings(skill: Skill) -> list[SkillFinding]:
    found = []
    uris = [file.uri for file in skill.files]
    found += [
        SkillFinding("manifest", f"{uri} is listed {count} times", uri=uri)
        for uri, count in Counter(uris).items()
        if count > 1
    ]
    if skill.uri not in uris:
        found.append(SkillFinding("manifest", f"the manifest does not list {SKILL_FILE} itself"))
    folded: dict[str, str] = {}
    for uri in dict.fromkeys(uris):
        path = skill.path_of(uri)
        other = folded.setdefault(unicodedata.normalize("NFC", path).casefold(), path)
        if other != path:
            text = f"{path} and {other} are one file on disks that ignore case"
            found.append(SkillFinding("manifest", text, is_error=False, uri=uri))
    if len(uris) > MOST_FILES:
        text = f"{len(uris)} files; hosts need not accept more than {MOST_FILES}"
        found.append(SkillFinding("limit", text, is_error=False))
    if skill.size_bytes > MOST_BYTES:
        text = f"{skill.size_bytes:,} bytes; hosts need not accept more than {MOST_BYTES:,}"
        found.append(SkillFinding("limit", text, is_error=False))
    return found


def why_outside(directory: str, uri: str) -> str | None:
    """Why a URI is not of a file within this folder; None if it is."""
    if not uri.startswith(directory + "/"):
        return f"is outside the skill's folder {directory}"
    return _why_unsafe(uri[len(directory) + 1 :])


def _why_unsafe(path: str) -> str | None:
    """Why a path could mean something else than it says."""
    if any(ord(letter) < 32 or letter in "\\\x7f" for letter in path):
        return "has a control character or a backslash"
    if "?" in path or "#" in path:
        return "has a query or a fragment"
    for segment in path.split("/"):
        plain = re.sub(r"%2[eE]", ".", segment)
        if plain in ("", ".", "..") or re.search(r"%(?:2[fF]|5[cC]|00)", segment):
            return f"has the path segment {segment!r}"
    return None


# -- several entries ---------------------------------------------------------------------------


def check_list(skills: Sequence[Skill]) -> None:
    """Note in each skill of a list what only shows beside the others."""
    names: dict[str, list[Skill]] = {}
    uris: dict[str, int] = {}
    for skill in skills:
        if skill.name:
            names.setdefault(skill.name, []).append(skill)
        uris[skill.uri] = uris.get(skill.uri, 0) + 1
    for name, same in names.items():
        for skill in same if len(same) > 1 else ():
            others = ", ".join(other.uri for other in same if other is not skill)
            text = f"another skill is named {name!r} too: {others}"
            skill.add(SkillFinding("name", text, is_error=False))
    for skill in skills:
        if skill.uri and uris[skill.uri] > 1:
            skill.add(SkillFinding("uri", f"{skill.uri} is listed {uris[skill.uri]} times"))
    _check_nested(skills)


def _check_nested(skills: Sequence[Skill]) -> None:
    """The manifest of a skill has the files of the skills within its folder too."""
    by_directory = {skill.directory: skill for skill in skills if skill.uri}
    for inner in skills:
        parts = inner.directory.split("/")
        if len(parts) > DEEPEST:
            continue  # a path that nobody wrote by hand
        for end in range(len(parts) - 1, 0, -1):
            outer = by_directory.get("/".join(parts[:end]))
            if outer is None or outer.is_dynamic or inner.is_dynamic:
                continue
            has = {file.uri for file in outer.files}
            if missing := [file.uri for file in inner.files if file.uri not in has]:
                text = f"the manifest lacks {missing[0]} of the skill {inner.name!r} within it"
                outer.add(SkillFinding("manifest", text, uri=missing[0]))


def compare_entries(listed: Skill, got: Skill) -> tuple[SkillFinding, ...]:
    """How the entry of skills/get differs from that of skills/list."""
    one_front, other_front = listed.frontmatter, got.frontmatter
    if max(depth_of(one_front), depth_of(other_front)) > DEEPEST:
        one_front = other_front = {}  # such an entry is broken, and says so
    found = [
        SkillFinding("get", f"{it.where} differs", False, "", "", shown(it.one), shown(it.other))
        for it in differences(one_front, other_front)
    ]
    if listed.is_dynamic != got.is_dynamic:
        kinds = ["dynamic" if one.is_dynamic else "a list of files" for one in (listed, got)]
        found.append(SkillFinding("get", "resources differs", False, "", "", *kinds))
    before, after = ({file.uri: file for file in one.files} for one in (listed, got))
    for uri in dict.fromkeys([*before, *after]):
        one, other = before.get(uri), after.get(uri)
        if one != other:
            text = f"{listed.path_of(uri)} {_how(one, other)}"
            found.append(SkillFinding("get", text, False, "", uri, _file(one), _file(other)))
    return tuple(found)


def _how(one: SkillFile | None, other: SkillFile | None) -> str:
    if one is None:
        return "is only in skills/get"
    return "is only in skills/list" if other is None else "has changed"


def compare_directory(skill: Skill, children: Iterable[DirectoryEntry]) -> tuple[SkillFinding, ...]:
    """How the folders of a skill, read to their end, differ from its manifest."""
    found, seen = [], set()
    listed = {file.uri for file in skill.files}
    for child in children:
        seen.add(child.uri)
        if not child.is_directory and child.uri not in listed and not skill.is_dynamic:
            text = f"{skill.path_of(child.uri)} is in the folder and not in the manifest"
            found.append(SkillFinding("directory", text, False, uri=child.uri))
        if child.is_directory and child.uri.endswith("/"):
            text = f"the folder {child.uri} must not end with a slash"
            found.append(SkillFinding("directory", text, uri=child.uri))
    for uri in listed - seen:
        text = f"{skill.path_of(uri)} is in the manifest and not in the folder"
        found.append(SkillFinding("directory", text, uri=uri))
    return tuple(sorted(found, key=lambda finding: finding.uri))


def _is_script(path: str) -> bool:
    return path.endswith(_SCRIPTS)


def _file(file: SkillFile | None) -> str:
    return "" if file is None else f"{file.size} bytes, {file.digest}"


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
