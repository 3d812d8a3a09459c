"""Chooses the transport for a target: a command, a script, a URL, or a given transport.

Also makes short display names for targets. Called by app.py; the command line and the workspace use
the names.
"""

from __future__ import annotations

import itertools
import os
import re
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from mcplens.errors import ConfigurationError
from mcplens.known_secrets import known_secrets
from mcplens.transports.authorization import Authorizer
from mcplens.transports.base import Transport

if TYPE_CHECKING:
    from mcplens.transports.lease_guard import LeaseGuard

Target = str | os.PathLike[str] | Sequence[str]
MakeTransport = Callable[[], Transport]

# How to run a script that is given as a target.
_INTERPRETERS: dict[str, list[str]] = {
    ".py": [sys.executable],
    ".js": ["node"],
    ".mjs": ["node"],
    ".cjs": ["node"],
}

_SHARED_OPTIONS: Final = frozenset({"max_message_bytes"})
_STDIO_OPTIONS: Final = _SHARED_OPTIONS | {
    "env", "cwd", "inherit_env", "close_wait_s", "terminate_wait_s", "guard",
}  # fmt: skip
_NETWORK_OPTIONS: Final = _SHARED_OPTIONS | {
    "headers", "ca_file", "insecure", "connect_timeout_s", "auth", "sign_in", "sign_in_timeout_s",
    "sign_in_networks", "authorizer",
}  # fmt: skip
SIGN_IN_OPTIONS: Final = ("auth", "sign_in", "sign_in_timeout_s", "sign_in_networks")
_HTTP_OPTIONS: Final = _NETWORK_OPTIONS | {"sse_fallback"}

# Accepted transport names, and the kind each one means.
_KINDS: Final = {
    "stdio": "stdio",
    "http": "http",
    "streamable-http": "http",
    "sse": "sse",
    "ws": "websocket",
    "websocket": "websocket",
}
_KIND_OF_SCHEME: Final = {"http": "http", "https": "http", "ws": "websocket", "wss": "websocket"}
_OPTIONS_OF: Final = {
    "stdio": _STDIO_OPTIONS,
    "http": _HTTP_OPTIONS,
    "sse": _NETWORK_OPTIONS,
    "websocket": _NETWORK_OPTIONS,
}


def transport_for(
    target: Target | Transport | MakeTransport, kind: str | None = None, **options: Any
) -> tuple[MakeTransport, str]:
    """A transport factory for a target, and a display name.

    Raises:
        ConfigurationError: the target is invalid, or an option does not apply to it.
    """
    options = {name: value for name, value in options.items() if value is not None}
    if isinstance(target, Transport) or callable(target):
        _check_options("a transport of your own", options, frozenset())
        return maker_of(target), "server"
    if isinstance(target, str) and "://" in target.split(" ", 1)[0]:
        return _remote(target, kind, options)
    if kind not in (None, "stdio"):
        raise invalid(f"{kind} needs a URL; {target!r} is a command")
    command = command_of(target)
    known_secrets.learn_command(command)
    _check_options("a command", options, _STDIO_OPTIONS)
    if "cwd" in options:
        options["cwd"] = os.fspath(options["cwd"])
    guard: LeaseGuard | None = options.pop("guard", None)

    def make_stdio() -> Transport:
        from mcplens.transports.stdio import StdioTransport

        made = StdioTransport(command, **options)
        made.guard = guard
        return made

    return make_stdio, command_name(command)


# Programs that run another one, which then gives the command its name.
_RUNNERS: Final = frozenset(
    (
        "python", "pypy", "node", "npx", "uvx", "uv", "bun", "bunx", "deno", "docker", "sh", "bash",
        "env",
    )
)  # fmt: skip


# Options of runners whose value is the next word.
_WITH_VALUE: Final = frozenset(
    (
        "-e", "--env", "--env-file", "-v", "--volume", "--mount", "-p", "--publish", "--name",
        "--network", "--net", "-w", "--workdir", "-u", "--user", "--entrypoint", "--platform",
        "--from", "--with", "--python", "--package", "--directory", "--project",
    )
)  # fmt: skip
# A version after the name of a package or an image, and extras.
_VERSION: Final = re.compile(r"(?<=.)(?:@[^@/]*|==.*|\[.*|:[^/]*)$")
# What a package of an organisation may be called without saying whose it is.
_BARE_NAMES: Final = frozenset(("mcp", "mcp-server", "server", "server-mcp"))


