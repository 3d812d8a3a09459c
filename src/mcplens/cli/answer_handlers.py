"""Answers the server's questions while a command runs: by a profile, by a person, or not at all.

Chosen by `--sampling`, `--elicit` and `--root`, or by the server's `profile` and `roots` in the
configuration. By default a person is asked on a terminal; elsewhere questions are refused, with a
hint about the option to use.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

import click

from mcplens.cli import output
from mcplens.cli.command_options import CommandOptions
from mcplens.protocol.apps import UI_EXTENSION
from mcplens.session.capabilities import EXTENSIONS

if TYPE_CHECKING:
    from mcplens.session.question_handler import Profile, ServerRequest

_FLAGS: Final = {
    "sampling/createMessage": ("a completion", "--sampling PROFILE"),
    "elicitation/create": ("input", "--elicit accept|decline|cancel|@file"),
}


def answer_options(
    flags: CommandOptions, options: Mapping[str, Any], profile: str | None = None
) -> dict[str, Any]:
    """The options of `connect` that say what the server may ask, and what answers.

    Raises:
        InspectorError: the profile does not exist.
        UsageError: the value of an option is invalid.
    """
    chosen: Mapping[str, Any] = options.get("capabilities") or {}
    extensions = EXTENSIONS | (chosen.get("extensions") or {})
    if flags.no_apps:
        extensions.pop(UI_EXTENSION, None)
    configured = [*(options.get("roots") or ()), *flags.roots]
    return {
        "sampling": _sampling(flags, profile),
        "elicitation": _elicitation(flags, profile),
        "roots": configured,
        "receiver_tasks": True,
        "capabilities": {**chosen, "extensions": extensions},
    }


def _sampling(flags: CommandOptions, profile: str | None) -> Profile:
    name = profile if flags.sampling is None else flags.sampling
    if name is None or name == "ask":
        return _default(flags, is_wanted=name == "ask")
    return _profile(flags, name)


def _elicitation(flags: CommandOptions, profile: str | None) -> Profile:
    how = flags.elicit
    if how is None and profile is not None and profile != "ask":
        return _profile(flags, profile)
    if how is None or how == "ask":
        return _default(flags, is_wanted="ask" in (how, profile))
    from mcplens.session.profiles import ACTIONS, TestingProfile, by_hand, elicit_like

    like: Any = flags.elicit
    if like.startswith("@"):
        from mcplens.cli.arguments import parse_object

        like = {"content": parse_object(like, "--elicit")}
    elif like not in ACTIONS:
        raise click.BadParameter(
            f"{like!r}: use ask, accept, decline, cancel or @file", param_hint="'--elicit'"
        )
    return TestingProfile(f"--elicit {flags.elicit}", by_hand, elicit_like(like))


def _profile(flags: CommandOptions, name: str) -> Profile:
    from mcplens.config.configuration import load_configuration
    from mcplens.session.profiles import BUILT_IN, Profiles

    # The user's profiles override built-in ones, which exist whatever the files say.
    own = load_configuration(flags.config, is_tolerant=name in BUILT_IN).settings.profiles
    return _OrPerson(Profiles(own).get(name), _default(flags, is_wanted=False))


def _default(flags: CommandOptions, *, is_wanted: bool) -> Profile:
    if is_wanted or (sys.stdin.isatty() and sys.stderr.isatty() and not flags.is_quiet):
        return _Person()
    return _Refusing()


class _Person:
    """Asks the person at the terminal; loads the code for that on the first question."""

    name = "person"

    def __repr__(self) -> str:
        return "<_Person>"

    async def answer(self, request: ServerRequest) -> Any:
        from mcplens.cli.interactive_questions import interactive_answers

        return await interactive_answers().answer(request)


class _OrPerson:
    """A profile, and a person for questions that it does not answer."""

    def __init__(self, profile: Profile, person: Profile) -> None:
        self.name = profile.name
        self.is_forced = getattr(profile, "is_forced", False)
        self._profile = profile
        self._person = person

    def __repr__(self) -> str:
        return f"<_OrPerson {self._profile!r}, else {self._person!r}>"

    async def answer(self, request: ServerRequest) -> Any:
        result = await self._profile.answer(request)
        return await self._person.answer(request) if result is None else result


class _Refusing:
    """Refuses every question."""

    name = "nobody"

    def __init__(self) -> None:
        self._told: set[str] = set()

    def __repr__(self) -> str:
        return f"<_Refusing, warned about {sorted(self._told)}>"

    async def answer(self, request: ServerRequest) -> Any:
        from mcplens.errors import ServerError
        from mcplens.session.question_handler import REJECTED

        what, flag = _FLAGS[request.method]
        if request.method not in self._told:  # once, however often the server asks
            self._told.add(request.method)
            output.note(f"mcplens: the server asked for {what}; use {flag}", fg="yellow")
        raise ServerError(REJECTED, f"nobody is available to provide {what}")
