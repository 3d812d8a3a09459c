"""Signing in from the page."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.auth.protected import consent_at, protected

from .harness import Refusal, site, write_config


async def test_a_person_signs_in_from_the_page_and_out_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MCPLENS_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("MCPLENS_KEYRING", "off")
    async with protected() as server:
        write_config(tmp_path, notes={"url": server.url, "protocolVersion": "2025-11-25"})
        async with site(tmp_path) as web, web.page() as page:
            await page.ask("Connect", server_id="notes")
            refused = await page.in_state("notes", "DISCONNECTED")
            assert refused["error"]["code"] == "AUTHENTICATION_FAILED"
            assert "/authorize" not in server.asked  # nothing happens unasked
            await page.ask("SignIn", server_id="notes")
            await page.until(lambda: (page.things["servers", "notes"]["sign_in"] or {})["waiting"])
            view = page.things["servers", "notes"]
            assert view["state"] == "CONNECTING"
            assert view["waiting_for"] == "waiting for a sign-in"
            waiting = view["sign_in"]["waiting"]
            assert (waiting["issuer"], waiting["scopes"]) == (server.base, ["notes"])
            with pytest.raises(Refusal, match="code= or error="):
                await page.ask("AnswerSignIn", server_id="notes", url="https://example.com")
            answer = await consent_at(waiting["url"])
            await page.ask("AnswerSignIn", server_id="notes", url=answer)
            done = await page.in_state("notes", "CONNECTED")
            assert done["sign_in"]["waiting"] is None
            assert done["sign_in"]["account"]["granted"] == ["notes"]
            assert [step["state"] for step in done["sign_in"]["steps"]] == ["done"] * 5
            shown = await page.ask("ShowToken", server_id="notes")
            assert shown["access_token"] in server.valid
            assert shown["claims"] is None
            await page.ask("RefreshSignIn", server_id="notes")
            assert server.forms[-1]["grant_type"] == "refresh_token"
            out = await page.ask("SignOut", server_id="notes", forgets_client=True)
            assert out["outcome"] == "signed out, and the token is revoked"
            assert len(server.revoked) == 1
            await page.ask("Connect", server_id="notes")
            await page.in_state("notes", "DISCONNECTED")
            with pytest.raises(Refusal, match="not signed in"):
                await page.ask("ShowToken", server_id="notes")
