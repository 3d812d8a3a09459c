"""The `mcplens` command. Commands are loaded when they are used, so that `--help` is quick.

`--` has one meaning everywhere: what follows is the server's command.
"""

from __future__ import annotations

import atexit
import gc
import os
import sys
from importlib import import_module
from types import ModuleType

import click
from click.shell_completion import CompletionItem

from mcplens.cli import exit_codes, output
from mcplens.cli.command_options import CommandOptions
from mcplens.cli.help_format import Context
from mcplens.cli.terminal_text import guard_streams
from mcplens.version import VERSION

# name -> (module, attribute, one line for the list of commands)
COMMANDS = {
    "web": ("web", "command", "Open the web UI (the default command)."),
    "info": ("info", "command", "Show what a server is and offers."),
    "ping": ("ping", "command", "Check whether a server answers, and how fast."),
    "doctor": ("doctor", "command", "Check a server step by step, and say what would help."),
    "tools": ("list_commands", "tools", "List tools."),
    "call": ("call", "command", "Call a tool."),
    "app": ("app", "command", "Check why the MCP App of a tool may stay blank."),
    "resources": ("list_commands", "resources", "List resources."),
    "templates": ("list_commands", "templates", "List resource templates."),
    "read": ("read", "command", "Read a resource."),
    "subscribe": ("watch", "subscribe", "Follow a resource."),
    "prompts": ("list_commands", "prompts", "List prompts."),
    "prompt": ("prompt", "command", "Get a prompt."),
    "skills": ("skills", "skills", "List skills, verify them, compare them with a folder."),
    "skill": ("skills", "skill", "Show or verify a skill, or read a file of it."),
    "complete": ("complete", "command", "Get suggestions for an argument."),
    "request": ("request", "command", "Send any request."),
    "raw": ("raw", "command", "Send raw bytes."),
    "tasks": ("tasks", "command", "Show and control a server's background tasks."),
    "shell": ("shell", "command", "Run many commands over one connection."),
    "watch": ("watch", "command", "Show events as they happen."),
    "tap": ("tap", "command", "Run a server for another client and record what they say."),
    "gateway": ("gateway", "command", "Serve all configured servers as one MCP server."),
    "mock": ("mock", "command", "Serve a recording as an MCP server."),
    "verify": ("verify", "command", "Compare a server's answers with a recording."),
    "lock": ("lock", "command", "Write or check what servers promise, as mcp.lock."),
    "diff": ("diff", "command", "Compare what two servers, locks or traces promise."),
    "lint": ("lint", "command", "Check what servers promise: rules, and cost in a prompt."),
    "history": ("history", "command", "Look at what earlier runs sent and received."),
    "auth": ("auth", "command", "Sign in to servers, and out again."),
    "collections": ("collections", "command", "List, show and run calls that are kept in files."),
    "test": ("test", "command", "Run tests of servers from files."),
    "servers": ("servers", "command", "List, add, remove, import, export configured servers."),
    "demo": ("demo", "command", "Open the web UI on the bundled demo server."),
    "help": ("help_command", "command", "Explain an error or a command."),
}


class _LazyGroup(click.Group):
    context_class = Context

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module, attribute, _ = COMMANDS[cmd_name]
        command = getattr(_load(f"mcplens.cli.{module}"), attribute)
        assert isinstance(command, click.Command)
        for one in (command, *getattr(command, "commands", {}).values()):
            one.context_class = Context
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0] if args else ""
        is_unknown = name and name not in COMMANDS and not name.startswith("-")
        if is_unknown and not ctx.resilient_parsing:
            from mcplens.cli.target_resolution import neither

            raise click.UsageError(neither(name, COMMANDS), ctx)
        return super().resolve_command(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """As click's, without loading every command for its name."""
        commands = [
            CompletionItem(name, help=text)
            for name, (_, _, text) in COMMANDS.items()
            if name.startswith(incomplete)
        ]
        return commands + super(click.Group, self).shell_complete(ctx, incomplete)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, _, text) in COMMANDS.items()])


def _load(name: str) -> ModuleType:
    """Import a module without garbage collection, which would cost a twentieth and find nothing."""
    if name not in sys.modules:
        gc.disable()
        try:
            import_module(name)
        finally:
            gc.freeze()  # it stays loaded: later collections need not go through it
            gc.enable()
    return sys.modules[name]


_EPILOG = """To complete with the Tab key, run this or add it to your shell's startup file:

\b
eval "$(mcplens --completion bash)"
eval "$(mcplens --completion zsh)"
mcplens --completion fish | source
"""


