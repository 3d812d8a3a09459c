"""Per-server answer settings: testing profile, roots, and the capabilities declared to the server.

They start as the server's entry has them and can be changed while the workspace is open
(answer_edits.py); they are written back to the file only on request. Held by `Server`, which
applies them to each client that it creates.
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
    EXTENSIONS,
    RECEIVER_TASKS,
    ROOTS,
    SAMPLING,
    declared,
)
from mcplens.session.client import Client
from mcplens.session.profiles import Profiles
from mcplens.session.question_handler import Answering as AnsweredBy

# Options of every client of the workspace: a person is there to answer.
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
# The capabilities declared by default.
_UNCHOSEN: Final[dict[str, Any]] = {**_HANDLED, "extensions": EXTENSIONS}
# The keys of an entry that hold these settings.
_KEYS: Final = ("capabilities", "profile", "roots")


class AnswerSettings:
    """Profile, roots and capabilities of one server, as they are now."""

    def __init__(self, entry: ServerEntry, person: AnsweredBy = True) -> None:
        self._person = person  # answers where no profile does
        self.profile: str | None = entry.profile
        self.chosen: dict[str, Any] = dict(entry.capabilities)
        self.problem: InspectorError | None = None  # with the roots of the entry
        self.roots: tuple[Root, ...] = self._roots_of(entry)

    def __repr__(self) -> str:
        return f"<AnswerSettings by {self.profile or 'a person'}, {len(self.roots)} roots>"

    def follow(self, old: ServerEntry, new: ServerEntry) -> None:
        """Take over what changed in the entry; the rest stays as it was set here."""
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
        """Whether all settings are those of the entry."""
        former = AnswerSettings(entry)
        return (self.profile, self.chosen, self.roots) == (
            former.profile, former.chosen, former.roots,
        )  # fmt: skip

    # -- capabilities --------------------------------------------------------------------------

    @property
    def capabilities(self) -> dict[str, Any]:
        """The capabilities declared on the next connection."""
        return declared(_HANDLED, set(), self._chosen())

    def choose(self, capabilities: dict[str, Any]) -> None:
        """Declare these exactly, in addition to earlier choices; None removes a capability.

        A choice that equals the default is not kept, so that it follows the default later.
        """
        both = {**self.chosen, **capabilities}
        self.chosen = {name: value for name, value in both.items() if value != _UNCHOSEN.get(name)}

    def _chosen(self) -> dict[str, Any]:
        """The choices, and the extensions, which no handler implies."""
        own = self.chosen.get("extensions", {})
        if own is None:
            return self.chosen
        extensions = {**EXTENSIONS, **(own if isinstance(own, dict) else {})}
        kept = {name: value for name, value in extensions.items() if value is not None}
        return {**self.chosen, "extensions": kept}

    # -- into a client -------------------------------------------------------------------------

    def equip(self, client: Client, profiles: Profiles) -> None:
        """Apply all settings to a client; capabilities take effect on its next connection.

        Raises:
            ConfigurationError: there is no such profile, or the entry has an invalid root.
        """
        if self.problem is not None:
            raise self.problem
        self.use_profile(client, profiles)
        self.declare_to(client)
        client.roots.set(self.roots)

    def use_profile(self, client: Client, profiles: Profiles) -> None:
        by = self._person if self.profile is None else profiles.get(self.profile)
        client.sampling.use(by)
        client.elicitation.use(by)

    def declare_to(self, client: Client) -> None:
        """Have a client declare the chosen capabilities on its next connection."""
        client.choose_capabilities(self._chosen())

    def set_roots(self, roots: Iterable[Root], client: Client | None) -> None:
        """Replace the roots; a connected server is notified."""
        self.roots = tuple(roots)
        if client is not None:
            client.roots.set(self.roots)

    # -- into the file -------------------------------------------------------------------------

    def written_into(self, entry: ServerEntry) -> dict[str, Any]:
        """The raw entry with these settings written into it."""
        former = AnswerSettings(entry)
        raw = dict(entry.raw)
        if self.chosen != former.chosen:
            raw["capabilities"] = self.chosen
        if self.profile != former.profile:
            raw["profile"] = self.profile
        if self.roots != former.roots:
            raw["roots"] = [to_wire(root) for root in self.roots]
        # An empty value means the same as no key.
        return {key: value for key, value in raw.items() if value or key not in _KEYS}


def root_from(text: str, name: str | None, cwd: str) -> Root:
    """The root for a path or URI.

    Raises:
        ConfigurationError: it is not a valid root.
    """
    platform = "nt" if os.name == "nt" else "posix"
    try:
        return root_of(text, name=name or None, platform=platform, cwd=cwd)
    except ValueError as problem:
        message = f"{text!r} cannot be a root: {problem}"
        raise ConfigurationError("CONFIGURATION_INVALID", message) from None


def typed_root(text: str, name: str | None, here: Environment) -> Root:
    """The root for a path or URI that a person typed; `~` is the home folder."""
    text = text.strip()
    if text == "~" or text.startswith("~/"):
        text = here.home + text[1:]
    return root_from(text, name, here.cwd)
