"""Exact bytes of a masked frame: for the page that asked, while they are in memory."""

from __future__ import annotations

import base64
import json
import logging
from pathlib import Path
from typing import Any

import pytest

from mcplens.bus import DEFAULT_MAX_BYTES
from mcplens.events import Remark

from .harness import Page, Refusal, Site, site
from .test_raw_frames import ODD, SECRET, called, configured, frame_of
from .test_secrets import written


def place_of(whole: dict[str, Any]) -> dict[str, Any]:
    return {"run_id": whole["event"]["run_id"], "seq": whole["event"]["seq"]}


async def masked_frame(web: Site, page: Page) -> tuple[dict[str, Any], bytes]:
    """A frame with a secret in it as the page is shown it, and its exact bytes."""
    call = await called(page)
    exact = (ODD % call["request_id"]).replace("SECRET", SECRET).encode()
    return await frame_of(web, call), exact


def holders(folder: Path, wanted: bytes) -> list[Path]:
    return [one for one in folder.rglob("*") if one.is_file() and wanted in one.read_bytes()]


async def test_the_exact_bytes_go_to_the_page_that_asked_and_nowhere_else(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    configured(tmp_path, SECRET)
    config = holders(tmp_path, SECRET.encode())
    async with site(tmp_path) as web, web.page() as page, web.page() as other:
        whole, exact = await masked_frame(web, page)
        assert whole["has_exact"]
        assert SECRET not in str(whole)
        before = web.workspace.bus.last_seq
        caplog.clear()
        shown = (await page.ask("RevealBytes", **place_of(whole)))["base64"]
        assert base64.b64decode(shown) == exact
        # Asked after it, so that all that the others were told of it has come.
        for one in (page, other):
            await one.ask("ServerEntryOf", server_id="odd")
            assert SECRET not in json.dumps(one.events)
            assert shown not in json.dumps([one.events, one.changes])
        assert web.workspace.bus.last_seq == before
        assert SECRET not in str(await frame_of(web, {"call_id": whole["event"]["call_id"]}))
        await written(web, 1)
    assert SECRET not in caplog.text
    assert shown[:40] not in caplog.text
    assert holders(tmp_path, SECRET.encode()) == config
    assert holders(tmp_path, shown[:40].encode()) == []


async def test_bytes_that_left_the_memory_of_this_run_are_not_offered(tmp_path: Path) -> None:
    configured(tmp_path, SECRET)
    async with site(tmp_path) as web, web.page() as page:
        whole, _ = await masked_frame(web, page)
        place = place_of(whole)
        await written(web, 1)
        bus = web.workspace.bus
        bus.publish(Remark(message="larger than all"), "odd", DEFAULT_MAX_BYTES)
        path = f"/api/event/{place['run_id']}/{place['seq']}"
        later = await web.get_json(path)
        assert not later["has_exact"]
        assert SECRET not in str(later)
        with pytest.raises(Refusal, match="not recorded"):
            await page.ask("RevealBytes", **place)
    async with site(tmp_path) as web, web.page() as page:
        assert not (await web.get_json(path))["has_exact"]
        with pytest.raises(Refusal, match="not recorded"):
            await page.ask("RevealBytes", **place)
