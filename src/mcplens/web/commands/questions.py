"""Commands that answer a server, and say who does; its roots."""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Raw

from mcplens.web.commands.base import NOTHING, Command


class AnswerSampling(Command, frozen=True, kw_only=True):
    """`result` is a CreateMessageResult; `force` sends one that breaks the rules."""

    question_id: str
    result: Raw
    force: bool = False


class AnswerElicitation(Command, frozen=True, kw_only=True):
    """`content` is sent as it is: no default is filled in. `force` sends what breaks the form."""

    question_id: str
    action: Literal["accept", "decline", "cancel"]
    content: Raw = NOTHING
    force: bool = False


class RejectQuestion(Command, frozen=True, kw_only=True):
    """Refuse to answer, with the reason that the server is told."""

    question_id: str
    reason: str = ""


class AutoRespond(Command, frozen=True, kw_only=True):
    """Let a testing profile answer; `auto` is one that knows what to do with any question.

    What it answers is judged as a person's answer is, and the question waits on if it is not sent.
    `options`: `tool_choice` (auto, none, required, specific) in place of the server's, `tool` for
    specific, `force`.
    """

    question_id: str
    profile: str
    options: dict[str, Any] = {}


class SetProfile(Command, frozen=True, kw_only=True):
    """Which testing profile answers this server's questions; null means a person."""

    server_id: str
    profile: str | None = None
    save: bool = False


class AddRoot(Command, frozen=True, kw_only=True):
    """`path` is a folder or a file:// URI. `save` writes the roots into the server's entry."""

    server_id: str
    path: str
    name: str | None = None
    save: bool = False


class RemoveRoot(Command, frozen=True, kw_only=True):
    server_id: str
    uri: str
    save: bool = False


class BrowseFolder(Command, frozen=True, kw_only=True):
    """The folders within a folder; the home folder if none is named.

    `is_start` begins at the nearest folder that there is, whatever was typed.
    """

    path: str | None = None
    is_start: bool = False
