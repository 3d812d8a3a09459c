"""Resolves the target on the command line, and splits the words that follow it.

A target is a URL, a script, `source:name` of another tool, a configured name (`demo` is built in),
a host, or the command after `--`. An unknown target is an error.
"""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import click
import msgspec

from mcplens.cli.answer_handlers import answer_options
from mcplens.cli.command_options import CommandOptions
from mcplens.cli.near_names import near_names
from mcplens.cli.script_targets import (
    SUFFIXES,
    file_refusal,
    is_script,
    missing_refusal,
    script_command,
)
from mcplens.protocol.secret_masking import mask_url
from mcplens.targets import command_name, host_of, url_of_host

if TYPE_CHECKING:
    from mcplens.config.model import Configuration, ServerEntry

DEMO = "demo"
_SHOWN_CHARACTERS = 200
# As many as one reads in a message; `mcplens servers` lists all.
_SHOWN_NAMES = 12


class Target(msgspec.Struct, frozen=True):
    """A server to connect to: its name, and what `connect` takes."""

    name: str
    target: Any
    options: dict[str, Any]
    # The server's own `secretKeys`, with the values that the configuration has of them.
    secrets: dict[str, Any] = msgspec.field(default_factory=dict)
    # The file that it is configured in.
    file: str | None = None

    @property
    def shown(self) -> str:
        """The server as a person would name it: its command, or its URL without secrets."""
        if isinstance(self.target, list):
            from mcplens.store.recorded_secrets import mask_argv

            shown = shlex.join(mask_argv(self.target))
            return shown if len(shown) <= _SHOWN_CHARACTERS else shown[:_SHOWN_CHARACTERS] + "…"
        return mask_url(str(self.target))


def resolve(flags: CommandOptions, text: str | None) -> Target:
    """The server for a target, with the options of the command line on top.

    Raises:
        UsageError: no target is given, or it is unknown.
        InspectorError: the configuration is wrong.
    """
    if flags.server_command is not None:
        if text is not None:
            raise click.UsageError(f"two servers are given: {text}, and the command after --")
        command = flags.server_command
        if not command:
            raise click.UsageError("a command must follow --")
        return Target(command_name(command), list(command), with_options(flags, {}))
    if text is None:
        raise click.UsageError("name a server: a configured name, a URL, a script, or -- COMMAND")
    return _named(flags, text)


def _named(flags: CommandOptions, text: str) -> Target:
    if "://" in text:
        return Target(host_of(text), text, with_options(flags, {}))
    if text.endswith(SUFFIXES) and os.path.isfile(text):
        return Target(os.path.basename(text), script_command(text), with_options(flags, {}))
    entry, configuration = _configured(flags, text)
    if entry is not None:
        return _from_entry(flags, text, entry, configuration)
    if text == DEMO:
        return Target(DEMO, [sys.executable, "-m", "mcplens.demo"], with_options(flags, {}))
    # Both before a host of that name, which would be sent what is meant for the script.
    if os.path.isfile(text):
        raise click.UsageError(file_refusal(text))
    if is_script(text):
        raise click.UsageError(missing_refusal(text))
    if url := url_of_host(text):
        return Target(host_of(url), url, with_options(flags, {}))
    raise click.UsageError(_not_understood(text, configuration))


def resolve_configured(flags: CommandOptions, name: str) -> Target:
    """A configured server by its name; never a URL, a script or a host, whatever it looks like.

    Raises:
        UsageError: there is none of this name.
        InspectorError: the configuration is wrong.
    """
    from mcplens.config.configuration import load_configuration

    configuration = load_configuration(flags.config)
    entry = configuration.find(name)
    if entry is not None:
        return _from_entry(flags, name, entry, configuration)
    if name == DEMO:
        return Target(DEMO, [sys.executable, "-m", "mcplens.demo"], with_options(flags, {}))
    known = [*(one.name for one in configuration.servers), DEMO]
    raise click.UsageError(f"there is no configured server {name!r}.{_near(name, known)}")


def is_understood(text: str) -> bool:
    """Whether a word names a server, by itself."""
    from mcplens.config.configuration import load_configuration
    from mcplens.config.other_tools import is_qualified

    if "://" in text or text == DEMO or is_qualified(text) or url_of_host(text):
        return True
    if is_script(text) or os.path.isfile(text):
        return True
    return load_configuration(is_tolerant=True).find(text) is not None


def _not_understood(text: str, configuration: Configuration | None) -> str:
    names = [entry.name for entry in configuration.servers] if configuration is not None else []
    known = list(dict.fromkeys([*names, DEMO]))
    return f"{text!r} is not a known server.{_near(text, known)}\n{_can_be(known)}"


def neither(text: str, commands: Iterable[str]) -> str:
    """The error for a first word that is neither a command nor a server."""
    from mcplens.config.configuration import load_configuration

    names = [entry.name for entry in load_configuration(is_tolerant=True).servers]
    known = list(dict.fromkeys([*names, DEMO]))
    near = _near(text, [*commands, *names])
    return f"{text!r} is neither a command nor a known server.{near}\n{_can_be(known)}"


