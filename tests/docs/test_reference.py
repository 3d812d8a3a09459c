"""The reference pages name every event and every option, with the fields and defaults of today."""

import ast
import inspect
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

import msgspec
import pytest

import mcplens
from mcplens import app, bus, events
from mcplens.session.config import ConnectionConfig, HandlerConfig, RetryConfig
from mcplens.transports.memory import MemoryTransport
from mcplens.transports.sse import SseTransport
from mcplens.transports.stdio import StdioTransport
from mcplens.transports.streamable_http import StreamableHttpTransport
from mcplens.transports.websocket import WebSocketTransport
from tests.docs.markdown import DOCS

EVENTS = DOCS / "reference" / "events.md"
CONFIGURATION = DOCS / "reference" / "configuration.md"

ROW = re.compile(r"^\| `(?P<name>\w+)` \| (?P<rest>.*) \|$", re.MULTILINE)


def tables(page: Path) -> dict[str, dict[str, str]]:
    """heading -> first column -> the rest of the row."""
    parts = re.split(r"^#{2,3} (.+)$", page.read_text(), flags=re.MULTILINE)
    return {
        title: {row["name"]: row["rest"] for row in ROW.finditer(text)}
        for title, text in zip(parts[1::2], parts[2::2], strict=True)
    }


def test_every_event_and_no_other_has_a_section() -> None:
    known = {kind.__name__ for kind in get_args(events.AnyEvent)}
    documented = {title for title in tables(EVENTS) if title[0].isupper() and " " not in title}
    assert documented - {"Requests"} == known


@pytest.mark.parametrize("kind", get_args(events.AnyEvent), ids=lambda kind: kind.__name__)
def test_an_event_is_documented_with_its_fields(kind: type[events.Event]) -> None:
    shared = [field.name for field in msgspec.structs.fields(events.Event)]
    own = [field.name for field in msgspec.structs.fields(kind)]
    found = tables(EVENTS)
    assert [*found["What every event has"], *found[kind.__name__]] == own
    assert own[: len(shared)] == shared


def test_the_events_page_says_how_much_the_bus_keeps() -> None:
    text = EVENTS.read_text()
    assert f"{bus.DEFAULT_MAX_EVENTS:,} events" in text
    assert f"{bus.DEFAULT_MAX_BYTES // 1024 // 1024} MiB" in text


def options(function: Callable[..., Any], *, leave_out: set[str]) -> dict[str, Any]:
    """The keyword options of a function and their defaults."""
    parameters = inspect.signature(function).parameters.values()
    return {
        parameter.name: parameter.default
        for parameter in parameters
        if parameter.kind is not parameter.VAR_KEYWORD and parameter.name not in leave_out
    }


FUNCTIONS = {
    "connect()": options(mcplens.connect, leave_out={"target"}),
    "A command (stdio)": options(StdioTransport, leave_out={"command"}),
    "A URL (streamable HTTP)": options(StreamableHttpTransport, leave_out={"url", "authorizer"}),
    "HTTP+SSE": options(SseTransport, leave_out={"url", "authorizer"}),
    "WebSocket": options(WebSocketTransport, leave_out={"url", "authorizer"}),
    "Memory": options(MemoryTransport, leave_out={"serve"}),
    "create_mcp_client()": options(app.create_mcp_client, leave_out={"transport"}),
    "create_request_queue()": options(mcplens.create_request_queue, leave_out={"execute"}),
    "call_tool()": options(mcplens.Client.call_tool, leave_out={"self", "name", "arguments"}),
}


@pytest.mark.parametrize("title", FUNCTIONS)
def test_every_option_is_documented_with_its_default(title: str) -> None:
    documented = {
        name: ast.literal_eval(rest.partition(" | ")[0].strip("`"))
        for name, rest in tables(CONFIGURATION)[title].items()
    }
    assert documented == FUNCTIONS[title]


@pytest.mark.parametrize(
    "kind", [ConnectionConfig, HandlerConfig, RetryConfig], ids=lambda kind: kind.__name__
)
def test_every_field_of_a_configuration_is_documented_with_its_default(
    kind: type[msgspec.Struct],
) -> None:
    documented = {
        name: ast.literal_eval(rest.partition(" | ")[0].strip("`"))
        for name, rest in tables(CONFIGURATION)[kind.__name__].items()
    }
    fields = msgspec.structs.fields(kind)
    assert documented == {field.name: field.default for field in fields}
