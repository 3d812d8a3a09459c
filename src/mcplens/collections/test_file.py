"""A test file as a value: the same `*.mcp.yaml` as a collection, read with its expectations.

Strict where model.py is lenient: a test that is misspelt must not pass. Every problem of a file has
its line, its column and the nearest key that is known. Pure; what is expected is compared by
mcplens.testing.
"""

from __future__ import annotations

import re
from typing import Any, ClassVar, Final

import msgspec

from mcplens.collections.expect_shapes import (
    EXPECT_CHECKS,
    EXPECT_KEYS,
    WITHOUT_RESULT,
    Shapes,
)
from mcplens.collections.model import KINDS, STEP_KEYS, TEST_KEYS, TEST_KINDS, VERSION, TestKind
from mcplens.collections.variables import PlaceholderProblem, variables_in
from mcplens.protocol.yaml_values import Node, YamlProblem, parse

LISTS: Final = ("tools", "resources", "templates", "prompts")
FILE_KEYS: Final = (
    "version", "description", "server", "tests", "profiles", "profile", "timeout_ms",
)  # fmt: skip
_ALL_KINDS: Final[tuple[TestKind, ...]] = (*KINDS, *TEST_KINDS)
_STEP: Final = re.compile(r"tests\[([0-9]+)\]")
_VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")

# The entry of a server as in mcp.json, or a configured name.
ServerSpec = str | dict[str, Any]


class TestFileProblem(Exception):
    """A file that is not a test file: all that is wrong with it, in order."""

    __test__: ClassVar[bool] = False

    def __init__(self, problems: list[YamlProblem]) -> None:
        super().__init__(problems[0].text)
        self.problems = problems


class TestStep(msgspec.Struct, frozen=True, kw_only=True):
    """One test: what is sent, and what must come of it; placeholders are not yet filled in."""

    __test__: ClassVar[bool] = False

    index: int
    line: int
    name: str
    kind: TestKind
    target: str
    server: ServerSpec
    arguments: dict[str, Any] = {}
    expect: dict[str, Any] | None = None
    save: dict[str, str] = {}
    profile: str | dict[str, Any] | None = None
    timeout_ms: float | None = None

    @property
    def variables(self) -> list[str]:
        """The variables that it uses, each once; a schema is not expanded."""
        expected = {key: one for key, one in (self.expect or {}).items() if key != "schema"}
        return list(dict.fromkeys(variables_in([self.target, self.arguments, expected])))


class TestFile(msgspec.Struct, frozen=True, kw_only=True):
    """The content of one test file."""

    __test__: ClassVar[bool] = False

    description: str = ""
    steps: list[TestStep] = []
    profiles: dict[str, Any] = {}

    @property
    def variables(self) -> list[str]:
        """The variables that come from the environment: no step before saves them."""
        saved: set[str] = set()
        wanted: dict[str, None] = {}
        for step in self.steps:
            wanted |= dict.fromkeys(name for name in step.variables if name not in saved)
            saved |= step.save.keys()
        return list(wanted)

    @property
    def servers(self) -> list[ServerSpec]:
        """The servers of its steps, each once."""
        found: list[ServerSpec] = []
        for step in self.steps:
            if step.server not in found:
                found.append(step.server)
        return found


def read_test_file(text: str) -> TestFile:
    """The tests that a text describes.

    Raises:
        TestFileProblem: it is not YAML, or not a test file.
    """
    try:
        root = parse(text)
    except YamlProblem as problem:
        raise TestFileProblem([problem]) from None
    reader = _Reader()
    found = reader.file(root)
    if reader.problems:
        raise TestFileProblem(sorted(reader.problems, key=lambda one: (one.line, one.column)))
    return found


def sentence(problem: YamlProblem) -> str:
    """A problem with its place: `3:5: step 1, expect: unknown key …`."""
    place = f"{problem.line}:{problem.column}: " if problem.line else ""
    key = shown_key(problem.key)
    return f"{place}{key}: {problem.text}" if key else f"{place}{problem.text}"


def shown_key(key: str) -> str:
    """Where in the file, for people, who count steps from one: `tests[0].expect` is step 1."""
    found = _STEP.match(key)
    if found is None:
        return key
    rest = key[found.end() :].removeprefix(".")
    return f"step {int(found[1]) + 1}" + (f", {rest}" if rest else "")


