"""Texts and numbers that keep a schema's limits."""

from __future__ import annotations

from typing import Any

import pytest

from mcplens.protocol.schema_limits import count, number_within, text_within
from mcplens.protocol.schema_types import is_number


@pytest.mark.parametrize(
    ("flat", "expected"),
    [
        ({}, "example"),
        ({"maxLength": 3}, "exa"),
        ({"minLength": 10}, "exampleexa"),
        ({"pattern": "^[0-9]+$"}, "1"),
        ({"pattern": "^[0-9]+$", "minLength": 4}, "1111"),
        ({"pattern": "^nobody guesses$"}, "example"),
        ({"pattern": "("}, "example"),
        ({"format": "date", "minLength": 99}, "2025-01-01"),
        ({"format": "email", "minLength": 18}, "uuuser@example.com"),
        ({"minLength": "x", "maxLength": None, "pattern": 5, "format": []}, ""),
    ],
)
def test_a_text_keeps_its_limits(flat: dict[str, Any], expected: str) -> None:
    assert text_within(flat) == expected


@pytest.mark.parametrize(
    ("flat", "is_integer", "expected"),
    [
        ({}, True, 1),
        ({"minimum": 0, "maximum": 0.5}, False, 0),
        ({"minimum": 5}, True, 5),
        ({"exclusiveMinimum": 5}, True, 6),
        ({"minimum": 5, "exclusiveMinimum": True}, True, 6),
        ({"maximum": -5}, False, -5),
        ({"exclusiveMaximum": 1}, True, 0),
        ({"multipleOf": 0.1, "minimum": 2.31}, False, 2.4),
        ({"multipleOf": 3, "maximum": 2}, True, 0),
        ({"minimum": 5, "maximum": 4}, True, 1),
        ({"minimum": float("nan"), "maximum": float("inf")}, False, 1),
        ({"minimum": 1e308}, False, 1e308),
        ({"multipleOf": 0}, True, 1),
    ],
)
def test_a_number_keeps_its_limits(flat: dict[str, Any], is_integer: bool, expected: Any) -> None:
    assert number_within(flat, is_integer=is_integer) == expected


def test_a_boolean_is_no_number() -> None:
    assert not is_number(True)
    assert not is_number(float("inf"))
    assert is_number(10**5_000)
    assert count(10**5_000, 7) == 7
    assert count(-1, 7) == 0
    assert count("3", 7) == 0
