"""`mcplens web` and its short forms, as a process: address, Ctrl-C, ports, nothing left behind."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import aiohttp
import pytest
from websockets.asyncio.client import connect

from mcplens.cli.command_options import SHARED_NAMES, CommandOptions
from mcplens.cli.target_resolution import overrides_of
from tests.auth.protected import protected_beside
from tests.cli.shell import TIMEOUT_S, Shell, read_until
from tests.servers.run import argv

from .harness import Page

ADDRESS = re.compile(rb"^(http://127\.0\.0\.1:(\d+)/)#token=([\w-]+)\n", re.MULTILINE)


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path)


@contextlib.contextmanager
def running(shell: Shell, *words: str) -> Iterator[tuple[subprocess.Popen[bytes], str, str]]:
    """The command for as long as the block lasts: process, address, token."""
    process = shell.start(*words)
    assert process.stdout is not None
    try:
        out = read_until(process.stdout.fileno(), b"\n")
        found = ADDRESS.match(out)
        assert found, out
        yield process, found[1].decode(), found[3].decode()
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=TIMEOUT_S)


def end(process: subprocess.Popen[bytes], how: signal.Signals = signal.SIGINT) -> bytes:
    process.send_signal(how)
    _, err = process.communicate(timeout=TIMEOUT_S)
    return err


def is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    # A zombie that nobody has reaped yet is over.
    return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_the_page_is_served_and_ctrl_c_leaves_no_process_behind(
    shell: Shell, tmp_path: Path, how: signal.Signals
) -> None:
    pids = tmp_path / "pid"
    program = f"import os,runpy;open({str(pids)!r},'w').write(str(os.getpid()));"
    program += "runpy.run_module('mcplens.demo',run_name='__main__')"
    os.mkfifo(pids)
    words = ["--no-open", "--port", "0", "--", sys.executable, "-c", program]
    with running(shell, *words) as (process, address, _):
        server = int(pids.read_text())
        with urllib.request.urlopen(address) as answer:
            assert answer.status == 200
        assert is_running(server)
        err = end(process, how)
        assert process.returncode == 0
        assert b"Traceback" not in err
        assert not is_running(server)


def test_the_next_free_port_is_taken_and_a_port_that_is_named_is_not_replaced(
    shell: Shell,
) -> None:
    with running(shell, "web", "--no-open") as (_, one, _), running(shell, "--no-open") as second:
        assert one != second[1]
        port = one.rsplit(":", 1)[1].strip("/")
        refused = shell.run("web", "--no-open", "--port", port)
        assert refused.code == 4
        assert f"port {port} on 127.0.0.1 is already in use" in refused.err
        assert "choose another with --port" in refused.err
        assert "URL" not in refused.err


def test_a_bare_target_opens_the_page_and_anything_else_is_an_error(shell: Shell) -> None:
    with running(shell, "demo", "--no-open", "--port", "0"):
        pass
    shell.run("servers", "add", "weather", "--", "x")
    for words, near in (
        (["tolls"], "Did you mean tools?"),
        (["Wether"], "Did you mean weather?"),
        (["web", "wether"], "Did you mean weather?"),
    ):
        wrong = shell.run(*words)
        assert wrong.code == 2
        assert near in wrong.err
        assert "configured name (weather, demo), a URL, a host such as" in wrong.err
    # It is no host of Paraguay.
    gone = shell.run("web", "gone.py")
    assert (gone.code, "there is no script 'gone.py'" in gone.err) == (2, True)
    assert shell.run("gone.py").err == gone.err


def test_a_server_that_is_not_there_is_told_in_the_terminal_once(shell: Shell) -> None:
    words = ["http://127.0.0.1:9/mcp", "--no-open", "--port", "0", "--retries", "1"]
    with running(shell, *words) as (process, *_):
        assert process.stderr is not None
        said = read_until(process.stderr.fileno(), b"(the page says more)\n")
        assert b"127.0.0.1:9 is not connected:" in said
        assert b"refused the connection" in said
        assert b"not connected" not in end(process)


def test_options_that_would_be_ignored_are_refused(shell: Shell) -> None:
    forms = shell.run("web", "demo", "--no-open", "--elicit", "accept")
    assert forms.code == 2
    assert "--elicit does not work with the web UI" in forms.err
    nobody = shell.run("web", "--no-open", "--timeout", "5")
    assert nobody.code == 2
    assert "apply to one server: name it" in nobody.err


def test_an_option_of_nought_counts() -> None:
    state = CommandOptions()
    state.options = dict.fromkeys(SHARED_NAMES) | {"retries": 0, "timeout": 0, "env": {}}
    assert overrides_of(state) == {
        "max_retries": 0, "request_timeout_s": None, "max_total_timeout_s": None,
    }  # fmt: skip


def test_a_configured_server_is_opened_by_its_name(shell: Shell) -> None:
    command, *args = argv("good")
    shell.config.parent.mkdir(parents=True)
    entry = {"command": command, "args": args, "inheritEnv": True}
    shell.config.write_text(json.dumps({"mcpServers": {"mine": entry}}))
    with running(shell, "mine", "--no-open", "--port", "0") as (process, _, _):
        assert process.poll() is None


def test_another_address_is_served_with_a_warning(shell: Shell) -> None:
    process = shell.start("web", "--no-open", "--port", "0", "--host", "0.0.0.0")
    assert process.stdout is not None
    read_until(process.stdout.fileno(), b"#token=")
    err = end(process)
    assert b"can be reached from other machines" in err


def test_served_to_other_machines_a_sign_in_stays_out_of_private_networks(shell: Shell) -> None:
    with protected_beside() as server, protected_beside() as other:
        whole = server.metadata_of_resource
        server.metadata_of_resource = lambda: whole() | {"authorization_servers": [other.base]}
        server.valid = other.valid
        auth = {"grant": "client_credentials", "clientId": "robot", "clientSecret": "robots-secret"}
        shell.config.parent.mkdir(parents=True)
        entry = {"url": server.url, "auth": auth}
        shell.config.write_text(json.dumps({"mcpServers": {"closed": entry}}))
        words = ("web", "closed", "--no-open", "--port", "0", "--host", "0.0.0.0")
        process = shell.start(*words)
        assert process.stderr is not None
        err = read_until(process.stderr.fileno(), b"the page says more")
        end(process)
        assert b"127.0.0.1, an address of a private network" in err
        assert other.asked == []
        process = shell.start(*words, "--allow-private-networks")
        assert process.stderr is not None
        other.until_asked("/token", TIMEOUT_S)
        end(process)


def test_the_browser_is_started_with_a_token_that_opens_once(shell: Shell, tmp_path: Path) -> None:
    told = tmp_path / "told"
    os.mkfifo(told)
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\necho "$1" > {told}\n')
    browser.chmod(0o755)
    shell.variables["BROWSER"] = f"{browser} %s"
    with running(shell, "web", "--port", "0") as (_, address, token):
        opened = told.read_text().strip()
        assert opened.startswith(f"{address}#token=")
        launch = opened.partition("#token=")[2]
        assert launch != token
        assert [exchange(address, one) for one in (launch, launch, token, token)] == [
            200, 401, 200, 200,
        ]  # fmt: skip


def exchange(address: str, token: str) -> int:
    request = urllib.request.Request(
        f"{address}api/session",
        data=json.dumps({"token": token}).encode(),
        headers={"Origin": address.rstrip("/"), "Content-Type": "application/json"},
    )
    try:
        with urllib.request.urlopen(request) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as refused:
        return refused.code


def test_other_commands_do_not_load_the_web_server(tmp_path: Path) -> None:
    program = (
        "import sys\nfrom mcplens.cli import main, call, demo, web\n"
        "print([name for name in ('starlette', 'uvicorn', 'anyio') if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=TIMEOUT_S
    )
    assert done.stdout == "[]\n", done.stderr


async def test_ctrl_c_leaves_nothing_of_several_servers_in_the_midst_of_calls(
    shell: Shell, tmp_path: Path
) -> None:
    names = ("one", "two", "three")
    program = "import os,runpy,sys;open(sys.argv[1],'w').write(str(os.getpid()));"
    program += "sys.argv=sys.argv[:1];runpy.run_module('mcplens.demo',run_name='__main__')"
    entries = {
        name: {
            "command": sys.executable, "args": ["-c", program, str(tmp_path / name)],
            "inheritEnv": True,
        }
        for name in names
    }  # fmt: skip
    shell.config.parent.mkdir(parents=True)
    shell.config.write_text(json.dumps({"mcpServers": entries}))
    with running(shell, "web", "--no-open", "--port", "0") as (process, address, token):
        async with signed_in(address, token) as page:
            for name in names:
                await page.connected(name)
                call = await page.ask(
                    "CallTool", server_id=name, name="wait", arguments={"seconds": 60}
                )
                await under_way(page, call["call_id"])
            pids = [int((tmp_path / name).read_text()) for name in names]
            assert all(map(is_running, pids))
            process.send_signal(signal.SIGINT)
            _, err = await asyncio.to_thread(process.communicate, timeout=TIMEOUT_S)
        assert process.returncode == 0
        assert b"Traceback" not in err
        assert not any(map(is_running, pids))


async def under_way(page: Page, call_id: str) -> None:
    def view() -> bool:
        call = page.things.get(("calls", call_id))
        return call is not None and call["status"] == "in_progress"

    await page.until(view)


@contextlib.asynccontextmanager
async def signed_in(address: str, token: str) -> AsyncIterator[Page]:
    """A page of a mcplens that runs on its own; it may end before the block does."""
    origin = address.rstrip("/")
    jar = aiohttp.CookieJar(unsafe=True)
    async with aiohttp.ClientSession(cookie_jar=jar) as http:
        body, headers = {"token": token}, {"Origin": origin}
        async with http.post(f"{origin}/api/session", json=body, headers=headers) as done:
            folder = (await done.json())["folder"]
        cookie = "; ".join(f"{one.key}={one.value}" for one in jar)
    url = f"{origin}{folder}/api/socket".replace("http", "ws", 1)
    given = {"Origin": origin, "Cookie": cookie}
    async with connect(url, additional_headers=given, max_size=None, proxy=None) as socket:
        page = Page(socket)
        listening = asyncio.create_task(page.listen())
        await page.ask("Resume")
        try:
            yield page
        finally:
            listening.cancel()
            await asyncio.gather(listening, return_exceptions=True)
