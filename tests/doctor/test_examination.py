"""Servers that are broken for real: which check finds it, what it shows, and what would help."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import ssl
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from mcplens.bus import Bus
from mcplens.clock import SystemClock
from mcplens.doctor.checks import TITLES, Check, Diagnosis, Examined
from mcplens.doctor.examination import Examination, misconfigured
from mcplens.errors import ConfigurationError
from mcplens.events import FrameSent, HttpRequestSent
from tests.auth.protected import Protected, protected
from tests.cli.tls import issued, untrusted_port
from tests.ports import held_port
from tests.servers.run import ROOT, argv, serve

# Long enough for a server to start on a busy machine, where the check is not about time.
PATIENT_S = 60.0
SILENT = "import sys; print('loading', file=sys.stderr, flush=True); sys.stdin.read()"
HARMLESS = {
    "server/discover", "initialize", "notifications/initialized", "ping", "tools/list",
    "resources/list", "resources/templates/list", "prompts/list", "subscriptions/listen",
    "notifications/cancelled",
}  # fmt: skip


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No sign-in of the user's own is used."""
    monkeypatch.setenv("MCPLENS_STATE_DIR", str(tmp_path))
    monkeypatch.setenv("MCPLENS_KEYRING", "off")


class Report:
    """A diagnosis with the messages and HTTP requests that it took."""

    def __init__(self, diagnosis: Diagnosis, bus: Bus) -> None:
        self.diagnosis = diagnosis
        self.checks = {check.name: check for check in diagnosis.checks}
        events = bus.kept()
        self.sent = {event.method for event in events if isinstance(event, FrameSent)}
        self.requests = [event for event in events if isinstance(event, HttpRequestSent)]

    @property
    def last(self) -> Check:
        return self.diagnosis.checks[-1]


async def examine(target: Any, *, alive_s: float = 0.0, **options: Any) -> Report:
    clock = SystemClock()
    bus = Bus(clock)
    words = target if isinstance(target, str) else "-- server"
    shown = target if isinstance(target, str) else " ".join(target)
    options = {"connection_timeout_s": PATIENT_S} | options
    told: list[Check] = []
    async with asyncio.timeout(100):
        examined = Examined("it", target, options, shown, words)
        examination = Examination(
            examined, bus=bus, clock=clock, on_check=told.append, alive_s=alive_s
        )
        diagnosis = await examination.run()
    bus.close()
    assert tuple(told) == diagnosis.checks
    found = Report(diagnosis, bus)
    # In the order in which things fail, and nothing that could change anything.
    order = list(TITLES)
    assert sorted(found.checks, key=order.index) == [check.name for check in diagnosis.checks]
    assert found.sent <= HARMLESS
    assert all(request.method in ("GET", "POST", "DELETE") for request in found.requests)
    return found


def python(code: str) -> list[str]:
    return [sys.executable, "-c", code]


async def test_a_command_that_works_passes_every_check_with_evidence_and_times() -> None:
    found = await examine(argv("good"), cwd=str(ROOT))
    assert found.diagnosis.is_healthy
    assert {check.state for check in found.diagnosis.checks} == {"ok"}
    assert list(found.checks) == [
        "configuration", "command", "started", "alive", "first_byte", "framing", "era",
        "handshake", "capabilities", "tools", "resources", "resource_templates", "prompts", "ping",
        "exit",
    ]  # fmt: skip
    assert found.checks["command"].came.startswith(sys.executable)
    assert "listed" in found.checks["tools"].came
    assert found.checks["exit"].came == "it ended with exit code 0"
    timed = ("started", "first_byte", "handshake", "tools", "ping", "exit")
    assert all(found.checks[name].elapsed_s is not None for name in timed)
    assert found.diagnosis.conclusion.startswith("It works")


async def test_a_url_that_works_is_followed_down_to_its_lists() -> None:
    async with serve("good", "--transport", "http") as server:
        found = await examine(server.url)
    assert found.diagnosis.is_healthy
    assert "127.0.0.1 accepted" in found.checks["tcp"].came
    assert found.checks["http_status"].came == "200 OK"
    assert "application/json" in found.checks["content_type"].came
    assert "ping" in found.checks


