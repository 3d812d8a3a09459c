"""A page that was open before a restart proves that it was signed in, and nobody else can."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from mcplens.clock import ManualClock
from mcplens.inbound.server import Address
from mcplens.web.session_resume import (
    KEY_LIFE_S,
    MOST_KEYS,
    MOST_NONCES,
    NONCE_LIFE_S,
    ReturnKeys,
    prove,
    return_keys,
)

from .harness import Site, machine, site

HERE = Address("127.0.0.1", 6280)
ORIGIN = "http://127.0.0.1:6280"


def file_of(home: Path) -> Path:
    return home / ".local" / "state" / "mcplens" / "return-keys.json"


def made(home: Path, clock: ManualClock | None = None, address: Address = HERE) -> ReturnKeys:
    return ReturnKeys(machine(home), address, clock or ManualClock())


def given(keys: ReturnKeys) -> str:
    key = keys.give(keys.origin)
    assert key is not None
    return key


def is_let_in(keys: ReturnKeys, key: str) -> bool:
    nonce = keys.ask()
    return keys.is_proven(nonce, prove(key, nonce, keys.origin), keys.origin)


def test_a_key_opens_the_next_run_on_the_same_port_as_often_as_needed(tmp_path: Path) -> None:
    clock = ManualClock()
    key = given(made(tmp_path, clock))
    for _ in range(3):
        assert is_let_in(made(tmp_path, clock), key)


def test_only_the_user_can_read_the_keys_and_no_copy_is_left(tmp_path: Path) -> None:
    keys = made(tmp_path)
    for _ in range(3):
        given(keys)
    file = file_of(tmp_path)
    assert file.stat().st_mode & 0o777 == 0o600
    assert [one.name for one in file.parent.iterdir()] == [file.name]


def test_a_nonce_counts_once(tmp_path: Path) -> None:
    keys = made(tmp_path)
    key = given(keys)
    nonce = keys.ask()
    proof = prove(key, nonce, ORIGIN)
    assert keys.is_proven(nonce, proof, ORIGIN)
    assert not keys.is_proven(nonce, proof, ORIGIN)


def test_a_wrong_answer_uses_the_nonce_up(tmp_path: Path) -> None:
    keys = made(tmp_path)
    key = given(keys)
    nonce = keys.ask()
    assert not keys.is_proven(nonce, "é", ORIGIN)
    assert not keys.is_proven(nonce, prove(key, nonce, ORIGIN), ORIGIN)


async def test_a_nonce_must_be_answered_soon(tmp_path: Path) -> None:
    clock = ManualClock()
    keys = made(tmp_path, clock)
    key = given(keys)
    nonce = keys.ask()
    await clock.advance(NONCE_LIFE_S + 1)
    assert not keys.is_proven(nonce, prove(key, nonce, ORIGIN), ORIGIN)


def test_a_nonce_of_our_own_making_is_none_of_theirs(tmp_path: Path) -> None:
    keys = made(tmp_path)
    key = given(keys)
    assert not keys.is_proven("chosen", prove(key, "chosen", ORIGIN), ORIGIN)


def test_asking_for_many_nonces_keeps_the_newest(tmp_path: Path) -> None:
    keys = made(tmp_path)
    key = given(keys)
    first, *_, last = [keys.ask() for _ in range(MOST_NONCES + 1)]
    assert not keys.is_proven(first, prove(key, first, ORIGIN), ORIGIN)
    assert keys.is_proven(last, prove(key, last, ORIGIN), ORIGIN)


@pytest.mark.parametrize("origin", ["http://127.0.0.1:6281", "http://localhost:6280", ""])
def test_a_proof_for_another_origin_cannot_be_passed_on(tmp_path: Path, origin: str) -> None:
    keys = made(tmp_path)
    key = given(keys)
    # A stranger has the page's port, and passes the nonce of the moved mcplens on to the page.
    nonce = keys.ask()
    assert not keys.is_proven(nonce, prove(key, nonce, origin), ORIGIN)
    nonce = keys.ask()
    assert not keys.is_proven(nonce, prove(key, nonce, origin), origin)


def test_a_key_of_another_port_opens_nothing_here(tmp_path: Path) -> None:
    clock = ManualClock()
    key = given(made(tmp_path, clock))
    assert not is_let_in(made(tmp_path, clock, Address("127.0.0.1", 6281)), key)


async def test_a_key_ends_a_day_after_its_last_use(tmp_path: Path) -> None:
    clock = ManualClock()
    keys = made(tmp_path, clock)
    used, unused = given(keys), given(keys)
    await clock.advance(KEY_LIFE_S - 1)
    assert is_let_in(keys, used)
    await clock.advance(2)
    assert is_let_in(keys, used)
    assert not is_let_in(keys, unused)


def test_only_the_newest_keys_are_kept(tmp_path: Path) -> None:
    clock = ManualClock()
    keys = made(tmp_path, clock)
    first, *_, last = [given(keys) for _ in range(MOST_KEYS + 1)]
    assert not is_let_in(keys, first)
    assert is_let_in(keys, last)
    assert len(json.loads(file_of(tmp_path).read_text())["keys"]) == MOST_KEYS


@pytest.mark.parametrize("content", [b"", b"{}", b'{"keys": [1]}', b"\xff"])
def test_a_file_that_cannot_be_read_holds_no_keys(tmp_path: Path, content: bytes) -> None:
    keys = made(tmp_path)
    key = given(keys)
    file_of(tmp_path).write_bytes(content)
    assert not is_let_in(keys, key)


def test_where_nothing_can_be_written_no_key_is_given(tmp_path: Path) -> None:
    folder = file_of(tmp_path).parent
    folder.parent.mkdir(parents=True)
    folder.write_text("a file where the folder should be")
    assert made(tmp_path).give(ORIGIN) is None


@pytest.mark.parametrize("host", ["0.0.0.0", "192.0.2.7", "box.example", "localhost"])
def test_an_address_that_may_lead_to_others_has_no_keys(tmp_path: Path, host: str) -> None:
    assert return_keys(machine(tmp_path), Address(host, 6280), ManualClock()) is None


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.2", "::1"])
def test_an_address_of_this_machine_alone_has_keys(tmp_path: Path, host: str) -> None:
    keys = return_keys(machine(tmp_path), Address(host, 6280), ManualClock())
    assert keys is not None
    assert keys.give(Address(host, 6280).url("")) is not None


async def post(
    http: aiohttp.ClientSession, web: Site, path: str, origin: str | None = None, **body: str
) -> tuple[int, Any]:
    headers = {"Origin": origin or web.origin}
    async with http.post(web.origin + path, json=body, headers=headers) as answer:
        return answer.status, await answer.json() if answer.content_length else None


async def test_a_page_comes_back_over_http_and_gets_the_new_cookie(tmp_path: Path) -> None:
    async with site(tmp_path) as first:
        _, signed = await post(first.http, first, "/api/session", token=first.opened.token)
        port = first.opened.address.port
    async with site(tmp_path, port=port) as second:
        second.http.cookie_jar.clear()
        assert (await second.get("/api/session"))[0] == 401
        _, asked = await post(second.http, second, "/api/session/nonce")
        proof = prove(signed["return_key"], asked["nonce"], second.origin)
        answer = {"nonce": asked["nonce"], "proof": proof}
        told = await post(second.http, second, "/api/session/return", **answer)
        assert told == (200, {"folder": second.folder})
        assert (await second.get("/api/history"))[0] == 200
        second.http.cookie_jar.clear()
        assert (await post(second.http, second, "/api/session/return", **answer))[0] == 401


async def test_a_foreign_page_gets_no_nonce(web: Site) -> None:
    assert (await post(web.http, web, "/api/session/nonce", origin="http://evil.example"))[0] == 403


async def test_a_page_that_was_opened_by_a_name_gets_no_key(web: Site) -> None:
    host = f"localhost:{web.opened.address.port}"
    headers = {"Origin": f"http://{host}", "Host": host}
    body = {"token": web.opened.token}
    async with web.http.post(f"{web.origin}/api/session", json=body, headers=headers) as answer:
        assert (await answer.json())["return_key"] is None
