"""`mcplens gateway` follows its configuration, unless it is broken."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sys
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

import mcplens
from mcplens.errors import InspectorError
from mcplens.session.client import Client
from tests.cli.shell import Shell
from tests.cli.test_gateway import DEMO, START_S, TOKEN, Started, bearer, started


def write(shell: Shell, text: str) -> None:
    """As editors do it: a new file takes the place of the former one."""
    shell.config.parent.mkdir(parents=True, exist_ok=True)
    new = shell.config.with_suffix(".new")
    new.write_text(text)
    os.replace(new, shell.config)


def configure(shell: Shell, *servers: str, **top: object) -> None:
    write(shell, json.dumps({"mcpServers": dict.fromkeys(servers, DEMO), **top}))


async def reloaded(gateway: Started) -> dict[str, Any]:
    """What the gateway logs of the next reload."""
    assert gateway.process.stderr is not None
    async with asyncio.timeout(START_S):
        async for line in gateway.process.stderr:
            if b'"event":"configuration"' in line:
                told: dict[str, Any] = json.loads(line)
                return told
    raise AssertionError("the gateway has ended")


async def watching(gateway: Started) -> None:
    """Until the gateway has its servers: by then it watches its files."""
    assert gateway.process.stderr is not None
    async with asyncio.timeout(START_S):
        async for line in gateway.process.stderr:
            if b'"state":"connected"' in line.lower():
                return


async def names_of(client: Client) -> list[str]:
    """The tools called echo, of whatever server."""
    names = [tool.name for tool in await client.list_tools()]
    return [name for name in names if name.endswith("echo")]


def setter(event: asyncio.Event) -> Callable[[Any], None]:
    return lambda _: event.set()


async def rounds(events: list[asyncio.Event]) -> AsyncIterator[int]:
    """Numbers, until all events have come."""
    for number in range(10):
        yield number
        try:
            async with asyncio.timeout(2):
                await asyncio.gather(*(event.wait() for event in events))
                return
        except TimeoutError:
            continue
    raise TimeoutError("clients were not told")


async def test_servers_and_views_follow_the_file_and_clients_are_told(shell: Shell) -> None:
    few = {"allow": {"tools": ["*:echo"]}, "token": "the-views-own-token"}
    configure(shell, "one", views={"few": few})
    async with started(shell, "--token", TOKEN) as gateway:
        await watching(gateway)
        at_few = mcplens.connect(gateway.url + "/few", headers=bearer("the-views-own-token"))
        async with mcplens.connect(gateway.url, headers=bearer(TOKEN)) as client, at_few as other:
            assert await names_of(client) == ["one__echo"]
            assert await names_of(other) == ["one__echo"]
            told = [asyncio.Event(), asyncio.Event()]
            for each, event in zip((client, other), told, strict=True):
                each.set_notification_handler("notifications/tools/list_changed", setter(event))
            # Again and again: the stream of a client may not be open at the first.
            async for round_ in rounds(told):
                view = {**few, "rename": {"one:echo": f"say-{round_}"}}
                configure(shell, "one", f"two-{round_}", views={"few": view})
                assert (await reloaded(gateway))["added"] == [f"two-{round_}"]
                await client.call_tool("one__echo", {"text": "hi"})
            async with asyncio.timeout(START_S):
                while True:
                    told[0].clear()
                    if await names_of(client) == ["one__echo", f"two-{round_}__echo"]:
                        break
                    await told[0].wait()
            assert f"say-{round_}" in [tool.name for tool in await other.list_tools()]
            result = await client.call_tool(f"two-{round_}__echo", {"text": "hi"})
            assert result.content[0].text == "hi"

        configure(shell, "one", "two")
        assert "error" not in await reloaded(gateway)
        gone = mcplens.connect(gateway.url + "/few", headers=bearer(TOKEN))
        with pytest.raises(InspectorError):
            async with gone:
                pass
        configure(shell, "one", "two", views={"few": few})
        assert "error" not in await reloaded(gateway)
        again = mcplens.connect(gateway.url + "/few", headers=bearer("the-views-own-token"))
        async with again as other, asyncio.timeout(START_S):
            while await names_of(other) != ["one__echo", "two__echo"]:
                pass  # the second server is still being started


async def test_a_file_that_cannot_be_used_changes_nothing_and_the_error_is_shown(
    shell: Shell,
) -> None:
    configure(shell, "one")
    async with started(shell, "--token", TOKEN) as gateway:
        await watching(gateway)
        async with mcplens.connect(gateway.url, headers=bearer(TOKEN)) as client:
            for broken, why in (
                ('{"mcpServers": {', "line 1"),
                (json.dumps({"mcpServers": {}, "defaultPresetId": "nope"}), "no view 'nope'"),
                (json.dumps({"mcpServers": {"me": {"url": gateway.url}}}), "this very gateway"),
            ):
                write(shell, broken)
                assert why in (await reloaded(gateway))["error"]
                result = await client.call_tool("one__echo", {"text": "hi"})
                assert result.content[0].text == "hi"
            configure(shell, "one", "two")
            assert (await reloaded(gateway))["added"] == ["two"]


async def test_a_program_that_speaks_over_pipes_is_told_as_well(shell: Shell) -> None:
    configure(shell, "one")
    argv = [sys.executable, "-m", "mcplens", "gateway", "--stdio"]
    async with mcplens.connect(argv, env=shell.environment) as client:
        assert await names_of(client) == ["one__echo"]
        told = asyncio.Event()
        client.set_notification_handler("notifications/tools/list_changed", setter(told))
        view = {"allow": {"tools": ["*:echo"]}, "separator": ":"}
        async with asyncio.timeout(START_S):
            while [tool.name for tool in await client.list_tools()] != ["one:echo"]:
                # Again, since over pipes nothing says when the file is watched.
                configure(shell, "one", views={"few": view}, defaultPresetId="few")
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(2):
                        await told.wait()
            await told.wait()


async def test_a_projects_server_that_appears_later_stays_stopped_until_it_is_confirmed(
    shell: Shell,
) -> None:
    configure(shell, "one")
    async with started(shell, "--token", TOKEN) as gateway:
        await watching(gateway)
        assert gateway.process.stderr is not None
        ran = shell.home / "ran"
        cloned = {"command": "touch", "args": [str(ran)]}
        (shell.home / "mcp.json").write_text(json.dumps({"mcpServers": {"cloned": cloned}}))
        lines = []
        async with asyncio.timeout(START_S):
            async for line in gateway.process.stderr:
                lines.append(json.loads(line))
                if lines[-1]["event"] == "configuration":
                    break
        assert lines[-1]["added"] == ["cloned"]
        told = [line["text"] for line in lines if line.get("server") == "cloned"]
        assert len(told) == 1
        assert "is not started: use --yes" in told[0]
        async with mcplens.connect(gateway.url, headers=bearer(TOKEN)) as client:
            assert await names_of(client) == ["one__echo"]
            with pytest.raises(InspectorError, match="Unknown tool"):
                await client.call_tool("cloned__x", {})
        assert not ran.exists()
