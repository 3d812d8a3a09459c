"""Servers of a project must be confirmed once, by the content of their entry, before they are used.

A cloned repository must not run commands by itself, nor send our environment to a place of its
choosing. Owns the fingerprint of an entry and the file of confirmed entries; the surfaces ask.
Called by the command line and the web UI.
"""

from __future__ import annotations

import os
from typing import Any, Final

import msgspec

from mcplens.config.environment import Environment, current_environment, user_state_folder
from mcplens.config.files import write_text
from mcplens.config.model import ServerEntry
from mcplens.config.placeholders import variables_of

_FILE_NAME: Final = "trusted.json"
# The keys that decide which program runs, or what is sent where.
_DECISIVE: Final = (
    "transport", "type", "command", "args", "env", "envFile", "inheritEnv", "cwd",
    "url", "serverUrl", "httpUrl", "headers", "auth", "caFile", "insecure",
    "protocolVersion", "capabilities", "profile", "roots", "meta", "secretKeys",
)  # fmt: skip


# Those of them that a confirmation shows in words of its own.
_SHOWN_ALONE: Final = (
    "command", "args", "env", "cwd", "inheritEnv", "url", "serverUrl", "httpUrl", "headers",
)  # fmt: skip


def needs_trust(entry: ServerEntry) -> bool:
    """Whether an entry must be confirmed before it is used.

    True for a project's entry that starts a command, uses our environment variables, signs in its
    own way, or is answered by one of the user's profiles.
    """
    if entry.source.scope != "project":
        return False
    decisive = {key: entry.raw[key] for key in _DECISIVE if key in entry.raw}
    return (
        entry.transport in ("stdio", None)
        or "envFile" in decisive
        or "auth" in decisive  # it may name files, and whom they prove us to
        or "profile" in decisive  # the user's own model may answer
        or next(variables_of(decisive), None) is not None
    )


def asked_variables(entry: ServerEntry) -> tuple[str, ...]:
    """The environment variables that an entry uses."""
    decisive = {key: entry.raw[key] for key in _DECISIVE if key in entry.raw}
    return tuple(sorted(set(variables_of(decisive))))


def other_options(entry: ServerEntry) -> dict[str, Any]:
    """What else decides what an entry may do, see or send, as the file has it."""
    keys = (key for key in _DECISIVE if key not in _SHOWN_ALONE)
    return {key: entry.raw[key] for key in keys if key in entry.raw}


_FILE_KEYS: Final = ("privateKeyFile", "subjectTokenFile")


def named_files(entry: ServerEntry) -> list[str]:
    """The files that the `auth` block of an entry reads: a key of ours, or a token."""
    block = entry.raw.get("auth")
    found = (block.get(key) for key in _FILE_KEYS) if isinstance(block, dict) else ()
    return [path for path in found if isinstance(path, str) and path]


def given_values(resolved: dict[str, str], written: Any) -> dict[str, str]:
    """Variables or headers as written in the file, with placeholders unresolved.

    Those of an `envFile` are only in `resolved`.
    """
    values: dict[str, Any] = resolved | (written if isinstance(written, dict) else {})
    return {name: str(value) for name, value in sorted(values.items())}


def fingerprint(entry: ServerEntry) -> str:
    """A hash of an entry's content and project, 64 characters long."""
    import hashlib  # costs 4 ms, and most servers are the user's own

    decisive: dict[str, Any] = {key: entry.raw[key] for key in _DECISIVE if key in entry.raw}
    # A relative command means another program in another folder.
    content = [os.path.realpath(entry.source.path), entry.name, decisive]
    return hashlib.sha256(msgspec.json.encode(content, order="deterministic")).hexdigest()


def _as_confirmed(entry: ServerEntry) -> str:
    """The fingerprint including the variables of its `envFile`, which can change separately."""
    if entry.env_file is None:
        return fingerprint(entry)
    import hashlib

    written = entry.raw.get("env")
    own = written if isinstance(written, dict) else {}
    of_file = {name: value for name, value in entry.env.items() if name not in own}
    content = msgspec.json.encode([fingerprint(entry), of_file], order="deterministic")
    return hashlib.sha256(content).hexdigest()


class TrustStore:
    """The confirmed entries, in a file in the user's state folder."""

    def __init__(self, path: str | None = None, *, here: Environment | None = None) -> None:
        here = here or current_environment()
        self._path = path or here.join(user_state_folder(here), _FILE_NAME)

    def __repr__(self) -> str:
        return f"<TrustStore {self._path!r} {len(self._read())} entries>"

    def is_trusted(self, entry: ServerEntry) -> bool:
        """Whether an entry may be used: it needs no confirmation, or was confirmed."""
        return not needs_trust(entry) or _as_confirmed(entry) in self._read()

    def trust(self, entry: ServerEntry) -> None:
        """Remember that an entry was confirmed.

        Raises:
            ConfigurationError: it could not be saved; the entry may still be used this time.
        """
        known = self._read()
        known[_as_confirmed(entry)] = {"file": entry.source.path, "server": entry.name}
        content = msgspec.json.format(msgspec.json.encode({"trusted": known}))
        write_text(self._path, content.decode() + "\n", is_private=True)

    def _read(self) -> dict[str, Any]:
        """An unreadable file counts as empty."""
        try:
            with open(self._path, "rb") as file:
                content = msgspec.json.decode(file.read())
        except (OSError, msgspec.DecodeError):
            return {}
        known = content.get("trusted") if isinstance(content, dict) else None
        return known if isinstance(known, dict) else {}
