"""Settings: what counts, where it comes from, and which flag wins over it."""

from __future__ import annotations

from typing import Any, Final

from mcplens.protocol.secret_masking import mask_headers
from mcplens.web import views
from mcplens.web.showing.flags import flags_of
from mcplens.workspace.configured import Setting, settings_of
from mcplens.workspace.workspace import Workspace

# Settings that a flag wins over.
_FLAG_OVER: Final = {
    "requestTimeoutSeconds": "--timeout",
    "capabilitiesTimeoutSeconds": "--connect-timeout",
    "connectionRetryCount": "--retries",
}


def _masked(value: Any) -> Any:
    """A value without what stands under the name of a secret: profiles and views may hold keys."""
    if isinstance(value, list | tuple):
        return [_masked(item) for item in value]
    if not isinstance(value, dict):
        return value
    shown = {}
    for key, item in value.items():
        ((_, text),) = mask_headers([(key, item)]) if isinstance(item, str) else ((key, item),)
        shown[key] = _masked(text)
    return shown


def settings_view(workspace: Workspace) -> list[views.SettingView]:
    return [
        views.SettingView(
            one.name,
            one.meaning,
            _masked(one.value),
            one.default,
            one.source,
            one.is_ours and one.is_used and not isinstance(one.default, dict),
            one.is_used,
            _note(workspace, one),
        )
        for one in settings_of(workspace.configured)
    ]


def _note(workspace: Workspace, setting: Setting) -> str | None:
    if not setting.is_used:
        return "Not used by this version yet."
    flag = _FLAG_OVER.get(setting.name)
    given = [
        f"{server.server_id} has {told}, from the command line."
        for server in workspace.servers.values()
        for told in flags_of(server)
        if flag is not None and told.startswith(f"{flag} ")
    ]
    return " ".join(given) or None
