"""From what the workspace holds to what the page is shown; secrets stay behind.

Reads only. Called when a view is about to be sent, so that it is always the newest.
"""

from __future__ import annotations

import shlex
from typing import Any, Final

import msgspec

from mcplens.config.configuration import KIND
from mcplens.config.model import ServerEntry, Source
from mcplens.errors import short_details, short_text
from mcplens.protocol.lifecycle import ConnectionState
from mcplens.protocol.masking import is_secret_name, mask_headers, mask_url
from mcplens.session.client import Client
from mcplens.store.masks import mask_argv
from mcplens.store.masks import plain as plain_name
from mcplens.store.names import short_id
from mcplens.web import views
from mcplens.web.introductions import members_within, text_within, too_large
from mcplens.web.plain import NULL, plain, raw_json
from mcplens.web.question_pictures import awaited_links, question_view, task_view
from mcplens.workspace.calls import Call
from mcplens.workspace.configured import Setting, settings_of
from mcplens.workspace.listing import Listing
from mcplens.workspace.masked import masked_raw
from mcplens.workspace.reading import Found
from mcplens.workspace.server import Server
from mcplens.workspace.workspace import Workspace

# A larger result is fetched over HTTP when somebody looks at it.
LARGEST_RESULT: Final = 256 * 1024
# In the snapshot, which has many of them.
LARGEST_IN_SNAPSHOT: Final = 16 * 1024
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
    **_NUMBERS,
}
# Settings that a flag wins over.
_FLAG_OVER: Final = {
    "requestTimeoutSeconds": "--timeout",
    "capabilitiesTimeoutSeconds": "--connect-timeout",
    "connectionRetryCount": "--retries",
}


def error_view(error: dict[str, Any] | None) -> views.ErrorView | None:
    if error is None:
        return None
    # A command that was started has the values of its placeholders; it is shown with its server.
    details = {
        key: value
        for key, value in error["details"].items()
        if key != "command" or isinstance(value, str)
    }
    message = short_text(error["message"])
    return views.ErrorView(
        **plain({**error, "message": message, "details": short_details(details)})
    )


def source_view(source: Source) -> views.SourceView:
    return views.SourceView(source.kind, source.path, source.scope)


def words_of(entry: ServerEntry) -> list[str] | None:
    """The whole command as its file has it: what a placeholder stands for may be a secret."""
    command = entry.raw.get("command") or entry.command
    if command is None or entry.url is not None:
        return None
    args = entry.raw.get("args") or entry.args
    return [str(command), *map(str, args if isinstance(args, list | tuple) else ())]


def command_of(entry: ServerEntry) -> list[str] | None:
    """The command with its secrets masked."""
    words = words_of(entry)
    if words is None:
        return None
    return mask_argv(words, frozenset(map(plain_name, entry.secret_keys)))


def shown(entry: ServerEntry) -> str:
    """How a server is reached, in one line."""
    command = command_of(entry)
    if command is not None:
        return shlex.join(command)
    return mask_url(str(entry.url or entry.raw.get("url") or ""))


def _inputs(entry: ServerEntry) -> list[views.InputView]:
    return [
        views.InputView(
            one.id,
            one.variable,
            one.description,
            one.default,
            list(one.choices),
            one.is_secret,
            one.is_required,
        )
        for one in entry.inputs
    ]


def server_view(workspace: Workspace, server: Server) -> views.ServerView:
    """A server as it stands now."""
    # What only events tell must be as new as what the client is asked for.
    workspace.follower.catch_up()
    return views.ServerView(
        **_configured(workspace, server), **_connected(server), **_introduced(workspace, server)
    )


