"""The options that all commands share, and the server's command after `--`.

Created once by main.py from the command line, and passed to commands as click's context object.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click
from click.core import ParameterSource
from click.shell_completion import CompletionItem

if TYPE_CHECKING:
    from mcplens.cli.command_runner import Work
    from mcplens.cli.live_events import LiveEvents

F = TypeVar("F", bound=Callable[..., Any])


class CommandOptions:
    """The shared options as given on the command line."""

    def __init__(self, server_command: list[str] | None = None) -> None:
        self.server_command = server_command
        self.options: dict[str, Any] = {}
        self.is_in_shell = False  # a line of `mcplens shell`, whose server is connected already
        self.work: Work | None = None  # of that line, for the shell to do
        self.live: LiveEvents | None = None  # while connected

    def __repr__(self) -> str:
        return f"<CommandOptions {self.options} -- {self.server_command}>"

    def for_line(self) -> CommandOptions:
        """The options of one line of the shell: those that the shell was started with, so far."""
        line = CommandOptions()
        line.is_in_shell = True
        line.options = dict(self.options)
        return line

    def take(self, ctx: click.Context, values: dict[str, Any]) -> None:
        """Take over the shared options of a command, out of all of its values."""
        for name in SHARED_NAMES:
            value = values.pop(name)
            if not self.is_in_shell:
                self.options[name] = value
            elif ctx.get_parameter_source(name) is not ParameterSource.DEFAULT:
                if name not in OF_A_LINE:
                    option = next(one for one in ctx.command.params if one.name == name).opts[-1]
                    text = f"{option} is an option of `mcplens shell` itself, not of a line"
                    raise click.UsageError(text)
                self.options[name] = value

    @property
    def is_server_known(self) -> bool:
        """Whether the first word is not a target: the server is known without one."""
        return self.is_in_shell or self.server_command is not None

    def __getattr__(self, name: str) -> Any:
        try:
            return self.__dict__["options"][name]
        except KeyError:
            raise AttributeError(name) from None

    @property
    def call_timeout_s(self) -> float | None:
        """What `--timeout` gives one call; None if it was not given. 0 means no limit."""
        timeout_s: float | None = self.options.get("timeout")
        return math.inf if timeout_s == 0 else timeout_s


def pairs(separator: str, what: str) -> Callable[..., dict[str, str]]:
    """Reads an option that is given as pairs of name and value."""

    def parse(
        ctx: click.Context, parameter: click.Parameter, values: tuple[str, ...]
    ) -> dict[str, str]:
        found = {}
        for value in values:
            name, mark, text = value.partition(separator)
            if not mark or not name.strip():
                raise click.BadParameter(f"{value!r}: write it as {what}")
            found[name.strip()] = text.strip() if separator == ":" else text
        return found

    return parse


class Seconds(click.ParamType[float]):
    """A number of seconds, 0 or more."""

    name = "seconds"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        try:
            seconds = float(value)
        except ValueError:
            seconds = -1.0
        if not 0 <= seconds < float("inf"):
            self.fail(f"{value!r} is not a number of seconds (0 or more)", param, ctx)
        return seconds


class _Level(click.ParamType[str]):
    """A log level of MCP's, or `off`."""

    name = "level"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        from mcplens.protocol.eras import LOG_LEVELS

        if value not in (*LOG_LEVELS, "off"):
            self.fail(f"{value!r} is not one of {', '.join(LOG_LEVELS)}, off", param, ctx)
        return str(value)

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        from mcplens.protocol.eras import LOG_LEVELS

        found = [level for level in (*LOG_LEVELS, "off") if level.startswith(incomplete)]
        return [CompletionItem(level) for level in found]


class _Revision(click.ParamType[str]):
    """A protocol revision, or `auto`."""

    name = "version"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        from mcplens.protocol.eras import VERSIONS

        if value not in (*VERSIONS, "auto"):
            known = ", ".join(VERSIONS)
            self.fail(f"{value!r} is not a revision that mcplens speaks: {known}, auto", param, ctx)
        return str(value)

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        from mcplens.protocol.eras import VERSIONS

        found = [one for one in (*VERSIONS, "auto") if one.startswith(incomplete)]
        return [CompletionItem(one) for one in found]


def _folders(
    ctx: click.Context, parameter: click.Parameter, values: tuple[str, ...]
) -> tuple[str, ...]:
    """Folders that exist; file:// URIs are not checked."""
    for value in values:
        if not value.startswith("file:") and not os.path.isdir(value):
            raise click.BadParameter(f"{value!r} is not a folder")
    return values


