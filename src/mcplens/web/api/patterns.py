"""Patterns of JSON Schemas, matched for the page.

A browser's own patterns cannot be stopped, and a server's may take hours.
"""

from __future__ import annotations

import asyncio

import msgspec

from mcplens.errors import InspectorError
from mcplens.protocol.schema_validation import PatternVerdict, pattern_verdict
from mcplens.web.registry import Command, command
from mcplens.workspace.workspace import Workspace

# What one command may ask: each can take some 20 ms.
_MOST_CHECKS = 100


class PatternCheck(msgspec.Struct, frozen=True):
    """A pattern of a schema, and a text that it is for."""

    pattern: str
    text: str


class PatternVerdicts(msgspec.Struct, frozen=True):
    """Whether each text matches its pattern, in the order of the question."""

    verdicts: list[PatternVerdict]


class CheckPatterns(Command, frozen=True, kw_only=True):
    """Ask whether texts match patterns; at most 100 at a time."""

    checks: list[PatternCheck]


@command
async def check_patterns(_: Workspace, command: CheckPatterns) -> PatternVerdicts:
    if len(command.checks) > _MOST_CHECKS:
        text = (
            f"{len(command.checks)} patterns are too many for one command: {_MOST_CHECKS} at most"
        )
        raise InspectorError("INVALID_REQUEST", text)
    # In a thread, so that calls and other pages go on meanwhile.
    return PatternVerdicts(await asyncio.to_thread(_verdicts, command.checks))


def _verdicts(checks: list[PatternCheck]) -> list[PatternVerdict]:
    return [pattern_verdict(check.pattern, check.text) for check in checks]
