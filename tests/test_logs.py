"""Standard logging: silent by default, shows what happens when it is turned on, and no secret."""

import asyncio
import logging
import subprocess
import sys

import pytest

import mcplens
from mcplens.events import StateChanged
from tests.servers.run import serve

SECRET = "s3cret"
ENDS_AT_ONCE = [sys.executable, "-c", "import sys; sys.exit(3)"]

LOSES_ITS_SERVER = f"""
import asyncio, mcplens

async def main():
    try:
        async with mcplens.connect({ENDS_AT_ONCE!r}, max_retries=1, retry_backoff_s=(0,)):
            pass
    except mcplens.InspectorError as error:
        print(error.code)

asyncio.run(main())
"""


@pytest.fixture(autouse=True)
def everything(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)


def test_nothing_is_printed_unless_logging_is_turned_on() -> None:
    command = [sys.executable, "-c", LOSES_ITS_SERVER]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert (done.stdout, done.stderr) == ("SERVER_EXITED\n", "")


async def test_a_start_an_exit_and_a_retry_are_logged(caplog: pytest.LogCaptureFixture) -> None:
    connecting = mcplens.connect(
        ENDS_AT_ONCE, server_id="short", max_retries=1, retry_backoff_s=(0,)
    )
    with pytest.raises(mcplens.InspectorError):
        await connecting.__aenter__()
    logged = [(record.name, record.getMessage()) for record in caplog.records]
    of_stdio = [text for name, text in logged if name == "mcplens.transports.stdio"]
    assert sum("started" in text for text in of_stdio) == 2
    assert sum("exited with code 3" in text for text in of_stdio) == 2
    of_session = [text for name, text in logged if name == "mcplens.session.connector"]
    assert "short: attempt to connect failed: SERVER_EXITED" in of_session
    assert "short: retry 1 of 1 in 0 s" in of_session


async def test_a_lost_connection_and_a_malformed_message_are_warnings(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with (
        serve("bad", "half_line_exit") as server,
        mcplens.connect(server.argv, cwd=server.cwd, server_id="bad") as client,
    ):
        with pytest.raises(mcplens.InspectorError):
            await client.call_tool("bad")
        async with asyncio.timeout(30):
            async for event in client.events():
                if isinstance(event, StateChanged) and event.transition == "connection_lost":
                    break
    warnings = [each.getMessage() for each in caplog.records if each.levelno == logging.WARNING]
    assert any("malformed message" in text for text in warnings)
    assert "bad: connection lost: SERVER_EXITED" in warnings


async def test_a_server_that_has_to_be_killed_is_a_warning(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with serve("good", "--stubborn", "term") as server:
        transport = mcplens.create_stdio_transport(
            server.argv, cwd=server.cwd, close_wait_s=0.01, terminate_wait_s=0.01
        )
        client = mcplens.create_mcp_client(transport)
        await client.connect()
        await client.disconnect()
    warnings = [each.getMessage() for each in caplog.records if each.levelno == logging.WARNING]
    assert [text for text in warnings if "ignored SIGTERM" in text] == warnings != []


@pytest.mark.parametrize("kind", ["http", "sse", "ws"])
async def test_no_secret_of_a_url_or_a_header_is_logged(
    kind: str, caplog: pytest.LogCaptureFixture
) -> None:
    headers = {"Authorization": f"Bearer {SECRET}", "X-Api-Key": SECRET}
    async with serve("good", "--transport", kind) as server:
        url = f"{server.url.replace('://', f'://me:{SECRET}@')}?key={SECRET}"
        async with mcplens.connect(
            url, transport=None if kind == "ws" else kind, headers=headers
        ) as client:
            await client.call_tool("echo", {"text": SECRET})
    assert "mcplens.transports" in caplog.text
    assert SECRET not in caplog.text


async def test_no_secret_of_an_argument_or_the_environment_is_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with serve("good", "--path", SECRET) as server:
        connecting = mcplens.connect(server.argv, env={"API_KEY": SECRET}, cwd=server.cwd)
        async with connecting as client:
            await client.call_tool("echo", {"text": SECRET})
    assert "started" in caplog.text
    assert SECRET not in caplog.text