def _configured(workspace: Workspace, server: Server) -> dict[str, Any]:
    entry = server.entry
    return {
        "server_id": server.server_id,
        "title": entry.title,
        "source": source_view(entry.source),
        "transport": entry.transport,
        "shown": shown(entry),
        "command": command_of(entry),
        "url": None if entry.url is None else mask_url(entry.url),
        "cwd": server.overrides.get("cwd") or entry.cwd,
        "env_names": sorted({*entry.env, *server.overrides.get("env", ())}),
        "header_names": sorted({*entry.headers, *server.overrides.get("headers", ())}),
        "flags": flags_of(server),
        "is_editable": entry.source.kind == KIND,
        "is_removable": entry.source.kind == KIND or server.is_given,
        "needs_confirmation": workspace.confirmations.is_needed(entry),
        "problem": error_view(entry.problem.to_dict() if entry.problem else None),
        "remarks": [*entry.remarks, *too_large(server.client)],
        "inputs": _inputs(entry),
        "roots": [views.RootView(root.uri, root.name) for root in server.answering.roots],
        "profile": server.answering.profile,
        "is_saved": server.answering.is_as_in(entry),
    }


def flags_of(server: Server) -> list[str]:
    """The flags of the command line that count for a server; values of its secrets stay behind."""
    told = []
    for name, flag in _FLAGS.items():
        if name not in server.overrides:
            continue
        value = server.overrides[name]
        if isinstance(value, dict):
            told += [f"{flag} {key}" for key in sorted(value)]
        elif value is True:
            told.append(flag)
        else:
            told.append(f"{flag} {value or 0:g}" if name in _NUMBERS else f"{flag} {value}")
    return told


def _connected(server: Server) -> dict[str, Any]:
    client, attempt, gone = server.client, server.attempt, server.exit
    is_connecting = server.state is ConnectionState.CONNECTING
    status = client.queue.get_status() if client is not None else None
    return {
        "state": server.state.value,
        "since": server.since,
        "waiting_for": client.connection.step if client is not None and is_connecting else None,
        "error": error_view(server.error),
        "retry": None
        if attempt is None
        else views.RetryView(attempt.count, attempt.most, attempt.at),
        "latency_s": client.connection.latency_s if client is not None else None,
        "channel": plain(_channel(client)) if client is not None else {},
        "exit": None
        if gone is None
        else views.ExitView(gone.pid, gone.exit_code, gone.signal, gone.at),
        "stderr_tail": list(server.stderr),
        "queue": views.QueueView(*msgspec.structs.astuple(status))
        if status is not None
        else views.QueueView(0, 0, 0, 0, 0),
        "subscriptions": [
            views.SubscriptionView(one.uri, one.updated, one.updates, error_view(one.error))
            for one in server.subscriptions.values()
        ],
        "lists": [list_summary(listing) for listing in server.lists.values()],
        "log_level": server.log_level,
    }


def _channel(client: Client) -> dict[str, Any]:
    """What is known of the connection; the command is shown elsewhere, as its file has it."""
    return {key: value for key, value in client.describe().items() if key != "command"}


def _introduced(workspace: Workspace, server: Server) -> dict[str, Any]:
    client = server.client
    return {
        "protocol_version": client.protocol_version if client is not None else None,
        "server_info": members_within(plain(client.server_info)) if client is not None else {},
        "capabilities": members_within(plain(client.capabilities)) if client is not None else {},
        "client_capabilities": plain(server.answering.capabilities),
        "declared_capabilities": plain(server.declared),
        "needs_reconnect": server.needs_reconnect,
        "is_outdated": server.is_outdated(workspace.configured.configuration.settings),
        "instructions": text_within(client.instructions) if client is not None else None,
    }


def found_views(
    workspace: Workspace, found: Found, *, is_masked: bool = False
) -> list[views.FoundView]:
    """Servers that are not ours yet, with all that would be added of them."""
    return [found_view(workspace, entry, found, is_masked=is_masked) for entry in found.entries]


def found_view(
    workspace: Workspace, entry: ServerEntry, found: Found, *, is_masked: bool = False
) -> views.FoundView:
    return views.FoundView(
        entry.name,
        source_view(entry.source),
        entry.transport,
        shown(entry),
        command_of(entry),
        plain(masked_raw(entry.raw) if is_masked else entry.raw),
        _inputs(entry),
        list(entry.remarks),
        error_view(entry.problem.to_dict() if entry.problem else None),
        entry.name in workspace.servers,
        found.choices,
        found.choice,
        workspace.offered.add(entry.raw) if is_masked else None,
    )


# -- lists -------------------------------------------------------------------------------------


