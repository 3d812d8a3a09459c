"""What a stdio server is started with: absolute program path, arguments, environment, folder.

Nothing of the server runs here. The stdio transport calls `resolve_launch`, in a thread when
`needs_shell_path` says that the user's shell must be asked first. How paths are split, named and
spelled on each platform is pure and takes the platform and the environment as arguments.
"""

from __future__ import annotations

import os
import posixpath
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import ModuleType
from typing import Final, Literal

import msgspec

from mcplens.errors import ConfigurationError, InspectorError
from mcplens.known_secrets import known_secrets
from mcplens.transports import login_shell_path

FileKind = Literal["missing", "not a file", "not executable", "executable"]

# A configured server gets these of our environment: enough to find its programs and its files.
_DEFAULT_NAMES: Final = frozenset(
    ("HOME", "PATH", "USER", "LOGNAME", "SHELL", "TERM", "LANG", "TZ", "TMPDIR")
)
_DEFAULT_PREFIXES: Final = ("LC_", "XDG_")

# Without SYSTEMROOT no program starts on Windows; the others are what HOME and PATH are elsewhere.
_DEFAULT_NAMES_WIN32: Final = _DEFAULT_NAMES | {
    "APPDATA", "COMSPEC", "HOMEDRIVE", "HOMEPATH", "LOCALAPPDATA", "PATHEXT",
    "PROCESSOR_ARCHITECTURE", "PROGRAMDATA", "PROGRAMFILES", "SYSTEMDRIVE", "SYSTEMROOT", "TEMP",
    "TMP", "USERNAME", "USERPROFILE", "WINDIR",
}  # fmt: skip

# Behind a company's proxy a server without these reaches nothing. Tools read them in both cases.
_NETWORK_NAMES: Final = frozenset({
    "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "FTP_PROXY", "NO_PROXY",
    "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "NODE_EXTRA_CA_CERTS",
    "AWS_CA_BUNDLE", "GIT_SSL_CAINFO", "PIP_CERT", "NPM_CONFIG_CAFILE", "DENO_CERT",
})  # fmt: skip

_HOMEBREW_FOLDERS: Final = ("/opt/homebrew/bin", "/opt/homebrew/sbin", "/usr/local/bin")

# What Windows itself assumes where PATHEXT is not set.
_DEFAULT_PATHEXT: Final = ".COM;.EXE;.BAT;.CMD"

# A folder list is for reading in an error: more than this hides what to do next.
_FOLDERS_SHOWN: Final = 8

_PLACEHOLDER: Final = (
    r"\$\$\{"  # an escaped one
    r"|\$\{(?:env:)?(?P<name>[A-Za-z_][A-Za-z0-9_]*)(?::-(?P<default>(?:(?!\$\{)[^}])*))?\}"
    r"|(?P<unknown>\$\{(?:[^}]{,40}\})?)"  # shown to the user, so not the rest of a secret
)


class Launch(msgspec.Struct, frozen=True):
    """All that starting a server needs; `argv[0]` is absolute."""

    argv: tuple[str, ...]
    env: dict[str, str]
    cwd: str | None

    @property
    def folder(self) -> str:
        """Where the server starts: in the folder that was given, or in that of this process."""
        return _base_folder(self.cwd)

    def __repr__(self) -> str:  # the environment holds secrets
        return f"<Launch {' '.join(self.argv)!r} in {self.cwd!r} with {len(self.env)} variables>"


