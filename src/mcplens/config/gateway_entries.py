"""The gateway as one entry of a client's configuration: added on request, and removed again.

A client that knows URLs with headers gets the address and the token; one that only starts commands
starts the gateway itself. Always the user's file, never a project's: the entry may hold a token.
Pure but for reading files; called by `mcplens gateway install|remove` and by the web UI.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any, Final
from urllib.parse import urlsplit

import msgspec

from mcplens.config.entry_text import EntryText, entry_text
from mcplens.config.environment import Environment, current_environment
from mcplens.config.files import invalid, read_text
from mcplens.config.model import Source
from mcplens.config.other_tools import find_sources, user_files
from mcplens.config.tool_entries import (
    BACKUP_SUFFIX,
    CLIENTS,
    OWN,
    EntryChange,
    EntryPlace,
    client_title,
    open_text,
    own_command,
    own_words,
    servers_path,
)
from mcplens.config.tool_reader import mapping, sequence
from mcplens.errors import ConfigurationError

# Our own file is not among them: a gateway behind itself is refused.
GATEWAY_CLIENTS: Final = tuple(client for client in CLIENTS if client != OWN)
STARTS_COMMANDS: Final = frozenset({"claude-desktop"})
DEFAULT_NAME: Final = "mcplens"
_GATEWAY: Final = "gateway"
# How each client spells the URL and the headers of an entry.
_URL_KEYS: Final = {"windsurf": "serverUrl", "gemini": "httpUrl", "goose": "uri"}
_HEADER_KEYS: Final = {"codex": "http_headers"}
# How each client spells its file, where that is not JSON.
_SUFFIXES: Final = {"codex": ".toml", "goose": ".yaml"}


class GatewayLink(msgspec.Struct, frozen=True, kw_only=True):
    """How a client reaches the gateway: at a URL with a token, or by a command of these words."""

    url: str = ""
    token: str = ""
    words: tuple[str, ...] = ()

    def __repr__(self) -> str:  # the token is a secret
        return f"<GatewayLink {self.url or ' '.join(self.words)}>"


def command_link(options: Iterable[str] = ()) -> GatewayLink:
    """A client starts the gateway itself and speaks over pipes."""
    return GatewayLink(words=(*own_command(), _GATEWAY, "--stdio", *options))


def gateway_entry(client: str, name: str, link: GatewayLink) -> dict[str, Any]:
    """The entry as this client spells it."""
    if not link.url:
        return {"command": link.words[0], "args": list(link.words[1:])}
    entry: dict[str, Any] = {
        _URL_KEYS.get(client, "url"): link.url,
        _HEADER_KEYS.get(client, "headers"): {"Authorization": f"Bearer {link.token}"},
    }
    if client in ("claude-code", "vscode"):
        return {"type": "http", **entry}
    if client == "goose":
        return {"enabled": True, "type": "streamable_http", "name": name, **entry}
    return entry


def gateway_snippet(client: str, name: str, link: GatewayLink) -> str:
    """A file of this client's that has nothing but the gateway, to copy from."""
    file = f"mcp{_SUFFIXES.get(client, '.json')}"
    start = "{}" if file.endswith(".json") else ""
    path = servers_path(client, {}, Source(client, file, "user"), current_environment())
    return entry_text(file, start).with_entry(path, name, gateway_entry(client, name, link))


def install_gateway(
    client: str,
    name: str,
    link: GatewayLink,
    here: Environment | None = None,
    *,
    file: str | None = None,
) -> EntryChange:
    """The change that gives a client the gateway; none if it has this very entry.

    Raises:
        ConfigurationError: the name is that of another server, or the file cannot be edited.
    """
    place, text, is_new_file = _open(client, name, here, file)
    wanted, former = gateway_entry(client, name, link), _entry(text, place)
    changed = text
    if former is not None and former != wanted:
        if not _is_gateway(client, former):
            raise invalid(
                f"{place.shown} in {place.file} is another server: choose another --name",
                file=place.file,
                server=name,
            )
        changed = entry_text(place.file, text.without(place.path))
    return EntryChange(
        place=place,
        text=text.text,
        changed_text=(
            text.text if former == wanted else changed.with_entry(place.path[:-1], name, wanted)
        ),
        command=_shown(client, former),
        changed_command=_shown(client, wanted),
        is_new_file=is_new_file,
    )


