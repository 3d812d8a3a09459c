"""Sign-ins of the gateway's users, on the page: who is signed in to what, and the end of one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import mcplens
from tests.auth.protected import keep_sign_ins_in, protected
from tests.gateway.harness import names, texts
from tests.gateway.test_user_sign_ins import ADA, link_in, visitor
from tests.web.test_gateway import bearer, gateway

from .harness import Refusal, site, user_config


async def test_an_operator_signs_a_user_out_on_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep_sign_ins_in(tmp_path, monkeypatch)
    path = user_config(tmp_path)
    path.parent.mkdir(parents=True)
    async with protected() as server, site(tmp_path) as web, web.page() as page:
        with pytest.raises(Refusal, match="has each user sign in"):
            await page.ask("UserSignIns")
        notes = {"url": server.url, "auth": {"perUser": True}}
        block = {"tokens": [{"name": "ada", "token": ADA}]}
        path.write_text(json.dumps({"mcpServers": {"notes": notes}, "gateway": block}))
        web.workspace.reload()
        view = await page.ask("TurnGatewayOn")
        assert view["has_user_sign_ins"]
        assert await page.ask("UserSignIns") == []
        async with (
            mcplens.connect(view["url"], headers=bearer(ADA)) as client,
            visitor() as browser,
        ):
            before = gateway(page)["revision"]
            link = link_in(texts(await client.call_tool("notes__sign_in")))
            assert await browser.sign_in(link) == 200
            await page.until(lambda: gateway(page)["revision"] > before)
            (shown,) = await page.ask("UserSignIns")
            assert (shown["user"], shown["server_id"]) == ("ada", "notes")
            await client.call_tool("notes__echo")
            chosen = {key: shown[key] for key in ("caller", "server_id", "server_url")}
            done = await page.ask("SignUserOut", **chosen)
            assert done == "ada signed out of notes, and the token is revoked"
            assert await page.ask("UserSignIns") == []
            assert await names(client) == ["notes__sign_in"]
        audit = await page.ask("GatewayAudit")
        assert {"sign-in", "sign-out"} <= {line["method"] for line in audit["lines"]}
        assert not any(token in json.dumps([page.changes, audit]) for token in server.valid)
