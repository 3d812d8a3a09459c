"""The servers of a test file: a configured name or an entry of its own, as arguments of `connect`.

Owns no connection. `ServerResolver` reads the configuration when a name is first used; the surface
says what must be confirmed before a server is started.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

import msgspec

from mcplens.collections.test_file import ServerSpec
from mcplens.config.connect_options import put_over, to_connect_options
from mcplens.config.entries import build_entry
from mcplens.config.environment import Environment, current_environment
from mcplens.config.files import invalid
from mcplens.config.model import Configuration, ServerEntry, Settings, Source
from mcplens.session.capabilities import TASKS_EXTENSION

if TYPE_CHECKING:
    from mcplens.session.profiles import Profiles

DEMO: Final = "demo"
# Asked before a configured server is used for the first time; raises if it must not be.
Confirm = Callable[[ServerEntry], None]


class ServerTarget(msgspec.Struct, frozen=True):
    """A server to connect to: its name in the trace, and what `connect` takes."""

    name: str
    target: Any
    options: dict[str, Any]
    secret_keys: tuple[str, ...] = ()  # its own, and those of all servers
    profile: str | None = None


class ServerResolver:
    """Finds the servers of test files."""

    def __init__(
        self,
        config: str | None = None,
        *,
        confirm: Confirm | None = None,
        overrides: Mapping[str, Any] | None = None,
        here: Environment | None = None,
    ) -> None:
        self._config = config
        self._confirm = confirm
        self._overrides = dict(overrides or {})
        self._here = here or current_environment()
        self._configuration: Configuration | None = None

    def __repr__(self) -> str:
        return f"<ServerResolver of {self._config or 'the usual files'}>"

    @property
    def configuration(self) -> Configuration:
        """The user's and the project's configuration, read when it is first needed.

        Raises:
            ConfigurationError: a file cannot be read.
        """
        if self._configuration is None:
            from mcplens.config.configuration import load_configuration

            self._configuration = load_configuration(self._config)
        return self._configuration

    def secret_keys(self, servers: Iterable[ServerSpec] = ()) -> tuple[str, ...]:
        """The keys that the configuration calls secret for all servers, and those of these.

        Raises:
            ConfigurationError: they cannot be read.
        """
        from mcplens.config.secret_keys import secret_keys_of

        keys = list(secret_keys_of(self.configuration))
        for server in servers:
            if isinstance(server, dict):
                own = server.get("secretKeys")  # names, or names with their values
                keys += map(str, own) if isinstance(own, list | dict) else ()
            elif (entry := self.configuration.find(server)) is not None:
                keys += entry.secret_keys
        return tuple(dict.fromkeys(keys))

    def profiles(self, own: Mapping[str, Any]) -> Profiles:
        """The profiles of a file, and those of the configuration."""
        from mcplens.session.profiles import Profiles

        return Profiles(_FileProfiles(own, self.configuration.settings.profiles))

    def resolve(self, server: ServerSpec, path: str, name: str) -> ServerTarget:
        """A server of the file at this path; `name` is for an entry, which has none.

        Raises:
            InspectorError: there is none of this name, or it cannot be used.
        """
        if isinstance(server, dict):
            source = Source("test", path, "project")
            folder = os.path.dirname(os.path.abspath(path))
            entry = build_entry(name, server, source, self._here, folder=folder)
            return self._target(entry, Settings(), server)
        entry_or_none = self.configuration.find(server)
        if entry_or_none is None and server == DEMO:
            options = self._options({}, None)
            command = [sys.executable, "-m", "mcplens.demo"]
            return ServerTarget(DEMO, command, options, self.secret_keys())
        if entry_or_none is None:
            known = [*(one.name for one in self.configuration.servers), DEMO]
            raise invalid(f"there is no configured server {server!r}.{_near(server, known)}")
        if not entry_or_none.enabled:
            raise invalid(f"{server} is disabled in {entry_or_none.source.path}")
        if self._confirm is not None:
            self._confirm(entry_or_none)
        return self._target(entry_or_none, self.configuration.settings, server)

    def _target(self, entry: ServerEntry, settings: Settings, server: ServerSpec) -> ServerTarget:
        target, options = to_connect_options(entry, settings)
        options = {key: value for key, value in options.items() if key != "server_id"}
        return ServerTarget(
            entry.name,
            target,
            self._options(options, entry.capabilities),
            self.secret_keys([server]),
            entry.profile,
        )

    def _options(self, options: dict[str, Any], chosen: Mapping[str, Any] | None) -> dict[str, Any]:
        """Everything is declared, as in the command line, and nothing is refused for the server."""
        extensions = {TASKS_EXTENSION: {}} | ((chosen or {}).get("extensions") or {})
        both = put_over(options, self._overrides)
        both.setdefault("default_log_level", "info")
        both.setdefault("roots", ())
        return both | {
            "enforce_capabilities": False,
            "receiver_tasks": True,
            "capabilities": {**(chosen or {}), "extensions": extensions},
        }


class _FileProfiles(Mapping[str, Any]):
    """A file's own profiles before those of the configuration, which are filled in when used."""

    def __init__(self, own: Mapping[str, Any], others: Mapping[str, Any]) -> None:
        self._own = own
        self._others = others

    def __repr__(self) -> str:  # values may hold keys
        return f"<_FileProfiles {sorted(self)}>"

    def __getitem__(self, name: str) -> Any:
        return self._own[name] if name in self._own else self._others[name]

    def __contains__(self, name: object) -> bool:  # without filling it in
        return name in self._own or name in self._others

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys((*self._own, *self._others)))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    @property
    def of_project(self) -> frozenset[str]:
        """As `ProfileValues`: these take the place of none that is built in."""
        names: frozenset[str] = getattr(self._others, "of_project", frozenset())
        return names - self._own.keys()


def _near(text: str, names: list[str]) -> str:
    import difflib

    close = difflib.get_close_matches(text, names, 2)
    return f" Did you mean {' or '.join(close)}?" if close else ""
