"""Validates values against JSON Schema; findings are sentences, and nothing is fetched.

The default dialect is 2020-12 (draft 4, 6, 7 and 2019-09 by `$schema`). A pattern takes linear
time, or is given up after a bounded number of steps: it is then not a finding. Called by the
client's typed operations, and by the web UI for patterns.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import islice
from typing import Any, Final, Literal

# Listing more problems than this does not help.
_MOST_FINDINGS = 10
# Steps of a pattern with lookarounds or back references; some 20 ms.
_MOST_STEPS: Final = 1_000_000

PatternVerdict = Literal["matches", "differs", "too_slow", "unusable"]


class SchemaProblem(Exception):
    """The schema itself cannot be used; the value was not validated."""


class Validator:
    """One compiled schema."""

    def __init__(self, schema: Any) -> None:
        import jsonschema_rs  # costs 10 ms, and most runs need no validation

        try:
            self._validator = jsonschema_rs.validator_for(
                schema,
                retriever=_refuse,
                pattern_options=jsonschema_rs.FancyRegexOptions(backtrack_limit=_MOST_STEPS),
            )
        except Exception as problem:  # the library raises ValueError and its own exceptions
            raise SchemaProblem(f"the schema cannot be used: {_first_line(problem)}") from None

    def findings(self, value: Any) -> tuple[str, ...]:
        """What is wrong with the value; empty if nothing is."""
        found = islice(self.located_findings(value), _MOST_FINDINGS)
        return tuple(
            f"{''.join(f'[{part!r}]' for part in path) or 'the value'}: {text}"
            for path, text in found
        )

    def located_findings(self, value: Any) -> Iterator[tuple[list[str | int], str]]:
        """What is wrong with the value, each with the path to the place."""
        if self._validator.is_valid(value):
            return
        for error in self._validator.iter_errors(value):
            if not _is_given_up(error):
                yield list(error.instance_path), error.message

    def pattern_verdict(self, text: str) -> PatternVerdict:
        """Of a schema that is one pattern: whether the text matches."""
        for error in self._validator.iter_errors(text):
            return "too_slow" if _is_given_up(error) else "differs"
        return "matches"


def pattern_verdict(pattern: str, text: str) -> PatternVerdict:
    """Whether a text matches a schema's pattern, as far as that can be found out in time."""
    try:
        return _pattern_validator(pattern).pattern_verdict(text)
    except (SchemaProblem, ValueError):  # not a pattern, or not a text that JSON can hold
        return "unusable"


@lru_cache(maxsize=256)
def _pattern_validator(pattern: str) -> Validator:
    return Validator({"pattern": pattern})


def _is_given_up(error: Any) -> bool:
    import jsonschema_rs

    return isinstance(error.kind, jsonschema_rs.ValidationErrorKind.BacktrackLimitExceeded)


def _refuse(uri: str) -> Any:
    raise ValueError(f"{uri} is not fetched: schemas may not refer to the network")


def _first_line(problem: Exception) -> str:
    return (str(problem).splitlines() or [type(problem).__name__])[0][:300]
