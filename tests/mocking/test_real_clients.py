"""server-everything, recorded by the tap and served as a mock: clients get the same from both."""

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, cast

import fastmcp
import mcp
import mcp.types as types
import pytest
from fastmcp.client.transports import StdioTransport
from mcp.client.stdio import StdioServerParameters

import mcplens
from mcplens.bus import Bus
from mcplens.clock import SystemClock
from mcplens.session.profiles import Profiles
from mcplens.store.recorder import Recorder
from tests.cli.shell import MCPLENS
from tests.node_tools import everything_argv, inspector_argv

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]

# Every tool that a client without tasks is offered, except the one that waits for a browser.
CALLS: dict[str, dict[str, Any]] = {
    "echo": {"message": "Grüße"},
    "get-sum": {"a": 1, "b": 2},
    "get-env": {},
    "get-tiny-image": {},
    "get-annotated-message": {"messageType": "success", "includeImage": True},
    "get-resource-links": {"count": 3},
    "get-resource-reference": {"resourceType": "Text", "resourceId": 1},
    "get-structured-content": {"location": "Chicago"},
    "gzip-file-as-resource": {"name": "all.gz", "data": "data:text/plain,hello"},
    "trigger-long-running-operation": {"duration": 0.04, "steps": 4},
    "toggle-simulated-logging": {},
    "toggle-subscriber-updates": {},
    "get-roots-list": {},
    "trigger-sampling-request": {"prompt": "Hello?"},
    "trigger-elicitation-request": {},
}
OWN_META = "io.modelcontextprotocol/serverInfo"
Got = dict[str, Any]


async def sdk(server: Any, mode: str) -> Got:
    """All calls by the official SDK's client."""
    if isinstance(server, list):
        server = StdioServerParameters(command=server[0], args=server[1:])
    progress: list[Any] = []

    async def sample(context: Any, params: Any) -> Any:
        content = types.TextContent(type="text", text="sampled")
        return types.CreateMessageResult(role="assistant", content=content, model="m")

    async def elicit(context: Any, params: Any) -> Any:
        return types.ElicitResult(action="accept", content={"name": "Ada"})

    async def roots(context: Any) -> Any:
        return types.ListRootsResult(roots=[types.Root(uri="file:///recorded")])  # type: ignore[arg-type]

    async def report(done: float, total: float | None, message: str | None) -> None:
        progress.append((done, total))

    async with mcp.Client(
        server, mode=mode, sampling_callback=sample, elicitation_callback=elicit,
        list_roots_callback=roots,
    ) as client:  # fmt: skip
        found = {"tools": (await client.list_tools()).model_dump(mode="json")["tools"]}
        for name, arguments in CALLS.items():
            result = await client.call_tool(name, arguments, progress_callback=cast(Any, report))
            found[name] = result.model_dump(mode="json")
            assert not found[name]["is_error"], found[name]
    return {**found, "progress": progress}


async def fast(server: Any, mode: str) -> Got:
    """All calls by FastMCP's client."""
    if isinstance(server, list):
        server = StdioTransport(server[0], server[1:], keep_alive=False)

    async def sample(messages: Any, params: Any, context: Any) -> str:
        return "sampled"

    async def elicit(message: Any, response_type: Any, params: Any, context: Any) -> Any:
        return {"name": "Ada"}

    async with fastmcp.Client(
        server, mode=mode, roots=["file:///recorded"], sampling_handler=sample,
        elicitation_handler=elicit,
    ) as client:  # fmt: skip
        found: Got = {"tools": [one.model_dump(mode="json") for one in await client.list_tools()]}
        for name, arguments in CALLS.items():
            result = await client.call_tool(name, arguments)
            content = [block.model_dump(mode="json") for block in result.content]
            found[name] = [content, result.structured_content]
    return found


