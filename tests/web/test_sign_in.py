"""Signing in from the page, to a server of our own that tells what it was asked."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.auth.protected import consent_at, protected

from .harness import site, write_config


async def test_a_person_signs_in_from_the_page_and_out_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MCPLENS_STATE_DIR", str(tmp_path / "state"))
    async with protected() as server:
        write_config(tmp_path, notes={"url": server.url, "protocolVersion": "2025-11-25"})
        async with site(tmp_path) as web, web.page() as page:
            web.workspace.connect("notes")  # as at the start, by nobody
            await page.until(lambda: page.things["servers", "notes"]["error"])
            refused = await page.in_state("notes", "DISCONNECTED")
            assert refused["error"]["code"] == "AUTHENTICATION_FAILED"
            assert set(server.asked) == {"/mcp"}  # nothing happens unasked
            await page.ask("SignInTo", server_id="notes")
            await page.until(lambda: (page.things["servers", "notes"]["auth"] or {})["open_url"])
            view = page.things["servers", "notes"]
            assert (view["state"], view["auth"]["scopes"]) == ("CONNECTING", ["notes"])
            answer = await consent_at(view["auth"]["open_url"])
            await page.ask("PasteRedirect", server_id="notes", url=answer)
            done = await page.in_state("notes", "CONNECTED")
            assert done["auth"]["kept"]["granted"] == ["notes"]
            out = await page.ask("SignOut", server_id="notes")
            assert out["outcome"] == "signed out, and the token is revoked"
            assert len(server.revoked) == 1
