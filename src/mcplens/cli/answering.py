"""Who answers what a server asks while a command runs: a profile, a person here, or nobody.

`--sampling`, `--elicit` and `--root`, or the server's `profile` and `roots` in the configuration.
On a terminal the default is to ask in place; elsewhere to refuse, and to say which flag helps.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

import click

from mcplens.cli import output
from mcplens.cli.state import State
from mcplens.session.capabilities import TASKS_EXTENSION

if TYPE_CHECKING:
    from mcplens.session.handler import Profile, ServerRequest

_FLAGS: Final = {
    "sampling/createMessage": ("a completion", "--sampling PROFILE"),
    "elicitation/create": ("input", "--elicit accept|decline|cancel|@file"),
}


def answering(
    state: State, options: Mapping[str, Any], profile: str | None = None
) -> dict[str, Any]:
    """The options of `connect` that say what the server may ask, and who answers.

    Raises:
        InspectorError: there is no such profile.
        UsageError: an option has no such value.
    """
    chosen: Mapping[str, Any] = options.get("capabilities") or {}
    extensions = {TASKS_EXTENSION: {}} | (chosen.get("extensions") or {})
    configured = [*(options.get("roots") or ()), *state.roots]
    return {
        "sampling": _sampling(state, profile),
        "elicitation": _elicitation(state, profile),
        "roots": configured,
        "receiver_tasks": True,
        "capabilities": {**chosen, "extensions": extensions},
    }


def _sampling(state: State, profile: str | None) -> Profile:
    name = profile if state.sampling is None else state.sampling
    if name is None or name == "ask":
        return _default(state, is_wanted=name == "ask")
    return _profile(state, name)


def _elicitation(state: State, profile: str | None) -> Profile:
    how = state.elicit
    if how is None and profile is not None and profile != "ask":
        return _profile(state, profile)
    if how is None or how == "ask":
        return _default(state, is_wanted="ask" in (how, profile))
    from mcplens.session.profiles import ACTIONS, TestingProfile, by_hand, elicit_like

    like: Any = state.elicit
    if like.startswith("@"):
        from mcplens.cli.arguments import parse_object

        like = {"content": parse_object(like, "--elicit")}
    elif like not in ACTIONS:
        raise click.BadParameter(
            f"{like!r}: say ask, accept, decline, cancel or @file", param_hint="'--elicit'"
        )
    return TestingProfile(f"--elicit {state.elicit}", by_hand, elicit_like(like))


def _profile(state: State, name: str) -> Profile:
    from mcplens.config.configuration import load_configuration
    from mcplens.session.profiles import BUILT_IN, Profiles

    # The user's own wins; one that is built in is there whatever the files say.
    own = load_configuration(state.config, is_tolerant=name in BUILT_IN).settings.profiles
    return _OrPerson(Profiles(own).get(name), _default(state, is_wanted=False))


def _default(state: State, *, is_wanted: bool) -> Profile:
    if is_wanted or (sys.stdin.isatty() and sys.stderr.isatty() and not state.is_quiet):
        return _Person()
    return _Refusing()


class _Person:
    """Somebody is here; how they are asked is loaded when there is something to ask."""

    name = "person"

    def __repr__(self) -> str:
        return "<_Person>"

    async def answer(self, request: ServerRequest) -> Any:
        from mcplens.cli.asking import ask_in_place

        return await ask_in_place().answer(request)


class _OrPerson:
    """A profile, and somebody for what it leaves to a person."""

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
    """Nobody is here to answer."""

    name = "nobody"

    def __init__(self) -> None:
        self._told: set[str] = set()

    def __repr__(self) -> str:
        return f"<_Refusing, told of {sorted(self._told)}>"

    async def answer(self, request: ServerRequest) -> Any:
        from mcplens.errors import ServerError
        from mcplens.session.handler import REJECTED

        what, flag = _FLAGS[request.method]
        if request.method not in self._told:  # once, however often the server asks
            self._told.add(request.method)
            output.note(f"mcplens: the server asked for {what}; use {flag}", fg="yellow")
        raise ServerError(REJECTED, f"nobody is here to give {what}")