def resolve_launch(
    command: Sequence[str],
    *,
    env: Mapping[str, str] | None = None,
    cwd: str | None = None,
    inherit_env: bool = True,
    environ: Mapping[str, str] | None = None,
    has_terminal: bool | None = None,
    ask_shell: Callable[[], list[str]] | None = None,
    platform: str = sys.platform,
) -> Launch:
    """Decide what is started; blocks on the user's shell where `needs_shell_path` says so.

    Raises:
        ConfigurationError: COMMAND_NOT_FOUND, or CONFIGURATION_INVALID for `env`, `cwd`, `command`.
    """
    environ = os.environ if environ is None else environ
    own_env = resolve_placeholders(env or {}, environ)
    _check_strings(command, own_env)
    # A server may print what it was started with.
    known_secrets.learn_command(command)
    known_secrets.learn_members(own_env)
    _check_folder(cwd)
    inherited = child_environment(environ, inherit_all=inherit_env, platform=platform)
    child_env = merge_environments(inherited, own_env, platform)

    name, base = command[0], _base_folder(cwd)
    extensions = path_extensions(environ, platform)
    folders = search_folders(own_env, environ, base, platform)
    if is_path(name, platform):
        program: str | None = _program_at(name, base, extensions, platform)
    else:
        program = _find(name, folders, extensions, platform)
    if _may_ask_shell(own_env, platform) and (program is None or not _in_terminal(has_terminal)):
        folders = extend_folders(
            folders, (ask_shell or login_shell_path.shell_path_entries)(), platform
        )
        child_env["PATH"] = ":".join(folders)
        program = program or _find(name, folders, extensions, platform)
    if program is None:
        raise _not_found(name, folders, extensions, platform)
    return Launch(argv=(program, *command[1:]), env=child_env, cwd=base if cwd else None)


def require_posix(platform: str) -> None:
    """Refuse to start a server on Windows, which has no process groups to end it by.

    Raises:
        InspectorError: this is Windows.
    """
    if platform == "win32":
        raise InspectorError(
            "CONNECTION_FAILED",
            "mcplens cannot start servers on Windows: connect to one by its URL (HTTP, SSE or "
            "WebSocket), or run mcplens in WSL",
            retryable=False,
            details={"step": "starting the server"},
        )


def needs_shell_path(
    command: Sequence[str],
    *,
    env: Mapping[str, str] | None = None,
    cwd: str | None = None,
    environ: Mapping[str, str] | None = None,
    has_terminal: bool | None = None,
    platform: str = sys.platform,
) -> bool:
    """Whether `resolve_launch` would start the user's shell: cheap, and False once it has run."""
    if login_shell_path.is_known() or not command or not _may_ask_shell(env or {}, platform):
        return False
    if not _in_terminal(has_terminal):
        return True
    environ = os.environ if environ is None else environ
    folders = search_folders({}, environ, _base_folder(cwd), platform)
    return not is_path(command[0], platform) and _find(command[0], folders, (), platform) is None


def _may_ask_shell(env: Mapping[str, str], platform: str) -> bool:
    return platform != "win32" and "PATH" not in env


def _in_terminal(has_terminal: bool | None) -> bool:
    """Whether a terminal controls this process, so that our PATH is already the user's."""
    if has_terminal is not None:
        return has_terminal
    if any(os.isatty(number) for number in (0, 1, 2)):
        return True
    try:  # an agent in a terminal starts us with pipes only, yet the terminal is still ours
        os.close(os.open("/dev/tty", os.O_RDONLY | os.O_NOCTTY))
    except OSError:
        return False
    return True


def resolve_placeholders(env: Mapping[str, str], environ: Mapping[str, str]) -> dict[str, str]:
    """Put values for `${VAR}`, `${VAR:-default}` and `${env:VAR}`; `$${` stands for `${`.

    Raises:
        ConfigurationError: CONFIGURATION_INVALID, naming the variable that is not set and its key.
    """
    return {
        key: _resolve_value(key, value, environ) if "${" in value else value
        for key, value in env.items()
    }


def _resolve_value(key: str, value: str, environ: Mapping[str, str]) -> str:
    def replacement(match: re.Match[str]) -> str:
        if match["unknown"]:
            raise ConfigurationError(
                "CONFIGURATION_INVALID",
                f"{match['unknown']!r} in env {key!r} is not a known placeholder; write "
                "${VAR}, ${VAR:-default} or ${env:VAR}, or $${ for a literal ${",
                details={"env_key": key, "placeholder": match["unknown"]},
            )
        name, default = match["name"], match["default"]
        if name is None:
            return "${"
        found = environ.get(name)
        if default is not None:
            return found or str(default)
        if found is None:
            raise ConfigurationError(
                "CONFIGURATION_INVALID",
                f"the environment variable {name!r}, used in env {key!r}, is not set; set it, or "
                f"give a default: ${{{name}:-default}}",
                details={"variable": name, "env_key": key},
            )
        return found

    return re.sub(_PLACEHOLDER, replacement, value)


