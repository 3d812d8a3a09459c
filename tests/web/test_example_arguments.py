"""Example arguments for a schema, as the page asks for them."""

from __future__ import annotations

from pathlib import Path

import pytest

from .harness import site

CITY = {"type": "string", "examples": ["Bern"]}
DAYS = {"type": "integer", "minimum": 3, "maximum": 5}
SCHEMA = {
    "type": "object",
    "properties": {"city": CITY, "days": {"$ref": "#/$defs/days"}},
    "required": ["city", "days"],
    "$defs": {"days": DAYS},
}


async def test_a_schema_has_arguments_that_fit_it(tmp_path: Path) -> None:
    async with site(tmp_path) as running, running.page() as page:
        reply = await page.ask("MakeExample", schema=SCHEMA)
        assert reply["arguments"]["city"] == "Bern"
        assert 3 <= reply["arguments"]["days"] <= 5


@pytest.mark.parametrize("schema", [{}, True, None, {"type": "string"}, {"type": "object"}])
async def test_a_schema_without_fields_has_an_empty_example(tmp_path: Path, schema: object) -> None:
    async with site(tmp_path) as running, running.page() as page:
        assert (await page.ask("MakeExample", schema=schema))["arguments"] == {}