class _Reader(Shapes):
    """Checks the nodes of a file."""

    def file(self, root: Node) -> TestFile:
        if not isinstance(root.value, dict):
            self.wrong(root, "", "a test file is a mapping that begins with `version: 1`")
            return TestFile()
        self.keys(root, "", FILE_KEYS)
        version = root.members.get("version")
        if version is None:
            self.wrong(root, "", "`version: 1` is missing")
        elif version.value != VERSION or isinstance(version.value, bool):
            text = f"version {version.value!r} is not known; this release reads version 1"
            self.wrong(version, "version", text)
        tests = root.members.get("tests")
        if tests is not None and tests.value is not None and not isinstance(tests.value, list):
            self.wrong(tests, "tests", "`tests` is a list of steps, each with `name` and `call`")
        items = tests.items if tests is not None else []
        steps = [self.step(at, node, root) for at, node in enumerate(items)]
        self.names(steps, items)
        return TestFile(
            description=self.text(root, "description", "") or "",
            steps=[step for step in steps if step is not None],
            profiles=self.mapping(root, "profiles", ""),
        )

    def names(self, steps: list[TestStep | None], items: list[Node]) -> None:
        """Snapshots and reports go by names."""
        seen: dict[str, int] = {}
        for step, node in zip(steps, items, strict=True):
            if step is None:
                continue
            if step.name in seen:
                at = f"tests[{step.index}]"
                text = f"there is a test named {step.name!r} already, in line {seen[step.name]}"
                self.wrong(node, at, text)
            seen.setdefault(step.name, step.line)

    def step(self, index: int, node: Node, root: Node) -> TestStep | None:
        at = f"tests[{index}]"
        value = node.value
        if not isinstance(value, dict):
            self.wrong(node, at, "a step is a mapping with `name` and `call`")
            return None
        self.keys(node, at, (*STEP_KEYS, *TEST_KEYS))
        given = [kind for kind in _ALL_KINDS if kind in value]
        if len(given) != 1:
            known = ", ".join(f"`{kind}`" for kind in given or _ALL_KINDS)
            self.wrong(node, at, f"a step has one of {known}")
            return None
        kind: TestKind = given[0]
        target = self.text(node, kind, at) or ""
        if not target and isinstance(value[kind], str):
            self.wrong(node.members[kind], f"{at}.{kind}", f"`{kind}` must not be empty")
        if kind == "list" and target not in LISTS:
            text = f"`list` is one of {', '.join(LISTS)}"
            self.wrong(node.members[kind], f"{at}.list", text)
        step = TestStep(
            index=index,
            line=node.line,
            name=self.text(node, "name", at) or target or f"step {index + 1}",
            kind=kind,
            target=target,
            server=self.server(node, root, at),
            arguments=self.mapping(node, "with", at),
            expect=self.expect(node, kind, at),
            save=self.save(node, at),
            profile=self.profile(node, root, at),
            timeout_ms=self.timeout_ms(node, root, at),
        )
        self.placeholders(step, node, at)
        return step

    def placeholders(self, step: TestStep, node: Node, at: str) -> None:
        try:
            step.variables  # noqa: B018  it is read for what it raises
        except PlaceholderProblem as problem:
            self.wrong(node, at, problem.text)

    # -- the keys of a step ----------------------------------------------------------------------

    def server(self, node: Node, root: Node, at: str) -> ServerSpec:
        holder = node if "server" in node.members else root
        found = holder.members.get("server")
        value = found.value if found is not None else None
        if isinstance(value, str) and value:
            return value
        if isinstance(value, dict) and ("command" in value or "url" in value):
            return value
        if found is None:
            self.wrong(node, at, "no `server`: name a configured one, or give its command or url")
        else:
            text = "`server` is a configured name, or a mapping with `command` or `url`"
            self.wrong(found, "server" if holder is root else f"{at}.server", text)
        return ""

    def profile(self, node: Node, root: Node, at: str) -> str | dict[str, Any] | None:
        found = node.members.get("profile") or root.members.get("profile")
        if found is None or found.value is None:
            return None
        if not isinstance(found.value, str | dict):
            text = "`profile` is the name of a profile, or a mapping with its `kind`"
            self.wrong(found, f"{at}.profile", text)
            return None
        profile: str | dict[str, Any] = found.value
        return profile

    def timeout_ms(self, node: Node, root: Node, at: str) -> float | None:
        own = self.number(node, "timeout_ms", at)
        return self.number(root, "timeout_ms", "") if own is None else own

    def save(self, node: Node, at: str) -> dict[str, str]:
        saved = node.members.get("save")
        found = self.mapping(node, "save", at)
        for name, path in found.items():
            assert saved is not None
            place = saved.members[name]
            if not _VARIABLE.fullmatch(name):
                text = "a variable has letters, digits and _, and does not begin with a digit"
                self.wrong(place, f"{at}.save.{name}", text)
            self.path(place, f"{at}.save.{name}", path)
        return {name: str(path) for name, path in found.items()}

    def expect(self, node: Node, kind: TestKind, at: str) -> dict[str, Any] | None:
        found = node.members.get("expect")
        if found is None or found.value is None:
            return None
        at = f"{at}.expect"
        if not isinstance(found.value, dict):
            self.wrong(found, at, "`expect` is a mapping, for example {structured: {sum: 5}}")
            return None
        self.keys(found, at, EXPECT_KEYS)
        for key, one in found.members.items():
            check = EXPECT_CHECKS.get(key)
            if check is not None:
                check(self, one, f"{at}.{key}")
            if kind in ("notify", "wait") and key not in WITHOUT_RESULT:
                self.wrong(one, f"{at}.{key}", f"a step with `{kind}` has no result")
        return dict(found.value)
