"""The machine as the configuration sees it: folder, home, environment variables and platform.

Everything that depends on the machine comes from an Environment, so that Windows and macOS paths
can be computed (and tested) anywhere. Used by all of config/.
"""

from __future__ import annotations

import os
import posixpath
import sys
from collections.abc import Callable, Iterator, Mapping
from types import ModuleType

import msgspec

from mcplens.user_folders import config_folder, state_folder


class Environment(msgspec.Struct, frozen=True, kw_only=True):
    """A snapshot of one machine; `environ` may contain secrets, so the repr omits it."""

    cwd: str
    home: str
    environ: Mapping[str, str]
    platform: str = sys.platform

    def __repr__(self) -> str:
        return f"<Environment {self.platform} in {self.cwd!r}, home {self.home!r}>"

    @property
    def rules(self) -> ModuleType:
        """posixpath or ntpath, by the platform."""
        if self.platform != "win32":
            return posixpath
        import ntpath  # loaded nowhere else on POSIX

        return ntpath

    def variable(self, name: str) -> str | None:
        """An environment variable; on Windows `Path` is `PATH`."""
        if self.platform != "win32":
            return self.environ.get(name)
        upper = name.upper()
        return next((value for key, value in self.environ.items() if key.upper() == upper), None)

    def join(self, *parts: str) -> str:
        return str(self.rules.join(*parts))

    def absolute(self, path: str, base: str) -> str:
        """A path as a configuration writes it: from `base` if relative, `~` is home."""
        if path == "~" or path.startswith(("~/", "~\\")):
            path = self.home + path[1:]
        return str(self.rules.normpath(self.rules.join(base, path)))


def current_environment(
    cwd: str | None = None, environ: Mapping[str, str] | None = None
) -> Environment:
    """The environment of this process."""
    environ = os.environ if environ is None else environ
    try:
        folder = os.path.abspath(cwd or ".")
    except FileNotFoundError:  # the current folder was deleted
        folder = os.sep
    home = environ.get("HOME") if sys.platform != "win32" else None
    return Environment(cwd=folder, home=home or os.path.expanduser("~"), environ=environ)


def walk_upward(here: Environment, exists: Callable[[str], bool] = os.path.exists) -> Iterator[str]:
    """This folder and its parents, up to the repository's root, or else to home or the root."""
    folder = here.cwd
    while True:
        yield folder
        above = here.rules.dirname(folder)
        if above == folder or folder == here.home or exists(here.join(folder, ".git")):
            return
        folder = above


def user_config_folder(here: Environment) -> str:
    """The folder of the user's `mcp.json`."""
    return config_folder(here.environ, here.platform, here.home)


def user_state_folder(here: Environment) -> str:
    """The folder for mcplens's state."""
    return state_folder(here.environ, here.platform, here.home)
