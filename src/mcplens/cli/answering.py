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
    name = state.sampling or profile
    if name is None or name == "ask":
        return _default(state, is_wanted=name == "ask")
    return _profile(state, name)


def _elicitation(state: State, profile: str | None) -> Profile:
    if state.elicit is None and profile is not None:
        return _profile(state, profile)
    if state.elicit is None or state.elicit == "ask":
        return _default(state, is_wanted=state.elicit == "ask")
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
    from mcplens.session.profiles import BUILT_IN, Profiles

    own: Mapping[str, Any] = {}
    if name not in BUILT_IN:
        from mcplens.config.configuration import load_configuration

        own = load_configuration(state.config).settings.profiles
    found: Profile = Profiles(own).get(name)
    return found


def _default(state: State, *, is_wanted: bool) -> Profile:
    if is_wanted or (sys.stdin.isatty() and sys.stderr.isatty() and not state.is_quiet):
        from mcplens.cli.asking import ask_in_place

        return ask_in_place()
    return _Refusing()


class _Refusing:
    """Nobody is here to answer."""

    name = "nobody"

    async def answer(self, request: ServerRequest) -> Any:
        from mcplens.errors import ServerError
        from mcplens.session.handler import REJECTED

        what, flag = _FLAGS[request.method]
        output.note(f"mcplens: the server asked for {what}; use {flag}", fg="yellow")
        raise ServerError(REJECTED, f"nobody is here to give {what}")
