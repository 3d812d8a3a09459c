"""Signing in from the page, to a server of our own that tells what it was asked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.auth.protected import consent_at, protected

from .harness import Page, Refusal, site, write_config


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MCPLENS_STATE_DIR", str(tmp_path / "state"))


def auth(page: Page) -> dict[str, Any]:
    found: dict[str, Any] = page.things["servers", "notes"]["auth"] or {}
    return found


async def test_a_person_signs_in_from_the_page_and_out_again(tmp_path: Path) -> None:
    async with protected() as server:
        write_config(tmp_path, notes={"url": server.url, "protocolVersion": "2025-11-25"})
        async with site(tmp_path) as web, web.page() as page:
            web.workspace.connect("notes")  # as at the start, by nobody
            await page.until(lambda: page.things["servers", "notes"]["error"])
            refused = await page.in_state("notes", "DISCONNECTED")
            assert refused["error"]["code"] == "AUTHENTICATION_FAILED"
            assert set(server.asked) == {"/mcp"}  # nothing happens unasked
            await page.ask("SignInTo", server_id="notes")
            await page.until(
                lambda: (page.things["servers", "notes"]["auth"] or {}).get("open_url")
            )
            view = page.things["servers", "notes"]
            assert (view["state"], view["auth"]["scopes"]) == ("CONNECTING", ["notes"])
            answer = await consent_at(view["auth"]["open_url"])
            await page.ask("PasteRedirect", server_id="notes", url=answer)
            done = await page.in_state("notes", "CONNECTED")
            assert done["auth"]["kept"]["granted"] == ["notes"]
            out = await page.ask("SignOut", server_id="notes")
            assert out["outcome"] == "signed out, and the token is revoked"
            assert len(server.revoked) == 1


async def test_of_several_authorization_servers_the_person_at_the_page_chooses(
    tmp_path: Path,
) -> None:
    async with protected() as server, protected() as other:
        whole = server.metadata_of_resource
        named = [server.base, other.base]
        server.metadata_of_resource = lambda: whole() | {"authorization_servers": named}
        server.valid = other.valid
        write_config(tmp_path, notes={"url": server.url, "protocolVersion": "2025-11-25"})
        async with site(tmp_path) as web, web.page() as page:
            await page.ask("SignInTo", server_id="notes")
            await page.until(lambda: auth(page).get("issuers"))
            view = page.things["servers", "notes"]
            assert (view["state"], view["auth"]["issuers"]) == ("CONNECTING", named)
            steps = {step["step"]: step["state"] for step in view["auth"]["runs"][0]["steps"]}
            assert steps["protected_resource"] == "waiting"
            with pytest.raises(Refusal, match="is not one to choose from"):
                await page.ask("ChooseIssuer", server_id="notes", issuer="https://evil.example")
            await page.ask("ChooseIssuer", server_id="notes", issuer=other.base)
            await page.until(lambda: auth(page).get("open_url"))
            assert auth(page)["open_url"].startswith(other.base)
            answer = await consent_at(auth(page)["open_url"])
            await page.ask("PasteRedirect", server_id="notes", url=answer)
            done = await page.in_state("notes", "CONNECTED")
            assert done["auth"]["kept"]["issuer"] == other.base


async def test_a_client_id_that_was_entered_on_the_page_is_kept_if_it_works(tmp_path: Path) -> None:
    async with protected() as server:
        whole = server.metadata_of_issuer
        left_out = "registration_endpoint"
        server.metadata_of_issuer = lambda: {k: v for k, v in whole().items() if k != left_out}
        write_config(tmp_path, notes={"url": server.url, "protocolVersion": "2025-11-25"})
        async with site(tmp_path) as web, web.page() as page:
            await page.ask("SignInTo", server_id="notes")
            await page.in_state("notes", "DISCONNECTED")
            assert auth(page)["runs"][0]["outcome"] == "failed"
            for given in ({"client_id": "by-hand"}, {}):
                await page.ask("SignInTo", server_id="notes", **given)
                await page.until(lambda: auth(page).get("open_url"))
                assert "client_id=by-hand" in auth(page)["open_url"]
                answer = await consent_at(auth(page)["open_url"])
                await page.ask("PasteRedirect", server_id="notes", url=answer)
                await page.in_state("notes", "CONNECTED")
                await page.ask("SignOut", server_id="notes")
