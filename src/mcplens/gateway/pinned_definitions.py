"""Definitions as they are approved: digest of the canonical form, masked form, and changes. Pure.

The digest is of the definition exactly as its server wrote it; what is kept to show the changes has
its secrets masked. Called by approvals.py, and by those who show what waits for approval.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Any, Final, NamedTuple

import msgspec

from mcplens.contracts.canonical import decode, digest
from mcplens.contracts.change_rules import RULES
from mcplens.contracts.changes import Change, compare
from mcplens.contracts.contract import Contract
from mcplens.contracts.masking import mask_definition
from mcplens.contracts.pointers import join
from mcplens.gateway.catalog import LIST_KEY
from mcplens.known_secrets import known_secrets

# What a server says to models besides its lists is approved like a definition.
INSTRUCTIONS: Final = "instructions"
WORDS: Final = {
    "tools": "tool",
    "prompts": "prompt",
    "resources": "resource",
    "resource_templates": "resource template",
    INSTRUCTIONS: "instructions",
}
_LISTS: Final = dict[str, str](LIST_KEY.items())
_FORMAT: Final = "mcplens-definitions"
_VERSION: Final = 1


class Subject(NamedTuple):
    """What is approved: a definition in a view; the view without a name shows everything."""

    view: str
    kind: str
    server_id: str
    name: str

    def __str__(self) -> str:
        return f"{self.server_id}:{self.name}" if self.name else self.server_id


class PinnedDefinition(msgspec.Struct, frozen=True, kw_only=True):
    """A definition as it was at one time; `by` approved it."""

    view: str
    kind: str
    server_id: str
    name: str
    sha256: str
    definition: Any
    at: float
    by: str = ""

    @property
    def subject(self) -> Subject:
        return Subject(self.view, self.kind, self.server_id, self.name)


class InvalidDefinitions(ValueError):
    """Kept definitions that cannot be read; the text says why."""


class _Document(msgspec.Struct, frozen=True):
    format: str
    version: int
    definitions: tuple[PinnedDefinition, ...] = ()


def digest_of(raw: bytes) -> str:
    """SHA-256 of a definition's canonical form; of its bytes if it is nested too deeply."""
    try:
        return digest(decode(raw))
    except ValueError:
        return hashlib.sha256(raw).hexdigest()


def pin(subject: Subject, raw: bytes, sha256: str, *, at: float) -> PinnedDefinition:
    """A definition as its server wrote it, with its secrets masked."""
    try:
        value = mask_definition(known_secrets.mask_value(decode(raw)))
    except ValueError as problem:
        value = {"unreadable": str(problem)}
    view, kind, server_id, name = subject
    return PinnedDefinition(
        view=view, kind=kind, server_id=server_id, name=name, sha256=sha256, definition=value, at=at
    )


def changes_between(before: PinnedDefinition | None, after: PinnedDefinition) -> tuple[Change, ...]:
    """The changes of a definition since it was approved, the worst first; never none."""
    found = compare(_contract(after, before), _contract(after, after)).changes
    if found:
        return found
    pointer = join("", _LISTS.get(after.kind, after.kind), after.name)
    rule = RULES["definition-changed"]
    return (Change(rule.change_class, rule.id, pointer, "it changed in a part that is masked"),)


def _contract(subject: PinnedDefinition, value: PinnedDefinition | None) -> Contract:
    """A contract that has this definition alone."""
    if subject.kind == INSTRUCTIONS:
        text = value.definition if value is not None else None
        return Contract(name=subject.server_id, instructions=text)
    items = {} if value is None else {subject.name: value.definition}
    return Contract(name=subject.server_id, lists={_LISTS[subject.kind]: items})


def in_words(changes: Iterable[Change]) -> str:
    """Changes in one line, for a log."""
    return "; ".join(f"{one.message} [{one.rule}]" for one in changes)


def encode_definitions(definitions: Iterable[PinnedDefinition]) -> bytes:
    """Definitions as they are kept, in a fixed order."""
    ordered = sorted(definitions, key=lambda one: one.subject)
    data = msgspec.json.encode(_Document(_FORMAT, _VERSION, tuple(ordered)))
    return msgspec.json.format(data, indent=1) + b"\n"


def decode_definitions(data: bytes) -> tuple[PinnedDefinition, ...]:
    """Definitions that were kept.

    Raises:
        InvalidDefinitions: they cannot be read.
    """
    try:
        document = msgspec.json.decode(data, type=_Document)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as problem:
        raise InvalidDefinitions(f"not in the format of approvals: {problem}") from None
    if document.format != _FORMAT or document.version != _VERSION:
        text = f"written by another version of mcplens ({document.format} {document.version})"
        raise InvalidDefinitions(text)
    return document.definitions
