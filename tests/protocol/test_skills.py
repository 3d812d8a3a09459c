"""Entries and files of skills: every rule, and the cause of each mismatch."""

from __future__ import annotations

from typing import Any

import pytest

from mcplens.protocol.result_types import ReadResult, ResourceContents
from mcplens.protocol.skill_files import SkillFileReport, check_file, digest_of
from mcplens.protocol.skill_text import hidden_parts, text_findings
from mcplens.protocol.skills import (
    DirectoryEntry,
    Skill,
    check_list,
    compare_directory,
    compare_entries,
    read_entry,
)

FOLDER = "skill://docs/pdf-forms"
BODY = "---\nname: pdf-forms\ndescription: Fill forms\n---\n\nRead [it](references/A.md).\n"
NOTE = "Some notes.\n"
FRONT = {"name": "pdf-forms", "description": "Fill forms"}


def listed(path: str, data: bytes | str) -> dict[str, Any]:
    raw = data.encode() if isinstance(data, str) else data
    return {"uri": f"{FOLDER}/{path}", "digest": digest_of(raw), "size": len(raw)}


def entry(**changes: Any) -> dict[str, Any]:
    files = [listed("SKILL.md", BODY), listed("references/A.md", NOTE)]
    return {"uri": f"{FOLDER}/SKILL.md", "frontmatter": FRONT, "resources": files} | changes


def skill(**changes: Any) -> Skill:
    return read_entry(entry(**changes))


def read(one: Skill, data: bytes | str, path: str = "SKILL.md", **more: Any) -> SkillFileReport:
    uri = f"{FOLDER}/{path}"
    if isinstance(data, str):
        content = ResourceContents(uri=uri, text=data, **more)
    else:
        import base64

        content = ResourceContents(uri=uri, blob=base64.b64encode(data).decode(), **more)
    return check_file(one, uri, ReadResult(contents=[content]), 1_000_000)


# -- entries ---


def test_a_right_entry_has_no_findings() -> None:
    one = skill()
    assert (one.problem, one.findings) == (None, ())
    assert (one.name, one.directory, len(one.files)) == ("pdf-forms", FOLDER, 2)
    assert one.size_bytes == len(BODY) + len(NOTE)
    assert one.file("references/A.md") == one.file(f"{FOLDER}/references/A.md")


def outside(uri: str) -> dict[str, Any]:
    return {"resources": [listed("SKILL.md", BODY), {**listed("x", NOTE), "uri": uri}]}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"uri": None}, "the entry has no uri"),
        ({"uri": "pdf-forms/SKILL.md"}, "it has no scheme"),
        ({"uri": "skill://docs/pdf-forms"}, "does not end with /SKILL.md"),
        ({"uri": "skill://docs/../pdf-forms/SKILL.md"}, "path segment '..'"),
        ({"uri": "skill://docs/%2e%2E/pdf-forms/SKILL.md"}, "path segment '%2e%2E'"),
        ({"uri": "skill://docs/other/SKILL.md"}, "the folder is 'other' and the name 'pdf-forms'"),
        ({"frontmatter": None}, "frontmatter is not an object but missing"),
        ({"frontmatter": {"name": "pdf-forms"}}, "frontmatter has no description"),
        ({"frontmatter": {**FRONT, "name": "PDF--forms"}}, "breaks the rules"),
        ({"frontmatter": {**FRONT, "name": "-a"}}, "breaks the rules"),
        ({"frontmatter": {**FRONT, "name": "a" * 65}}, "breaks the rules"),
        ({"resources": "static"}, 'must be a list or "dynamic", and is text'),
        ({"resources": None}, "and is missing"),
        ({"resources": [listed("references/A.md", NOTE)]}, "does not list SKILL.md itself"),
        ({"resources": [listed("SKILL.md", BODY)] * 2}, "is listed 2 times"),
        (outside("skill://docs/other/B.md"), "is outside the skill's folder"),
        (outside(f"{FOLDER}/../B.md"), "path segment '..'"),
        (outside(f"{FOLDER}/a%2Fb"), "path segment 'a%2Fb'"),
        (outside(f"{FOLDER}/B.md?x"), "a query or a fragment"),
        (outside("file:/etc/passwd"), "is outside the skill's folder"),
        ({"resources": [{**listed("SKILL.md", BODY), "digest": "sha256:ABC"}]}, "64 lowercase"),
        ({"resources": [{**listed("SKILL.md", BODY), "size": "12"}]}, "not a number of bytes"),
        ({"resources": [{**listed("SKILL.md", BODY), "size": True}]}, "not a number of bytes"),
    ],
)
def test_a_broken_entry_says_what_is_wrong_and_cannot_be_used(
    changes: dict[str, Any], words: str
) -> None:
    assert words in (skill(**changes).problem or "")


