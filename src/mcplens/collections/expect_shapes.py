"""The shapes of what a test file may have: each key of `expect`, and what its value must be.

Called by test_file.py with the nodes of a file; notes every problem with its place.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable
from typing import Any, Final

from mcplens.collections.json_paths import JsonPathProblem, compile_path
from mcplens.protocol.yaml_values import Node, YamlProblem

# How near a key must be to a known one to be suggested.
_NEAR: Final = 0.6
# A name in a message, and no more of what may be a pasted secret.
_SHOWN: Final = 60


class Shapes:
    """Checks the shape of nodes, and notes what is wrong with them."""

    def __init__(self) -> None:
        self.problems: list[YamlProblem] = []

    def __repr__(self) -> str:
        return f"<{type(self).__name__}, {len(self.problems)} problems>"

    def wrong(self, node: Node, key: str, text: str) -> None:
        self.problems.append(YamlProblem(text, node.line, node.column, key))

    def keys(self, node: Node, at: str, known: Iterable[str]) -> None:
        """Every key is known; one that is not is named with the nearest that is."""
        known = list(known)
        for key, one in node.members.items():
            if key in known:
                continue
            near = difflib.get_close_matches(key, known, 1, _NEAR)
            hint = f"did you mean {near[0]!r}?" if near else f"known are {', '.join(known)}"
            problem = f"unknown key {key[:_SHOWN]!r}; {hint}"
            self.problems.append(YamlProblem(problem, one.key_line, one.key_column, at))

    def text(self, node: Node, key: str, at: str) -> str | None:
        found = node.members.get(key)
        if found is None or found.value is None:
            return None
        if not isinstance(found.value, str):
            self.wrong(found, f"{at}.{key}".lstrip("."), f"`{key}` must be a text; quote it")
            return None
        return found.value

    def number(self, node: Node, key: str, at: str) -> float | None:
        found = node.members.get(key)
        if found is None or found.value is None:
            return None
        self.is_number(found, f"{at}.{key}".lstrip("."))
        return found.value if _is_number(found.value) else None

    def mapping(self, node: Node, key: str, at: str) -> dict[str, Any]:
        found = node.members.get(key)
        if found is None or found.value is None:
            return {}
        if not isinstance(found.value, dict):
            self.wrong(found, f"{at}.{key}".lstrip("."), f"`{key}` is a mapping")
            return {}
        return dict(found.value)

    def path(self, node: Node, at: str, path: Any) -> None:
        try:
            compile_path(path if isinstance(path, str) else "")
        except JsonPathProblem as problem:
            self.wrong(node, at, f"not a JSONPath: {problem}")

    def is_number(self, node: Node, at: str) -> None:
        if not _is_number(node.value) or node.value < 0:
            self.wrong(node, at, "must be a number, 0 or more")

    def is_flag(self, node: Node, at: str) -> None:
        if not isinstance(node.value, bool):
            self.wrong(node, at, "must be true or false")

    def is_schema(self, node: Node, at: str) -> None:
        from mcplens.protocol.schema_validation import SchemaProblem, Validator

        try:
            Validator(node.value)
        except SchemaProblem as problem:
            self.wrong(node, at, f"not a JSON Schema: {problem}")

    def is_text(self, node: Node, at: str) -> None:
        """A text to be contained, several, or a mapping with `contains` and `matches`."""
        if not isinstance(node.value, dict):
            self.is_texts(node, at)
            return
        self.keys(node, at, ("contains", "matches"))
        for key, one in node.members.items():
            self.is_texts(one, f"{at}.{key}")
            for pattern in _listed(one.value) if key == "matches" else ():
                try:
                    re.compile(str(pattern))
                except re.error as problem:
                    self.wrong(one, f"{at}.{key}", f"not a regular expression: {problem}")

    def is_texts(self, node: Node, at: str) -> None:
        if not all(isinstance(one, str) for one in _listed(node.value)) or node.value == []:
            self.wrong(node, at, "must be a text, or a list of texts; quote it")

    def is_error(self, node: Node, at: str) -> None:
        value = node.value
        if isinstance(value, dict):
            self.keys(node, at, ("code", "message"))
            if "message" in node.members:
                self.is_text(node.members["message"], f"{at}.message")
            value = value.get("code", 0)
        if isinstance(value, bool) or (isinstance(value, int | str) and value != ""):
            return
        text = "is true, a code (-32602, REQUEST_TIMEOUT), or a mapping with `code` and `message`"
        self.wrong(node, at, text)

    def is_notifications(self, node: Node, at: str) -> None:
        if isinstance(node.value, dict):  # how many of each
            for method, one in node.members.items():
                self.is_number(one, f"{at}.{method}")
            return
        self.is_listed(node, at, ("method", "params"), "method")

    def is_progress(self, node: Node, at: str) -> None:
        if isinstance(node.value, list):
            for one in node.items:
                if isinstance(one.value, dict):
                    self.keys(one, at, ("progress", "total", "message"))
                elif not _is_number(one.value):
                    self.wrong(one, at, "is a number, or a mapping with `progress` and `total`")
        elif not isinstance(node.value, bool):
            self.is_number(node, at)

    def is_log(self, node: Node, at: str) -> None:
        self.is_listed(node, at, ("level", "logger", "text"), None)
        for one in node.items:
            if "text" in one.members:
                self.is_text(one.members["text"], f"{at}.text")

    def is_questions(self, node: Node, at: str) -> None:
        self.is_listed(node, at, ("method", "params"), "method")

    def is_listed(self, node: Node, at: str, keys: tuple[str, ...], needed: str | None) -> None:
        if not isinstance(node.value, list):
            self.wrong(node, at, "is a list")
        for one in node.items:
            if isinstance(one.value, dict):
                self.keys(one, at, keys)
                if needed is not None and not isinstance(one.value.get(needed), str):
                    self.wrong(one, at, f"`{needed}` is missing")
            elif not isinstance(one.value, str):
                self.wrong(one, at, f"is a text, or a mapping with {', '.join(keys)}")

    def is_snapshot(self, node: Node, at: str) -> None:
        if not isinstance(node.value, dict):
            self.is_flag(node, at)
            return
        self.keys(node, at, ("ignore",))
        ignored = node.members.get("ignore")
        for path in _listed(ignored.value) if ignored is not None else ():
            self.path(node, f"{at}.ignore", path)

    def is_paths(self, node: Node, at: str) -> None:
        if not isinstance(node.value, dict):
            self.wrong(node, at, "is a mapping from JSONPath to the value that is expected")
        for path, one in node.members.items():
            self.path(one, at, path)


_Check = Callable[[Shapes, Node, str], None]
# Each key of `expect`, and the shape of its value; what has no check is data.
EXPECT_CHECKS: Final[dict[str, _Check]] = {
    "text": Shapes.is_text,
    "schema": Shapes.is_schema,
    "jsonpath": Shapes.is_paths,
    "is_error": Shapes.is_flag,
    "error": Shapes.is_error,
    "notifications": Shapes.is_notifications,
    "progress": Shapes.is_progress,
    "log": Shapes.is_log,
    "questions": Shapes.is_questions,
    "snapshot": Shapes.is_snapshot,
    "within_ms": Shapes.is_number,
    "valid": Shapes.is_flag,
}
EXPECT_KEYS: Final = ("structured", "structured_exact", "result", *EXPECT_CHECKS)
# What a step without a result can expect.
WITHOUT_RESULT: Final = frozenset(
    {"notifications", "progress", "log", "questions", "within_ms", "error"}
)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]