def variable(env: Mapping[str, str], name: str, platform: str) -> str | None:
    """The value of a variable; on Windows `Path` is `PATH`."""
    if platform != "win32":
        return env.get(name)
    return next((value for key, value in env.items() if key.upper() == name.upper()), None)


def merge_environments(
    base: Mapping[str, str], extra: Mapping[str, str], platform: str
) -> dict[str, str]:
    """Put `extra` over `base`; on Windows a name in another case is the same name."""
    if platform != "win32":
        return {**base, **extra}
    replaced = {key.upper() for key in extra}
    return {**{key: value for key, value in base.items() if key.upper() not in replaced}, **extra}


def child_environment(
    environ: Mapping[str, str], *, inherit_all: bool, platform: str
) -> dict[str, str]:
    """What a server sees of our environment: all of it, or a short list that holds no secrets."""
    if inherit_all:
        return dict(environ)
    names = _DEFAULT_NAMES_WIN32 if platform == "win32" else _DEFAULT_NAMES
    return {
        key: value
        for key, value in environ.items()
        if (key.upper() if platform == "win32" else key) in names
        or key.startswith(_DEFAULT_PREFIXES)
        or key.upper() in _NETWORK_NAMES
    }


def search_folders(
    env: Mapping[str, str], environ: Mapping[str, str], base: str, platform: str
) -> list[str]:
    """The folders of PATH in `env`, else in our own environment, absolute and in order."""
    path = variable(env, "PATH", platform)
    if path is None:
        path = variable(environ, "PATH", platform)
    if path is None:
        path = os.defpath if platform != "win32" else ""
    if platform == "win32":
        path = path.replace('"', "")  # Windows lets an entry be quoted
    # An empty entry means "the current folder" to a shell, and is nearly always a slip.
    entries = path.split(";" if platform == "win32" else ":")
    return [_rules(platform).join(base, entry) for entry in entries if entry]


def extend_folders(folders: Sequence[str], extra: Sequence[str], platform: str) -> list[str]:
    """Our folders first, then those of the shell (and of Homebrew on macOS) that are new."""
    homebrew = _HOMEBREW_FOLDERS if platform == "darwin" else ()
    return list(dict.fromkeys((*folders, *extra, *homebrew)))


def path_extensions(environ: Mapping[str, str], platform: str) -> tuple[str, ...]:
    """The endings that make a file a program on Windows (PATHEXT); nothing elsewhere."""
    if platform != "win32":
        return ()
    listed = variable(environ, "PATHEXT", platform) or _DEFAULT_PATHEXT
    return tuple(entry.lower() for entry in listed.split(";") if entry.startswith("."))


def is_path(name: str, platform: str) -> bool:
    """Whether a command names a file rather than a program to be searched for."""
    if platform == "win32":
        return "/" in name or "\\" in name or bool(_rules(platform).splitdrive(name)[0])
    return "/" in name


def candidates(
    name: str, folders: Sequence[str], extensions: Sequence[str], platform: str
) -> Iterator[str]:
    """Every file that `name` may mean in these folders, best first."""
    rules = _rules(platform)
    endings: tuple[str, ...] = ("",)
    if extensions:
        has_ending = name.lower().endswith(tuple(extensions))
        endings = ("", *extensions) if has_ending else tuple(extensions)
    for folder in folders:
        for ending in endings:
            yield rules.join(folder, name + ending)


def examine(path: str) -> FileKind:
    """What is at a path, as far as starting it goes."""
    if os.path.isfile(path):
        return "executable" if os.access(path, os.X_OK) else "not executable"
    return "not a file" if os.path.exists(path) else "missing"


