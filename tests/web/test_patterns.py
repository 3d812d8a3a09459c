"""Patterns of schemas, as the page has them matched."""

from __future__ import annotations

from pathlib import Path

import pytest

from .harness import Refusal, site

LETTERS = "a" * 40


async def test_the_page_learns_which_texts_match_which_patterns(tmp_path: Path) -> None:
    asked = [("^(a+)+$", LETTERS), ("^(a+)+$", f"{LETTERS}!"), ("(", "a")]
    checks = [{"pattern": pattern, "text": text} for pattern, text in asked]
    async with site(tmp_path) as running, running.page() as page:
        reply = await page.ask("CheckPatterns", checks=checks)
        assert reply["verdicts"] == ["matches", "differs", "unusable"]
        with pytest.raises(Refusal, match="too many"):
            await page.ask("CheckPatterns", checks=checks * 40)
