"""A collection as a value: its steps in order, read from the text of a `*.mcp.yaml` file.

A step that cannot be run has a `problem`, and the others stay as they are. Keys that only tests
have (`expect`, `save` and the like) are left alone; test_file.py reads the same file with them.
"""

from __future__ import annotations

import difflib
from typing import Any, Final, Literal

import msgspec

from mcplens.collections.variables import PlaceholderProblem, variables_in
from mcplens.protocol.yaml_values import Node, YamlProblem, parse

VERSION: Final = 1
StepKind = Literal["call", "read", "prompt", "request"]
KINDS: Final[tuple[StepKind, ...]] = ("call", "read", "prompt", "request")
STEP_KEYS: Final = ("name", "description", "server", *KINDS, "with")
# Kinds of steps that only `mcplens test` and pytest run.
OnlyTested = Literal["complete", "list", "notify", "raw", "wait"]
TestKind = StepKind | OnlyTested
TEST_KINDS: Final[tuple[OnlyTested, ...]] = ("complete", "list", "notify", "raw", "wait")
# What a step of a test has besides.
TEST_KEYS: Final = (*TEST_KINDS, "expect", "save", "profile", "timeout_ms")
# Keys that are left alone: those of tests, and some that later versions may add.
_OTHER_KEYS: Final = frozenset({*TEST_KEYS, "skip", "tags", "when"})
# How near a key must be to a known one to count as mistyped.
_NEAR: Final = 0.75


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """One saved call: `kind` and `target` say what is sent (a tool, a resource's URI, a prompt, a
    method), `arguments` what it is sent with, placeholders not yet filled in."""

    index: int
    line: int
    name: str
    description: str = ""
    server: str | None = None
    kind: StepKind = "call"
    target: str = ""
    arguments: dict[str, Any] = {}
    problem: str | None = None

    @property
    def variables(self) -> tuple[str, ...]:
        """The variables that it uses, each once."""
        try:
            return tuple(variables_in([self.target, self.arguments]))
        except PlaceholderProblem:
            return ()


class Collection(msgspec.Struct, frozen=True, kw_only=True):
    """The content of one file."""

    description: str = ""
    server: str | None = None
    steps: list[Step] = []

    @property
    def variables(self) -> list[str]:
        return list(dict.fromkeys(name for step in self.steps for name in step.variables))

    @property
    def servers(self) -> list[str]:
        found = (step.server for step in self.steps)
        return list(dict.fromkeys(name for name in found if name is not None))


def read_collection(text: str) -> Collection:
    """The collection that a text describes.

    Raises:
        YamlProblem: it is not YAML, or not a collection.
    """
    root = parse(text)
    if not isinstance(root.value, dict):
        raise _at(root, "a collection is a mapping that begins with `version: 1`")
    version = root.members.get("version")
    if version is None:
        raise _at(root, "`version: 1` is missing")
    if version.value != VERSION or isinstance(version.value, bool):
        text = f"version {version.value!r} is not known; this release reads version 1"
        raise _at(version, text, "version")
    server = _server(root)
    tests = root.members.get("tests")
    if tests is not None and tests.value is not None and not isinstance(tests.value, list):
        raise _at(tests, "`tests` is a list of steps, each with `name` and `call`", "tests")
    items = tests.items if tests is not None else []
    return Collection(
        description=_text_or(root.value.get("description"), ""),
        server=server,
        steps=[_step(at, node, server, root) for at, node in enumerate(items)],
    )


def _server(node: Node) -> str | None:
    """The configured name that a file or a step gives; an entry of its own is not used here."""
    value = node.value.get("server")
    return value if isinstance(value, str) and value else None


def _step(index: int, node: Node, server: str | None, root: Node) -> Step:
    value = node.value
    if not isinstance(value, dict):
        text = "a step is a mapping with `name` and `call`"
        return Step(index=index, line=node.line, name=f"step {index + 1}", problem=text)
    kind: StepKind = next((one for one in KINDS if one in value), "call")
    arguments = value.get("with")
    own = value.get("server", root.value.get("server"))
    step = Step(
        index=index,
        line=node.line,
        name=_text_or(value.get("name"), "") or _text_or(value.get(kind), f"step {index + 1}"),
        description=_text_or(value.get("description"), ""),
        server=_server(node) if "server" in value else server,
        kind=kind,
        target=_text_or(value.get(kind), ""),
        arguments=arguments if isinstance(arguments, dict) else {},
    )
    return msgspec.structs.replace(step, problem=_problem(step, value, own))


def _problem(step: Step, value: dict[str, Any], server: Any) -> str | None:
    """Why a step cannot be run."""
    for key in value:
        if key in STEP_KEYS or key in _OTHER_KEYS:
            continue
        near = difflib.get_close_matches(key, STEP_KEYS, 1, _NEAR)
        if near and near[0] not in value:
            return f"unknown key {key!r}; did you mean {near[0]!r}?"
    given = [kind for kind in KINDS if kind in value]
    if len(given) > 1:
        return f"a step has one of {', '.join(f'`{kind}`' for kind in given)}"
    only_tested = next((kind for kind in TEST_KINDS if kind in value), None)
    if not given and only_tested is not None:
        return f"only `mcplens test` runs steps with `{only_tested}`"
    if not given:
        return "a step needs one of `call`, `read`, `prompt` or `request`"
    if not step.target:
        return f"`{step.kind}` must be a text"
    if "name" in value and not isinstance(value["name"], str):
        return "`name` must be a text; quote it"
    if value.get("with") is not None and not isinstance(value["with"], dict):
        return "`with` is a mapping of arguments"
    if isinstance(server, dict):
        return "`server` must be a configured name here; only tests use an entry of their own"
    if step.server is None:
        return "no `server`: name a configured one, in the step or for the whole file"
    try:
        list(variables_in([step.target, step.arguments]))
    except PlaceholderProblem as problem:
        return problem.text
    return None


def _text_or(value: Any, other: str) -> str:
    return value if isinstance(value, str) else other


def _at(node: Node, text: str, key: str = "") -> YamlProblem:
    return YamlProblem(text, node.line, node.column, key)


def step_of_tool(tool: str, arguments: Any) -> tuple[StepKind, str, dict[str, Any]]:
    """The step that calls a tool; arguments that are not an object need a whole request."""
    if isinstance(arguments, dict):
        return "call", tool, arguments
    return "request", "tools/call", {"name": tool, "arguments": arguments}


def step_fields(
    *,
    name: str,
    description: str,
    server: str | dict[str, Any] | None,
    kind: StepKind,
    target: str,
    arguments: dict[str, Any],
) -> dict[str, Any]:
    """A step as the file has it; None for a key that it does not have."""
    fields: dict[str, Any] = {
        "name": name,
        "description": description or None,
        "server": server,
        **{one: target if one == kind else None for one in KINDS},
        "with": arguments or None,
    }
    return fields
