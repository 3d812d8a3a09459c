"""Reloads the configuration when its files change: atomic, compared, and announced.

A configuration that cannot be read changes nothing: the former one stays, and the error is
published. What a new one means for each server is decided by live_servers.py, or by the surface.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from mcplens.bus import Bus
from mcplens.config.configuration import load_configuration
from mcplens.config.environment import Environment
from mcplens.config.model import Configuration
from mcplens.config.watch import changes, watched_files
from mcplens.errors import ConfigurationError
from mcplens.events import ConfigurationReloaded
from mcplens.logs import get_logger

_log: Final = get_logger(__name__)


class ConfigurationWatcher:
    """The configuration as last loaded, and why a newer one could not be."""

    def __init__(
        self,
        apply: Callable[[Configuration], None],
        *,
        bus: Bus,
        here: Environment,
        path: str | None = None,
    ) -> None:
        self.configuration = Configuration()
        self.problem: ConfigurationError | None = None
        self._apply = apply
        self._bus = bus
        self._here = here
        self._path = path

    def __repr__(self) -> str:
        return f"<ConfigurationWatcher of {self.configuration!r}>"

    def load(self) -> None:
        """Load for the first time.

        Raises:
            ConfigurationError: a file cannot be read.
        """
        self._use(load_configuration(self._path, here=self._here))

    async def run(self) -> None:
        """Reload after each change of a file, until cancelled."""
        while True:
            files = watched_files(self._path, self._here, self.configuration)
            async for _ in changes(files):
                self.reload()
                if files != watched_files(self._path, self._here, self.configuration):
                    break  # other files matter now

    def reload(self) -> bool:
        """Read the files again; returns whether another configuration is in use."""
        try:
            found = load_configuration(self._path, here=self._here)
        except ConfigurationError as problem:
            self._failed(problem)
            return False
        was_broken, self.problem = self.problem is not None, None
        if _is_same(found, self.configuration):
            if was_broken:
                self._bus.publish(ConfigurationReloaded(), "")
            return False
        before = {entry.name: entry for entry in self.configuration.servers}
        after = {entry.name: entry for entry in found.servers}
        try:
            self._use(found)
        except ConfigurationError as problem:  # it is well-formed, but cannot be used
            self._failed(problem)
            return False
        told = ConfigurationReloaded(
            added=sorted(after.keys() - before.keys()),
            removed=sorted(before.keys() - after.keys()),
            changed=sorted(
                name for name in before.keys() & after.keys() if before[name] != after[name]
            ),
        )
        self._bus.publish(told, "")
        return True

    def _use(self, configuration: Configuration) -> None:
        self._apply(configuration)
        self.configuration = configuration

    def _failed(self, problem: ConfigurationError) -> None:
        self.problem = problem
        _log.warning("the configuration stays as it was: %s", problem.message)
        self._bus.publish(ConfigurationReloaded(error=problem.shortened().to_dict()), "")


def _is_same(one: Configuration, other: Configuration) -> bool:
    return (one.servers, one.settings) == (other.servers, other.settings)
