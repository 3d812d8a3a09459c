"""The same protected server over every transport, from every surface."""

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import mcplens
from mcplens.cli import exit_codes
from tests.auth.protected import Protected, consent, consent_at, protected, protected_beside
from tests.cli.shell import Shell
from tests.cli.terminal import Terminal, terminal
from tests.cli.test_auth import PASTE, sent_back_to
from tests.cli.test_shell_prompt import Person
from tests.web.harness import site, write_config

PINNED = "2025-11-25"
TRANSPORTS = ("http", "sse", "websocket")


def at(server: Protected, transport: str) -> str:
    """The address for a transport; the server itself is the same."""
    server.has_stream = transport == "sse"
    return server.url.replace("http://", "ws://") if transport == "websocket" else server.url


@pytest.fixture
def beside() -> Iterator[Protected]:
    with protected_beside() as found:
        yield found


@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_from_python(server: Protected, transport: str) -> None:
    url = at(server, transport)
    for options in ({"sign_in": consent}, {}):  # the second time nobody is asked
        async with (
            asyncio.timeout(20),
            mcplens.connect(
                url,
                transport=transport,
                protocol_version=PINNED,
                **options,  # type: ignore[arg-type]
            ) as client,
        ):
            assert (await client.call_tool("echo")).content[0].text == "done"
    _check(server, transport)


@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_from_the_page(tmp_path: Path, transport: str) -> None:
    async with protected() as server:
        entry = {"url": at(server, transport), "transport": transport, "protocolVersion": PINNED}
        write_config(tmp_path, notes=entry)
        async with site(tmp_path) as web, web.page() as page:

            def auth() -> dict[str, Any]:
                return page.things["servers", "notes"]["auth"] or {}

            await page.ask("Connect", server_id="notes")
            await page.until(lambda: auth().get("open_url"))
            answer = await consent_at(auth()["open_url"])
            await page.ask("PasteRedirect", server_id="notes", url=answer)
            await page.in_state("notes", "CONNECTED")
            ended = await page.call("CallTool", server_id="notes", name="echo", arguments={})
            assert ended["error"] is None
        _check(server, transport)


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_from_the_command_line(tmp_path: Path, beside: Protected, transport: str) -> None:
    shell = Shell(tmp_path)
    words = ("call", at(beside, transport), "echo", "--transport", transport, "--protocol", PINNED)
    with terminal(shell, *words, columns=1000) as screen:
        screen.answer("Sign in now? [Y/n] ", "y")
        _paste(screen, screen.until_line("/authorize?"), screen.until)
        assert screen.end() == exit_codes.DONE
        assert screen.lines[-1] == "done"
    assert shell.run(*words).text == "done\n"  # another process, and nobody is asked
    _check(beside, transport)


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_from_a_shell(tmp_path: Path, beside: Protected, transport: str) -> None:
    words = ("shell", at(beside, transport), "--transport", transport, "--protocol", PINNED)
    with terminal(Shell(tmp_path), *words, columns=1000) as screen:
        screen.answer("Sign in now? [Y/n] ", "y")
        _paste(screen, screen.until_line("/authorize?"), screen.until)
        person = Person(screen)
        person.type("call echo")
        person.see("\ndone")
        if transport == "http":  # the others carry the token with their connection alone
            beside.valid.clear()
            beside.refresh_tokens.clear()
            person.type("call echo")
            person.see("Sign in now? [Y/n] ")
            screen.type("y\n")
            _paste(screen, screen.until_line("/authorize?"), person.see)
            person.see("\ndone")
        person.type("exit")
        assert screen.end() == exit_codes.DONE
    _check(beside, transport)


def _paste(screen: Terminal, shown: str, wait_for: Callable[[str], object]) -> None:
    wait_for(PASTE)
    screen.type(sent_back_to(shown.strip()) + "\n")


def _check(server: Protected, transport: str) -> None:
    """It was this transport, and the token was in each request of it."""
    refused, *others = server.authorizations
    assert refused == ""
    assert all(header.startswith("Bearer access-") for header in others if header)
    assert ("/messages" in server.asked) == (transport == "sse")
    assert bool(server.messages) == (transport == "websocket")
