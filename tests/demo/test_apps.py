"""The demo's apps, as a client that can show apps sees them, and as one that cannot."""

from __future__ import annotations

import json
from typing import Any

import pytest

from mcplens.protocol.apps import (
    APP_MIME_TYPE,
    UI_EXTENSION,
    UI_SETTINGS,
    app_document,
    app_link,
)

from .doors import HANDSHAKE, STATELESS, in_memory

SHOWS_APPS = {"extensions": {UI_EXTENSION: UI_SETTINGS}}


@pytest.mark.parametrize("revision", [HANDSHAKE, STATELESS])
async def test_a_client_that_shows_apps_finds_and_reads_them(revision: str) -> None:
    async with in_memory(revision=revision, capabilities=SHOWS_APPS) as (client, _):
        assert UI_EXTENSION in client.capabilities["extensions"]
        links = {tool.name: app_link(_raw(tool)) for tool in await client.list_tools()}
        uris = {name: link.resource_uri for name, link in links.items() if link.resource_uri}
        read = [await client.read_resource(uri) for uri in set(uris.values())]
        rolled = await client.call_tool("app-roll", {"sides": 6})
    assert uris.keys() == {"app-everything", "app-roll", "app-blank"}
    assert links["app-roll"].visibility == ("app",)
    assert not links["app-secret"].is_for_apps
    assert any("on the tool" in finding for finding in links["app-blank"].findings)
    for one in read:
        contents: list[Any] = json.loads(one.raw)["contents"]
        document = app_document(contents, contents[0]["uri"])
        assert document.mime_type == APP_MIME_TYPE
        assert document.data.startswith(b"<!doctype html>")
    assert rolled.content[0].text == "A die of 6 sides shows 3"


async def test_a_client_that_does_not_show_apps_sees_the_tools_without_them() -> None:
    async with in_memory(revision=STATELESS, capabilities={"extensions": {}}) as (client, _):
        tools = {tool.name: tool for tool in await client.list_tools()}
    assert app_link(_raw(tools["app-everything"])).resource_uri is None


def _raw(tool: Any) -> Any:
    return {"_meta": tool.meta}
