"""server-everything from the command line: all 19 of its tools, on each of its three transports."""

import asyncio
import re
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Literal

import pytest

from mcplens.cli import exit_codes
from tests.cli.real_servers import RealServer, Use, everything, use
from tests.cli.shell import Ran, Shell
from tests.cli.terminal import terminal
from tests.interaction.targets import serve_everything

# Dozens of commands in one test, which a busy machine runs slowly.
pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

LINK = "url=https://example.com/authorize"
# What the table of all servers has no room for.
MORE = (
    use(
        "simulate-research-query",
        *("topic=lenses", "ambiguous=true", "--elicit", "accept"),
        shows=r"^# Research Report: lenses \(technical\)\n",
    ),
    use("simulate-research-query", "topic=x", "--task", "--ttl", "30", shows="^# Research Report"),
    use(
        "trigger-url-elicitation",
        *(LINK, "errorPath=true", "--elicit", "accept"),
        shows="User completed the URL elicitation flow",
    ),
    use(
        "trigger-url-elicitation",
        *(LINK, "--elicit", "decline"),
        shows="User declined to open the URL",
    ),
    use("trigger-elicitation-request", "--elicit", "decline", shows="User declined to provide"),
    use("trigger-elicitation-request", "--elicit", "cancel", shows="User cancelled"),
    use(
        "trigger-elicitation-request-async",
        *("--elicit", "decline"),
        shows=r"(?i)\[(declined|failed|error)\]",
    ),
)


def run_all(shell: Shell, server: RealServer, uses: Iterable[Use]) -> None:
    def run(each: Use) -> Ran:
        return shell.run(*server.command_line("call", each.name, *each.words))

    uses = list(uses)
    # Two at a time: most of it is waiting.
    with ThreadPoolExecutor(2) as pool:
        for each, done in zip(uses, pool.map(run, uses), strict=True):
            assert done.code == each.code, (each, done)
            assert re.search(each.shows, done.text.rstrip("\n")), (each, done)


def test_questions_and_tasks_in_all_their_forms_over_stdio(shell: Shell, tmp_path: Path) -> None:
    run_all(shell, everything(tmp_path), MORE)


@pytest.mark.parametrize("mode", ["streamableHttp", pytest.param("sse", marks=pytest.mark.soak)])
async def test_all_19_tools_run_to_the_end_over_the_network(
    shell: Shell, tmp_path: Path, mode: Literal["streamableHttp", "sse"]
) -> None:
    table = everything(tmp_path).tools
    # The server's environment is its own there.
    uses = [use("get-env", shows='"PORT": ') if each.name == "get-env" else each for each in table]
    assert len({each.name for each in uses}) == 19
    async with serve_everything(mode) as url:
        server = replace(everything(tmp_path), url=url)
        await asyncio.to_thread(run_all, shell, server, [*uses, *MORE])


def test_a_person_fills_in_a_form_for_a_task(shell: Shell, tmp_path: Path) -> None:
    line = everything(tmp_path).command_line(
        "call", "simulate-research-query", "topic=lenses", "ambiguous=true"
    )
    with terminal(shell, *line) as screen:
        screen.until_line("The server asks for input")
        shown = screen.answer("Clarification*> ", "2")
        assert screen.end() == exit_codes.DONE
    assert "    2. historical: Historical perspective" in shown
    assert any(each.startswith("# Research Report: lenses (historical") for each in screen.lines)
