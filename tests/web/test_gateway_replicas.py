"""Two gateways with a real store between them, as the page of one of them shows it."""

from __future__ import annotations

import json
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

from tests.replicas.redis_server import redis_server
from tests.web.test_gateway import gateway

from .harness import Page, good, site, user_config

KEY = "0123456789abcdef" * 2


def configure(home: Path, name: str, url: str, **servers: dict[str, Any]) -> None:
    path = user_config(home)
    path.parent.mkdir(parents=True, exist_ok=True)
    block = {
        "store": {"url": url},
        "replica": {"name": name, "keys": [KEY]},
        "leaseSeconds": 2,
        "limits": {"callsPerServer": 4 + len(servers)},
    }
    given = {"once": {**good(), "singleton": True}, **servers}
    path.write_text(json.dumps({"mcpServers": given, "gateway": block}))


def replicas(page: Page) -> dict[str, Any]:
    found: dict[str, Any] = gateway(page)["replicas"]
    return found


async def test_the_page_shows_the_store_the_other_replica_and_who_runs_what(
    tmp_path: Path,
) -> None:
    async with AsyncExitStack() as stack:
        store = await stack.enter_async_context(redis_server(tmp_path))
        pages = {}
        for name in ("here", "there"):
            home = tmp_path / name
            configure(home, name, store.url, **({"extra": good()} if name == "there" else {}))
            web = await stack.enter_async_context(site(home))
            pages[name] = await stack.enter_async_context(web.page())
        here, there = pages["here"], pages["there"]
        assert here.hello["gateway"]["replicas"] is None
        view = await here.ask("TurnGatewayOn")
        assert view["replicas"]["store"]["status"] == "up"
        assert view["replicas"]["others"] == []
        await here.until(lambda: gateway(here)["servers"][0]["singleton"]["is_here"])
        await there.ask("TurnGatewayOn")

        (other,) = await here.until(lambda: replicas(here)["others"])
        assert (other["name"], other["state"]) == ("there", "serving")
        assert other["has_same_configuration"] is False
        assert other["differs_in"] == ["gateway.limits", "mcpServers.extra"]
        own = replicas(here)["this"]
        assert (own["name"], own["has_same_configuration"]) == ("here", True)
        assert replicas(here)["are_limits_shared"]
        shown = {one["server_id"]: one for one in gateway(there)["servers"]}
        assert shown["once"]["singleton"] == {"replica": "here", "is_here": False}
        assert shown["extra"]["singleton"] is None

        configure(tmp_path / "there", "there", store.url)
        await here.until(lambda: replicas(here)["others"][0]["has_same_configuration"])

        await there.ask("TurnGatewayOff")  # in order, so that nobody is missed
        await here.until(lambda: not replicas(here)["others"])
        assert replicas(here)["gone"] == []

        await store.kill()
        await here.until(lambda: replicas(here)["store"]["status"] == "down")
        assert replicas(here)["store"]["reason"]
        await here.until(lambda: not replicas(here)["are_limits_shared"])
        await store.start()
        await here.until(lambda: replicas(here)["store"]["status"] == "up")
        assert replicas(here)["store"]["last_problem"]
