"""Rules of safety: hidden text, instructions aimed at a model, missing hints, borrowed names."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import Any, Final

from mcplens.contracts.pointers import LISTS, join
from mcplens.lint.rule import Hit, RuleSet, Subject
from mcplens.lint.schema_walk import walk
from mcplens.protocol.secret_masking import is_secret_option

SAFETY: Final = RuleSet("safety")
_POISONING: Final = (
    "https://lbeurerkellner.github.io/jekyll/update/2025/04/01/mcp-tool-poisoning.html"
)
_POISONING_DATE: Final = "2025-04-01"
_MOST_TEXTS: Final = 100_000
# Joins emoji and letters of some scripts, and is harmless there.
_JOINERS: Final = "\u200c\u200d"
_PLAIN_CONTROLS: Final = "\n\r\t"
# Most texts have nothing but these, and need not be looked at character by character.
_UNUSUAL: Final = re.compile(r"[^\x20-\x7e\n\r\t]")
_INSTRUCTIONS: Final = re.compile(
    r"ignore (?:all |any )?(?:the )?(?:previous|prior|above|earlier|other) (?:instructions|prompts)"
    r"|disregard (?:all |any |the )?(?:previous|prior|above|earlier)"
    r"|<\s*/?\s*(?:important|system|secret|instructions?)\s*>"
    r"|(?:do not|don't|never) (?:tell|mention|inform|reveal|show)[^.]{0,40}\b(?:to )?(?:the )?user"
    r"|without (?:telling|informing|asking|notifying) (?:the )?user"
    r"|before (?:using|calling|you use|you call) (?:this|any|other) tools?[^.]{0,20}\b(?:read|send)"
    r"|(?:system|developer) prompt\b|you are now\b"
    r"|~/\.(?:ssh|aws|config|cursor|env)\b|\bid_rsa\b|/etc/passwd",
    re.I,
)
_DESTRUCTIVE: Final = re.compile(
    r"(?:^|[_\-./]|(?<=[a-z]))(?:delete|remove|drop|destroy|erase|purge|wipe|truncate|kill|revoke)"
    r"(?![a-z])",
    re.I,
)


@SAFETY.rule(
    "safety-hidden-characters",
    "error",
    title="A text has characters that people cannot see",
    reason="Invisible characters, and those that reverse the reading order, show a person another "
    "text than a model reads.",
    source="https://trojansource.codes/",
    date="2021-11-01",
)
def _hidden(subject: Subject) -> Iterator[Hit]:
    for pointer, text in _texts(subject):
        if not _UNUSUAL.search(text):
            continue
        found = [char for at, char in enumerate(text) if _is_hidden(text, at)]
        if found:
            shown = ", ".join(f"U+{ord(char):04X}" for char in dict.fromkeys(found[:8]))
            yield pointer, f"{len(found)} hidden characters ({shown})"


@SAFETY.rule(
    "safety-instructions",
    "warning",
    title="A text gives instructions to a model",
    reason="Descriptions should say what a thing does. One that tells a model to hide something, "
    "to read keys or to ignore others is how servers take over a session.",
    source=_POISONING,
    date=_POISONING_DATE,
)
def _instructions(subject: Subject) -> Iterator[Hit]:
    for pointer, text in _texts(subject):
        match = _INSTRUCTIONS.search(text)
        if match:
            words = " ".join(match[0].split())[:80]
            yield pointer, f"the text contains {words!r}"


@SAFETY.rule(
    "safety-destructive-hint",
    "warning",
    title="A tool sounds destructive, and its annotations do not say whether it is",
    reason="Clients ask a person before a destructive call if they know of it.",
    source="https://modelcontextprotocol.io/specification/2025-11-25/schema#toolannotations",
    date="2025-11-25",
)
def _hint(subject: Subject) -> Iterator[Hit]:
    for name, pointer, tool in subject.tools():
        hints = tool.get("annotations")
        hints = hints if isinstance(hints, dict) else {}
        is_said = "destructiveHint" in hints or "readOnlyHint" in hints
        if not is_said and _DESTRUCTIVE.search(str(tool.get("name"))):
            yield pointer, f"{name} has neither destructiveHint nor readOnlyHint"


@SAFETY.rule(
    "safety-read-only-doubt",
    "warning",
    title="A tool is marked read-only and sounds destructive",
    reason="Clients call read-only tools without asking.",
    source="https://modelcontextprotocol.io/specification/2025-11-25/schema#toolannotations",
    date="2025-11-25",
)
def _doubt(subject: Subject) -> Iterator[Hit]:
    for name, pointer, tool in subject.tools():
        hints = tool.get("annotations")
        is_read_only = isinstance(hints, dict) and hints.get("readOnlyHint") is True
        if is_read_only and _DESTRUCTIVE.search(str(tool.get("name"))):
            yield join(pointer, "annotations", "readOnlyHint"), f"{name} is marked read-only"


@SAFETY.rule(
    "safety-secret-in-header",
    "warning",
    title="A parameter that sounds secret is mirrored into an HTTP header",
    reason="Values of x-mcp-header parameters are visible to every proxy on the way.",
    source="https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http"
    "#custom-headers-from-tool-parameters",
    date="2026-07-28",
)
def _secret_header(subject: Subject) -> Iterator[Hit]:
    for _, pointer, tool in subject.tools():
        for place in walk(tool.get("inputSchema"), join(pointer, "inputSchema")):
            name = place.property_name
            if name and "x-mcp-header" in place.schema and is_secret_option(name):
                yield place.pointer, f"{name} is sent in a header"


@SAFETY.rule(
    "safety-shadowed-name",
    "warning",
    title="Another server has a tool of the same name",
    reason="A host that puts both before a model may call the wrong one, and a server can take "
    "calls that are meant for another.",
    source="https://invariantlabs.ai/blog/mcp-security-notification-tool-poisoning-attacks",
    date="2025-04-01",
)
def _shadowed(subject: Subject) -> Iterator[Hit]:
    for name, pointer, _ in subject.tools():
        others = [other.name for other in subject.others if name in other.items("tools")]
        if others:
            yield pointer, f"{name} is also a tool of {', '.join(others)}"


def _texts(subject: Subject) -> Iterator[Hit]:
    """Every text that a person or a model reads, with its pointer."""
    contract = subject.contract
    waiting: list[tuple[str, Any]] = [
        (join("", kind, name), item)
        for kind in LISTS
        for name, item in contract.items(kind).items()
    ]
    waiting.append(("/instructions", contract.instructions))
    waiting.append(("/serverInfo", contract.server_info))
    for _ in range(_MOST_TEXTS):
        if not waiting:
            return
        pointer, value = waiting.pop()
        if isinstance(value, str):
            yield pointer, value
        elif isinstance(value, dict):
            # A name of a member is read too, such as that of a parameter.
            waiting += [(join(pointer, key), key) for key in value if not key.isascii()]
            waiting += [(join(pointer, key), item) for key, item in value.items() if key != "icons"]
        elif isinstance(value, list):
            waiting += [(join(pointer, at), item) for at, item in enumerate(value)]


def _is_hidden(text: str, at: int) -> bool:
    char = text[at]
    if char.isascii():
        return unicodedata.category(char) == "Cc" and char not in _PLAIN_CONTROLS
    category = unicodedata.category(char)
    if char in _JOINERS:  # between letters or emoji that are not ASCII
        return not (0 < at < len(text) - 1 and not text[at - 1].isascii())
    if char == "\u00ad":
        return False  # soft hyphens come with text copied from the web, and hide nothing
    return category in ("Cf", "Co", "Cn") or category == "Cc"