def test_an_entry_that_is_not_an_object_or_nested_too_deeply_is_broken() -> None:
    assert read_entry([1]).problem == "the entry is not an object but a list"
    deep: Any = "x"
    for _ in range(70):
        deep = {"a": deep}
    assert "deeper than 64" in (skill(frontmatter={**FRONT, "metadata": deep}).problem or "")


def test_limits_and_names_that_collide_are_warnings() -> None:
    many = [listed(f"f{number}", NOTE) for number in range(600)]
    large = {**listed("big", NOTE), "size": 17 * 1024 * 1024}
    one = skill(resources=[*entry()["resources"], *many, large, listed("SKILL.MD", BODY)])
    assert one.problem is None
    texts = " ".join(finding.text for finding in one.findings)
    assert "need not accept more than 512" in texts
    assert "need not accept more than 16,777,216" in texts
    assert "one file on disks that ignore case" in texts


def test_a_list_warns_of_equal_names_and_of_nested_skills_that_a_manifest_lacks() -> None:
    outer, twin = (
        skill(),
        read_entry(
            {
                "uri": "other://x/pdf-forms/SKILL.md",
                "frontmatter": FRONT,
                "resources": "dynamic",
            }
        ),
    )
    inner_uri = f"{FOLDER}/inner/SKILL.md"
    inner = read_entry(
        {
            "uri": inner_uri,
            "frontmatter": {"name": "inner", "description": "x"},
            "resources": [{**listed("inner/SKILL.md", NOTE)}],
        }
    )
    check_list([outer, twin, inner])
    assert "another skill is named" in twin.findings[0].text
    assert twin.problem is None
    assert f"the manifest lacks {inner_uri}" in (outer.problem or "")
    same = [skill(), skill()]
    check_list(same)
    assert all("is listed 2 times" in (one.problem or "") for one in same)


def test_what_a_skill_asks_for_is_named() -> None:
    front = {**FRONT, "allowed-tools": "Bash(rm:*)", "hooks": {"start": "x"}}
    files = [*entry()["resources"], listed("scripts/run.sh", NOTE)]
    asked = skill(frontmatter=front, resources=files).requests()
    assert asked == (
        'allowed-tools: "Bash(rm:*)"',
        'hooks: {"start":"x"}',
        "script: scripts/run.sh",
    )


def test_list_and_get_are_compared() -> None:
    other = skill(
        frontmatter={**FRONT, "description": "Other"}, resources=[listed("SKILL.md", BODY + " ")]
    )
    texts = [finding.text for finding in compare_entries(skill(), other)]
    assert texts == [
        "description differs",
        "SKILL.md has changed",
        "references/A.md is only in skills/list",
    ]
    assert compare_entries(skill(), skill()) == ()


def test_a_folder_is_compared_with_the_manifest() -> None:
    children = [
        DirectoryEntry(f"{FOLDER}/SKILL.md", "SKILL.md"),
        DirectoryEntry(f"{FOLDER}/secret.txt", "secret.txt"),
        DirectoryEntry(f"{FOLDER}/references/", "references", is_directory=True),
    ]
    texts = [finding.text for finding in compare_directory(skill(), children)]
    assert texts == [
        f"the folder {FOLDER}/references/ must not end with a slash",
        "references/A.md is in the manifest and not in the folder",
        "secret.txt is in the folder and not in the manifest",
    ]


# -- files ---


def test_a_file_that_is_as_listed_is_verified_as_text_and_as_bytes() -> None:
    assert read(skill(), BODY).is_verified
    assert read(skill(), BODY.encode()).is_verified
    assert read(skill(), NOTE, "references/A.md").is_verified


