"""What one server may ask of us, and who answers: profile, roots and declared capabilities.

Begins as the server's entry says, is changed while the workspace is open, and is written back only
when somebody asks for that. Held by the server, which puts it into each client that it makes.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any, Final

from mcplens.config.environment import Environment
from mcplens.config.model import ServerEntry
from mcplens.errors import ConfigurationError, InspectorError
from mcplens.protocol.roots import Root, root_of, to_wire
from mcplens.session.capabilities import (
    ELICITATION,
    RECEIVER_TASKS,
    ROOTS,
    SAMPLING,
    TASKS_EXTENSION,
    declared,
)
from mcplens.session.client import Client
from mcplens.session.profiles import Profiles
from mcplens.session.question_handler import Answering as AnsweredBy

# What every client of the workspace is made with: a person is here to answer.
CLIENT_OPTIONS: Final[dict[str, Any]] = {
    "sampling": True,
    "elicitation": True,
    "roots": (),
    "receiver_tasks": True,
}
_HANDLED: Final[dict[str, Any]] = {
    "sampling": SAMPLING,
    "elicitation": ELICITATION,
    "roots": ROOTS,
    "tasks": RECEIVER_TASKS,
}
# What is declared where nobody chose anything.
_UNCHOSEN: Final[dict[str, Any]] = {**_HANDLED, "extensions": {TASKS_EXTENSION: {}}}
# The keys of an entry that hold what is here.
_KEYS: Final = ("capabilities", "profile", "roots")


class AnswerSettings:
    """Profile, roots and capabilities of one server, as they are now."""

    def __init__(self, entry: ServerEntry) -> None:
        self.profile: str | None = entry.profile
        self.chosen: dict[str, Any] = dict(entry.capabilities)
        self.problem: InspectorError | None = None  # of the entry's roots
        self.roots: tuple[Root, ...] = self._roots_of(entry)

    def __repr__(self) -> str:
        return f"<AnswerSettings by {self.profile or 'a person'}, {len(self.roots)} roots>"

    def follow(self, old: ServerEntry, new: ServerEntry) -> None:
        """The entry changed: what it says anew counts, the rest stays as it is."""
        if new.profile != old.profile:
            self.profile = new.profile
        if new.capabilities != old.capabilities:
            self.chosen = dict(new.capabilities)
        if new.roots != old.roots:
            self.roots = self._roots_of(new)

    def _roots_of(self, entry: ServerEntry) -> tuple[Root, ...]:
        self.problem = None
        found = []
        for root in entry.roots:
            try:
                found.append(root_from(root["uri"], root.get("name"), entry.cwd or os.getcwd()))
            except ConfigurationError as problem:
                self.problem = problem
        return tuple(found)

    def is_as_in(self, entry: ServerEntry) -> bool:
        """Whether nothing differs from what the entry says."""
        former = AnswerSettings(entry)
        return (self.profile, self.chosen, self.roots) == (
            former.profile, former.chosen, former.roots,
        )  # fmt: skip

    # -- capabilities --------------------------------------------------------------------------

    @property
    def capabilities(self) -> dict[str, Any]:
        """What is declared from the next connection on."""
        return declared(_HANDLED, set(), self._chosen())

    def choose(self, capabilities: dict[str, Any]) -> None:
        """Declare these word for word, beside what was chosen before; None takes one away.

        What would be declared anyway is no choice, and follows what else is declared.
        """
        both = {**self.chosen, **capabilities}
        self.chosen = {name: value for name, value in both.items() if value != _UNCHOSEN.get(name)}

    def _chosen(self) -> dict[str, Any]:
        """What was chosen, and the extension that cannot be told from the handlers."""
        own = self.chosen.get("extensions", {})
        if own is None:
            return self.chosen
        extensions = {TASKS_EXTENSION: {}, **(own if isinstance(own, dict) else {})}
        kept = {name: value for name, value in extensions.items() if value is not None}
        return {**self.chosen, "extensions": kept}

    # -- into a client -------------------------------------------------------------------------

    def equip(self, client: Client, profiles: Profiles) -> None:
        """Have a client answer like this; what it declares counts from its next connection on.

        Raises:
            ConfigurationError: there is no such profile, or the entry's roots are none.
        """
        if self.problem is not None:
            raise self.problem
        self.use_profile(client, profiles)
        self.declare_to(client)
        client.roots.set(self.roots)

    def use_profile(self, client: Client, profiles: Profiles) -> None:
        by: AnsweredBy = True if self.profile is None else profiles.get(self.profile)
        client.sampling.use(by)
        client.elicitation.use(by)

    def declare_to(self, client: Client) -> None:
        """Have a client declare what is chosen, from its next connection on."""
        client.choose_capabilities(self._chosen())

    def set_roots(self, roots: Iterable[Root], client: Client | None) -> None:
        """Have exactly these; a server that is connected hears of it."""
        self.roots = tuple(roots)
        if client is not None:
            client.roots.set(self.roots)

    # -- into the file -------------------------------------------------------------------------

    def written_into(self, entry: ServerEntry) -> dict[str, Any]:
        """The entry as its file would have it with what is here; what is the same is kept."""
        former = AnswerSettings(entry)
        raw = dict(entry.raw)
        if self.chosen != former.chosen:
            raw["capabilities"] = self.chosen
        if self.profile != former.profile:
            raw["profile"] = self.profile
        if self.roots != former.roots:
            raw["roots"] = [to_wire(root) for root in self.roots]
        # An empty one says the same as none.
        return {key: value for key, value in raw.items() if value or key not in _KEYS}


def root_from(text: str, name: str | None, cwd: str) -> Root:
    """The root that a path or URI means, as a person types it or a file has it.

    Raises:
        ConfigurationError: it means none.
    """
    platform = "nt" if os.name == "nt" else "posix"
    try:
        return root_of(text, name=name or None, platform=platform, cwd=cwd)
    except ValueError as problem:
        message = f"{text!r} cannot be a root: {problem}"
        raise ConfigurationError("CONFIGURATION_INVALID", message) from None


def typed_root(text: str, name: str | None, here: Environment) -> Root:
    """The same for what somebody typed: `~` is his home."""
    text = text.strip()
    if text == "~" or text.startswith("~/"):
        text = here.home + text[1:]
    return root_from(text, name, here.cwd)
