"""JSONPath by RFC 9535, as tests use it: compiled once, and imported when a path is used."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jsonpath import CompoundJSONPath, JSONPath

    Compiled = JSONPath | CompoundJSONPath


class JsonPathProblem(ValueError):
    """A text that is not a JSONPath of RFC 9535."""


@lru_cache(256)
def compile_path(path: str) -> Compiled:
    """A path that can be used.

    Raises:
        JsonPathProblem: it is not one.
    """
    from jsonpath import JSONPathEnvironment
    from jsonpath.exceptions import JSONPathError

    try:
        return JSONPathEnvironment(strict=True).compile(path)
    except JSONPathError as problem:
        raise JsonPathProblem(f"{path!r}: {problem.args[0]}") from None  # its str() may fail


def values_at(path: str, value: Any) -> list[Any]:
    """The values that a path finds, in order.

    Raises:
        JsonPathProblem: it is not a path, or cannot be used on this value.
    """
    from jsonpath.exceptions import JSONPathError

    try:
        return [match.obj for match in compile_path(path).finditer(value)]
    except JSONPathError as problem:
        raise JsonPathProblem(f"{path!r}: {problem.args[0]}") from None


def parts_at(path: str, value: Any) -> list[tuple[str | int, ...]]:
    """Where a path finds values: the keys and indexes that lead to each."""
    return [tuple(match.parts) for match in compile_path(path).finditer(value)]


def is_singular(path: str) -> bool:
    """Whether a path can find one value at most (RFC 9535, 2.3.5.1)."""
    compiled = compile_path(path)
    return bool(getattr(compiled, "singular_query", bool)())
