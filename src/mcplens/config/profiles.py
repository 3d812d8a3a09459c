"""The profiles of our files, whose placeholders are resolved only when a profile is used.

Unused profiles may need variables that are not set. A project's profile gets nothing of our
environment: it could send it to a URL. Made by configuration.py; read, name by name, by
session/profiles.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from mcplens.config.files import invalid
from mcplens.config.model import Source
from mcplens.config.placeholders import Lookup, PlaceholderProblem, resolve, variables_of


class ProfileValues(Mapping[str, Any]):
    """Profiles by name.

    Raises:
        ConfigurationError: a placeholder of the requested profile cannot be resolved.
    """

    def __init__(self, members: Mapping[str, tuple[Any, Source]], lookup: Lookup) -> None:
        self._members = members
        self._lookup = lookup

    def __repr__(self) -> str:  # values may hold keys
        return f"<ProfileValues {sorted(self._members)}>"

    def __getitem__(self, name: str) -> Any:
        raw, source = self._members[name]
        return self._filled(raw, f"profiles.{name}", source)

    def __contains__(self, name: object) -> bool:  # without resolving it
        return name in self._members

    def __iter__(self) -> Iterator[str]:
        return iter(self._members)

    def __len__(self) -> int:
        return len(self._members)

    @property
    def of_project(self) -> frozenset[str]:
        """The names of profiles from a project's file."""
        members = self._members.items()
        return frozenset(name for name, (_, source) in members if source.scope == "project")

    def raw(self) -> dict[str, Any]:
        """As written in the files, unresolved: for display."""
        return {name: member for name, (member, _) in self._members.items()}

    def over(self, other: ProfileValues) -> ProfileValues:
        """These profiles merged with another file's.

        A project's profile never replaces the user's: it could send questions of the user's own
        servers to a URL.
        """
        mine = {
            name: member
            for name, member in self._members.items()
            if name not in self.of_project or name not in other._members
        }
        return ProfileValues({**other._members, **mine}, self._lookup)

    def _filled(self, value: Any, key: str, source: Source) -> Any:
        if isinstance(value, dict):
            return {
                name: self._filled(item, f"{key}.{name}", source) for name, item in value.items()
            }
        if isinstance(value, list):
            return [self._filled(item, f"{key}[{at}]", source) for at, item in enumerate(value)]
        if not isinstance(value, str):
            return value
        variable = next(variables_of(value), None)
        if variable is not None and source.scope == "project":
            text = "a project's profile may not use environment variables; move it to your own file"
            raise invalid(f"{source.path}: {key}: {text}", file=source.path, key=key)
        try:
            return resolve(value, self._lookup)
        except PlaceholderProblem as problem:
            message = f"{source.path}: {key}: {problem.text}"
            details = {"file": source.path, "key": key, "variable": problem.variable}
            raise invalid(message, **details) from None
