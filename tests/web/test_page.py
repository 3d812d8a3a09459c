"""The assets of the page as a browser gets them."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from starlette.responses import FileResponse, Response
from starlette.types import Scope

from mcplens.web import page
from mcplens.web.page import Assets

SCRIPT = b"export const words = 'again and again';\n" * 100


@pytest.fixture
def assets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Assets:
    (tmp_path / "assets").mkdir()
    (tmp_path / "assets" / "Tools-1.js").write_bytes(SCRIPT)
    (tmp_path / "assets" / "picture-1.png").write_bytes(b"\x89PNG")
    monkeypatch.setattr(page, "STATIC", tmp_path)
    return Assets()


def asked(**headers: str) -> Scope:
    named = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    return {"type": "http", "method": "GET", "path": "/", "headers": named}


async def get(assets: Assets, path: str, **headers: str) -> Response:
    return await assets.get_response(path, asked(**headers))


async def test_a_script_is_sent_compressed_and_kept_for_ever(assets: Assets) -> None:
    answer = await get(assets, "Tools-1.js", accept_encoding="gzip, br")
    assert gzip.decompress(bytes(answer.body)) == SCRIPT
    assert len(answer.body) < len(SCRIPT) / 5
    assert answer.headers["Content-Encoding"] == "gzip"
    assert answer.headers["Vary"] == "Accept-Encoding"
    assert "immutable" in answer.headers["Cache-Control"]
    assert answer.headers["Content-Type"].startswith("text/javascript")
    again = await get(assets, "Tools-1.js", accept_encoding="gzip")
    assert again.body is answer.body


async def test_whoever_cannot_decompress_gets_the_file_as_it_is(assets: Assets) -> None:
    answer = await get(assets, "Tools-1.js")
    assert isinstance(answer, FileResponse)
    assert answer.headers["Vary"] == "Accept-Encoding"
    assert "Content-Encoding" not in answer.headers


async def test_pictures_are_not_compressed_again(assets: Assets) -> None:
    answer = await get(assets, "picture-1.png", accept_encoding="gzip")
    assert isinstance(answer, FileResponse)


async def test_an_asset_that_the_browser_has_is_not_sent_again(assets: Assets) -> None:
    first = await get(assets, "Tools-1.js", accept_encoding="gzip")
    tag = first.headers["ETag"]
    again = await get(assets, "Tools-1.js", accept_encoding="gzip", if_none_match=tag)
    assert again.status_code == 304
