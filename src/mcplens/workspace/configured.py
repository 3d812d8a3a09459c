"""The servers that are configured: read, added, changed, removed, brought in and given out.

Between the files (config/) and the workspace; connects to nothing. Secrets of an entry leave here
masked, and come back as they were.
"""

from __future__ import annotations

import os
import shlex
import sys
import tempfile
from collections.abc import Iterable, Mapping
from typing import Any, Final

from mcplens.app import command_name
from mcplens.config.configuration import KIND, find_files, load_configuration, user_file
from mcplens.config.edit import add_server, add_servers, remove_server, set_top
from mcplens.config.entries import build_entry
from mcplens.config.export import Export, Shape, export_servers
from mcplens.config.files import Written, invalid
from mcplens.config.keys import TOP_KEYS
from mcplens.config.model import Configuration, ServerEntry, Source
from mcplens.config.placeholders import variables_of
from mcplens.config.profiles import ProfileValues
from mcplens.config.sources import find_sources, read_servers
from mcplens.config.surroundings import Surroundings
from mcplens.errors import InspectorError
from mcplens.protocol.masking import mask

DEMO: Final = "demo"
BUILT_IN: Final = "built-in"
_SECRET_KEYS: Final = ("env", "headers", "auth")
# Far above any server's entry; a whole file of them may be pasted.
_MOST_TEXT: Final = 4 * 1024 * 1024


class Configured:
    """The configuration files, as the workspace uses them."""

    def __init__(self, here: Surroundings, path: str | None = None) -> None:
        self.here = here
        self.path = path
        self.configuration = Configuration()

    def __repr__(self) -> str:
        return f"<Configured {self.configuration!r}>"

    def load(self) -> tuple[ServerEntry, ...]:
        """Read the files again; what cannot be read is among the configuration's problems."""
        self.configuration = load_configuration(self.path, here=self.here, is_tolerant=True)
        servers = self.configuration.servers
        if all(entry.name != DEMO for entry in servers):
            servers = (*servers, self._demo())
        return servers

    def _demo(self) -> ServerEntry:
        raw = {"command": sys.executable, "args": ["-m", "mcplens.demo"], "inheritEnv": True}
        return self.entry(DEMO, raw, Source(BUILT_IN, "", "given"))

    def entry(self, name: str, raw: dict[str, Any], source: Source | None = None) -> ServerEntry:
        """An entry that stands in no file (yet)."""
        source = source or Source("page", "", "given")
        return build_entry(name, raw, source, self.here, folder=self.here.cwd)

    # -- changes -------------------------------------------------------------------------------

    def own_file(self) -> str:
        """The file that is written: the one that was named, else the user's."""
        given = [one.path for one in find_files(self.path, self.here) if one.scope == "given"]
        return given[0] if given else user_file(self.here)

    def add(self, name: str, raw: Mapping[str, Any]) -> Written:
        """Add a server to our file.

        Raises:
            ConfigurationError: the name is taken or empty, or the file cannot be written.
        """
        self._check_name(name)
        return add_server(self.own_file(), name, raw, is_private=True)

    def bring_in(self, servers: Mapping[str, Mapping[str, Any]], *, replaces: bool) -> Written:
        """Add several, all or none; raises as `add`."""
        for name in servers:
            self._check_name(name)
        return add_servers(self.own_file(), servers, replaces=replaces, is_private=True)

    def edit(self, entry: ServerEntry, raw: dict[str, Any], name: str | None) -> Written:
        """Replace an entry in its own file, under another name if one is given."""
        path = self._own_path(entry)
        unmasked = _unmasked(raw, entry.raw)
        name = name or entry.name
        self._check_name(name)
        if name == entry.name:
            return add_server(path, name, unmasked, replaces=True)
        written = add_server(path, name, unmasked)
        remove_server(path, entry.name)
        return written

    def remove(self, entry: ServerEntry) -> Written:
        return remove_server(self._own_path(entry), entry.name)

    def _own_path(self, entry: ServerEntry) -> str:
        if entry.source.kind != KIND or not entry.source.path:
            place = entry.source.path or "no file"
            raise invalid(f"{entry.name} is in {place}, which is not ours to change")
        return entry.source.path

    def _check_name(self, name: str) -> None:
        if not name.strip() or "/" in name:
            raise invalid("a server needs a name, without a slash")

    def set(self, name: str, value: Any) -> Written:
        """Write a setting into our file; None takes it out.

        Raises:
            ConfigurationError: there is no such setting, or the value cannot stand there.
        """
        key = next((key for key in TOP_KEYS if key.name == name), None)
        if key is None:
            raise invalid(f"there is no setting {name!r}")
        if value is not None:
            try:
                key.read(value, key.name)
            except Exception as wrong:  # keys.Wrong says which key and why
                raise invalid(str(wrong), key=key.name) from None
        return set_top(self.own_file(), key.name, value, is_private=True)

    # -- from elsewhere ------------------------------------------------------------------------

    def found(self) -> list[ServerEntry]:
        """What other tools on this computer have; a file that cannot be read has nothing."""
        entries: list[ServerEntry] = []
        for source in find_sources(self.here):
            try:
                entries += read_servers(source, self.here)
            except InspectorError as problem:
                source_name = os.path.basename(source.path)
                broken = ServerEntry(name=source_name, source=source, problem=problem)
                entries.append(broken)
        return entries

    def read_path(
        self, path: str, choice: str | None, values: Mapping[str, str]
    ) -> list[ServerEntry]:
        """The servers of a file in any tool's shape."""
        place = self.here.absolute(path, self.here.cwd)
        found = load_configuration(place, here=self.here)
        source = found.sources[0]
        if source.kind != KIND and (choice or values):
            return list(read_servers(source, self.here, values=values, choice=choice))
        return list(found.servers)

    def read_text(
        self, text: str, choice: str | None, values: Mapping[str, str]
    ) -> list[ServerEntry]:
        """The servers of a pasted text in any tool's shape."""
        if len(text) > _MOST_TEXT:
            raise invalid("this text is larger than a configuration can be")
        with tempfile.TemporaryDirectory(prefix="mcplens-") as folder:
            path = os.path.join(folder, f"pasted{_ending(text)}")
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            try:
                return self.read_path(path, choice, values)
            except InspectorError as error:
                raise invalid(error.message.replace(path, "the text")) from None

    def parse_target(self, text: str) -> ServerEntry:
        """A pasted command line or URL.

        Raises:
            ConfigurationError: it is neither.
        """
        text = text.strip()
        if "://" in text.split(" ", 1)[0]:
            host = text.partition("://")[2].split("/", 1)[0].rpartition("@")[2]
            return self.entry(host.split(":", 1)[0] or "server", {"url": text})
        try:
            words = shlex.split(text)
        except ValueError as problem:
            raise invalid(f"this cannot be split into a command: {problem}") from None
        if words and words[0] == "$":
            words = words[1:]
        env: dict[str, str] = {}
        while words and "=" in words[0] and words[0].split("=", 1)[0].isidentifier():
            name, _, value = words.pop(0).partition("=")
            env[name] = value
        if not words:
            raise invalid("there is no command here")
        raw: dict[str, Any] = {"command": words[0], "args": words[1:]}
        return self.entry(command_name(words), raw | ({"env": env} if env else {}))

    def export(self, entries: Iterable[ServerEntry], shape: Shape) -> Export:
        return export_servers(entries, shape)