def _print_completion(ctx: click.Context, parameter: click.Parameter, shell: str | None) -> None:
    if shell is None or ctx.resilient_parsing:
        return
    from click.shell_completion import get_completion_class

    from mcplens.cli import shell_completion

    shell_completion.use()
    found = get_completion_class(shell)
    assert found is not None
    output.say(found(group, {}, "mcplens", shell_completion.VARIABLE).source().rstrip("\n"))
    ctx.exit()


@click.group(
    cls=_LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=_EPILOG,
)
@click.version_option(VERSION, prog_name="mcplens")
@click.option(
    "--completion",
    type=click.Choice(["bash", "zsh", "fish"]),
    is_eager=True,
    expose_value=False,
    callback=_print_completion,
    help="Print the completion script of a shell.",
)
def group() -> None:
    """See, drive and serve MCP servers. Without a command, opens the web UI on TARGET.

    \b
    mcplens
    mcplens https://example.com/mcp
    mcplens tools demo
    mcplens call demo add a=2 b:=3
    mcplens tools -- node server.js
    """


def main(argv: list[str] | None = None) -> None:
    """Run a command line."""
    # The system takes back all memory at the end; collecting it first is a twelfth of a command.
    atexit.register(gc.freeze)
    _replace_closed_streams()
    guard_streams()
    words = sys.argv[1:] if argv is None else argv
    if "_MCPLENS_COMPLETE" in os.environ:
        from mcplens.cli import shell_completion

        shell_completion.use()
    command: list[str] | None = None
    if "--" in words:
        at = words.index("--")
        words, command = words[:at], words[at + 1 :]
    given = words
    try:
        words = _with_command(words)
        code = group.main(words, "mcplens", standalone_mode=False, obj=CommandOptions(command))
        output.flush()
    except click.ClickException as problem:
        if isinstance(problem, click.UsageError) and (command_name := _late_command(given)):
            option = given[0].partition("=")[0]
            text = f"options come after the command: mcplens {command_name} … {option}"
            problem = click.UsageError(text)
        elif isinstance(problem, click.UsageError) and command is None:
            problem = _with_line_to_write(problem, given)
        _refuse(problem, is_json="--json" in words)
        code = problem.exit_code
    except click.Abort:
        output.note("mcplens: cancelled")
        code = exit_codes.FAILED
    except BrokenPipeError:
        output.end_quietly()
        code = exit_codes.DONE
    sys.exit(code if isinstance(code, int) else exit_codes.DONE)


def _with_command(words: list[str]) -> list[str]:
    """`mcplens [TARGET]` is `mcplens web [TARGET]`; a word that means nothing stays as it is."""
    if not words:
        return ["web"]
    first = words[0]
    own = {option for parameter in group.params for option in parameter.opts}
    if first in COMMANDS or first.partition("=")[0] in own | {"-h", "--help"}:
        return words
    if first.startswith("-"):
        return ["web", *words]
    from mcplens.cli.target_resolution import is_understood

    return ["web", *words] if is_understood(first) else words


def _late_command(words: list[str]) -> str | None:
    """The command after an option, as other programs have it."""
    is_option = bool(words) and words[0].startswith("-")
    return next((word for word in words if word in COMMANDS), None) if is_option else None


def _with_line_to_write(problem: click.UsageError, words: list[str]) -> click.UsageError:
    """The error, with the line to write if the words have a server's command without `--`."""
    from mcplens.cli.script_targets import line_with_separator
    from mcplens.cli.target_resolution import is_understood

    if not words or words[0].startswith("-"):
        return problem
    named = group.get_command(click.Context(group), words[0]) if words[0] in COMMANDS else None
    line = line_with_separator(words, named, is_understood)
    if line is None:
        return problem
    text = f"{problem.format_message()}\nTo start a server by its command, write: {line}"
    return click.UsageError(text, problem.ctx)


def _replace_closed_streams() -> None:
    """What was closed when we were started (`>&-`) goes nowhere, and no file gets its number."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_RDWR), mode, closefd=False))


def _refuse(problem: click.ClickException, *, is_json: bool) -> None:
    """Say what is wrong with the command line."""
    if not is_json:
        lines = output.fitted(problem.format_message(), sys.stderr, len("Error: "))
        text = "\n".join(lines)
        if isinstance(problem, click.UsageError):
            click.UsageError(text, problem.ctx).show()
        else:
            click.ClickException(text).show()
        return
    from mcplens.cli.error_report import usage_as_json

    output.note(usage_as_json(problem.format_message()))