def list_summary(listing: Listing) -> views.ListSummary:
    return views.ListSummary(
        listing.kind,  # type: ignore[arg-type]  # one of the four
        len(listing.items),
        listing.fetched,
        listing.is_changed,
        error_view(listing.error),
        listing.pages,
        listing.next_cursor,
        listing.asked,
        listing.awaited,
    )


def list_view(server: Server, listing: Listing, start: int, most: int) -> views.ListView:
    """A list as far as it came, from this item on."""
    items = listing.items[start : start + most]
    catalog = server.client.catalog if server.client is not None else None
    dropped = catalog.dropped_tools if catalog is not None and listing.kind == "tools" else []
    return views.ListView(
        server.server_id,
        listing.kind,  # type: ignore[arg-type]  # one of the four
        start,
        _items(items),
        listing.fetched,
        listing.next_cursor,
        not listing.is_fetching and start + len(items) >= len(listing.items),
        _items(dropped),
        msgspec.convert(listing.change, views.ListChangeView | None, from_attributes=True),
    )


def _items(items: list[Any]) -> list[views.ItemView]:
    return [views.ItemView(raw_json(item.raw), item.problem) for item in items]


# -- calls and settings ------------------------------------------------------------------------


def call_view(workspace: Workspace, call: Call, largest: int = LARGEST_RESULT) -> views.CallView:
    """A call as it stands now; a result that is larger than this stays behind."""
    outcome, progress = call.outcome, call.progress
    raw = outcome.raw if outcome is not None else None
    is_small = raw is not None and len(raw) <= largest
    is_large = len(call.request) > largest
    return views.CallView(
        call_id=call.call_id,
        server_id=call.server_id,
        kind=call.kind,
        method=call.method,
        name=call.name,
        listed_as=getattr(call.asked, "listed_as", ""),
        request=NULL if is_large else raw_json(call.request),
        headers=_given_headers(workspace, call),
        timeout_s=getattr(call.asked, "timeout_s", None),
        request_id=short_id(call.request_ids[-1]) if call.request_ids else None,
        request_ids=[short_id(one) for one in call.request_ids],
        status=call.status,
        started=call.started,
        elapsed_s=call.elapsed_s,
        progress=None
        if progress is None
        else views.ProgressView(
            progress.progress,
            progress.total,
            None if progress.message is None else short_text(progress.message),
            call.progress_at,
        ),
        is_waiting_on_user=call.is_waiting_on_user,
        question_ids=call.question_ids,
        awaiting=awaited_links(workspace, call),
        result=raw_json(raw) if is_small else None,
        result_size_bytes=call.size_bytes,
        is_error=outcome is not None and outcome.is_error,
        findings=list(outcome.findings) if outcome is not None else [],
        error=error_view(call.error.to_dict() if call.error is not None else None),
        task_id=call.task_id,
    )


def _given_headers(workspace: Workspace, call: Call) -> dict[str, str]:
    """The headers that a call was given, those that are secret without their values."""
    given: dict[str, str] = getattr(call.asked, "headers", {})
    keys = {plain_name(key) for key in workspace.secret_keys.of(call.server_id)} if given else ()
    return {
        name: "" if is_secret_name(name) or plain_name(name) in keys else value
        for name, value in given.items()
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


def thing_view(workspace: Workspace, what: views.Thing, key: str) -> Any:
    """The newest view of a thing; None if it is gone."""
    if what == "servers":
        server = workspace.servers.get(key)
        return None if server is None else server_view(workspace, server)
    if what == "calls":
        call = workspace.calls.get(key)
        return None if call is None else call_view(workspace, call)
    if what == "lists":
        server_id, _, kind = key.rpartition("/")
        server = workspace.servers.get(server_id)
        listing = server.lists.get(kind) if server is not None else None
        return None if listing is None else list_summary(listing)
    if what == "questions":
        question = workspace.questions.get(key)
        return None if question is None else question_view(workspace, question)
    if what == "tasks":
        task = workspace.tasks.get(key)
        return None if task is None else task_view(workspace, task)
    if what == "recording":
        return views.RecordingView(workspace.recording_problem)
    return next((one for one in settings_view(workspace) if one.name == key), None)
