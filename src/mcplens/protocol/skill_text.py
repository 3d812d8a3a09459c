"""What a person does not see when a skill is rendered: hidden characters, comments, risky links.

A skill is text for a model, which reads all of it. Shown beside the skill; nothing is removed.
"""

from __future__ import annotations

import re
import unicodedata
from itertools import islice
from typing import Final

import msgspec

from mcplens.protocol.skills import Skill, SkillFinding

# More is not shown one by one.
MOST_SHOWN: Final = 200
# What is searched of a text: far more than a model is given of a skill, and no second of work.
_MOST_SEARCHED: Final = 1_000_000
_MOST_LINKS: Final = 1000

_COMMENT: Final = re.compile(r"<!--(?P<text>.*?)(?:-->|\Z)", re.DOTALL)
_LINK: Final = re.compile(r"\]\(\s*<?(?P<url>[^)\s>]+)")
_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
# The selector that makes a symbol an emoji, and the joiner between emojis: both are ordinary there.
_EMOJI_PARTS: Final = "\ufe0f\u200d"


class HiddenPart(msgspec.Struct, frozen=True):
    """Something that a reader does not see."""

    kind: str  # character, comment
    line: int
    column: int
    text: str  # the name of the character, or the comment


def hidden_parts(text: str) -> list[HiddenPart]:
    """The hidden characters and HTML comments of a text, in their order."""
    text = text[:_MOST_SEARCHED]
    found: list[HiddenPart] = []
    for number, line in enumerate(text.split("\n"), 1):
        if line.isprintable() or len(found) >= MOST_SHOWN:
            continue
        for index, letter in enumerate(line):
            if (
                letter not in "\r\t"
                and not letter.isprintable()
                and _is_hidden(line, index, number)
            ):
                found.append(HiddenPart("character", number, index + 1, character_name(letter)))
                if len(found) >= MOST_SHOWN:
                    break
    for match in islice(_COMMENT.finditer(text), MOST_SHOWN):
        comment = match["text"].strip()
        found.append(HiddenPart("comment", *_place(text, match.start()), comment))
    return sorted(found, key=lambda one: (one.line, one.column))[:MOST_SHOWN]


def _is_hidden(line: str, index: int, number: int) -> bool:
    letter = line[index]
    category = unicodedata.category(letter)
    if category in ("Zs", "Cn", "Co"):  # no-break spaces are seen; unassigned ones may be new
        return category == "Co"
    if letter == "\ufeff" and index == 0 and number == 1:
        return False  # a byte order mark has a finding of its own
    if letter in _EMOJI_PARTS:
        before = line[index - 1] if index else ""
        return not before or unicodedata.category(before) not in ("So", "Sk", "Mn", "Me")
    return True


def character_name(letter: str) -> str:
    """A character in words: U+200B ZERO WIDTH SPACE."""
    name = unicodedata.name(letter, "")
    if not name and 0xE0000 <= ord(letter) <= 0xE007F:
        name = "TAG"
    return f"U+{ord(letter):04X} {name or 'CONTROL CHARACTER'}".strip()


def _place(text: str, index: int) -> tuple[int, int]:
    return text.count("\n", 0, index) + 1, index - (text.rfind("\n", 0, index) + 1) + 1


def text_findings(skill: Skill, uri: str, text: str) -> list[SkillFinding]:
    """Warnings about the text of a skill's file: what is hidden in it, and where it links to."""
    found = []
    hidden = hidden_parts(text)
    characters = [one for one in hidden if one.kind == "character"]
    if characters:
        first = characters[0]
        names = ", ".join(dict.fromkeys(one.text for one in characters[:5]))
        count = _count(len(characters), "hidden character")
        text_of = f"{count} ({names}), the first in line {first.line}"
        found.append(SkillFinding("hidden", text_of, False, uri=uri))
    if comments := [one for one in hidden if one.kind == "comment"]:
        count = _count(len(comments), "HTML comment")
        text_of = f"{count}, the first in line {comments[0].line}"
        found.append(SkillFinding("comment", text_of, False, uri=uri))
    return found + _link_findings(skill, uri, text)


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _link_findings(skill: Skill, uri: str, text: str) -> list[SkillFinding]:
    found = []
    for match in islice(_LINK.finditer(text[:_MOST_SEARCHED]), _MOST_LINKS):
        url = match["url"]
        line = _place(text, match.start())[0]
        if url.lower().startswith("file:"):
            found.append(SkillFinding("link", f"line {line}: a link to {url}", False, uri=uri))
        elif not _SCHEME.match(url) and not url.startswith(("#", "/")) and not skill.is_dynamic:
            path = url.partition("#")[0].partition("?")[0]
            target = _resolve(uri.rpartition("/")[0], path)
            if path and skill.file(target) is None:
                text_of = f"line {line}: the link {url} leads to no file of the manifest"
                found.append(SkillFinding("link", text_of, False, uri=uri))
    return found[:MOST_SHOWN]


def _resolve(folder: str, path: str) -> str:
    parts = folder.split("/")
    for segment in path.split("/"):
        if segment == "..":
            parts = parts[:-1]
        elif segment not in ("", "."):
            parts.append(segment)
    return "/".join(parts)