def without_own_meta(found: Got) -> Got:
    """What was got, without the name that a server of 2026-07-28 puts into every result."""
    plain = json.loads(json.dumps(found))
    for result in plain.values():
        if isinstance(result, dict) and OWN_META in (result.get("meta") or {}):
            result["meta"] = None
    return dict(plain)


@pytest.mark.parametrize("client", [sdk, fast])
async def test_a_client_gets_the_same_from_the_server_and_from_its_recording(
    tmp_path: Path, client: Callable[[Any, str], Awaitable[Got]]
) -> None:
    trace = str(tmp_path / "run.jsonl")
    tap = [MCPLENS, "tap", "--no-record", "--trace", trace, "--", *everything_argv()]
    live = await client(tap, "legacy")
    offered = {tool["name"] for tool in live["tools"]}
    others = {"trigger-url-elicitation", "simulate-research-query"}  # which the next test calls
    assert offered == CALLS.keys() | others
    assert await client([MCPLENS, "mock", trace], "legacy") == live
    async with ServingHttp(trace) as url:
        again = await client(url, "legacy")
        assert again == live
        # A client of 2026-07-28, to which the same is said in the words of its era.
        assert without_own_meta(await client(url, "auto")) == without_own_meta(live)
    if client is sdk:
        await compare_with_inspector(trace, live)


async def test_tasks_of_both_sides_are_played_too(tmp_path: Path) -> None:
    """The tools that run as tasks, or ask the client to run one, by our own client."""
    trace = str(tmp_path / "run.jsonl")
    echo = Profiles().get("echo")
    given: dict[str, Any] = {"sampling": echo, "elicitation": echo, "receiver_tasks": True}
    calls: dict[str, dict[str, Any]] = {
        "simulate-research-query": {"topic": "lenses", "ambiguous": True},
        "trigger-sampling-request-async": {"prompt": "Hello?"},
        "trigger-elicitation-request-async": {},
        "trigger-url-elicitation": {"url": "https://example.com/authorize", "errorPath": True},
    }

    async def call_all(argv: list[str], bus: Bus) -> list[bytes]:
        async with mcplens.connect(argv, bus=bus, roots=[tmp_path], **given) as client:
            await client.list_tools()
            return [(await client.call_tool(*each)).raw for each in calls.items()]

    bus = Bus(SystemClock())
    with Recorder(bus, None, trace=trace):
        live = await call_all(everything_argv(), bus)
    mock = [MCPLENS, "mock", trace, "--era", "recorded"]
    assert await call_all(mock, Bus(SystemClock())) == live


async def compare_with_inspector(trace: str, live: Got) -> None:
    """The official inspector on the command line, which is started for each request."""
    mock = ["--", MCPLENS, "mock", trace]
    listed = await run(inspector_argv("--cli", "--method", "tools/list", *mock))
    assert [tool["name"] for tool in listed["tools"]] == [tool["name"] for tool in live["tools"]]
    words = ["--method", "tools/call", "--tool-name", "get-sum", "--tool-arg", "a=1", "b=2"]
    summed = await run(inspector_argv("--cli", *words, *mock))
    assert summed["content"][0]["text"] == live["get-sum"]["content"][0]["text"]


async def run(argv: list[str]) -> Any:
    process = await asyncio.create_subprocess_exec(
        *argv, stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    out, err = await process.communicate()
    assert process.returncode == 0, err
    return json.loads(out)


class ServingHttp:
    """A mock over HTTP, for as long as the block lasts."""

    def __init__(self, trace: str) -> None:
        self._trace = trace

    async def __aenter__(self) -> str:
        self._process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "mcplens", "mock", self._trace, "--http", "--no-auth"),
            stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL,
        )  # fmt: skip
        assert self._process.stdout is not None
        async with asyncio.timeout(60):
            return (await self._process.stdout.readline()).decode().strip()

    async def __aexit__(self, *problem: object) -> None:
        self._process.terminate()
        assert await self._process.wait() == 0