def remove_gateway(
    client: str, name: str, here: Environment | None = None, *, file: str | None = None
) -> EntryChange:
    """The change that removes the gateway from a client; none if it has no entry of that name.

    A file that is as `install` left it becomes what it was before, byte for byte.

    Raises:
        ConfigurationError: the entry is another server's, or the file cannot be edited.
    """
    place, text, _ = _open(client, name, here, file)
    former = _entry(text, place)
    if former is not None and not _is_gateway(client, former):
        problem = f"{place.shown} in {place.file} is not the gateway: remove it by hand"
        raise invalid(problem, file=place.file, server=name)
    changed = text.text
    if former is not None:
        before = _backup(place, former)
        is_untouched = before is not None and before[1] == text.text
        changed = before[0] if before is not None and is_untouched else text.without(place.path)
    return EntryChange(
        place=place,
        text=text.text,
        changed_text=changed,
        command=_shown(client, former),
        changed_command=(),
    )


def _open(
    client: str, name: str, here: Environment | None, file: str | None
) -> tuple[EntryPlace, EntryText, bool]:
    """Where the entry is or will be, the text of the file, and whether the file is yet to be."""
    here = here or current_environment()
    path = os.path.abspath(file) if file is not None else _user_file(client, here)
    is_new = not os.path.exists(path)
    text = entry_text(path, "") if is_new else open_text(path)
    if not isinstance(text.value, dict | None):
        raise invalid(f"{path}: this is not a {client_title(client)} file", file=path)
    container = servers_path(client, text.value, Source(client, path, "user"), here)
    place = EntryPlace(client=client, server=name, file=path, path=(*container, name))
    return place, text, is_new


def _user_file(client: str, here: Environment) -> str:
    for source in find_sources(here):
        if source.kind == client and source.scope == "user":
            return source.path
    path = user_files(client, here)[0]
    if not os.path.isdir(os.path.dirname(path)):
        title = client_title(client)
        raise invalid(f"{title} keeps nothing in {path} here: name its file with --file", file=path)
    return path


def _entry(text: EntryText, place: EntryPlace) -> Any:
    """The entry as it is; None if there is none."""
    value: Any = text.value
    for key in place.path:
        value = mapping(value).get(key)
    return value


def _is_gateway(client: str, entry: Any) -> bool:
    """Whether an entry is one that we wrote, by its shape: the token may be another by now."""
    entry = mapping(entry)
    words = [str(word) for word in (entry.get("command"), *sequence(entry.get("args")))]
    if own_words(words)[:1] == (_GATEWAY,):
        return True
    headers = mapping(entry.get(_HEADER_KEYS.get(client, "headers")))
    if not str(headers.get("Authorization")).startswith("Bearer "):
        return False
    try:
        url = urlsplit(str(entry.get(_URL_KEYS.get(client, "url"))))
    except ValueError:
        return False
    return url.scheme == "http" and (url.path == "/mcp" or url.path.startswith("/mcp/"))


def _shown(client: str, entry: Mapping[str, Any] | None) -> tuple[str, ...]:
    """The command or URL of an entry; the token is shown nowhere."""
    if entry is None:
        return ()
    if "command" in entry:
        return (str(entry["command"]), *map(str, sequence(entry.get("args"))))
    return (str(entry.get(_URL_KEYS.get(client, "url"))),)


def _backup(place: EntryPlace, entry: Any) -> tuple[str, str] | None:
    """The file as it was before the last change, and what it becomes with the entry."""
    try:
        before = read_text(os.path.realpath(place.file) + BACKUP_SUFFIX)
        text = entry_text(place.file, before)
        if text.find(place.path) is not None:  # an older entry of ours
            return None
        return before, text.with_entry(place.path[:-1], place.server, entry)
    except (ConfigurationError, TypeError, AttributeError):
        return None
