"""`${VAR}` in saved calls and tests: which variables there are, and their values filled in.

`$${` stands for a literal `${`. A value is filled in once: what it contains is plain text. Unlike
in a configuration, `{VAR}` is plain text, and there are no defaults. A text that is one placeholder
and nothing else becomes the value itself, with its type (a test saves numbers and objects). Pure.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import msgspec

_PLACEHOLDER: Final = re.compile(
    r"(?P<escaped>\$\$\{)"
    r"|\$\{(?P<name>[A-Za-z_][A-Za-z0-9_]*)\}"
    r"|(?P<unknown>\$\{(?:[^}]{,40}\})?)"  # shown to the user, so limited in case a secret follows
)

# The value of a variable; None if it is not set.
Lookup = Callable[[str], Any]


class PlaceholderProblem(Exception):
    """A placeholder that is not understood, or whose `variable` is not set."""

    def __init__(self, text: str, variable: str | None = None) -> None:
        super().__init__(text)
        self.text = text
        self.variable = variable


def variables_in(value: Any) -> Iterator[str]:
    """The variables that a value uses, in order.

    Raises:
        PlaceholderProblem: a placeholder is not understood.
    """
    for text in _texts(value):
        for match in _PLACEHOLDER.finditer(text):
            if match["unknown"]:
                raise _unknown(match["unknown"])
            if match["name"]:
                yield match["name"]


def fill_in(value: Any, lookup: Lookup) -> Any:
    """A value with every placeholder of its texts filled in; keys stay as they are.

    Raises:
        PlaceholderProblem: a variable is not set, or a placeholder is not understood.
    """
    if isinstance(value, dict):
        return {key: fill_in(item, lookup) for key, item in value.items()}
    if isinstance(value, list):
        return [fill_in(item, lookup) for item in value]
    if not isinstance(value, str) or "${" not in value:
        return value

    def filled(match: re.Match[str]) -> str:
        if match["escaped"]:
            return "${"
        if match["unknown"]:
            raise _unknown(match["unknown"])
        found = lookup(match["name"])
        if found is None:
            raise PlaceholderProblem(unset_text([match["name"]]), match["name"])
        return found if isinstance(found, str) else msgspec.json.encode(found).decode()

    whole = _PLACEHOLDER.fullmatch(value)
    if whole is not None and whole["name"] and (found := lookup(whole["name"])) is not None:
        return found
    return _PLACEHOLDER.sub(filled, value)


def unset_text(names: Sequence[str]) -> str:
    """What is said of variables without a value, wherever it is noticed."""
    if len(names) == 1:
        return f"the variable {names[0]} is not set; nothing was sent"
    return f"the variables {', '.join(names)} are not set; nothing was sent"


def escape(value: Any) -> Any:
    """A value whose texts are filled in to themselves."""
    if isinstance(value, dict):
        return {key: escape(item) for key, item in value.items()}
    if isinstance(value, list):
        return [escape(item) for item in value]
    return value.replace("${", "$${") if isinstance(value, str) else value


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from _texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)


def _unknown(placeholder: str) -> PlaceholderProblem:
    return PlaceholderProblem(
        f"{placeholder!r} is not a placeholder; write ${{VAR}}, or $${{ for a literal ${{"
    )
