"""The command line against servers that we did not write: everything listed, everything used."""

import asyncio
import re
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Literal

import pytest

from mcplens.cli import exit_codes
from tests.cli.real_servers import SERVERS, RealServer, Use, everything, fastmcp, sqlite
from tests.cli.shell import Ran, Shell, serving
from tests.interaction.targets import serve_everything

# Dozens of commands in one test, which a busy machine runs slowly.
pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

LISTS = {
    "tools": "tools",
    "resources": "resources",
    "templates": "resource templates",
    "prompts": "prompts",
}


@pytest.fixture(scope="module")
def fastmcp_url() -> Iterator[str]:
    """fastmcp takes seconds to start: once, over HTTP, for all tests."""
    with serving("sdk_fastmcp", "--transport", "http") as url:
        yield url


@pytest.fixture(params=SERVERS)
def server(request: pytest.FixtureRequest, tmp_path: Path) -> RealServer:
    folder = tmp_path.resolve() / "served"
    folder.mkdir()
    found = SERVERS[request.param](folder)
    if request.param == "fastmcp":
        return replace(found, url=request.getfixturevalue("fastmcp_url"))
    return found


def check_all(shell: Shell, server: RealServer, verb: str, uses: Iterable[Use]) -> None:
    """Each is used, in order where that matters, and gives what it must."""
    uses = list(uses)
    lines = [(verb, use.name, *use.words) for use in uses]
    for use, done in zip(uses, run_all(shell, server, lines), strict=True):
        assert done.code == use.code, (use, done)
        assert re.search(use.shows, done.text.rstrip("\n")), (use, done)
        assert "note: " not in done.err, (use, done)  # nothing breaks its own schema


def check_lists(shell: Shell, server: RealServer) -> None:
    """The lists name what the table names and nothing more, so that nothing is left unused."""
    offered = {
        "tools": {use.name for use in server.tools},
        "resources": {use.name for use in server.resources},
        "templates": {use.name for use in server.templates},
        "prompts": {use.name for use in server.prompts},
    }
    # Of the lists that it does not have, one says so as well as all; some take a second to start.
    lacking = [kind for kind in LISTS if kind in server.without]
    kinds = [kind for kind in LISTS if kind not in lacking[1:]]
    # Nothing that a list does can be in the way of another.
    lists = run_all(shell, replace(server, has_state=False), [(kind,) for kind in kinds])
    for kind, done in zip(kinds, lists, strict=True):
        code, said = server.without.get(kind, (exit_codes.DONE, ""))
        assert done.code == code, (kind, done)
        assert said.format(kind=LISTS[kind]) in done.err, (kind, done)
        assert names_in(done) == offered[kind], (kind, done)
        assert not re.search(r"[ -]$", done.text, flags=re.MULTILINE), (kind, done)


def run_all(shell: Shell, server: RealServer, lines: Iterable[tuple[str, ...]]) -> Iterator[Ran]:
    """What the commands did; two at a time, as most of it is waiting for a server to start."""
    with ThreadPoolExecutor(1 if server.has_state else 2) as pool:
        yield from pool.map(lambda line: shell.run(*server.command_line(*line)), lines)


def names_in(done: Ran) -> set[str]:
    """The names in a printed list: the first word of each line that is not indented."""
    return set(re.findall(r"^\S+", done.text, flags=re.MULTILINE))


def test_every_list_names_what_the_server_has(shell: Shell, server: RealServer) -> None:
    check_lists(shell, server)


# Each command starts its server anew.
some_or_all = pytest.mark.parametrize(
    "most", [2, pytest.param(None, marks=pytest.mark.soak)], ids=["some", "all"]
)


@some_or_all
def test_tools_can_be_called(shell: Shell, server: RealServer, most: int | None) -> None:
    check_all(shell, server, "call", server.tools[:most])


@some_or_all
def test_resources_can_be_read_and_prompts_had(
    shell: Shell, server: RealServer, most: int | None
) -> None:
    templates = [replace(use, name=use.words[0], words=()) for use in server.templates]
    check_all(shell, server, "read", server.resources[:most])
    check_all(shell, server, "read", templates[:most])
    check_all(shell, server, "prompt", server.prompts[:most])
    check_all(shell, server, "complete", server.completions[:most])


@pytest.mark.parametrize("mode", ["streamableHttp", "sse"])
async def test_server_everything_is_the_same_over_the_network(
    shell: Shell, tmp_path: Path, mode: Literal["streamableHttp", "sse"]
) -> None:
    def check(server: RealServer) -> None:
        check_lists(shell, server)
        some = {"echo", "get-tiny-image", "trigger-long-running-operation"}
        check_all(shell, server, "call", [use for use in server.tools if use.name in some])
        check_all(shell, server, "read", server.resources[:1])
        check_all(shell, server, "prompt", server.prompts[:1])
        check_all(shell, server, "complete", server.completions[:1])

    async with serve_everything(mode) as url:
        await asyncio.to_thread(check, replace(everything(tmp_path), url=url))


def test_a_fastmcp_server_is_the_same_as_a_command(shell: Shell, tmp_path: Path) -> None:
    server = fastmcp(tmp_path)
    check_all(shell, server, "call", server.tools[:2])


def test_what_an_older_sdk_says_of_our_first_question_is_one_line(
    shell: Shell, tmp_path: Path
) -> None:
    server = sqlite(tmp_path)
    short, long = run_all(shell, server, [("tools",), ("tools", "-v")])
    assert re.fullmatch(
        r"\[stderr\] \(\d+ lines about server/discover; -v shows them\)\n", short.err
    )
    assert "[stderr] WARNING:root:Failed to validate request" in long.err
