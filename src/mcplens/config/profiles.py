"""The profiles of our files, filled with the environment when one is used, and not before.

Others may ask for variables that are not set, and keys that nobody needs are not looked up. What
came with a project gets nothing of our environment: a profile may send it to a URL. Made by
configuration.py; read, name by name, by session/profiles.py.
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
        ConfigurationError: a value of the one that is asked for cannot be filled in.
    """

    def __init__(self, members: Mapping[str, tuple[Any, Source]], lookup: Lookup) -> None:
        self._members = members
        self._lookup = lookup

    def __repr__(self) -> str:  # values may hold keys
        return f"<ProfileValues {sorted(self._members)}>"

    def __getitem__(self, name: str) -> Any:
        raw, source = self._members[name]
        return self._filled(raw, f"profiles.{name}", source)

    def __contains__(self, name: object) -> bool:  # without filling it in
        return name in self._members

    def __iter__(self) -> Iterator[str]:
        return iter(self._members)

    def __len__(self) -> int:
        return len(self._members)

    @property
    def of_project(self) -> frozenset[str]:
        """Those that came with a project."""
        members = self._members.items()
        return frozenset(name for name, (_, source) in members if source.scope == "project")

    def raw(self) -> dict[str, Any]:
        """As the files have them, with nothing filled in: for whoever shows them."""
        return {name: member for name, (member, _) in self._members.items()}

    def over(self, other: ProfileValues) -> ProfileValues:
        """These, and what another file has besides.

        A project's never takes the place of the user's: it could have questions of the user's own
        servers sent to a URL.
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
            text = (
                "a project's profile is given no environment variables; have it in a file of yours"
            )
            raise invalid(f"{source.path}: {key}: {text}", file=source.path, key=key)
        try:
            return resolve(value, self._lookup)
        except PlaceholderProblem as problem:
            message = f"{source.path}: {key}: {problem.text}"
            details = {"file": source.path, "key": key, "variable": problem.variable}
            raise invalid(message, **details) from None
