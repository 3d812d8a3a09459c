"""The front matter of a SKILL.md: found, read as YAML, and compared with the entry of the skill.

Read by the core schema of YAML 1.2. Many servers read YAML 1.1 (PyYAML), where `yes`, `012`,
`12:30:00` and dates are not text; a field that differs only by that is named, with what to quote.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

import msgspec

from mcplens.protocol.json_comparison import MISSING, differences, is_same, shown
from mcplens.protocol.skills import DEEPEST, SKILL_FILE, Skill, SkillFinding
from mcplens.protocol.yaml_values import Node, YamlProblem, is_date, parse, plain_value_1_1

_BLOCK: Final = re.compile(r"---[ \t]*\r?\n(?P<yaml>.*?)^---[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.M)
_EMPTY: Final = re.compile(r"---[ \t]*\r?\n---[ \t]*(?:\r?\n|\Z)")


# Far more than people write; the parser takes a moment for it.
_LARGEST: Final = 64 * 1024


class FrontMatter(msgspec.Struct, kw_only=True):
    """The front matter of a file: its fields, or why it has none that can be used."""

    value: dict[str, Any] = msgspec.field(default_factory=dict)
    yaml: str = ""
    body: str = ""
    problem: str | None = None
    line: int = 1  # of the problem
    has_mark: bool = False  # a byte order mark before it
    older: dict[str, Any] | None = None  # as YAML 1.1 has it; None if that differs nowhere
    quote: tuple[str, ...] = ()  # what YAML 1.1 reads as something else, with its line


def read_front_matter(data: bytes) -> FrontMatter:
    """The front matter at the beginning of a SKILL.md."""
    try:
        text = data.decode()
    except UnicodeDecodeError as problem:
        return FrontMatter(problem=f"the file is not UTF-8: byte {problem.start}")
    has_mark = text.startswith("\ufeff")
    text = text.removeprefix("\ufeff")
    found = _EMPTY.match(text) or _BLOCK.match(text)
    if found is None:
        why = "it does not begin with a line ---"
        if text.startswith("---"):
            why = "no line --- ends the front matter"
        return FrontMatter(problem=f"{SKILL_FILE} has no front matter: {why}", body=text)
    front = FrontMatter(
        yaml=found.groupdict().get("yaml") or "", body=text[found.end() :], has_mark=has_mark
    )  # fmt: skip
    _read_fields(front)
    return front


def _read_fields(front: FrontMatter) -> None:
    if len(front.yaml) > _LARGEST:
        front.problem = f"the front matter is larger than {_LARGEST // 1024} kB"
        return
    try:
        node = parse(front.yaml, deepest=DEEPEST)
        if not isinstance(node.value, dict):
            raise YamlProblem("the front matter is not a list of fields", 1)
        front.value = node.value
        older = parse(front.yaml, deepest=DEEPEST, resolve=plain_value_1_1).value
    except YamlProblem as problem:
        front.line = problem.line + 1  # the line --- comes first
        where = f" (line {front.line}, {problem.key})" if problem.key else f" (line {front.line})"
        front.problem = f"the front matter cannot be read: {problem.text}{where}"
        return
    front.older = None if is_same(older, node.value) else older
    front.quote = tuple(_quote(node, front.yaml))


def _quote(node: Node, text: str) -> Iterator[str]:
    """The scalars without quotes that YAML 1.1 takes for something else."""
    for path, one in _scalars(node):
        source = text[one.start : one.end].strip()
        if not source or source[0] in "\"'|>":
            continue
        if is_date(source):
            yield f'line {one.line + 1}: {path}: {source} is a date in YAML 1.1: write "{source}"'
        elif not is_same(old := plain_value_1_1(source), one.value):
            yield (
                f"line {one.line + 1}: {path}: {source} is {shown(old)} in YAML 1.1 and "
                f'{shown(one.value)} in YAML 1.2: quote it, "{source}"'
            )


def _scalars(node: Node, path: str = "") -> Iterator[tuple[str, Node]]:
    if node.members:
        for key, one in node.members.items():
            yield from _scalars(one, f"{path}.{key}" if path else key)
    elif node.items:
        for index, one in enumerate(node.items):
            yield from _scalars(one, f"{path}[{index + 1}]")
    elif not isinstance(node.value, dict | list):
        yield path, node


def compare_front_matter(front: FrontMatter, skill: Skill) -> list[SkillFinding]:
    """How a file's front matter differs from the entry of its skill, in both directions."""
    if front.problem is not None:
        return [SkillFinding("frontmatter", front.problem, uri=skill.uri)]
    found = []
    if front.has_mark:
        text = f"{SKILL_FILE} begins with a byte order mark, which some readers do not accept"
        found.append(SkillFinding("frontmatter", text, False, "byte-order-mark", skill.uri))
    older = {one.where for one in differences(front.older, skill.frontmatter)}
    for one in differences(front.value, skill.frontmatter):
        found.append(_difference(front, one.where, one.one, one.other, older, skill.uri))
    if not any(finding.is_error for finding in found):
        found += [
            SkillFinding("yaml", text, False, "yaml-1.1", skill.uri) for text in front.quote
        ]  # fmt: skip
    return found


def _difference(
    front: FrontMatter, path: str, in_file: Any, in_entry: Any, older: set[str], uri: str
) -> SkillFinding:
    cause, why = "altered", ""
    if in_entry is MISSING:
        text = f"{path} is in the file and not in the entry"
    elif in_file is MISSING:
        text = f"{path} is in the entry and not in the file"
    else:
        text = f"{path} is {shown(in_file)} in the file and {shown(in_entry)} in the entry"
        if front.older is not None and path not in older:
            cause = "yaml-1.1"
            hints = [hint for hint in front.quote if f" {path}: " in hint or f" {path}[" in hint]
            why = "; cause: the server reads YAML 1.1; " + ("; ".join(hints) or "quote the value")
        elif isinstance(in_file, str) and isinstance(in_entry, str):
            if in_file.strip() == in_entry.strip():
                cause, why = "last-newline", "; cause: space or a newline at an end"
            elif in_file.split() == in_entry.split():
                cause, why = "line-ends", "; cause: line breaks within the text"
    return SkillFinding(
        "frontmatter", text + why, True, cause, uri, shown(in_entry), shown(in_file)
    )