@pytest.mark.parametrize(
    ("served", "cause", "words"),
    [
        (NOTE.replace("\n", "\r\n"), "line-ends", "served with CRLF"),
        ("\ufeff" + NOTE, "byte-order-mark", "served with a byte order mark"),
        (NOTE.rstrip("\n"), "last-newline", "served without"),
        (NOTE + "\n\n", "last-newline", "the last newline"),
        ("\ufeff" + NOTE.replace("\n", "\r\n"), "byte-order-mark", "and line ends"),
        (NOTE[:4], "truncated", "8 bytes are missing"),
        (NOTE.replace("Some", "Evil"), "altered", "it was altered"),
        (NOTE + "more\n", "altered", "it was altered"),
    ],
)
def test_a_mismatch_names_its_cause(served: str, cause: str, words: str) -> None:
    report = read(skill(), served, "references/A.md")
    assert report.problem is not None
    assert report.problem.cause == cause
    assert words in report.problem.text
    assert not report.is_verified


@pytest.mark.parametrize(
    ("made_of", "served", "cause"),
    [
        (b"a\r\nb\r\n", b"a\nb\n", "line-ends"),
        (b"\xef\xbb\xbfa\n", b"a\n", "byte-order-mark"),
        ("e\u0301".encode(), "\u00e9".encode(), "normalization"),
        (b"YQ==", b"a", "base64"),
    ],
)
def test_a_manifest_that_was_made_of_other_bytes_is_explained(
    made_of: bytes, served: bytes, cause: str
) -> None:
    one = skill(resources=[*entry()["resources"], listed("b.bin", made_of)])
    problem = read(one, served, "b.bin").problem
    assert problem is not None
    assert problem.cause == cause


def test_a_size_in_characters_is_explained() -> None:
    text = "grün\n"
    wrong = {**listed("a", text), "size": len(text)}
    problem = read(skill(resources=[*entry()["resources"], wrong]), text, "a").problem
    assert problem is not None
    assert (problem.check, problem.cause) == ("size", "characters")


def test_contents_that_cannot_be_a_file_are_refused_before_they_are_decoded() -> None:
    one, uri = skill(), f"{FOLDER}/SKILL.md"

    def problem(*contents: ResourceContents, most: int = 1_000_000) -> str:
        found = check_file(one, uri, ReadResult(contents=list(contents)), most).problem
        assert found is not None
        return f"{found.check}: {found.text}"

    assert "gave no contents" in problem()
    assert "instead of one for" in problem(ResourceContents(uri="other", text=""))
    assert "both text and blob" in problem(ResourceContents(uri=uri, text="", blob=""))
    assert "not base64" in problem(ResourceContents(uri=uri, blob="?"))
    assert "lone surrogate" in problem(ResourceContents(uri=uri, text="\ud800"))
    assert problem(ResourceContents(uri=uri, text="x" * 11), most=10).startswith("limit: ")


# -- front matter ---


def with_front(yaml: str, **front: Any) -> tuple[Skill, str]:
    """A skill whose file has this YAML and whose entry has these fields; the digest is right."""
    body = f"---\nname: pdf-forms\ndescription: Fill forms\n{yaml}---\nBody\n"
    return skill(frontmatter={**FRONT, **front}, resources=[listed("SKILL.md", body)]), body


@pytest.mark.parametrize(
    ("yaml", "entry_has", "words"),
    [
        ("beta: yes\n", True, 'beta: yes is true in YAML 1.1 and "yes" in YAML 1.2: quote it'),
        ("beta: 012\n", 10, "is 10 in YAML 1.1 and 12 in YAML 1.2"),
        ("beta: 12:30:00\n", 45000, "is 45000 in YAML 1.1"),
        ("beta: 1_000\n", 1000, "is 1000 in YAML 1.1"),
        ("beta: 1e3\n", "1e3", 'is "1e3" in YAML 1.1 and 1000.0 in YAML 1.2'),
        ("beta: 2026-01-02 10:00:00\n", "2026-01-02T10:00:00", "is a date in YAML 1.1"),
    ],
)
def test_a_value_that_yaml_1_1_reads_otherwise_is_to_be_quoted(
    yaml: str, entry_has: Any, words: str
) -> None:
    one, body = with_front(yaml, beta=entry_has)
    problem = read(one, body).problem
    assert problem is not None
    assert (problem.check, problem.cause) == ("frontmatter", "yaml-1.1")
    assert "line 4" in problem.text
    assert words in problem.text


