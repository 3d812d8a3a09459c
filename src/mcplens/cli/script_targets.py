"""Files and programs that are named as a target: how they are started, or what to write instead.

A known kind of script is started by itself; any other program is written after `--`. Called by
target_resolution.py, and by main.py for command lines that click refuses.
"""

from __future__ import annotations

import os
import re
import shlex
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from mcplens.targets import url_of_host

if TYPE_CHECKING:
    import click

# Scripts that are started by themselves.
SUFFIXES: Final = (".py", ".js", ".mjs", ".cjs")
# How other scripts are commonly started; with SUFFIXES, what makes a word a script and not a host.
_STARTED_BY: Final = {
    ".sh": ("bash",),
    ".bash": ("bash",),
    ".rb": ("ruby",),
    ".php": ("php",),
    ".ts": ("npx", "tsx"),
    ".mts": ("npx", "tsx"),
    ".tsx": ("npx", "tsx"),
    ".jsx": ("npx", "tsx"),
    ".go": ("go", "run"),
    ".rs": ("cargo", "run", "--bin"),
    ".jar": ("java", "-jar"),
}
# The start of a command line in many README files, installed on this machine or not.
_RUNNERS: Final = frozenset(
    (
        "python", "python3", "node", "npx", "npm", "uvx", "uv", "pipx", "bun", "bunx", "deno",
        "docker", "podman", "bash", "sh", "java", "go", "cargo", "ruby", "php", "dotnet",
    )
)  # fmt: skip
# Words of a runner that do not say yet what it runs.
_STEPS: Final = frozenset(("run", "tool", "exec", "tsx", "ts-node", "x"))
_TAKES_TARGET: Final = re.compile(r"\[?TARGET\]?\b")


def is_script(text: str) -> bool:
    """Whether a word is the name of a script by its suffix.

    A command as one word is not, nor is a page of a host (`localhost:8000/mcp.php`).
    """
    words = _split(text)
    if len(words) > 1 and _is_program(words[0]):
        return False
    if text.endswith(tuple(_STARTED_BY)):
        return "/" not in text or url_of_host(text) is None
    return text.endswith(SUFFIXES)


def script_command(path: str) -> list[str]:
    """The command for a script with one of SUFFIXES."""
    return [project_python(path) if path.endswith(".py") else "node", path]


def project_python(script: str) -> str:
    """The Python that a script is written for; that of mcplens may be an environment of its own.

    The one of `python -m mcplens`, the activated environment, `.venv` or `venv` beside the script,
    or in the current folder if the script is in there, or `python3` or `python` on PATH. Python
    imports modules from the script's folder anyway, so an environment there needs no more trust
    than the script.
    """
    started_as = getattr(sys.modules["__main__"], "__spec__", None)
    if started_as is not None and started_as.name == "mcplens.__main__":
        return sys.executable
    activated = os.environ.get("VIRTUAL_ENV")
    if activated and (found := _python_in(activated)):
        return found
    here = os.path.abspath(os.curdir)
    folder = os.path.dirname(os.path.abspath(script))
    folders = [folder]
    if here != folder and os.path.commonpath((here, folder)) == here:
        folders.append(here)
    for place in folders:
        for name in (".venv", "venv"):
            if found := _python_in(os.path.join(place, name)):
                return found
    from shutil import which

    on_path = which("python3") or which("python")
    if on_path is None or _is_ours(os.path.dirname(on_path)):
        return sys.executable
    return os.path.abspath(on_path)


def _python_in(environment: str) -> str | None:
    """The interpreter of a virtual environment."""
    programs = os.path.join(os.path.abspath(environment), "bin")
    if _is_ours(programs):
        return sys.executable
    python = os.path.join(programs, "python")
    return python if os.path.isfile(python) and os.access(python, os.X_OK) else None


def _is_ours(programs: str) -> bool:
    return os.path.realpath(programs) == os.path.realpath(os.path.dirname(sys.executable))


def file_refusal(path: str) -> str:
    """The error for a file that exists and is not started by itself."""
    if command := _starting(path):
        wanted = "Write the command that starts it after --: "
    else:
        command, wanted = ["PROGRAM", path], "Write the program that starts it after --: "
    return (
        f"{path!r} is a file, and mcplens starts only {', '.join(SUFFIXES[:-1])} and "
        f"{SUFFIXES[-1]} files by themselves.\n{wanted}{_line_without(path, command)}"
    )