# -- secrets -----------------------------------------------------------------------------------


def masked_raw(raw: dict[str, Any]) -> dict[str, Any]:
    """An entry whose secrets are masked; placeholders are none, they only name one."""
    return {key: _masked(value) if key in _SECRET_KEYS else value for key, value in raw.items()}


def _masked(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _masked(item) for key, item in value.items()}
    if not isinstance(value, str) or not value or next(variables_of(value), None) is not None:
        return value
    return mask(value)


def _unmasked(raw: Any, former: Any) -> Any:
    """What came back from a form, with masked values as they were."""
    if isinstance(raw, dict) and isinstance(former, dict):
        return {key: _unmasked(value, former.get(key)) for key, value in raw.items()}
    if isinstance(raw, str) and isinstance(former, str) and raw == _masked(former):
        return former
    return raw


def _ending(text: str) -> str:
    """Which kind of file a text would be: JSON unless it cannot be that."""
    start = text.lstrip("\ufeff \t\r\n")
    if start.startswith(("{", "//", "/*")):
        return ".json"
    return ".toml" if start.startswith("[") or " = " in text else ".yaml"


def settings_of(configuration: Configuration) -> list[tuple[str, Any, Any, str]]:
    """Every setting as the file spells it: name, value, default, where the value comes from."""
    defaults = type(configuration.settings)()
    source = next((str(one) for one in configuration.sources), "default")
    found = []
    for key in TOP_KEYS:
        scale = 1000 if key.name.endswith("Ms") else None
        value, default = (
            _scaled(getattr(settings, key.field), scale)
            for settings in (configuration.settings, defaults)
        )
        if key.name == "profiles":
            value = own_profiles(configuration)
        found.append((key.name, value, default, "default" if value == default else source))
    return found


def own_profiles(configuration: Configuration) -> dict[str, Any]:
    """The profiles of the files as they stand there; placeholders stay placeholders."""
    profiles = configuration.settings.profiles
    return profiles.raw() if isinstance(profiles, ProfileValues) else dict(profiles)


def _scaled(value: Any, scale: int | None) -> Any:
    return value if scale is None else value * scale
