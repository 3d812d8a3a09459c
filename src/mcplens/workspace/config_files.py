"""Configured servers and settings: read from the configuration files, and written to them.

The layer between config/ and the workspace; connects to nothing. Secrets that were masked for a
form (form_masking.py) are restored here before an entry is written.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec

from mcplens.config.configuration import KIND, find_files, load_configuration, user_file
from mcplens.config.entries import build_entry
from mcplens.config.environment import Environment
from mcplens.config.file_editor import add_server, add_servers, remove_server, set_top
from mcplens.config.files import Written, invalid, invalid_fields
from mcplens.config.keys import TOP_KEYS, InvalidValue
from mcplens.config.model import (
    SERVER_NAME,
    Configuration,
    FieldProblem,
    ServerEntry,
    SettingOrigin,
    Source,
)
from mcplens.config.paths import VARIABLE
from mcplens.config.profiles import ProfileValues
from mcplens.workspace.form_masking import reject_masks, unmask_entry

# Called with the new entries before they are written.
Mark = Callable[[list[ServerEntry]], None]

DEMO: Final = "demo"
BUILT_IN: Final = "built-in"


class ConfigFiles:
    """The configuration files, as the workspace uses them."""

    def __init__(self, here: Environment, path: str | None = None) -> None:
        self.here = here
        self.path = path
        self.configuration = Configuration()

    def __repr__(self) -> str:
        return f"<Configured {self.configuration!r}>"

    def load(self) -> tuple[ServerEntry, ...]:
        """Read the files again; what cannot be read is listed in `Configuration.problems`."""
        self.configuration = load_configuration(self.path, here=self.here, is_tolerant=True)
        servers = self.configuration.servers
        if all(entry.name != DEMO for entry in servers):
            servers = (*servers, self._demo())
        return servers

    def _demo(self) -> ServerEntry:
        raw = {"command": sys.executable, "args": ["-m", "mcplens.demo"], "inheritEnv": True}
        return self.entry(DEMO, raw, Source(BUILT_IN, "", "given"))

    def entry(self, name: str, raw: dict[str, Any], source: Source | None = None) -> ServerEntry:
        """An entry that is not (yet) in a file."""
        source = source or Source("page", "", "given")
        return build_entry(name, raw, source, self.here, folder=self.here.cwd)

    # -- changes -------------------------------------------------------------------------------

    def own_file(self) -> str:
        """The file that changes are written to: the one given by --config, else the user's."""
        given = [one.path for one in find_files(self.path, self.here) if one.scope == "given"]
        return given[0] if given else user_file(self.here)

    def add(
        self,
        name: str,
        raw: Mapping[str, Any],
        copied: ServerEntry | None = None,
        mark: Mark | None = None,
    ) -> Written:
        """Add a server to our file; masked values of a copy are taken from the original.

        Raises:
            ConfigurationError: the name is taken or empty, a value is not valid, a mask stands in
                place of a secret (`fields` of its details names these), or the file cannot be
                written.
        """
        self._check_name(name)
        entry = unmask_entry(dict(raw), copied.raw if copied is not None else {})
        path = self.own_file()
        self._check_entry(name, entry, path)
        self._mark(mark, path, {name: entry})
        return add_server(path, name, entry, is_private=True)

    def import_servers(
        self,
        servers: Mapping[str, Mapping[str, Any]],
        *,
        replaces: bool,
        mark: Mark | None = None,
    ) -> Written:
        """Add several, all or none; raises as `add`."""
        for name, raw in servers.items():
            self._check_name(name)
            reject_masks(raw, name)
        path = self.own_file()
        self._mark(mark, path, servers)
        return add_servers(path, servers, replaces=replaces, is_private=True)

    def _mark(self, mark: Mark | None, path: str, servers: Mapping[str, Mapping[str, Any]]) -> None:
        if mark is not None:
            source = Source(KIND, path, "user")
            mark([self.entry(name, dict(raw), source) for name, raw in servers.items()])

    def edit(
        self, entry: ServerEntry, raw: dict[str, Any], name: str | None, mark: Mark | None = None
    ) -> Written:
        """Replace an entry in its own file, under another name if one is given."""
        path = self._own_path(entry)
        changed = unmask_entry(raw, entry.raw)
        name = name or entry.name
        self._check_name(name)
        self._check_entry(name, changed, path)
        self._mark(mark, path, {name: changed})
        # A project's file is for others too.
        is_private = entry.source.scope != "project"
        if name == entry.name:
            return add_server(path, name, changed, replaces=True, is_private=is_private)
        written = add_server(path, name, changed, is_private=is_private)
        remove_server(path, entry.name)
        return written

    def remove(self, entry: ServerEntry) -> Written:
        return remove_server(self._own_path(entry), entry.name)

    def _own_path(self, entry: ServerEntry) -> str:
        if entry.source.kind == BUILT_IN:
            raise invalid(f"{entry.name} is built in and cannot be changed")
        if entry.source.kind != KIND or not entry.source.path:
            place = entry.source.path or "no file"
            raise invalid(f"{entry.name} is in {place}, which mcplens does not change")
        return entry.source.path

    def _check_name(self, name: str) -> None:
        if not name.strip() or "/" in name:
            text = "a server needs a name, without a slash"
            raise invalid_fields([FieldProblem(SERVER_NAME, text)])

    def _check_entry(self, name: str, raw: dict[str, Any], path: str) -> None:
        """Refuse what can never work; what this computer lacks may come later."""
        reject_masks(raw)
        entry = self.entry(name, raw, Source(KIND, path, "user"))
        wrong = [problem for problem in entry.field_problems if not problem.is_local]
        if wrong:
            raise invalid_fields(wrong)

    def set(self, name: str, value: Any) -> Written:
        """Write a setting to our file; None removes it.

        Raises:
            ConfigurationError: there is no such setting, or the value is not valid.
        """
        key = next((key for key in TOP_KEYS if key.name == name), None)
        if key is None:
            raise invalid(f"there is no setting {name!r}")
        if value is not None:
            reject_masks(value, name)
            try:
                key.read(value, key.name)
            except InvalidValue as wrong:
                raise invalid_fields([FieldProblem(wrong.key, wrong.text)]) from None
        return set_top(self.own_file(), key.name, value, is_private=True)