@pytest.mark.parametrize(
    ("target", "options", "name", "came", "lines", "command"),
    [
        pytest.param(
            ["no-such-command"], {}, "command", "was not found in", (),
            "command -v no-such-command", id="no command",
        ),
        pytest.param(
            python("import sys; print('no key', file=sys.stderr); sys.exit(3)"), {}, "alive",
            "it ended with exit code 3", ("no key",), "exit(3)", id="exits",
        ),
        pytest.param(
            python(SILENT), {"connection_timeout_s": 2.0}, "first_byte", "nothing on stdout",
            ("loading",), "mcplens doctor --connect-timeout 60 -- server", id="silent",
        ),
        pytest.param(
            python("import sys; print('Welcome!', flush=True); sys.stdin.read()"),
            {"connection_timeout_s": 2.0}, "framing", "1 line that is not a message", ("Welcome!",),
            "</dev/null 2>/dev/null", id="prints",
        ),
        pytest.param(
            python("import sys; print('a\\n' * 30, end='', flush=True); sys.stdin.read()"),
            {"connection_timeout_s": 2.0}, "framing", "30 lines that are not messages", ("a",) * 8,
            "</dev/null 2>/dev/null", id="prints much",
        ),
        pytest.param(
            python("import sys; print('on http://localhost:8/mcp', file=sys.stderr, flush=True);"
                   "sys.stdin.read()"),
            {"connection_timeout_s": 2.0}, "first_byte", "nothing on stdout",
            ("on http://localhost:8/mcp",), "mcplens doctor http://localhost:8/mcp", id="listens",
        ),
    ],
)  # fmt: skip
async def test_a_broken_command_stops_at_the_check_that_explains_it(
    target: list[str],
    options: dict[str, Any],
    name: str,
    came: str,
    lines: tuple[str, ...],
    command: str,
) -> None:
    found = await examine(target, **options)
    assert not found.diagnosis.is_healthy
    assert (found.last.name, found.last.state) == (name, "failed")
    assert came in found.last.came
    assert found.last.lines == lines
    assert command in found.diagnosis.command
    assert [check.state for check in found.diagnosis.checks[:-1]] == ["ok"] * (
        len(found.diagnosis.checks) - 1
    )


def test_a_diagnosis_with_an_error_is_not_healthy() -> None:
    parts: dict[str, Any] = {"server": "it", "checks": (), "conclusion": "", "command": ""}
    assert Diagnosis(**parts).is_healthy
    assert not Diagnosis(**parts, error={"code": "CONNECTION_LOST"}).is_healthy


async def test_output_before_the_first_message_is_shown_although_the_server_works() -> None:
    shell = ["sh", "-c", f"echo Welcome; exec {' '.join(argv('good'))}"]
    found = await examine(shell, cwd=str(ROOT))
    assert found.diagnosis.is_healthy
    assert found.checks["framing"].state == "warning"
    assert found.checks["framing"].lines == ("Welcome",)
    assert found.diagnosis.conclusion == (
        "It works, with a warning: framing. "
        "Have the server log to stderr: stdout is for messages alone."
    )


async def test_a_list_that_fails_does_not_hide_the_others() -> None:
    bad = argv("bad", "invalid_json", "--at", "tools/list")
    found = await examine(bad, cwd=str(ROOT))
    assert found.checks["tools"].state == "failed"
    assert found.checks["ping"].state == "ok"
    assert found.diagnosis.conclusion == "It connects, and these checks failed: tools."


async def test_a_server_that_ignores_the_end_of_its_input_is_told_of_at_the_end() -> None:
    stays = f"{' '.join(argv('good'))}; sleep 60"
    options: dict[str, Any] = {"close_wait_s": 0.2, "terminate_wait_s": 0.2, "cwd": str(ROOT)}
    found = await examine(["sh", "-c", stays], **options)
    assert found.diagnosis.is_healthy
    assert (found.last.name, found.last.state) == ("exit", "warning")


