"""The page is told what the traffic of a server adds up to, while it happens."""

from __future__ import annotations

from typing import Any

from .harness import Site


async def test_a_page_sees_requests_errors_durations_and_reconnects_as_they_come(
    web: Site,
) -> None:
    async with web.page() as page:

        def now() -> dict[str, Any]:
            found: dict[str, Any] = page.things["servers", "demo"]["statistics"]
            return found

        await page.connected("demo")
        before = now()["requests"]
        for _ in range(3):
            await page.ask("ReadResource", server_id="demo", uri="demo://text")
        await page.until(lambda: now()["requests"] == before + 3)
        good = now()
        assert 0 < good["median_s"] <= good["p95_s"]
        assert good["sent_bytes"] > 0 < good["received_bytes"]
        assert len(good["recent"]) == good["requests"]
        errors = good["errors"]
        await page.ask("ReadResource", server_id="demo", uri="demo://nowhere")
        await page.until(lambda: now()["errors"] == errors + 1)
        assert now()["last_error"]["method"] == "resources/read"
        assert now()["recent"][-1]["is_failed"]
        assert now()["reconnects"] == 0
        await page.ask("Disconnect", server_id="demo")
        await page.connected("demo")
        await page.until(lambda: now()["reconnects"] == 1)
        assert now()["errors"] == errors + 1  # kept across connections
