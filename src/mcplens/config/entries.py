"""Builds a ServerEntry from a server of a file: resolved, validated, with defaults.

An invalid entry disables only itself, with an error that names file, server and key. Nothing is
connected or started here; the only file that is read is a server's `envFile`. Called by
configuration.py for our files and by other_tools.py for those of other tools.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

from mcplens.config import env_file
from mcplens.config.environment import Environment
from mcplens.config.files import invalid
from mcplens.config.keys import ALIASES, AUTH_KEYS, SERVER_KEYS, InvalidValue
from mcplens.config.model import FieldProblem, Input, ServerEntry, Source
from mcplens.config.placeholders import PlaceholderProblem, resolve_all
from mcplens.errors import ConfigurationError

# Line and column of a server's key, if the file's parser knows them.
Locate = Callable[[str], tuple[int, int] | None]

_NAMES: Final = frozenset(key.name for key in SERVER_KEYS)
_SCHEMES: Final = {
    "http": ("http", "https"),
    "sse": ("http", "https"),
    "websocket": ("ws", "wss"),
}
_FOR_COMMAND: Final = ("command", "args", "env", "envFile", "inheritEnv", "cwd")
_FOR_URL: Final = ("url", "headers", "auth", "caFile", "insecure")


def build_entry(
    name: str,
    raw: Any,
    source: Source,
    here: Environment,
    *,
    folder: str | None = None,
    inputs: Iterable[Input] = (),
    remarks: Iterable[str] = (),
    problem: str | None = None,
    locate: Locate = lambda key: None,
) -> ServerEntry:
    """One server of a file; relative paths start from `folder`.

    Servers of a project's file run in that folder; others in the current folder.
    """
    builder = _Builder(name, source, here, folder or here.rules.dirname(source.path))
    builder.remarks += remarks
    if problem is not None:
        builder.problems.append(InvalidValue("", problem))
    elif not isinstance(raw, dict):
        builder.problems.append(InvalidValue("", "must be an object with a command or a url"))
    fields: dict[str, Any] = {}
    if isinstance(raw, dict):
        given = builder.spell(raw)
        fields = builder.read(given)
        builder.complete(fields, given)
        fields |= {"unknown": {key: raw[key] for key in raw if key in builder.unknown}}
    return ServerEntry(
        name=name,
        source=source,
        raw=raw if isinstance(raw, dict) else {},
        inputs=tuple(inputs),
        remarks=tuple(builder.remarks),
        problem=builder.error(tuple(inputs), locate),
        field_problems=tuple(
            FieldProblem(one.key, one.text, one.is_local, one.variable) for one in builder.problems
        ),
        **fields,
    )


class _Builder:
    """Builds one entry."""

    def __init__(self, name: str, source: Source, here: Environment, folder: str) -> None:
        self.name = name
        self.source = source
        self.here = here
        self.folder = folder
        self.unknown: list[str] = []
        self.remarks: list[str] = []
        self.problems: list[InvalidValue] = []
        self.unset: str | None = None

    def __repr__(self) -> str:
        return f"<_Builder {self.name!r} {len(self.problems)} problems>"

    def spell(self, raw: dict[str, Any]) -> dict[str, Any]:
        """The known keys by our names; null counts as absent."""
        given: dict[str, Any] = {}
        for key, value in raw.items():
            if value is None:
                continue
            if key == "disabled" and "enabled" not in raw and isinstance(value, bool):
                given["enabled"] = not value
            elif key in _NAMES:
                given[key] = value
            elif key in ALIASES and raw.get(ALIASES[key]) is None:
                given[ALIASES[key]] = value
            else:
                self.unknown.append(key)
        if self.unknown:
            self.remarks.append(f"unknown keys: {', '.join(self.unknown)}")
        return given

    def read(self, given: dict[str, Any]) -> dict[str, Any]:
        """The fields of the entry; invalid ones become problems and keep their default."""
        fields: dict[str, Any] = {}
        for key in SERVER_KEYS:
            if key.name not in given:
                continue
            try:
                value = self.resolve(given[key.name], key.name)
                fields[key.field] = key.read(value, key.name)
            except InvalidValue as wrong:
                self.problems.append(wrong)
        return fields

    def resolve(self, value: Any, key: str) -> Any:
        if isinstance(value, dict):
            return {name: self.resolve(item, f"{key}.{name}") for name, item in value.items()}
        if isinstance(value, list):
            return [self.resolve(item, f"{key}[{at}]") for at, item in enumerate(value)]
        try:
            return resolve_all(value, self.here.variable)
        except PlaceholderProblem as problem:
            self.unset = self.unset or problem.variable
            raise InvalidValue(key, problem.text, variable=problem.variable) from None

    # -- what follows from several keys --------------------------------------------------------

    def complete(self, fields: dict[str, Any], given: dict[str, Any]) -> None:
        unknown_auth = fields.get("auth", {}).keys() - set(AUTH_KEYS)
        if unknown_auth:
            self.remarks.append(f"auth: unknown keys: {', '.join(sorted(unknown_auth))}")
        wrong = {problem.key.partition(".")[0].partition("[")[0] for problem in self.problems}
        kind = fields.get("transport") or _infer(given, fields.get("url"))
        if "transport" in wrong:
            return
        if kind is None:
            self.problems.append(InvalidValue("command", "a command or a url is required"))
            return
        fields["transport"] = kind
        needed = "command" if kind == "stdio" else "url"
        if needed not in given:
            self.problems.append(InvalidValue(needed, f"is missing; {kind} requires it"))
        elif kind != "stdio" and "url" in fields:
            self.check_url(fields["url"], kind)
        if fields.get("singleton") and fields.get("session_mode", "persistent") != "persistent":
            text = 'works with sessionMode "persistent" alone: others have several sessions at once'
            self.problems.append(InvalidValue("singleton", text))
        self.drop_meaningless(fields, given, kind)
        self.place(fields)

    def check_url(self, url: str, kind: str) -> None:
        schemes = _SCHEMES[kind]
        scheme, separator, rest = url.partition("://")
        if not separator or not rest or scheme.lower() not in schemes:
            wanted = " or ".join(f"{one}://" for one in schemes)
            self.problems.append(InvalidValue("url", f"must begin with {wanted} for {kind}"))

    def drop_meaningless(self, fields: dict[str, Any], given: dict[str, Any], kind: str) -> None:
        """Drops a URL's keys for a command, and the other way round."""
        others = _FOR_URL if kind == "stdio" else _FOR_COMMAND
        left_out = [key for key in others if key in given]
        if left_out:
            what = "a command" if kind == "stdio" else "a URL"
            self.remarks.append(f"ignored for {what}: {', '.join(left_out)}")
        for key in SERVER_KEYS:
            if key.name in left_out:
                fields.pop(key.field, None)

    def place(self, fields: dict[str, Any]) -> None:
        """Makes paths absolute; `env` overrides the variables of `envFile`."""
        for field in ("cwd", "ca_file", "env_file"):
            if field in fields:
                fields[field] = self.here.absolute(fields[field], self.folder)
        for name in ("privateKeyFile", "subjectTokenFile"):
            if (path := fields.get("auth", {}).get(name)) is not None:
                fields["auth"] = {**fields["auth"], name: self.here.absolute(path, self.folder)}
        if fields["transport"] == "stdio" and self.source.scope == "project":
            fields.setdefault("cwd", self.folder)
        if "env_file" in fields:
            try:
                fields["env"] = env_file.read(fields["env_file"]) | fields.get("env", {})
            except ConfigurationError as problem:
                self.problems.append(InvalidValue("envFile", problem.message, is_local=True))
        if "roots" in fields:
            fields["roots"] = tuple(self.rooted(root) for root in fields["roots"])

    def rooted(self, root: dict[str, str]) -> dict[str, str]:
        if "://" in root["uri"]:
            return root
        from urllib.parse import quote

        path = self.here.absolute(root["uri"], self.folder).replace("\\", "/")
        return {**root, "uri": "file://" + ("" if path[0] == "/" else "/") + quote(path, safe="/:")}

    # -- what is wrong -------------------------------------------------------------------------

    def error(self, inputs: tuple[Input, ...], locate: Locate) -> ConfigurationError | None:
        if not self.problems:
            return None
        first = self.problems[0]
        at = locate(first.key)
        where = f"{self.source.path}{f', line {at[0]}' if at else ''}: server {self.name!r}"
        told = "; ".join(_told(problem) for problem in self.problems)
        asked = next((one for one in inputs if one.variable == self.unset), None)
        if asked is not None and asked.description:
            told += f" ({asked.id}: {asked.description})"
        return invalid(
            f"{where}: {told}",
            file=self.source.path,
            server=self.name,
            key=first.key or None,
            variable=self.unset,
            is_local=all(problem.is_local for problem in self.problems) or None,
            line=at[0] if at else None,
            column=at[1] if at else None,
        )


def _infer(given: dict[str, Any], url: str | None) -> str | None:
    if "command" in given:
        return "stdio"
    if "url" not in given:
        return None
    return "websocket" if (url or "").lower().startswith(("ws://", "wss://")) else "http"


def _told(problem: InvalidValue) -> str:
    return f"{problem.key}: {problem.text}" if problem.key else problem.text


def resolved_members(
    value: dict[str, Any], key: str, here: Environment
) -> tuple[dict[str, Any], list[InvalidValue]]:
    """The resolved members of a top-level object, and the problems of the others."""
    found: dict[str, Any] = {}
    wrongs: list[InvalidValue] = []
    for name, member in value.items():
        try:
            found[name] = resolve_all(member, here.variable)
        except PlaceholderProblem as problem:
            wrongs.append(InvalidValue(f"{key}.{name}", problem.text))
    return found, wrongs


def resolved_text(value: Any, key: str, here: Environment) -> Any:
    """A top-level value resolved, unless it is an object; raises InvalidValue."""
    if isinstance(value, dict):
        return value
    try:
        return resolve_all(value, here.variable)
    except PlaceholderProblem as problem:
        raise InvalidValue(key, problem.text) from None
