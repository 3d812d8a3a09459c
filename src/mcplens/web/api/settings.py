"""Settings: values, where they come from, and which flag of the command line overrides them."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from mcplens.errors import InspectorError
from mcplens.protocol.secret_masking import mask_headers
from mcplens.web.registry import Command, command, latest_view
from mcplens.workspace import config_edits
from mcplens.workspace.config_files import Setting, settings_of
from mcplens.workspace.server import Server
from mcplens.workspace.workspace import Workspace

# Options of a connection, and the flags that set them.
_NUMBERS: Final = {
    "request_timeout_s": "--timeout",
    "connection_timeout_s": "--connect-timeout",
    "max_retries": "--retries",
}
_FLAGS: Final = {
    "headers": "--header",
    "env": "--env",
    "cwd": "--cwd",
    "transport": "--transport",
    "protocol_version": "--protocol",
    "ca_file": "--ca-file",
    "insecure": "--insecure",
    "log_level": "--log-level",
    **_NUMBERS,
}
# Settings that a flag overrides.
_OVERRIDDEN_BY: Final = {
    "requestTimeoutSeconds": "--timeout",
    "capabilitiesTimeoutSeconds": "--connect-timeout",
    "connectionRetryCount": "--retries",
    "logLevel": "--log-level",
}


class SettingView(msgspec.Struct, frozen=True):
    """A setting as the file spells it, its default, and where its value comes from.

    `source` is "default", or the file with the flag or variable behind it. `note` says
    which server has a flag that overrides it. `choices` are all values that it takes, if there
    are few.
    """

    name: str
    description: str
    value: Any
    default: Any
    source: str
    is_editable: bool
    note: str | None
    choices: tuple[str, ...]


def setting_views(workspace: Workspace) -> list[SettingView]:
    return [
        SettingView(
            one.name,
            one.meaning,
            _masked(one.value),
            one.default,
            one.source,
            one.is_ours and not isinstance(one.default, dict),
            _note(workspace, one),
            one.choices,
        )
        for one in settings_of(workspace.config_files)
        if one.is_used
    ]


@latest_view("settings")
def latest_setting(workspace: Workspace, key: str) -> SettingView | None:
    return next((one for one in setting_views(workspace) if one.name == key), None)


def _masked(value: Any) -> Any:
    """A value without what is named like a secret: profiles and views may hold keys."""
    if isinstance(value, list | tuple):
        return [_masked(item) for item in value]
    if not isinstance(value, dict):
        return value
    shown = {}
    for key, item in value.items():
        ((_, text),) = mask_headers([(key, item)]) if isinstance(item, str) else ((key, item),)
        shown[key] = _masked(text)
    return shown


def _note(workspace: Workspace, setting: Setting) -> str | None:
    flag = _OVERRIDDEN_BY.get(setting.name)
    notes = [
        f"{server.server_id} has {given}, from the command line."
        for server in workspace.servers.values()
        for given in flags_of(server)
        if flag is not None and given.startswith(f"{flag} ")
    ]
    return " ".join(notes) or None


def flags_of(server: Server) -> list[str]:
    """The flags of the command line that apply to a server, without the values of its secrets."""
    flags = []
    for name, flag in _FLAGS.items():
        if name not in server.overrides:
            continue
        value = server.overrides[name]
        if isinstance(value, dict):
            flags += [f"{flag} {key}" for key in sorted(value)]
        elif value is True:
            flags.append(flag)
        else:
            flags.append(f"{flag} {value or 0:g}" if name in _NUMBERS else f"{flag} {value}")
    return flags


class SetSetting(Command, frozen=True, kw_only=True):
    """Null puts the default back."""

    name: str
    value: Any = None


@command
async def set_setting(workspace: Workspace, command: SetSetting) -> SettingView:
    config_edits.set_setting(workspace, command.name, command.value)
    setting = latest_setting(workspace, command.name)
    if setting is None:
        raise InspectorError("INVALID_REQUEST", f"there is no setting {command.name!r}")
    return setting