def command_name(command: Sequence[str], folder: str | None = None) -> str:
    """A short name for a command: the program, or what its runner runs; never an argument.

    With a `folder`, which is that of a relative path, a script whose name says nothing (`index.js`)
    is named after its folder.
    """
    program = os.path.basename(command[0])
    runner = os.path.splitext(program)[0].rstrip("0123456789.")
    if runner not in _RUNNERS:
        return _script_name(command[0], None if folder is None else "") or program
    is_script = runner not in ("docker", "npx", "uvx", "uv", "bunx")
    for flag, word in itertools.pairwise(command):
        if flag in ("-c", "--eval") or (flag == "-e" and is_script):  # a program text follows
            return program
        if word.startswith("-") or word in ("run", "tool", "exec", "tsx", "ts-node"):
            continue
        if is_script:
            if "=" in word:
                continue
            if flag == "-m":
                return _module_name(word, folder)
            return _script_name(word, folder) or program
        elif flag not in _WITH_VALUE:
            place = None if folder is None else _folder_given(command) or folder
            if _SCRIPT.search(word):
                return _script_name(word, place)
            if runner == "uv":  # an entry point of the project in that folder
                return _module_name(word, place)
            return _package_name(word) or program
    return program


# Scripts whose folder says more than their own name, and folders that say as little.
_BARE_SCRIPTS: Final = frozenset(
    ("index", "main", "server", "mcp", "mcp-server", "mcp_server", "app", "cli", "__main__")
)  # fmt: skip
_BARE_FOLDERS: Final = frozenset(
    ("", ".", "..", "build", "dist", "out", "lib", "src", "bin", "server", "mcp", "node_modules")
)
_SCRIPT: Final = re.compile(r"\.(?:py|js|mjs|cjs|ts|mts|tsx|jsx|rb|sh)$")


def _script_name(word: str, folder: str | None) -> str:
    """The name of a script; that of its folder, if its own says nothing and `folder` is given."""
    name = os.path.basename(word)
    if folder is None or _SCRIPT.sub("", name).lower() not in _BARE_SCRIPTS:
        return name
    return _telling_part(os.path.dirname(os.path.normpath(os.path.join(folder, word)))) or name


def _module_name(word: str, folder: str | None) -> str:
    """The name of a module or an entry point; that of its folder, if its own says nothing."""
    name = _package_name(word)
    if folder is None or name.lower() not in _BARE_SCRIPTS:
        return name
    return _telling_part(folder) or name


def _telling_part(folder: str) -> str | None:
    """The last part of a path that says what is in it."""
    for part in reversed(os.path.normpath(folder).split(os.sep)):
        if part.lower() not in _BARE_FOLDERS:
            return part
    return None


def _folder_given(command: Sequence[str]) -> str:
    """The folder that a runner was told to work in."""
    pairs = itertools.pairwise(command)
    return next((word for flag, word in pairs if flag in ("--directory", "--project")), "")


def _package_name(word: str) -> str:
    """A package or an image without its version; its organisation, if it has no other name."""
    word = _VERSION.sub("", word)
    scope, _, name = word.rpartition("/")
    owner = scope.rpartition("/")[2].lstrip("@")
    return owner if name in _BARE_NAMES and owner else name


def host_of(url: str) -> str:
    """Host and port of a URL: a name for it without secrets."""
    rest = url.partition("://")[2]
    end = min((at for at in map(rest.find, "/?#") if at >= 0), default=len(rest))
    return rest[:end].rpartition("@")[2] or "server"


_HOST: Final = r"(localhost|[\w-]+(\.[\w-]+)+|\[[0-9a-fA-F:]+\]|[\w.-]+(?=:\d))(:\d+)?([/?].*)?"
_LOOPBACK: Final = r"(localhost|127\.[\d.]+|\[::1\])([:/?]|$)"


