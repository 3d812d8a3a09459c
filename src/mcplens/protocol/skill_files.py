"""The files of skills, checked as they were read: size, digest, front matter; and why they differ.

A match says that file and manifest belong together, not that either can be trusted. Called by
session/skills.py with what resources/read gave; skill_front_matter.py compares the front matter.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import unicodedata
from collections.abc import Iterator
from typing import Final

import msgspec

from mcplens.protocol.result_types import ReadResult, ResourceContents
from mcplens.protocol.skill_front_matter import FrontMatter, compare_front_matter, read_front_matter
from mcplens.protocol.skills import Skill, SkillFile, SkillFinding

BOM: Final = b"\xef\xbb\xbf"


class SkillFileReport(msgspec.Struct, kw_only=True):
    """One file of a skill as it was read, and what the checks found."""

    uri: str
    path: str
    expected: SkillFile | None  # None: the skill is dynamic, so there is nothing to verify against
    data: bytes = b""
    mime_type: str | None = None
    digest: str = ""
    front_matter: FrontMatter | None = None  # of a SKILL.md
    findings: tuple[SkillFinding, ...] = ()
    raw: bytes = b""  # the result of resources/read

    @property
    def size(self) -> int:
        return len(self.data)

    @property
    def problem(self) -> SkillFinding | None:
        """Why the file must not be used; None if it may be."""
        return next((finding for finding in self.findings if finding.is_error), None)

    @property
    def is_verified(self) -> bool:
        """Whether it is the file that the manifest describes."""
        return self.expected is not None and self.problem is None

    @property
    def text(self) -> str | None:
        """The file as text; None if it is not UTF-8."""
        try:
            return self.data.decode()
        except UnicodeDecodeError:
            return None


def digest_of(data: bytes) -> str:
    """The digest of a file as manifests write it."""
    return "sha256:" + hashlib.sha256(data).hexdigest()


def check_file(skill: Skill, uri: str, result: ReadResult, most_bytes: int) -> SkillFileReport:
    """What was read of a file, checked against the manifest and, for a SKILL.md, the entry."""
    report = SkillFileReport(uri=uri, path=skill.path_of(uri), expected=skill.file(uri))
    content, problem = _content(result, uri)
    if content is not None and problem is None:
        report.mime_type = content.mime_type
        report.data, problem = _bytes(content, most_bytes)
    if content is None or problem is not None:
        report.findings = (problem,) if problem is not None else ()
        return report
    return check_bytes(skill, report, content.blob)


def check_bytes(skill: Skill, report: SkillFileReport, blob: str | None = None) -> SkillFileReport:
    """The checks of a file whose bytes are known: size, digest, then front matter."""
    report.digest = digest_of(report.data)
    findings: list[SkillFinding] = []
    if report.expected is not None and (found := _mismatch(report, report.expected, blob)):
        findings.append(found)
    if report.uri == skill.uri:
        report.front_matter = read_front_matter(report.data)
        findings += compare_front_matter(report.front_matter, skill)
    report.findings = tuple(findings)
    return report


def _content(result: ReadResult, uri: str) -> tuple[ResourceContents | None, SkillFinding | None]:
    """The one content of a file."""
    same = [content for content in result.contents if content.uri == uri]
    if len(same) == 1 and len(result.contents) == 1:
        return same[0], None
    if not result.contents:
        return None, SkillFinding("contents", "resources/read gave no contents", uri=uri)
    others = ", ".join(content.uri for content in result.contents[:3])
    text = (
        f"resources/read gave {len(result.contents)} contents ({others}) instead of one for {uri}"
    )
    return None, SkillFinding("contents", text, uri=uri)


def _bytes(content: ResourceContents, most_bytes: int) -> tuple[bytes, SkillFinding | None]:
    """The raw bytes of a content; what is too long is not decoded."""
    uri, text, blob = content.uri, content.text, content.blob
    if (text is None) == (blob is None):
        which = "neither text nor blob" if text is None else "both text and blob"
        return b"", SkillFinding("contents", f"the content of {uri} has {which}", uri=uri)
    length = len(text) if text is not None else len(blob or "") * 3 // 4
    if length > most_bytes:
        return b"", SkillFinding("limit", f"{uri} is larger than {most_bytes:,} bytes", uri=uri)
    try:
        data = text.encode() if text is not None else base64.b64decode(blob or "", validate=True)
    except UnicodeEncodeError:
        return b"", SkillFinding("contents", f"the text of {uri} has a lone surrogate", uri=uri)
    except (binascii.Error, ValueError) as problem:
        return b"", SkillFinding("contents", f"the blob of {uri} is not base64: {problem}", uri=uri)
    return data, None


# -- mismatches and their causes ---------------------------------------------------------------


def _mismatch(report: SkillFileReport, file: SkillFile, blob: str | None) -> SkillFinding | None:
    data, path = report.data, report.path
    if len(data) == file.size and report.digest == file.digest:
        return None
    cause, why = _cause(data, report.digest, file, blob)
    if len(data) != file.size:
        text = f"{path} has {len(data):,} bytes, and the manifest says {file.size:,}; {why}"
        return SkillFinding("size", text, True, cause, file.uri, str(file.size), str(len(data)))
    text = f"{path} has another digest than the manifest says; {why}"
    return SkillFinding("digest", text, True, cause, file.uri, file.digest, report.digest)


def _cause(data: bytes, digest: str, file: SkillFile, blob: str | None) -> tuple[str, str]:
    """What made the two differ, as a code and in words."""
    if digest == file.digest:
        return _wrong_size(data, file)
    for causes, candidate in _variants(data):
        if len(candidate) == file.size and digest_of(candidate) == file.digest:
            words = " and ".join(_WORDS[cause] for cause in causes)
            return causes[0].partition(":")[0], f"cause: {words}"
    if blob is not None and digest_of(blob.encode()) == file.digest:
        return "base64", "cause: the manifest was made of the base64 text, not of the bytes"
    missing = file.size - len(data)
    if missing > 0:
        text = f"{missing:,} bytes are missing, so it was truncated, or changed and made shorter"
        return "truncated", text
    return "altered", "it was altered after the manifest was made, or the manifest is old"


def _wrong_size(data: bytes, file: SkillFile) -> tuple[str, str]:
    if len(data.decode(errors="replace")) == file.size:
        return "characters", "cause: the size counts characters, and should count bytes of UTF-8"
    return "wrong-size", "cause: the digest is right, so the size in the manifest is wrong"


_WORDS: Final = {
    "byte-order-mark:served": "the file is served with a byte order mark, and the manifest was "
    "made without",
    "byte-order-mark:missing": "the manifest was made with a byte order mark, and the file is "
    "served without",
    "line-ends:crlf": "line ends: the file is served with CRLF, and the manifest was made with LF",
    "line-ends:lf": "line ends: the file is served with LF, and the manifest was made with CRLF",
    "last-newline:served": "the last newline: the file is served with it, and the manifest was "
    "made without",
    "last-newline:missing": "the last newline: the manifest was made with it, and the file is "
    "served without",
    "normalization:nfc": "Unicode: the manifest was made with composed letters (NFC)",
    "normalization:nfd": "Unicode: the manifest was made with decomposed letters (NFD)",
}

_Variant = tuple[tuple[str, ...], bytes]


def _variants(data: bytes) -> Iterator[_Variant]:
    """The same file as other tools would have written it."""
    for mark in _marks((), data):
        for ends in _line_ends(*mark):
            yield from (each for each in _last_newlines(*ends) if each[0])
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return
    for form in ("NFC", "NFD"):
        yield (f"normalization:{form.lower()}",), unicodedata.normalize(form, text).encode()


def _marks(causes: tuple[str, ...], data: bytes) -> Iterator[_Variant]:
    yield causes, data
    if data.startswith(BOM):
        yield (*causes, "byte-order-mark:served"), data.removeprefix(BOM)
    else:
        yield (*causes, "byte-order-mark:missing"), BOM + data


def _line_ends(causes: tuple[str, ...], data: bytes) -> Iterator[_Variant]:
    yield causes, data
    if b"\r\n" in data:
        yield (*causes, "line-ends:crlf"), data.replace(b"\r\n", b"\n")
    elif b"\n" in data:
        yield (*causes, "line-ends:lf"), data.replace(b"\n", b"\r\n")


def _last_newlines(causes: tuple[str, ...], data: bytes) -> Iterator[_Variant]:
    yield causes, data
    end = b"\r\n" if b"\r\n" in data else b"\n"
    if data.endswith(end):
        yield (*causes, "last-newline:served"), data.removesuffix(end)
        stripped = data.rstrip(b"\r\n")
        yield (*causes, "last-newline:served"), stripped
        yield (*causes, "last-newline:served"), stripped + end
    else:
        yield (*causes, "last-newline:missing"), data + end