def _rules(platform: str) -> ModuleType:
    if platform != "win32":
        return posixpath
    import ntpath  # loaded nowhere else on POSIX

    return ntpath


def _check_strings(command: Sequence[str], env: Mapping[str, str]) -> None:
    """Refuse what no system can start, before it becomes a ValueError deep in a library."""
    problem = ""
    if not command or not command[0].strip():
        problem = "the command is empty; name the program that starts the server"
    elif any("\0" in part for part in command):
        problem = "the command holds a NUL character, which no program can be given"
    for key, value in env.items():
        if not key or "=" in key or "\0" in key or "\0" in value:
            problem = f"env {key!r} cannot be set: a name may not be empty or hold '=', nor NUL"
    if problem:
        raise ConfigurationError("CONFIGURATION_INVALID", problem)


def _check_folder(cwd: str | None) -> None:
    if cwd and not os.path.isdir(cwd):
        problem = "is not a folder" if os.path.exists(cwd) else "does not exist"
        raise ConfigurationError(
            "CONFIGURATION_INVALID",
            f"the working folder {_base_folder(cwd)!r} {problem}; create it or change cwd",
            details={"cwd": _base_folder(cwd)},
        )


def _base_folder(cwd: str | None) -> str:
    """What relative paths start from."""
    try:
        return os.path.abspath(cwd or ".")
    except FileNotFoundError:  # our own folder was deleted; absolute paths still work
        return os.sep


def _program_at(name: str, base: str, extensions: Sequence[str], platform: str) -> str:
    """The absolute path of a command that is itself a path."""
    rules = _rules(platform)
    path = rules.join(base, name)
    if ".." not in name:  # `a/..` is not `.` where `a` is a link
        path = rules.normpath(path)
    tried = list(candidates(path, [""], extensions, platform))
    kinds: dict[FileKind, str] = {}
    for candidate in tried:
        kind = examine(candidate)
        if kind == "executable":
            return candidate
        kinds.setdefault(kind, candidate)
    if at := kinds.get("not executable"):
        problem = (
            f"{at!r} is not executable; make it so (chmod +x), or start it with its interpreter, "
            f"for example: python {name}"
        )
    elif at := kinds.get("not a file"):
        problem = f"{at!r} is a folder or a device, not a program; give the path of the program"
    else:
        problem = f"there is no file {path!r}; check the path" + (
            " (~ is not expanded: write the folder out)" if name.startswith("~") else ""
        )
    raise ConfigurationError(
        "COMMAND_NOT_FOUND",
        f"the command {name!r} cannot be started: {problem}",
        details={"command": name, "searched": tried},
    )


def _find(
    name: str, folders: Sequence[str], extensions: Sequence[str], platform: str
) -> str | None:
    """The absolute path of a command that is searched for."""
    paths = candidates(name, folders, extensions, platform)
    return next((path for path in paths if examine(path) == "executable"), None)


def _not_found(
    name: str, folders: Sequence[str], extensions: Sequence[str], platform: str
) -> ConfigurationError:
    paths = candidates(name, folders, extensions, platform)
    blocked = next((path for path in paths if examine(path) == "not executable"), None)
    if blocked:
        advice = f"{blocked!r} is there but not executable (chmod +x makes it so)"
    elif " " in name:
        advice = "if it holds arguments, give each of them as an item of its own"
    else:
        advice = "install it, give its full path, or set PATH in env"
    return ConfigurationError(
        "COMMAND_NOT_FOUND",
        f"the command {name!r} was not found in {_shortened(folders)}; {advice}",
        details={"command": name, "searched": list(folders)},
    )


def _shortened(folders: Sequence[str]) -> str:
    if not folders:
        return "PATH, which is empty"
    shown = ", ".join(folders[:_FOLDERS_SHOWN])
    left_out = len(folders) - _FOLDERS_SHOWN
    return f"{shown} and {left_out} more folders" if left_out > 0 else shown