def _near(text: str, names: Sequence[str]) -> str:
    """The names that somebody may have meant."""
    close = near_names(text, names)
    return f" Did you mean {' or '.join(close)}?" if close else ""


def _can_be(known: Sequence[str]) -> str:
    shown = known[:_SHOWN_NAMES]
    more = f" and {len(known) - len(shown)} more" if len(known) > len(shown) else ""
    return (
        f"A server is a configured name ({', '.join(shown)}{more}), a URL, a host such as "
        f"localhost:3000, a script ({', '.join(SUFFIXES)}), or a command after --."
    )


def _configured(
    flags: CommandOptions, text: str
) -> tuple[ServerEntry | None, Configuration | None]:
    from mcplens.config.configuration import load_configuration
    from mcplens.config.other_tools import find_server, is_qualified

    if is_qualified(text):
        return find_server(text), None
    configuration = load_configuration(flags.config)
    return configuration.find(text), configuration


def is_known(flags: CommandOptions, text: str) -> bool:
    """Whether this names a server that is configured, here or in another tool, or built in."""
    from mcplens.config.other_tools import is_qualified

    return text == DEMO or is_qualified(text) or _configured(flags, text)[0] is not None


def _from_entry(
    flags: CommandOptions, text: str, entry: ServerEntry, configuration: Configuration | None
) -> Target:
    from mcplens.cli.confirmation import confirm_entry
    from mcplens.config.connect_options import to_connect_options

    if not entry.enabled:
        raise click.UsageError(f"{entry.name} is disabled in {entry.source.path}")
    if entry.problem is not None:
        raise entry.problem
    # Before its secrets are known, which would be masked where it is confirmed.
    confirm_entry(flags, entry)
    target, options = to_connect_options(entry, configuration.settings if configuration else None)
    name = text if configuration is None else entry.name
    options = with_options(flags, options, entry.profile)
    return Target(name, target, options, entry.secret_keys, entry.source.path)


def overrides_of(flags: CommandOptions) -> dict[str, Any]:
    """The options of the command line that override a server's; a time of 0 means no limit."""
    given: dict[str, Any] = {
        "headers": flags.headers or None,
        "env": flags.env or None,
        "cwd": flags.cwd,
        "transport": flags.transport,
        "protocol_version": flags.protocol,
        "ca_file": flags.ca_file,
        "insecure": flags.insecure or None,
        "max_retries": None if flags.retries is None else max(flags.retries, 0),
    }
    found = {name: value for name, value in given.items() if value is not None}
    if flags.log_level == "off":
        found["default_log_level"] = None
    elif flags.log_level is not None:
        found["log_level"] = flags.log_level
    if flags.connect_timeout is not None:
        found["connection_timeout_s"] = flags.connect_timeout or None
    if flags.timeout is not None:
        # One that is longer than the maximum raises that: put_over() sees to it.
        found["request_timeout_s"] = flags.timeout or None
        found |= {} if flags.timeout else {"max_total_timeout_s": None}
    return found


def with_options(
    flags: CommandOptions, options: dict[str, Any], profile: str | None = None
) -> dict[str, Any]:
    """The options of a configured server, and over them those of the command line."""
    from mcplens.config.connect_options import put_over

    options = {key: value for key, value in options.items() if key != "server_id"}
    options = put_over(options, overrides_of(flags))
    options.setdefault("default_log_level", "info")
    options["enforce_capabilities"] = not flags.force
    return options | answer_options(flags, options, profile)


def split_tool(flags: CommandOptions, words: Sequence[str]) -> tuple[str | None, str, list[str]]:
    """Target, the name of a tool (or prompt, or method), and the rest of the words."""
    target, rest = split_target(flags, words)
    if not rest:
        given = f"{words[0]!r}: " if words else ""
        raise click.UsageError(f"{given}name the server, then what to request from it")
    return target, rest[0], rest[1:]


def split_target(flags: CommandOptions, words: Sequence[str]) -> tuple[str | None, list[str]]:
    """Target, if the server is not known without one, and the words after it."""
    name: str | None = flags.options.get("given_name")
    if name is not None:
        at = 0 if flags.is_server_known else 1
        return (words[0] if at and words else None), [name, *words[at:]]
    if flags.is_server_known or not words:
        return None, list(words)
    first = words[0]
    if "." in first and "://" not in first and not os.path.isfile(first):
        server, _, name = first.partition(".")
        if name and (server == DEMO or _configured(flags, server)[0] is not None):
            if is_script(first) and _configured(flags, first)[0] is None:
                command = click.get_current_context().command_path
                raise click.UsageError(
                    f"there is no script {first!r} in this folder. If you mean {name!r} of the "
                    f"server {server!r}, write: {command} {shlex.join([server, name])}"
                )
            return server, [name, *words[1:]]
    return first, list(words[1:])


def split_word(flags: CommandOptions, words: Sequence[str], what: str) -> tuple[str | None, str]:
    """Target and one word after it."""
    expected = 1 if flags.is_server_known else 2
    if len(words) != expected:
        names = what if expected == 1 else f"TARGET {what}"
        raise click.UsageError(f"expected {names}, got: {' '.join(words)}")
    return (None, words[0]) if expected == 1 else (words[0], words[1])