def test_front_matter_is_compared_both_ways_and_by_field() -> None:
    one, body = with_front("metadata:\n  a: 1\n  b: two\nmine: x\n", metadata={"a": 1.0, "b": "2"})
    texts = [finding.text for finding in read(one, body).findings]
    assert texts == [
        'metadata.b is "two" in the file and "2" in the entry',
        "mine is in the file and not in the entry",
    ]
    one, body = with_front("", extra=1)
    (finding,) = read(one, body).findings
    assert finding.text == "extra is in the entry and not in the file"
    one, body = with_front("long: |\n  a text\n", long="a text")
    (finding,) = read(one, body).findings
    assert finding.cause == "last-newline"


def test_a_date_that_matches_is_a_warning_since_some_servers_drop_the_skill() -> None:
    one, body = with_front("updated: 2026-01-02\n", updated="2026-01-02")
    report = read(one, body)
    assert report.is_verified
    (warning,) = report.findings
    assert warning.text == 'line 4: updated: 2026-01-02 is a date in YAML 1.1: write "2026-01-02"'


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("# no front matter", "does not begin with a line ---"),
        ("---\nname: x\n", "no line --- ends"),
        ("---\na: &x 1\nb: *x\n---\n", "the alias *x is not supported"),
        ("---\na: 1\na: 2\n---\n", "the key 'a' is there twice"),
        ("---\n- a\n---\n", "not a list of fields"),
        ("---\na: " + "[" * 70 + "]" * 70 + "\n---\n", "nested too deeply"),
        ("---\na: b: c\n---\n", "cannot be read"),
        ("---\na: !!python/object x\n---\n", "is not supported"),
    ],
)
def test_front_matter_that_cannot_be_read_is_refused(body: str, words: str) -> None:
    one = skill(resources=[listed("SKILL.md", body)])
    assert words in " ".join(finding.text for finding in read(one, body).findings)


def test_a_dynamic_skill_is_compared_by_its_front_matter_alone() -> None:
    one = skill(resources="dynamic")
    assert read(one, BODY).problem is None
    assert not read(one, BODY).is_verified
    problem = read(one, BODY.replace("Fill", "Steal")).problem
    assert problem is not None
    assert problem.check == "frontmatter"


# -- what a reader does not see ---


def test_hidden_characters_and_comments_are_found_with_their_places() -> None:
    text = "Hi\u200b there\n<!-- do\nevil -->\n\U000e0041 and \u202e\n👩\u200d💻 ❤️ \xa0fine"
    found = [(one.kind, one.line, one.column, one.text) for one in hidden_parts(text)]
    assert found == [
        ("character", 1, 3, "U+200B ZERO WIDTH SPACE"),
        ("comment", 2, 1, "do\nevil"),
        ("character", 4, 1, "U+E0041 TAG LATIN CAPITAL LETTER A"),
        ("character", 4, 7, "U+202E RIGHT-TO-LEFT OVERRIDE"),
    ]


def test_links_to_the_disk_and_to_files_that_are_not_listed_are_named() -> None:
    text = "[a](file:///etc) [b](references/A.md#x) [c](B.md) [d](https://x.org) [e](#here)"
    texts = [finding.text for finding in text_findings(skill(), f"{FOLDER}/SKILL.md", text)]
    assert texts == [
        "line 1: a link to file:///etc",
        "line 1: the link B.md leads to no file of the manifest",
    ]


# -- what a hostile server sends ---


def test_entries_and_files_that_were_made_to_take_time_take_none() -> None:
    many = [listed(f"f{number % 40_000}", NOTE) for number in range(50_000)]
    assert "is listed 2 times" in (skill(resources=many).problem or "")
    deep = read_entry({**entry(), "uri": "skill:" + "/a" * 50_000 + "/pdf-forms/SKILL.md"})
    check_list([deep, skill()])
    nested: Any = "x"
    for _ in range(500):
        nested = {"a": nested}
    broken = skill(frontmatter={**FRONT, "metadata": nested})
    assert compare_entries(broken, broken) == ()
    for text in ("<!--x-->" * 200_000, "[a](b) " * 200_000, "\u2028\u200b" * 1_000_000):
        assert len(text_findings(skill(), f"{FOLDER}/SKILL.md", text)) <= 400
    one = skill(resources=[listed("SKILL.md", "---\na: " + "[" * 100_000 + "\n---\n")])
    problem = read(one, "---\na: " + "[" * 100_000 + "\n---\n").problem
    assert problem is not None
    assert "larger than 64 kB" in problem.text
