"""Two servers with test suites of their own, as their authors write them: only `client` knows how a
server is reached. BEFORE has the fixtures of the library that the server is written with, AFTER
those of the plugin; the tests are the same.
"""

# For pytest in a process of its own: hypothesis takes longer to load than all else.
QUICKLY = "-p no:hypothesispytest"

FASTMCP_SERVER = """
from fastmcp import Context, FastMCP
from fastmcp.exceptions import ToolError

server = FastMCP("notes")
notes = {}


@server.tool
def write(name: str, text: str) -> dict[str, int]:
    notes[name] = text
    return {"count": len(notes)}


@server.tool
def drop(name: str) -> str:
    if name not in notes:
        raise ToolError(f"there is no note {name}")
    del notes[name]
    return "dropped"


@server.tool
async def count_to(number: int, ctx: Context) -> int:
    for one in range(number):
        await ctx.report_progress(one + 1, number)
    return number


@server.prompt
def summarise(name: str) -> str:
    return f"Summarise: {notes.get(name, '')}"


if __name__ == "__main__":
    server.run(show_banner=False)
"""
FASTMCP_TESTS = """
import asyncio
import pytest

pytestmark = pytest.mark.asyncio


async def test_a_note_is_written_and_summarised(client):
    result = await client.call_tool("write", {"name": "a", "text": "buy milk"})
    assert result.structured_content == {"count": 1}  # every test begins without notes
    prompt = await client.get_prompt("summarise", {"name": "a"})
    assert prompt.messages[0].content.text == "Summarise: buy milk"


async def test_a_tool_fails_with_its_own_words(client, failure):
    assert "there is no note b" in await failure(client, "drop", {"name": "b"})


async def test_calls_at_once(client):
    calls = [client.call_tool("count_to", {"number": number}) for number in range(1, 6)]
    results = await asyncio.gather(*calls)
    assert [one.content[0].text for one in results] == ["1", "2", "3", "4", "5"]
    assert {tool.name for tool in await client.list_tools()} == {"write", "drop", "count_to"}
"""
FASTMCP_BEFORE = """
import fastmcp
import pytest
import pytest_asyncio
import server


@pytest_asyncio.fixture
async def client():
    server.notes.clear()
    async with fastmcp.Client(server.server) as connected:
        yield connected


@pytest.fixture
def failure():
    async def call(client, name, arguments):
        with pytest.raises(Exception) as caught:
            await client.call_tool(name, arguments)
        return str(caught.value)

    return call
"""
FASTMCP_AFTER = """
import pytest


@pytest.fixture
def client(mcp_client):
    return mcp_client


@pytest.fixture
def failure():
    async def call(client, name, arguments):
        result = await client.call_tool(name, arguments)
        assert result.is_error
        return result.content[0].text

    return call
"""

SDK_SERVER = """
from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import BaseModel

server = MCPServer("till", version="1.0")


class Receipt(BaseModel):
    total: float
    lines: int


@server.tool()
def add(prices: list[float]) -> Receipt:
    return Receipt(total=sum(prices), lines=len(prices))


@server.tool()
def refund(amount: float) -> str:
    if amount > 100:
        raise ToolError("ask the manager")
    return f"refunded {amount:g}"


@server.resource("till://rates")
def rates() -> str:
    return '{"vat": 0.2}'


@server.prompt()
def offer(item: str) -> str:
    return f"Offer {item} politely."


if __name__ == "__main__":
    server.run()
"""
SDK_TESTS = """
import pytest

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend():
    return "asyncio"


async def test_prices_are_added(client):
    result = await client.call_tool("add", {"prices": [1.5, 2.5]})
    assert not result.is_error
    assert result.structured_content == {"total": 4.0, "lines": 2}


async def test_a_refund_is_refused(client):
    for amount, words in ((500, "ask the manager"), ("much", "amount")):
        result = await client.call_tool("refund", {"amount": amount})
        assert result.is_error
        assert words in result.content[0].text


async def test_the_rates_and_the_prompt_are_read(client, tools):
    assert (await client.read_resource("till://rates")).contents[0].text == '{"vat": 0.2}'
    prompt = await client.get_prompt("offer", {"item": "tea"})
    assert prompt.messages[0].content.text == "Offer tea politely."
    assert tools == ["add", "refund"]
"""
SDK_BEFORE = """
import mcp
import pytest
import server


@pytest.fixture
async def client(anyio_backend):
    async with mcp.Client(server.server) as connected:
        yield connected


@pytest.fixture
async def tools(client):
    return sorted(tool.name for tool in (await client.list_tools()).tools)
"""
SDK_AFTER = """
import pytest


@pytest.fixture
def client(mcp_client):
    return mcp_client


@pytest.fixture
async def tools(client):
    return sorted(tool.name for tool in await client.list_tools())
"""

# Server, tests, and the fixtures before and after.
SUITES = {
    "fastmcp": (FASTMCP_SERVER, FASTMCP_TESTS, FASTMCP_BEFORE, FASTMCP_AFTER),
    "sdk": (SDK_SERVER, SDK_TESTS, SDK_BEFORE, SDK_AFTER),
}
