"""Strings and numbers within the limits of a JSON Schema, close to what a person would write.

Called by `schema_examples.py`; `Validator` checks whether other values are within the limits.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any, Final

from mcplens.protocol.schema_types import is_number
from mcplens.protocol.schema_validation import SchemaProblem, Validator

# The largest `minLength` that is satisfied; longer examples are useless.
MOST_CHARACTERS: Final = 1_000

_FORMATS: Final = {
    "email": "user@example.com",
    "idn-email": "user@example.com",
    "uri": "https://example.com/",
    "url": "https://example.com/",
    "iri": "https://example.com/",
    "uri-reference": "/example",
    "uri-template": "https://example.com/{id}",
    "date": "2025-01-01",
    "date-time": "2025-01-01T00:00:00Z",
    "time": "00:00:00Z",
    "duration": "P1D",
    "uuid": "00000000-0000-4000-8000-000000000000",
    "hostname": "example.com",
    "ipv4": "192.0.2.1",
    "ipv6": "2001:db8::1",
    "json-pointer": "/example",
    "regex": ".*",
}
# Candidates for a pattern: the first match is taken.
_TRIES: Final = (
    "example", "a", "A", "1", "abc", "ABC", "123", "a1", "A1", "1234", "12345", "1.0.0", "v1.0.0",
    "AB-123", "a/b", "/a", "#000000", "12:00", "+15550100", "555-0100", "1h", *_FORMATS.values(),
)  # fmt: skip


def text_within(flat: dict[str, Any]) -> str:
    """The word `example`, or a string of the required format, pattern and length."""
    least = count(flat.get("minLength"), MOST_CHARACTERS)
    most = count(flat["maxLength"], MOST_CHARACTERS) if "maxLength" in flat else MOST_CHARACTERS
    kind = flat.get("format")
    if isinstance(kind, str) and kind in _FORMATS:
        missing = max(0, least - len(_FORMATS[kind]))
        if "email" in kind:
            return "u" * missing + _FORMATS[kind]
        return _FORMATS[kind] + ("x" * missing if kind in ("uri", "url", "iri") else "")
    tries = [_lengthened(text, least)[:most] for text in _TRIES]
    return _first_that_fits(flat.get("pattern"), tries)


def _lengthened(text: str, least: int) -> str:
    return text if len(text) >= least else (text * (least // len(text) + 1))[:least]


def _first_that_fits(pattern: Any, tries: list[str]) -> str:
    """Uses the validator: its regular expressions are bounded in time, in the servers' dialect."""
    if not isinstance(pattern, str):
        return tries[0]
    try:
        validator = Validator({"pattern": pattern})
    except SchemaProblem:
        return tries[0]
    for text in tries:
        found = validator.findings(text)
        if not found:
            return text
        if (
            "Error executing regex" in found[0]
        ):  # too many steps, so other candidates would fail too
            break
    return tries[0]


def number_within(flat: dict[str, Any], *, is_integer: bool) -> int | float:
    """1, or the closest number within the limits."""
    low, is_low_out = _limit(flat, "minimum", "exclusiveMinimum", max)
    high, is_high_out = _limit(flat, "maximum", "exclusiveMaximum", min)
    step = _fraction(flat.get("multipleOf"))
    if step is None or step <= 0:
        step = Fraction(1) if is_integer else None
    elif is_integer:
        step = Fraction(step.numerator)  # the least integer that is a multiple too

    def is_inside(value: Fraction) -> bool:
        if low is not None and (value < low or (is_low_out and value == low)):
            return False
        return high is None or value < high or (value == high and not is_high_out)

    tries = list(_near(low, high, step))
    return _plain(next(filter(is_inside, tries), tries[0]))


def _near(low: Fraction | None, high: Fraction | None, step: Fraction | None) -> Iterator[Fraction]:
    """Candidates between two limits, the most natural ones first."""
    for start in (Fraction(1), Fraction(0), low, high):
        if start is None:
            continue
        if step is None:
            yield from (start, start + 1, start - 1)
        else:
            steps = math.ceil(start / step)
            yield from (steps * step, (steps + 1) * step, (steps - 1) * step)
    if low is not None and high is not None:
        yield (low + high) / 2


def _limit(
    flat: dict[str, Any], key: str, exclusive: str, harder: Any
) -> tuple[Fraction | None, bool]:
    """The limit, and whether it is exclusive; draft 4 says the latter with a boolean."""
    limit, out = _fraction(flat.get(key)), flat.get(exclusive)
    if isinstance(out, bool):
        return limit, out
    beyond = _fraction(out)
    if beyond is None or (limit is not None and harder(limit, beyond) != beyond):
        return limit, False
    return beyond, True


def _fraction(value: Any) -> Fraction | None:
    if not is_number(value):
        return None
    # By its digits: a tenth is meant, not the float next to it.
    return Fraction(repr(value)) if isinstance(value, float) else Fraction(value)


def _plain(value: Fraction) -> int | float:
    if value.denominator == 1 and abs(value.numerator) < 2**63:
        return value.numerator
    try:
        return float(value)
    except OverflowError:
        return 1


def count(value: Any, most: int) -> int:
    """A limit on how many, as a number from 0 to `most`."""
    return max(0, min(int(value), most)) if is_number(value) else 0