def url_of_host(text: str) -> str | None:
    """The URL for a host, with port and path if given; None if it is not a host."""
    if not re.fullmatch(_HOST, text):
        return None
    return f"{'http' if re.match(_LOOPBACK, text) else 'https'}://{text}"


def _remote(url: str, kind: str | None, options: dict[str, Any]) -> tuple[MakeTransport, str]:
    scheme = url.partition("://")[0]
    chosen = _KIND_OF_SCHEME.get(scheme.lower()) if kind is None else _KINDS.get(kind)
    if chosen is None and kind is not None:
        raise invalid(f"there is no transport called {kind!r}: use {', '.join(_KINDS)}")
    if chosen is None:
        raise invalid(f"{scheme}:// is not supported: use http, https, ws or wss")
    if chosen == "stdio":
        raise invalid(f"stdio needs a command; {url} is a URL")
    known_secrets.learn_url(url)
    known_secrets.learn_headers(options.get("headers") or {})
    _check_options(f"a URL over {chosen}", options, _OPTIONS_OF[chosen])
    sign_in = {name: options.pop(name, None) for name in SIGN_IN_OPTIONS}

    def make() -> Transport:
        if "authorizer" not in options:  # one for all connections to the server
            options["authorizer"] = _authorizer(url, options, **sign_in)
        if chosen == "http":
            from mcplens.transports.streamable_http import StreamableHttpTransport

            return StreamableHttpTransport(url, **options)
        if chosen == "sse":
            from mcplens.transports.sse import SseTransport

            return SseTransport(url, **options)
        from mcplens.transports.websocket import WebSocketTransport

        return WebSocketTransport(url, **options)

    return make, host_of(url)


def _authorizer(
    url: str,
    options: Mapping[str, Any],
    auth: Mapping[str, Any] | None,
    sign_in: object,
    sign_in_timeout_s: float | None,
    sign_in_networks: str | None,
) -> Authorizer | None:
    """Who signs in to a server; None where the user sends a credential of their own."""
    from mcplens.auth.creation import create_authorizer
    from mcplens.transports.network import NetworkOptions, check_url

    check_url(url, tuple(_KIND_OF_SCHEME))
    names = ("headers", "ca_file", "insecure")
    network = NetworkOptions(**{name: options[name] for name in names if name in options})
    return create_authorizer(
        url,
        auth,
        sign_in,
        network=network,
        timeout_s=sign_in_timeout_s,
        networks=sign_in_networks or "any",
    )


def _check_options(what: str, options: Mapping[str, Any], known: frozenset[str]) -> None:
    unknown = sorted(options.keys() - known)
    if unknown:
        has = ", ".join(sorted(known)) or "none"
        raise invalid(f"{', '.join(unknown)}: not supported for {what}; its options are: {has}")


def command_of(target: Target) -> list[str]:
    """The command for a target: the list itself, an interpreter with a script, or a split string.

    Raises:
        ConfigurationError: it is empty, or cannot be split.
    """
    if isinstance(target, str | os.PathLike):
        path = os.fspath(target)
        interpreter = _INTERPRETERS.get(os.path.splitext(path)[1])
        if interpreter is not None and os.path.isfile(path):
            return [*interpreter, path]
        command = [path] if isinstance(target, os.PathLike) else _split(path)
    else:
        command = [os.fspath(part) for part in target]
    if not command:
        raise invalid("the target is empty: give a command, a URL or a script")
    return command


def _split(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError as problem:
        raise invalid(f"{text!r} cannot be split into a command: {problem}") from None


def invalid(message: str) -> ConfigurationError:
    """The error for a target that cannot be used."""
    return ConfigurationError("CONFIGURATION_INVALID", message)


def maker_of(transport: Transport | MakeTransport | None) -> MakeTransport:
    """Makes a transport for each connection attempt; a given one can be used only once."""
    if transport is None:
        return _no_transport
    if not isinstance(transport, Transport):
        return transport
    unused = [transport]

    def once() -> Transport:
        if not unused:
            raise invalid(
                "a transport can be used only once: pass a function that creates one, to reconnect"
            )
        return unused.pop()

    return once


def _no_transport() -> Transport:
    raise invalid("the client has no transport: pass one to connect_client")
