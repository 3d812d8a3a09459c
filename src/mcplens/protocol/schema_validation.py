"""Validates values against JSON Schema; findings are sentences, and nothing is fetched.

The default dialect is 2020-12 (draft 4, 6, 7 and 2019-09 by `$schema`). Called by the client's
typed operations.
"""

from __future__ import annotations

from typing import Any

# Listing more problems than this does not help.
_MOST_FINDINGS = 10


class SchemaProblem(Exception):
    """The schema itself cannot be used; the value was not validated."""


class Validator:
    """One compiled schema."""

    def __init__(self, schema: Any) -> None:
        import jsonschema_rs  # costs 10 ms, and most runs need no validation

        try:
            self._validator = jsonschema_rs.validator_for(schema, retriever=_refuse)
        except Exception as problem:  # the library raises ValueError and its own exceptions
            raise SchemaProblem(f"the schema cannot be used: {_first_line(problem)}") from None

    def findings(self, value: Any) -> tuple[str, ...]:
        """What is wrong with the value; empty if nothing is."""
        if self._validator.is_valid(value):
            return ()
        found = []
        for error in self._validator.iter_errors(value):
            where = "".join(f"[{part!r}]" for part in error.instance_path)
            found.append(f"{where or 'the value'}: {error.message}")
            if len(found) == _MOST_FINDINGS:
                break
        return tuple(found)


def _refuse(uri: str) -> Any:
    raise ValueError(f"{uri} is not fetched: schemas may not refer to the network")


def _first_line(problem: Exception) -> str:
    return (str(problem).splitlines() or [type(problem).__name__])[0][:300]