class Setting(msgspec.Struct, frozen=True):
    """A setting as the file spells it, and where its value comes from."""

    name: str
    meaning: str
    value: Any
    default: Any
    source: str
    is_ours: bool  # no other file than ours sets it
    is_used: bool
    choices: tuple[str, ...]


def settings_of(configured: ConfigFiles) -> list[Setting]:
    """Every setting, in the order of the reference page."""
    configuration, own = configured.configuration, configured.own_file()
    defaults = type(configuration.settings)()
    found = []
    for key in TOP_KEYS:
        scale = 1000 if key.name.endswith("Ms") else None
        value, default = (
            _scaled(getattr(settings, key.field), scale)
            for settings in (configuration.settings, defaults)
        )
        if key.name == "profiles":
            value = own_profiles(configuration)
        origins = configuration.origins.get(key.field, ())
        source = "; ".join(_origin(configured, one) for one in origins) or "default"
        is_ours = all(origin.path == own for origin in origins)
        setting = Setting(
            key.name, key.meaning, value, default, source, is_ours, key.is_used, key.choices
        )
        found.append(setting)
    return found


def _origin(configured: ConfigFiles, origin: SettingOrigin) -> str:
    """The file of a setting, how it was chosen, and the environment variables in its value."""
    named = ""
    if configured.path:
        named = " (--config)"
    elif configured.here.environ.get(VARIABLE):
        named = f" ({VARIABLE})"
    by = f", environment: {', '.join(origin.variables)}" if origin.variables else ""
    return f"{origin.path}{named}{by}"


def own_profiles(configuration: Configuration) -> dict[str, Any]:
    """The profiles as the files have them; placeholders are not expanded."""
    profiles = configuration.settings.profiles
    return profiles.raw() if isinstance(profiles, ProfileValues) else dict(profiles)


def _scaled(value: Any, scale: int | None) -> Any:
    return value if scale is None else value * scale