async def test_the_way_to_a_url_is_checked_step_by_step(tmp_path: Path) -> None:
    with held_port() as port:
        refused = await examine(f"http://127.0.0.1:{port}/mcp")
    assert (refused.last.name, refused.last.state) == ("tcp", "failed")
    assert refused.diagnosis.command == f"curl -v http://127.0.0.1:{port}/mcp"
    lost = await examine("http://no-such-host.invalid/mcp")
    assert (lost.last.name, lost.last.state) == ("dns", "failed")
    with untrusted_port(tmp_path) as port:
        untrusted = await examine(f"https://127.0.0.1:{port}/mcp")
    assert [check.name for check in untrusted.diagnosis.checks[1:]] == ["tcp", "tls"]
    assert "self-signed" in untrusted.last.came.replace("self signed", "self-signed")
    assert untrusted.diagnosis.command.endswith("--ca-file CA.pem")
    assert untrusted.last.lines == ("1. localhost (127.0.0.1), by itself, until 2120-01-01",)
    assert not untrusted.sent


async def test_tls_shows_names_issuer_and_days_left(tmp_path: Path) -> None:
    with untrusted_port(tmp_path) as port:
        url = f"https://127.0.0.1:{port}/mcp"
        trusted = await examine(url, ca_file=str(tmp_path / "certificate.pem"))
        unchecked = await examine(url, insecure=True)
    assert "127.0.0.1 by localhost" in trusted.checks["tls"].came
    assert "days left" in trusted.checks["tls"].came
    assert trusted.checks["tls"].lines == ("1. localhost (127.0.0.1), by itself, until 2120-01-01",)
    assert unchecked.checks["tls"].state == "warning"
    assert trusted.last.name == "http_status"