def missing_refusal(path: str) -> str:
    """The error for a script that does not exist."""
    text = f"there is no script {path!r} in this folder, and no server of that name"
    if os.path.dirname(path):
        text = f"there is no script {path!r}"
    is_like_host = re.fullmatch(r"[\w-]+(\.[\w-]+)+", path) is not None
    return text + (f". For a host of that name write https://{path}" if is_like_host else "")


def _starting(path: str) -> list[str]:
    """How a file is probably started."""
    suffix = os.path.splitext(path)[1]
    if suffix == ".rs":
        return [*_STARTED_BY[suffix], os.path.splitext(os.path.basename(path))[0]]
    if suffix in _STARTED_BY:
        return [*_STARTED_BY[suffix], path]
    if os.access(path, os.X_OK):
        return [path if os.path.dirname(path) else os.path.join(os.curdir, path)]
    return []


def _line_without(target: str, command: Sequence[str]) -> str:
    """The current command line with a command after -- in place of its target."""
    import click

    ctx = click.get_current_context(silent=True)
    if ctx is None:
        return _line(["mcplens"], [], command)
    words: list[str] = []
    for parameter in ctx.command.params:
        if isinstance(parameter, click.Argument):
            value = ctx.params.get(parameter.name or "")
            words += value if isinstance(value, tuple) else [] if value is None else [str(value)]
    if target in words:
        words.remove(target)
    return _line(ctx.command_path.split(), words, command)


def _line(start: Sequence[str], words: Sequence[str], command: Sequence[str]) -> str:
    from mcplens.store.recorded_secrets import mask_argv

    return shlex.join([*mask_argv([*start, *words]), "--", *mask_argv(command)])


def line_with_separator(
    words: Sequence[str], command: click.Command | None, is_server: Callable[[str], bool]
) -> str | None:
    """The line to write for words that have a server's command without `--`; None if they do not.

    `command` is that of mcplens, which is the first of the words; None for `mcplens WORD …`.
    """
    if command is not None and not _takes_target_first(command):
        return None
    at = 0 if command is None else _first_argument(words, command)
    server = _split(words[at]) if at < len(words) else []
    if not server or not _is_program(server[0]) or is_server(words[at]):
        return None
    start, rest = ["mcplens", *words[:at]], words[at + 1 :]
    if len(server) > 1:  # quoted as one word
        return _line(start, rest, server)
    server += rest
    end = _end_of_command(server) if command is not None and _takes_more(command) else len(server)
    return _line(start, server[end:], server[:end])


def _takes_target_first(command: click.Command) -> bool:
    arguments = [one for one in command.params if one.param_type_name == "argument"]
    return bool(arguments) and (
        arguments[0].name == "target" or bool(_TAKES_TARGET.match(arguments[0].metavar or ""))
    )


def _takes_more(command: click.Command) -> bool:
    """Whether words must follow the target; those of lists may, but seldom do."""
    metavar = next(one for one in command.params if one.param_type_name == "argument").metavar
    return bool(re.match(r"\[TARGET\] [^\[]", metavar or ""))


def _first_argument(words: Sequence[str], command: click.Command) -> int:
    """Where the first word is that is neither an option nor the value of one."""
    with_value = {
        name
        for one in command.params
        if one.param_type_name == "option" and not getattr(one, "is_flag", False)
        for name in one.opts
    }
    at = 1
    while at < len(words) and words[at].startswith("-"):
        at += 2 if words[at] in with_value else 1
    return at


def _split(word: str) -> list[str]:
    if not re.search(r"\s", word):
        return [word]
    try:
        return shlex.split(word)
    except ValueError:
        return [word]


def _is_program(word: str) -> bool:
    from shutil import which

    return word in _RUNNERS or which(word) is not None


def _end_of_command(words: Sequence[str]) -> int:
    """Where a server's command probably ends: after the script or package that is run."""
    if words[0] not in _RUNNERS:
        return 1
    for at, word in enumerate(words[1:], 1):
        if not word.startswith("-") and word not in _STEPS:
            return at + 1
    return len(words)