def writable_file(ctx: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    """A file that can be written: better refused before a server is started than after."""
    if value is None or ctx.resilient_parsing:
        return value
    folder = os.path.dirname(value) or "."
    if os.path.isdir(value):
        problem = "it is a folder"
    elif not os.path.isdir(folder):
        problem = f"the folder {folder} does not exist"
    elif not os.access(value if os.path.exists(value) else folder, os.W_OK):
        problem = "permission denied"
    else:
        return value
    raise click.BadParameter(f"{value!r} cannot be written: {problem}")


def _profiles(ctx: click.Context, parameter: click.Parameter, start: str) -> list[str]:
    """Completion candidates; imported on demand to avoid an import cycle."""
    from mcplens.cli.completion_candidates import profile_names

    return [name for name in ("ask", *profile_names(ctx)) if name.startswith(start)]


def _ways(ctx: click.Context, parameter: click.Parameter, start: str) -> list[CompletionItem]:
    if start.startswith("@"):
        from mcplens.cli.completion_candidates import files_after_at

        return files_after_at(start)
    ways = ("ask", "accept", "decline", "cancel", "@")
    return [CompletionItem(way) for way in ways if way.startswith(start)]


_SHARED = [
    click.option("--config", metavar="FILE", help="Use only this configuration file."),
    click.option("--transport", metavar="KIND", help="stdio, http, sse or ws."),
    click.option("-H", "--header", "headers", multiple=True, metavar="'NAME: VALUE'",
                 callback=pairs(":", "'Name: value'"), help="Send this header; may be repeated."),
    click.option("-e", "--env", "env", multiple=True, metavar="NAME=VALUE",
                 callback=pairs("=", "NAME=value"),
                 help="An environment variable for the server's command."),
    click.option("--cwd", metavar="FOLDER", help="Start the server's command in this folder."),
    click.option("--timeout", type=Seconds(), metavar="S",
                 help="Timeout of a call, or of a request (60 s); 0 for no limit."),
    click.option("--connect-timeout", type=Seconds(), metavar="S",
                 help="Timeout of a connection attempt (30 s); 0 for no limit."),
    click.option("--retries", type=int, metavar="N",
                 help="How often to retry connecting (0)."),
    click.option("--protocol", default=None, type=_Revision(), metavar="VERSION",
                 help="Pin the protocol revision, or auto."),
    click.option("--log-level", type=_Level(), metavar="LEVEL",
                 help="Ask the server to log from this level on: debug, info, notice, warning, "
                      "error, critical, alert, emergency, or off. Servers of 2026-07-28 log only "
                      "if asked (info); others log by default, and are asked only with this."),
    click.option("--ca-file", metavar="FILE", help="Trust the CAs in this file."),
    click.option("--insecure", is_flag=True, help="Do not check TLS certificates."),
    click.option("--sampling", metavar="PROFILE", shell_complete=_profiles,
                 help="Who answers sampling requests: ask, echo, fixed, tool-use, tool-use-each, "
                      "refuse, or a profile of the configuration."),
    click.option("--elicit", metavar="HOW", shell_complete=_ways,
                 help="How to answer elicitation: ask, accept, decline, cancel or @file."),
    click.option("--root", "roots", multiple=True, metavar="PATH", callback=_folders,
                 help="Offer this folder as a root; may be repeated."),
    click.option("--no-apps", is_flag=True,
                 help="Do not declare that apps can be shown (io.modelcontextprotocol/ui); a "
                      "server may then leave out their tools."),
    click.option("--force", is_flag=True,
                 help="Send what the server's schemas or capabilities refuse."),
    click.option("--json", "is_json", is_flag=True, help="Print what the server sent, as JSON."),
    click.option("-q", "--quiet", "is_quiet", is_flag=True, help="Print only the result."),
    click.option("-v", "--verbose", "is_verbose", is_flag=True, help="Show every frame on stderr."),
    click.option("--yes", "is_trusted", is_flag=True,
                 help="Start a project's server without asking."),
    click.option("--no-record", is_flag=True, help="Do not record this run."),
    click.option("--trace", metavar="FILE", callback=writable_file,
                 help="Write all events to this trace file."),
]  # fmt: skip


def _remember_name(ctx: click.Context, parameter: click.Parameter, value: str | None) -> None:
    ctx.ensure_object(CommandOptions).options["given_name"] = value


# For commands whose words have a name; target_resolution.py puts it among them.
name_option = click.option(
    "--name",
    metavar="NAME",
    expose_value=False,
    callback=_remember_name,
    help="The name, in place of the word for it; for one that begins with a dash: --name=-x.",
)


def shared_options(function: F) -> F:
    """Add the options that every command has; they arrive in the first argument."""

    def wrapper(*args: Any, **kwargs: Any) -> Any:
        ctx = click.get_current_context()
        flags = ctx.ensure_object(CommandOptions)
        flags.take(ctx, kwargs)
        return function(flags, *args, **kwargs)

    wrapper.__name__ = function.__name__
    wrapper.__doc__ = function.__doc__
    own = getattr(function, "__click_params__", [])
    wrapper.__click_params__ = [*own, *_shared_parameters()]  # type: ignore[attr-defined]
    decorated: Any = wrapper
    return decorated  # type: ignore[no-any-return]


@cache
def _shared_parameters() -> list[click.Parameter]:
    """The shared options as click keeps them: the last one first. All commands have the same."""

    def no_command() -> None: ...

    for option in reversed(_SHARED):
        option(no_command)
    return no_command.__click_params__  # type: ignore[attr-defined,no-any-return]


def default_options() -> dict[str, Any]:
    """The shared options when none is given, for a command that has no use for most of them."""
    return click.Command(None, params=_shared_parameters()).make_context("", []).params


SHARED_NAMES = (
    "config", "transport", "headers", "env", "cwd", "timeout", "connect_timeout", "retries",
    "protocol", "log_level", "ca_file", "insecure", "sampling", "elicit", "roots", "no_apps",
    "force",    "is_json", "is_quiet", "is_verbose", "is_trusted", "no_record", "trace",
)  # fmt: skip
# Those that do not concern the connection, so that a line of the shell may have its own.
OF_A_LINE: Final = frozenset(("timeout", "force", "is_json", "is_quiet"))