@asynccontextmanager
async def answering(answer: bytes, tls: ssl.SSLContext | None = None) -> AsyncIterator[str]:
    """A port where every request gets this answer."""

    async def serve_one(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(EOFError, OSError):  # who checks TLS alone asks nothing
            await reader.readuntil(b"\r\n\r\n")
            writer.write(answer)
        writer.close()
        with contextlib.suppress(OSError):
            await writer.wait_closed()

    server = await asyncio.start_server(serve_one, "127.0.0.1", 0, ssl=tls)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()


async def test_what_is_not_mcp_is_told_by_its_status_and_its_content_type() -> None:
    page = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 6\r\n\r\n<html>"
    async with answering(page) as url:
        found = await examine(f"{url}/")
    assert found.checks["http_status"].state == "ok"
    assert (found.last.name, found.last.state) == ("content_type", "failed")
    assert "text/html" in found.last.came
    assert found.diagnosis.command == f"mcplens doctor {url}/mcp"
    async with answering(b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n") as url:
        down = await examine(f"{url}/mcp")
    assert (down.last.name, down.last.state) == ("http_status", "failed")
    assert "502" in down.last.came
    assert "behind the proxy" in down.diagnosis.conclusion


async def test_a_proxy_of_the_environment_is_where_the_way_leads(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with answering(b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n") as proxy:
        monkeypatch.setenv("http_proxy", proxy)
        found = await examine("http://behind.invalid/mcp")
    assert [check.name for check in found.diagnosis.checks[1:]] == ["tcp", "proxy", "http_status"]
    assert found.checks["proxy"].came == f"goes through {proxy}"
    assert "502" in found.last.came


@asynccontextmanager
async def tunnelling(port: int) -> AsyncIterator[str]:
    """A proxy that leads every CONNECT to this port, and knows one user."""

    async def copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            while data := await reader.read(65536):
                writer.write(data)
                await writer.drain()
        writer.close()

    async def serve_one(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = await reader.readuntil(b"\r\n\r\n")
        except EOFError:  # the check of TCP asks nothing
            writer.close()
            return
        assert head.startswith(b"CONNECT behind.invalid:443 HTTP/1.1\r\n")
        if b"Basic " + base64.b64encode(b"me:ge heim") not in head:
            writer.write(b"HTTP/1.1 407 Proxy Authentication Required\r\n\r\n")
            writer.close()
            return
        there = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        await asyncio.gather(copy(reader, there[1]), copy(there[0], writer))

    server = await asyncio.start_server(serve_one, "127.0.0.1", 0)
    try:
        yield f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()


async def test_tls_is_checked_through_a_proxy_with_its_whole_chain(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    authority, own = issued(tmp_path, "behind.invalid")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(own)
    gone = b"HTTP/1.1 410 Gone\r\nContent-Length: 0\r\n\r\n"
    url = "https://behind.invalid/mcp"
    async with answering(gone, context) as server, tunnelling(urlsplit(server).port or 0) as proxy:
        monkeypatch.setenv("https_proxy", f"http://me:ge%20heim@{proxy}")
        found = await examine(url, ca_file=str(authority))
        untrusted = await examine(url)
        monkeypatch.setenv("https_proxy", f"http://{proxy}")
        refused = await examine(url, ca_file=str(authority))
    names = [check.name for check in found.diagnosis.checks[1:]]
    assert names == ["tcp", "proxy", "tls", "http_status"]
    assert found.checks["proxy"].came == "the way is open"
    assert "ge heim" not in str(found.diagnosis.checks)
    assert "ge%20heim" not in str(found.diagnosis.checks)
    assert "behind.invalid by Test authority" in found.checks["tls"].came
    chain = (
        "1. behind.invalid, by Test authority, until 2120-01-01",
        "2. Test authority, by itself, until 2120-01-01",
    )
    assert found.checks["tls"].lines == chain
    assert "410" in found.last.came
    assert (untrusted.last.name, untrusted.last.state) == ("tls", "failed")
    assert untrusted.last.lines == chain  # what it sent, though it cannot be trusted
    assert (refused.last.name, refused.last.state) == ("proxy", "failed")
    assert "407 Proxy Authentication Required" in refused.last.came
    assert refused.diagnosis.command == f"NO_PROXY=behind.invalid mcplens doctor {url}"


async def test_a_server_that_ends_after_its_handshake_does_not_keep_running() -> None:
    code = """
import json, sys, threading
for line in sys.stdin:
    message = json.loads(line)
    if message.get("method") == "initialize":
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": {
            "protocolVersion": message["params"]["protocolVersion"], "capabilities": {},
            "serverInfo": {"name": "brief", "version": "1"}}}), flush=True)
    elif "id" in message:
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "error": {
            "code": -32601, "message": "no"}}), flush=True)
    else:
        print("that was all", file=sys.stderr)
        sys.exit(7)
"""
    found = await examine(python(code), alive_s=30.0)
    assert (found.last.name, found.last.state) == ("alive", "failed")
    assert found.last.came == "it ended with exit code 7"
    assert "that was all" in found.last.lines


async def test_a_sign_in_is_looked_up_and_nobody_is_registered_or_signed_in() -> None:
    async with protected() as server:
        found = await examine(f"{server.base}/mcp")
        assert found.checks["http_status"].came.startswith("401")
        assert found.checks["protected_resource"].state == "ok"
        assert found.checks["authorization_server"].state == "ok"
        assert (found.last.name, found.last.state) == ("sign_in", "failed")
        assert found.diagnosis.command == f"mcplens auth login {server.base}/mcp"
        assert_unchanged(server)
        server.metadata_of_issuer = lambda: {"issuer": "https://elsewhere.example"}
        broken = await examine(f"{server.base}/mcp")
        assert (broken.last.name, broken.last.state) == ("authorization_server", "failed")
        assert broken.diagnosis.command.startswith("mcplens auth debug")
        assert_unchanged(server)


def assert_unchanged(server: Protected) -> None:
    assert (server.forms, server.registrations, server.codes) == ([], [], {})


def test_a_configuration_that_cannot_be_used_is_the_only_finding() -> None:
    wrong = ConfigurationError("CONFIGURATION_INVALID", "no", details={"file": "mcp.json"})
    (check,) = misconfigured("weather", wrong).checks
    assert (check.name, check.state, check.tried) == ("configuration", "failed", "reading mcp.json")
    unset = ConfigurationError("CONFIGURATION_INVALID", "no", details={"variable": "TOKEN"})
    diagnosis = misconfigured("weather", unset)
    assert [check.name for check in diagnosis.checks] == ["configuration", "placeholders"]
    assert diagnosis.command == "export TOKEN=…"


async def test_a_server_that_fails_as_it_ends_shows_its_last_words() -> None:
    fails = f"{' '.join(argv('good'))}; echo cannot save >&2; exit 5"
    found = await examine(["sh", "-c", fails], cwd=str(ROOT))
    assert (found.last.name, found.last.state) == ("exit", "warning")
    assert found.last.came == "it ended with exit code 5"
    assert found.last.lines == ("cannot save",)
    assert "end with exit code 0 when its stdin is closed" in found.diagnosis.conclusion
