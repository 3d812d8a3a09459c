"""Loads our own configuration files and merges them.

The project's file overrides the user's by name (paths.py finds the files). Called by every surface;
writes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from mcplens.config.entries import Locate, build_entry, resolved_members, resolved_text
from mcplens.config.environment import Environment, current_environment
from mcplens.config.files import invalid, read_json
from mcplens.config.jsonc import Document
from mcplens.config.keys import TOP_KEYS, InvalidValue
from mcplens.config.model import Configuration, ServerEntry, SettingOrigin, Settings, Source
from mcplens.config.paths import KIND as KIND
from mcplens.config.paths import find_files as find_files
from mcplens.config.paths import user_file as user_file
from mcplens.config.placeholders import variables_of
from mcplens.config.profiles import ProfileValues
from mcplens.config.views import View, parse_address, read_gateway, read_view
from mcplens.errors import ConfigurationError, InspectorError
from mcplens.transports.network import is_loopback

_TOP_NAMES: Final = frozenset(key.name for key in TOP_KEYS) | {"mcpServers", "$schema"}
_MERGED: Final = ("views", "host_profiles", "settings")
# A cloned repository must not show what the user's view hides, nor reword it.
_USERS_WIN: Final = ("views", "default_preset_id", "gateway")
# Settings that are combined from all files.
_TOGETHER: Final = (*_MERGED, "profiles", "secret_keys", "lint_off")


class _File(msgspec.Struct, frozen=True):
    """The content of one file."""

    source: Source
    servers: tuple[ServerEntry, ...] = ()
    top: dict[str, Any] = msgspec.field(default_factory=dict)
    origins: dict[str, SettingOrigin] = msgspec.field(default_factory=dict)
    problems: tuple[InspectorError, ...] = ()
    remarks: tuple[str, ...] = ()


def load_configuration(
    path: str | None = None, *, here: Environment | None = None, is_tolerant: bool = False
) -> Configuration:
    """Read the configuration.

    Raises:
        ConfigurationError: a file cannot be read; if `is_tolerant`, it is reported in `problems`.
    """
    here = here or current_environment()
    files: list[_File] = []
    for source in find_files(path, here):
        try:
            files.append(_read(source, here))
        except ConfigurationError as problem:
            if not is_tolerant:
                raise
            files.append(_File(source, problems=(problem,)))
    return _merge(files)


def read_file(
    path: str,
    *,
    here: Environment | None = None,
    values: Mapping[str, str] | None = None,
    choice: str | None = None,
) -> tuple[ServerEntry, ...]:
    """The servers of one file, in our format or that of any known tool.

    `values` and `choice` are as for `sources.read_servers`.

    Raises:
        ConfigurationError: it cannot be read.
    """
    here = here or current_environment()
    source = Source(KIND, here.absolute(path, here.cwd), "given")
    return _read(source, here, values, choice).servers


def _read(
    source: Source,
    here: Environment,
    values: Mapping[str, str] | None = None,
    choice: str | None = None,
) -> _File:
    from mcplens.config import other_tools

    document = None
    if not source.path.lower().endswith(other_tools.OTHER_ENDINGS):
        document = read_json(source.path)
    content = document.root.value if document and document.root else None
    kind = other_tools.kind_of(source.path, content)
    if document is not None and kind == KIND:
        return _read_document(document, source, here)
    source = Source(kind, source.path, source.scope)
    servers = other_tools.read_servers(
        source, here, values=values, choice=choice, document=document
    )
    return _File(source, servers)


def _read_document(document: Document, source: Source, here: Environment) -> _File:
    """The content of a file in our own format, which may be empty.

    Raises:
        ConfigurationError: it is not an object, or `mcpServers` is not.
    """
    if document.root is None:
        return _File(source)
    top = document.root.value
    if not isinstance(top, dict):
        raise invalid(f"{source.path}: must be an object with mcpServers", file=source.path)
    servers = top.get("mcpServers")
    if not isinstance(servers, dict | None):
        raise _not_an_object(document, source)
    fields, problems = _top_fields(top, source, here)
    entries = tuple(
        build_entry(name, raw, source, here, locate=_locator(document, name))
        for name, raw in (servers or {}).items()
    )
    origins = {
        key.field: SettingOrigin(source.path, tuple(dict.fromkeys(variables_of(top[key.name]))))
        for key in TOP_KEYS
        if key.field in fields
    }
    remarks = tuple(_remarks(document, top, source))
    return _File(source, entries, fields, origins, problems, remarks)


def _not_an_object(document: Document, source: Source) -> ConfigurationError:
    member = document.find("mcpServers")
    line, column = document.position(member.start) if member else (1, 1)
    text = f"{source.path}, line {line}, column {column}: mcpServers must be an object"
    return invalid(text, file=source.path, key="mcpServers", line=line, column=column)


def _locator(document: Document, name: str) -> Locate:
    def locate(key: str) -> tuple[int, int] | None:
        first = key.partition(".")[0].partition("[")[0]
        member = document.find("mcpServers", name, first) or document.find("mcpServers", name)
        return document.position(member.start) if member else None

    return locate


def _remarks(document: Document, top: dict[str, Any], source: Source) -> list[str]:
    unknown = [key for key in top if key not in _TOP_NAMES]
    remarks = [f"{source.path}: unknown keys: {', '.join(unknown)}"] if unknown else []
    for duplicate in document.duplicates:
        (first, _), (last, column) = map(document.position, (duplicate.first, duplicate.last))
        what = f"{'.'.join(duplicate.path)} occurs twice, in line {first} and in line {last}"
        where = f"{source.path}, line {last}, column {column}"
        remarks.append(f"{where}: {what}; the last one is used")
    return remarks


def _top_fields(
    top: dict[str, Any], source: Source, here: Environment
) -> tuple[dict[str, Any], tuple[InspectorError, ...]]:
    fields: dict[str, Any] = {}
    problems: list[InspectorError] = []

    def note(wrong: InvalidValue) -> None:
        message = f"{source.path}: {wrong.key}: {wrong.text}"
        problems.append(invalid(message, file=source.path, key=wrong.key))

    for key in TOP_KEYS:
        if top.get(key.name) is None:
            continue
        try:
            value = key.read(resolved_text(top[key.name], key.name, here), key.name)
        except InvalidValue as wrong:
            note(wrong)
            continue
        if key.name == "profiles":
            members = {name: (member, source) for name, member in value.items()}
            value = ProfileValues(members, here.variable)
        elif isinstance(value, dict):
            value, wrongs = resolved_members(value, key.name, here)
            for one in [*wrongs, *_drop_invalid(key.name, value, source)]:
                note(one)
        fields[key.field] = value
    return fields, tuple(problems)


def _drop_invalid(key: str, value: dict[str, Any], source: Source) -> list[InvalidValue]:
    """Take the views that are not valid out of their block, and the whole of a bad `gateway`."""
    wrongs: list[InvalidValue] = []
    if key == "views":
        for name in list(value):
            try:
                _check_approval(read_view(name, value[name]), source)
            except InvalidValue as wrong:
                wrongs.append(wrong)
                del value[name]
    elif key == "gateway":
        try:
            settings = read_gateway(value, key)
            _check_listen(settings.listen, source)
            _check_access(value, source)
            _check_store(settings.store is not None, source)
            _check_telemetry(settings.telemetry is not None, source)
        except InvalidValue as wrong:
            wrongs.append(wrong)
            value.clear()
    return wrongs


def _check_approval(view: View, source: Source) -> None:
    """A cloned repository must not publish what the user wants to approve first."""
    if source.scope == "project" and view.approval not in (None, "hold"):
        text = 'a project\'s file may only say "hold"; put it into your own file'
        raise InvalidValue(f"views.{view.name}.approval", text)


def _check_listen(listen: str, source: Source) -> None:
    """A cloned repository must not open a port to other machines."""
    host, _ = parse_address(listen, "gateway.listen")
    if source.scope == "project" and not is_loopback(host):
        text = "a project's file may only listen on this machine; put it into your own file"
        raise InvalidValue("gateway.listen", text)


# Keys of `gateway` that say who may use it.
_ACCESS_KEYS: Final = (
    "publicUrl", "allowedHosts", "allowedOrigins", "tokens", "oauth", "userTokenKeys",
)  # fmt: skip


def _check_access(value: dict[str, Any], source: Source) -> None:
    """A cloned repository must not say who may use the gateway."""
    given = [name for name in _ACCESS_KEYS if value.get(name) is not None]
    if source.scope == "project" and given:
        text = "a project's file may not say who may use the gateway; put it into your own file"
        raise InvalidValue(f"gateway.{given[0]}", text)


def _check_telemetry(has_telemetry: bool, source: Source) -> None:
    """A cloned repository must not have the names of tools and resources sent elsewhere."""
    if has_telemetry and source.scope == "project":
        text = "a project's file may not name a collector; put it into your own file"
        raise InvalidValue("gateway.telemetry", text)


def _check_store(has_store: bool, source: Source) -> None:
    """A cloned repository must not send what clients do to a store of its choice."""
    if has_store and source.scope == "project":
        text = "a project's file may not name a store; put it into your own file"
        raise InvalidValue("gateway.store", text)


def _merge(files: list[_File]) -> Configuration:
    """The first file (the project's) wins, except where a project could harm the user."""
    servers: dict[str, ServerEntry] = {}
    top: dict[str, Any] = {}
    origins: dict[str, tuple[SettingOrigin, ...]] = {}
    for file in files:
        users_win = () if file.source.scope == "given" else _USERS_WIN
        for entry in file.servers:
            if entry.name not in servers:
                servers[entry.name] = entry
            else:
                winner = servers[entry.name]
                remark = f"also defined in {entry.source.path}; this one is used"
                servers[entry.name] = msgspec.structs.replace(
                    winner, remarks=(*winner.remarks, remark)
                )
        for field, value in file.top.items():
            if field in users_win and field not in _MERGED:
                origins[field] = (file.origins[field],)
            elif field in _TOGETHER or field not in origins:
                origins[field] = (*origins.get(field, ()), file.origins[field])
            if field == "views" and users_win:
                top[field] = {**top.get(field, {}), **value}
            elif field in users_win:
                top[field] = value
            elif field in _MERGED:
                top[field] = {**value, **top.get(field, {})}
            elif field == "profiles":
                top[field] = top[field].over(value) if field in top else value
            elif field in ("secret_keys", "lint_off"):  # what one file declares holds
                top[field] = tuple(dict.fromkeys((*top.get(field, ()), *value)))
            else:
                top.setdefault(field, value)
    return Configuration(
        servers=tuple(servers.values()),
        settings=Settings(**top),
        origins=origins,
        sources=tuple(file.source for file in files),
        problems=tuple(problem for file in files for problem in file.problems),
        remarks=tuple(remark for file in files for remark in file.remarks),
    )
