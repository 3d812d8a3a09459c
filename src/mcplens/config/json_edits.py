"""Members of a JSON object added, replaced and removed in its text; everything else stays.

Layout and comments are kept; what is new is indented as its neighbours are. Pure; called by
file_editor.py for our own file and by entry_text.py for those of other tools.
"""

from __future__ import annotations

import re
from typing import Any, Final

import msgspec

from mcplens.config.jsonc import Member, Node

DEFAULT_UNIT: Final = "  "
# Spaces and comments up to the end of the line that a value ends on.
_REST_OF_LINE: Final = re.compile(r"(?:[ \t]|/\*[^\r\n]*?\*/)*(?://[^\r\n]*)?")


def with_value(text: str, member: Member, value: Any, unit: str, end: str) -> str:
    shown = indented(value, unit, indent_of(text, member.start), end)
    return text[: member.node.start] + shown + text[member.node.end :]


def with_member(text: str, parent: Node, key: str, value: Any, unit: str, end: str) -> str:
    """Append a member to an object, indented as the one before it."""
    if not parent.members:
        return _with_first_member(text, parent, key, value, unit, end)
    last = parent.members[-1]
    is_inline = "\n" not in text[parent.start : last.start]
    if is_inline:
        shown = f"{compact(key)}: {compact(value)}"
        at = last.node.end
        return f"{text[:at]}, {shown}{text[at:]}"
    indent = indent_of(text, last.start)
    shown = f"{compact(key)}: {indented(value, unit, indent, end)}"
    # The comma goes after the value, the new member below a comment that may follow it.
    at = last.node.end if last.comma is None else last.comma + 1
    below = _end_of_line(text, at)
    comma, trailing = (",", "") if last.comma is None else ("", ",")
    return f"{text[:at]}{comma}{text[at:below]}{end}{indent}{shown}{trailing}{text[below:]}"


def _with_first_member(text: str, parent: Node, key: str, value: Any, unit: str, end: str) -> str:
    outer = indent_of(text, parent.start)
    inner = outer + unit
    shown = f"{compact(key)}: {indented(value, unit, inner, end)}"
    inside = text[parent.start + 1 : parent.end - 1].rstrip()  # comments, if anything
    return (
        f"{text[: parent.start + 1]}{inside}{end}{inner}{shown}{end}{outer}{text[parent.end - 1 :]}"
    )


def without_member(text: str, parent: Node, key: str) -> str:
    """Remove the last member of this name, and its line if nothing else is on it."""
    members = parent.members
    at = max(number for number, member in enumerate(members) if member.key == key)
    member = members[at]
    start, end = member.start, member.node.end
    if member.comma is not None:
        end = member.comma + 1
    elif at > 0 and (comma := members[at - 1].comma) is not None:
        # The last one: remove the comma before it too, but nothing in between.
        text = text[:comma] + text[comma + 1 :]
        start, end = start - 1, end - 1
    line_start = text.rfind("\n", 0, start) + 1
    rest = _end_of_line(text, end)
    if not text[line_start:start].strip() and text.startswith(("\n", "\r\n"), rest):
        return text[:line_start] + text[text.index("\n", rest) + 1 :]
    if member.comma is None:
        return text[:start].rstrip(" \t") + text[end:]
    return text[:start] + text[end:].lstrip(" \t")


def _end_of_line(text: str, offset: int) -> int:
    """Where the line ends that an offset is on, or where its next value begins."""
    return _REST_OF_LINE.match(text, offset).end()  # type: ignore[union-attr]  # never None


def compact(value: Any) -> str:
    return msgspec.json.encode(value).decode()


def indented(value: Any, unit: str, indent: str, end: str) -> str:
    """A value as indented JSON."""
    width = 2 if unit == "\t" else len(unit)
    lines = msgspec.json.format(msgspec.json.encode(value), indent=width).decode().split("\n")
    shown = []
    for line in lines:
        bare = line.lstrip(" ")
        shown.append(unit * ((len(line) - len(bare)) // width) + bare)
    return f"{end}{indent}".join(shown)


def indent_of(text: str, offset: int) -> str:
    """The white space that the line of an offset begins with."""
    start = text.rfind("\n", 0, offset) + 1
    match = re.compile(r"[ \t]*").match(text, start)
    return match.group() if match else ""


def unit_of(text: str) -> str:
    """One step of indentation in a text: that of its first indented line."""
    match = re.search(r"^([ \t]+)\S", text, re.MULTILINE)
    if match is None:
        return DEFAULT_UNIT
    return "\t" if match[1][0] == "\t" else match[1]
