"""Reader of the MCP registry's `server.json`: the packages and remotes of one server.

One package or remote is chosen by its label (`choices` lists them), else the first that can be
started or reached. Values that a person must fill in are Inputs: supplied, or from an environment
variable. Pure; called by other_tools.py.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from mcplens.config.model import Input
from mcplens.config.placeholders import escape, placeholder, rewrite, variable_name
from mcplens.config.tool_reader import ImportedServer, Reading, mapping, sequence

_RUNNERS: Final = {"npm": "npx", "pypi": "uvx", "oci": "docker", "nuget": "dnx"}
_VARIABLE: Final = re.compile(r"\{([A-Za-z_][\w.-]*)\}")


def choices(document: Any) -> list[str]:
    """The labels of its packages and remotes: `npm`, `oci`, `remote`, `remote-2`."""
    return list(_ways(_camel(mapping(document))))


def first_choice(document: Any) -> str | None:
    """The package or remote that is used if none is chosen."""
    return _first(_ways(_camel(mapping(document))))


def read_registry(document: dict[str, Any], reading: Reading) -> Iterator[ImportedServer]:
    """The server of a `server.json`, by the chosen package or remote."""
    document = _camel(document)
    name = str(document.get("name", "")).rpartition("/")[2] or "server"
    ways = _ways(document)
    label = reading.choice or _first(ways)
    if label not in ways:
        known = ", ".join(ways) or "none"
        problem = (
            "lists neither packages nor remotes"
            if not ways
            else f"has no package or remote {label!r}"
        )
        yield ImportedServer(
            name=name, raw={}, problem=f"server.json {problem}; available: {known}"
        )
        return
    server = _Way(ways[label], reading)
    raw = server.command() if "registryType" in server.way else server.remote()
    if title := document.get("title"):
        raw["name"] = escape(str(title))
    others = [other for other in ways if other != label]
    remarks = (
        (f"uses {label} of server.json; also available: {', '.join(others)}",) if others else ()
    )
    yield ImportedServer(
        name=name,
        raw=raw,
        inputs=tuple(server.inputs.values()),
        remarks=remarks,
        problem=_obstacle(ways[label]),
    )


def _first(ways: dict[str, dict[str, Any]]) -> str | None:
    open_ways = (label for label, way in ways.items() if not _obstacle(way))
    return next(open_ways, next(iter(ways), None))


def _ways(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    packages = [(str(mapping(one).get("registryType")), one) for one in _list(document, "packages")]
    remotes = [("remote", one) for one in _list(document, "remotes")]
    for label, way in (*packages, *remotes):
        number = 2
        unique = label
        while unique in found:
            unique, number = f"{label}-{number}", number + 1
        found[unique] = mapping(way)
    return found


def _list(document: dict[str, Any], key: str) -> list[Any]:
    return sequence(document.get(key))


def _obstacle(way: dict[str, Any]) -> str | None:
    """Why this package or remote cannot be used; None if it can."""
    kind = way.get("registryType")
    if kind is None:
        return None
    if kind not in _RUNNERS and not way.get("runtimeHint"):
        return f"a {kind!r} package must be installed by hand; then add its command"
    transport = mapping(way.get("transport"))
    if transport.get("type", "stdio") != "stdio":
        url = transport.get("url", "its URL")
        return f"this package runs as a network server; start it, then connect to {url}"
    return None


class _Way:
    """One package or remote, and the inputs it needs."""

    def __init__(self, way: dict[str, Any], reading: Reading) -> None:
        self.way = way
        self.reading = reading
        self.inputs: dict[str, Input] = {}

    def __repr__(self) -> str:
        return f"<_Way {self.way.get('identifier') or self.way.get('url')}>"

    def command(self) -> dict[str, Any]:
        kind, version = self.way.get("registryType"), self.way.get("version")
        package = escape(str(self.way.get("identifier", "")))
        runner = self.way.get("runtimeHint") or _RUNNERS.get(str(kind), "")
        before = self.arguments("runtimeArguments")
        after = self.arguments("packageArguments")
        env = self.values("environmentVariables")
        exact = f"{package}@{version}" if version else package
        if kind == "oci":
            image = f"{package}:{version}" if version and "@" not in package else package
            given = " ".join(before)
            passed = [part for name in env if name not in given for part in ("-e", name)]
            args = ["run", "-i", "--rm", *passed, *before, image, *after]
        elif kind == "npm":
            args = [*(() if "-y" in before else ("-y",)), *before, exact, *after]
        elif kind == "nuget":
            args = [*before, exact, "--yes", *(("--", *after) if after else ())]
        else:
            args = [*before, exact, *after]
        raw: dict[str, Any] = {"command": escape(str(runner)), "args": args}
        return raw | ({"env": env} if env else {})

    def remote(self) -> dict[str, Any]:
        kind = self.way.get("type") or self.way.get("transportType") or "http"
        url = self.text(str(self.way.get("url", "")), mapping(self.way.get("variables")))
        raw: dict[str, Any] = {"transport": kind, "url": url}
        headers = self.values("headers")
        return raw | ({"headers": headers} if headers else {})

    def arguments(self, key: str) -> list[str]:
        found: list[str] = []
        for argument in _list(self.way, key):
            argument = mapping(argument)
            flag = argument.get("name") if argument.get("type") == "named" else None
            hint = str(argument.get("valueHint") or argument.get("name") or "argument")
            value = self.value(hint, argument)
            if value is None and not (flag and argument.get("value") == ""):
                continue
            found += [escape(str(flag))] if flag else []
            found += [value] if value else []
        return found

    def values(self, key: str) -> dict[str, str]:
        found = {}
        for item in _list(self.way, key):
            name = str(mapping(item).get("name", ""))
            value = self.value(name, mapping(item))
            if name and value is not None:
                found[name] = value
        return found

    def value(self, name: str, item: dict[str, Any]) -> str | None:
        """The value of an input: fixed, supplied, or a placeholder; None if it may be left out."""
        if item.get("value"):
            return self.text(str(item["value"]), mapping(item.get("variables")))
        return self.ask(name, item)

    def text(self, template: str, variables: dict[str, Any]) -> str:
        """Replaces names in braces that are declared as variables."""

        def replace(match: re.Match[str]) -> str:
            if match[1] not in variables:
                return escape(match.group())
            item = mapping(variables[match[1]])
            return self.value(match[1], item) or ""

        return rewrite(template, _VARIABLE, replace)

    def ask(self, name: str, item: dict[str, Any]) -> str | None:
        default = item.get("default")
        default = None if default is None else str(default)
        one = self.inputs[name] = Input(
            id=name,
            variable=variable_name(name),
            description=str(item.get("description") or ""),
            default=default,
            choices=tuple(str(choice) for choice in sequence(item.get("choices"))),
            is_secret=item.get("isSecret") is True,
            is_required=item.get("isRequired") is True,
        )
        if name in self.reading.values:
            return escape(self.reading.values[name])
        if default is None and not one.is_required:
            return None
        return placeholder(one.variable, default)


def _camel(value: Any) -> Any:
    """Keys in camel case, as in the current schema; early files had `registry_type`."""
    if isinstance(value, list):
        return [_camel(item) for item in value]
    if not isinstance(value, dict):
        return value
    # Names under `variables` are chosen by the author.
    return {
        (key if key == "_meta" else re.sub(r"_([a-z])", lambda match: match[1].upper(), key)): (
            {name: _camel(item) for name, item in item.items()}
            if key == "variables" and isinstance(item, dict)
            else _camel(item)
        )
        for key, item in value.items()
    }
