"""Who is let in, and what a browser may do with what it gets."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import os
import socket

import pytest
from starlette.requests import Request
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from mcplens.web import access_control, blobs
from mcplens.web.access_control import OwnHost
from mcplens.web.peer_user import as_end, is_by_another_user, user_of

from .harness import Page, Site


async def test_the_token_is_in_the_fragment_of_the_address_and_nowhere_else(web: Site) -> None:
    address = web.opened.url_with_token
    assert address == f"{web.opened.url}#token={web.opened.token}"
    assert web.opened.token not in repr(web.opened.address)
    assert len(web.opened.token) >= 43


async def test_the_cookie_is_hidden_from_scripts_and_from_other_sites(web: Site) -> None:
    body, headers = {"token": web.opened.token}, {"Origin": web.origin}
    async with web.http.post(f"{web.origin}/api/session", json=body, headers=headers) as answer:
        cookie = answer.headers["Set-Cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert web.opened.token not in cookie
    assert str(web.opened.address.port) in cookie


def foreign_socket(monkeypatch: pytest.MonkeyPatch) -> socket.socket:
    """A socket that is not of the user that mcplens runs as."""
    if os.getuid() != 0:
        mine = os.getuid()
        monkeypatch.setattr(os, "getuid", lambda: mine + 1)
        return socket.socket()
    os.seteuid(65_534)
    try:
        return socket.socket()
    finally:
        os.seteuid(0)


async def open_with(web: Site, token: str, mine: socket.socket) -> int:
    """Sign in over a socket; gives the status."""
    mine.setblocking(False)
    address = web.opened.address
    await asyncio.get_running_loop().sock_connect(mine, (address.host, address.port))
    reader, writer = await asyncio.open_connection(sock=mine)
    body = json.dumps({"token": token})
    lines = (
        "POST /api/session HTTP/1.1", f"Host: {web.origin[7:]}", f"Origin: {web.origin}",
        "Content-Type: application/json", f"Content-Length: {len(body)}", "", body,
    )  # fmt: skip
    writer.write("\r\n".join(lines).encode())
    status = int((await reader.readline()).split()[1])
    writer.close()
    await writer.wait_closed()
    return status


@pytest.mark.skipif(not os.path.exists("/proc/net/tcp"), reason="only Linux tells")
async def test_what_a_browser_is_started_with_opens_nothing_for_another_user(
    web: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    launch = web.opened.url_to_open.partition("#token=")[2]
    assert await open_with(web, launch, foreign_socket(monkeypatch)) == 401
    # Who was told the other token may use it from anywhere: a tunnel has a user of its own.
    assert await open_with(web, web.opened.token, foreign_socket(monkeypatch)) == 200
    monkeypatch.undo()
    assert await open_with(web, launch, socket.socket()) == 200


@pytest.mark.skipif(not os.path.exists("/proc/net/tcp"), reason="only Linux tells")
async def test_another_user_cannot_pass_for_us_from_our_port_of_another_loopback_address(
    web: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    launch = web.opened.url_to_open.partition("#token=")[2]
    address = (web.opened.address.host, web.opened.address.port)
    theirs = foreign_socket(monkeypatch)
    theirs.bind(("127.0.0.2", 0))
    with contextlib.ExitStack() as stack:
        # The more there are, the likelier the first in the system's table is one of ours.
        for last in range(3, 19):
            mine = stack.enter_context(socket.socket())
            mine.bind((f"127.0.0.{last}", theirs.getsockname()[1]))
            mine.setblocking(False)
            await asyncio.get_running_loop().sock_connect(mine, address)
        assert await open_with(web, launch, theirs) == 401


@pytest.mark.skipif(not os.path.exists("/proc/net/tcp6"), reason="only Linux tells")
@pytest.mark.parametrize("host", ["::1", "127.0.0.1", "::ffff:127.0.0.1"])
def test_the_user_of_a_connection_is_known_over_ipv4_and_ipv6(host: str) -> None:
    with (
        socket.create_server(("::", 0), family=socket.AF_INET6, dualstack_ipv6=True) as server,
        socket.create_connection((host, server.getsockname()[1])) as client,
        server.accept()[0] as accepted,
    ):
        mine, theirs = accepted.getsockname()[:2], accepted.getpeername()[:2]
        connection = {"type": "http", "server": mine, "client": theirs, "headers": []}
        assert not is_by_another_user(Request(connection))
        assert user_of(as_end(*theirs), as_end(*mine)) == os.getuid()
        client.close()  # the table names root for a socket that was closed
        assert is_by_another_user(Request(connection))


async def test_idle_connections_without_a_token_keep_nobody_out(web: Site, page: Page) -> None:
    address = web.opened.address
    held = [await asyncio.open_connection(address.host, address.port) for _ in range(270)]
    try:
        assert (await web.get("/api/history"))[0] == 200
        await page.connected("demo")
        assert await open_with(web, web.opened.token, socket.socket()) == 200
        async with web.page():
            pass
    finally:
        for _, writer in held:
            writer.transport.abort()


async def test_the_cookie_is_for_a_folder_that_nobody_can_guess(web: Site) -> None:
    (cookie,) = web.http.cookie_jar
    assert cookie["path"] == web.folder
    assert len(web.folder) >= 22
    async with web.http.get(web.opened.url) as answer:
        assert "Cookie" not in answer.request_info.headers


@pytest.mark.parametrize("folder", ["", "/k/of-an-earlier-run", "/k", "/k/é"])
async def test_the_cookie_opens_nothing_outside_its_folder(web: Site, folder: str) -> None:
    url, headers = f"{web.origin}{folder}/api/history", {"Cookie": web.cookie}
    async with web.http.get(url, headers=headers) as answer:
        assert answer.status == 401
        # The page goes the way of "not signed in" then.
        assert answer.headers["Mcplens"] == "web"
    with pytest.raises(InvalidStatus):
        async with connect(
            f"{web.origin.replace('http', 'ws')}{folder}/api/socket",
            additional_headers={**headers, "Origin": web.origin},
            proxy=None,
        ):
            pass


async def test_nothing_but_the_api_is_in_the_folder(web: Site) -> None:
    for path in ("", "/", "/servers", "/assets/x.js"):
        async with web.http.get(web.inside + path) as answer:
            assert answer.status == 401


async def test_a_cookie_that_another_port_has_set_does_not_sign_the_page_out(web: Site) -> None:
    ours, url = web.cookie, f"{web.inside}/api/history"
    name = ours.partition("=")[0]
    web.http.cookie_jar.clear()
    for cookie in (f"{ours}; {name}=theirs", f"{name}=theirs; {ours}"):
        async with web.http.get(url, headers={"Cookie": cookie}) as answer:
            assert answer.status == 200
    async with web.socket(Cookie=f"{ours}; {name}=theirs") as socket:
        await socket.send('{"type": "Resume", "id": 1}')
        assert await socket.recv()
    async with web.http.get(url, headers={"Cookie": f"{name}=theirs; {name}=too"}) as answer:
        assert answer.status == 401


@pytest.mark.parametrize("token", ["", "wrong", "é"])
async def test_a_wrong_token_opens_nothing(web: Site, token: str) -> None:
    web.http.cookie_jar.clear()
    body, headers = {"token": token}, {"Origin": web.origin}
    async with web.http.post(f"{web.origin}/api/session", json=body, headers=headers) as answer:
        assert answer.status == 401
        assert "Set-Cookie" not in answer.headers
    assert (await web.get("/api/session"))[0] == 401


@pytest.mark.parametrize(
    "path", ["/api/history", "/api/event/x/1", "/api/calls/c1/result", "/api/export", "/api/x"]
)
async def test_nothing_of_the_api_is_told_without_the_cookie(web: Site, path: str) -> None:
    web.http.cookie_jar.clear()
    status, body = await web.get(path)
    assert status == 401
    assert b"address that mcplens printed" in body


async def test_a_socket_without_the_cookie_is_closed_with_a_code_that_the_page_knows(
    web: Site,
) -> None:
    async with web.socket(Cookie="mcplens-1=x") as socket:
        with pytest.raises(ConnectionClosed) as closed:
            await socket.recv()
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 4401


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "http://localhost:1", "https://127.0.0.1"]
)
async def test_a_foreign_origin_gets_neither_socket_nor_session(web: Site, origin: str) -> None:
    with pytest.raises(InvalidStatus) as refused:
        async with web.socket(Origin=origin):
            pass
    assert refused.value.response.status_code == 403
    headers = {"Origin": origin}
    body = {"token": web.opened.token}
    async with web.http.post(f"{web.origin}/api/session", json=body, headers=headers) as answer:
        assert answer.status == 403


async def test_a_change_without_an_origin_is_refused(web: Site) -> None:
    async with web.http.post(f"{web.inside}/api/import", data=b"") as answer:
        assert answer.status == 403


@pytest.mark.parametrize("host", ["evil.example", "evil.example:{port}", "127.0.0.1:1", "", "["])
async def test_a_host_that_is_not_ours_gets_nothing(web: Site, host: str) -> None:
    given = host.format(port=web.opened.address.port)
    async with web.http.get(web.opened.url, headers={"Host": given}) as answer:
        assert answer.status in (400, 421)


async def test_a_person_with_a_wrong_address_reads_a_page_that_can_do_nothing(web: Site) -> None:
    headers = {"Host": "evil.example", "Accept": "text/html"}
    async with web.http.get(web.opened.url, headers=headers) as answer:
        assert answer.status == 421
        assert answer.content_type == "text/html"
        assert "this address does not belong to mcplens" in await answer.text()
        assert "sandbox" in answer.headers["Content-Security-Policy"]


async def test_localhost_is_a_name_of_ours(web: Site) -> None:
    host = f"localhost:{web.opened.address.port}"
    async with web.http.get(web.opened.url, headers={"Host": host}) as answer:
        assert answer.status == 200


async def test_a_service_worker_of_who_had_the_port_before_is_told_to_go(web: Site) -> None:
    headers = {"Service-Worker": "script", "Sec-Fetch-Site": "same-origin"}
    async with web.http.get(f"{web.origin}/any.js", headers=headers) as answer:
        assert answer.status == 404
        assert answer.headers["Clear-Site-Data"] == '"storage"'


async def test_another_local_site_may_not_embed_what_we_serve(web: Site) -> None:
    headers = {"Sec-Fetch-Site": "same-site"}
    async with web.http.get(f"{web.inside}/api/history", headers=headers) as answer:
        assert answer.status == 403


async def test_the_page_has_a_strict_policy_with_a_nonce_of_its_own(web: Site) -> None:
    policies = set()
    for _ in range(2):
        async with web.http.get(web.opened.url) as answer:
            policies.add(answer.headers["Content-Security-Policy"])
            assert answer.headers["Cache-Control"] == "no-store"
            assert "__CSP_NONCE__" not in await answer.text()
    assert len(policies) == 2
    for policy in policies:
        assert "default-src 'none'; script-src 'self';" in policy
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy


@pytest.mark.parametrize("path", ["/", "/docs/errors/connection-refused", "/api/session", "/x/y"])
async def test_every_answer_has_the_headers_that_keep_a_browser_tame(web: Site, path: str) -> None:
    async with web.http.get(web.origin + path) as answer:
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert answer.headers["Referrer-Policy"] == "no-referrer"
        assert answer.headers["Cross-Origin-Opener-Policy"] == "same-origin"
        assert "frame-ancestors 'none'" in answer.headers["Content-Security-Policy"]
        assert "server" not in answer.headers


async def test_a_picture_in_a_result_is_shown_and_all_else_is_saved(web: Site, page: Page) -> None:
    await page.connected("demo")
    call = await page.call("CallTool", server_id="demo", name="content-image", arguments={})
    number = next(n for n, c in enumerate(call["result"]["content"]) if c["type"] == "image")
    url = f"{web.inside}/api/blob/{call['call_id']}"
    query = {"pointer": f"/content/{number}/data"}
    async with web.http.get(url, params=query) as answer:
        assert answer.headers["Content-Type"] == "image/png"
        assert (await answer.read()).startswith(b"\x89PNG")


@pytest.mark.parametrize("kind", ["image/svg+xml", "text/html", "application/xhtml+xml", ""])
def test_what_may_hold_a_program_is_never_given_its_type(kind: str) -> None:
    value = {"content": [{"data": base64.b64encode(b"<svg/>").decode(), "mimeType": kind}]}
    response = blobs.blob_response(value, "/content/0/data")
    assert response.media_type == "application/octet-stream"
    assert response.headers["Content-Disposition"].startswith("attachment")
    assert "sandbox" in access_control.INERT


@pytest.mark.parametrize(
    ("name", "header"),
    [
        (
            "demo-traffic.jsonl",
            "filename=\"demo-traffic.jsonl\"; filename*=UTF-8''demo-traffic.jsonl",
        ),
        ('../a"\r\nX-B: c', "filename=\"_a___X-B__c\"; filename*=UTF-8''_a___X-B__c"),
        ("日本.har", "filename=\"__.har\"; filename*=UTF-8''%E6%97%A5%E6%9C%AC.har"),
        ("..", "filename=\"content\"; filename*=UTF-8''content"),
    ],
)
def test_a_file_is_saved_under_a_name_that_is_no_path_and_no_header(name: str, header: str) -> None:
    assert blobs.saved_as(name) == {"Content-Disposition": f"attachment; {header}"}


def test_a_machine_that_serves_others_is_called_by_its_name_or_an_address() -> None:
    everywhere = OwnHost("0.0.0.0", 80)
    assert everywhere.is_named_by("192.0.2.7")
    assert everywhere.is_named_by("[2001:db8::1]:80")
    assert not everywhere.is_named_by("rebound.example")
    named = OwnHost("box.example", 81)
    assert named.is_named_by("BOX.example:81")
    assert not named.is_named_by("192.0.2.7:81")


@pytest.mark.parametrize("before", ["", "a.", "A-1.", "a_b."])
def test_any_name_below_localhost_is_ours(before: str) -> None:
    assert OwnHost("127.0.0.1", 81).is_named_by(f"{before}localhost:81")


@pytest.mark.parametrize(
    "host",
    ["a;b.localhost:81", "a b.localhost:81", "'none'.localhost:81", "*.localhost:81",
     "a@localhost:81", "localhost:81/a", "localhost:81?a", "localhost:81#a", "\u212a.localhost:81",
     "localhost:81\n"],
)  # fmt: skip
def test_a_host_is_a_name_or_an_address_and_no_more(host: str) -> None:
    assert not OwnHost("127.0.0.1", 81).is_named_by(host)


async def test_the_licences_of_what_is_bundled_are_text_that_can_do_nothing(web: Site) -> None:
    async with web.http.get(f"{web.origin}/docs/notices") as answer:
        assert answer.content_type == "text/plain"
        assert "sandbox" in answer.headers["Content-Security-Policy"]


@pytest.mark.parametrize("digits", [13, 30, 5000])
async def test_a_number_that_is_too_large_for_anything_is_no_fault_of_ours(
    web: Site, digits: int
) -> None:
    huge, run = "9" * digits, web.workspace.bus.run_id
    for path, query in (
        (f"/api/event/{run}/{huge}", {}),
        ("/api/history/events", {"after": f"{run}:{huge}"}),
        ("/api/history/events", {"run": run, "request_seq": huge}),
        ("/api/history/events", {"status": huge}),
        ("/api/history", {"limit": huge}),
    ):
        status, body = await web.get(path, **query)
        assert status in (200, 400), body


async def test_help_pages_are_rendered_and_nothing_else_is_reached(web: Site) -> None:
    status, body = await web.get("/docs/errors/connection-refused")
    assert status == 200
    assert b"<h1>The connection was refused</h1>" in body
    assert b"<ol start=" in body
    assert (await web.get("/docs/errors/no-such"))[0] == 404
    _, body = await web.get("/docs/errors/..%2F..%2Fhowto%2Fpython")
    assert b"async with" not in body
