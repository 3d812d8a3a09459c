"""References inside a schema: a JSON pointer finds its part, and nothing beyond the schema."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcplens.protocol.schema_references import resolve

SCHEMA: dict[str, Any] = {"$defs": {"a/b": 1, "m~n": 2, "ü x": 3, "": 4}, "allOf": [5, {"x": 6}]}


@pytest.mark.parametrize(
    ("reference", "expected"),
    [
        ("#", SCHEMA),
        ("#/$defs/a~1b", 1),
        ("#/$defs/m~0n", 2),
        ("#/$defs/%C3%BC%20x", 3),
        ("#/$defs/", 4),
        ("#/allOf/0", 5),
        ("#/allOf/1/x", 6),
    ],
)
def test_a_pointer_finds_its_part(reference: str, expected: Any) -> None:
    assert resolve(SCHEMA, reference) == expected


@pytest.mark.parametrize(
    "reference",
    ["", "#x", "#/no", "#/allOf/2", "#/allOf/-1", "#/allOf/x", "#/allOf/0/x", "other#/$defs", 5],
)
def test_what_is_not_there_is_a_key_error(reference: Any) -> None:
    with pytest.raises(KeyError):
        resolve(SCHEMA, reference)


@given(st.text())
def test_any_text_is_found_or_not(text: str) -> None:
    try:
        resolve(SCHEMA, f"#/{text}")
    except KeyError:
        return
