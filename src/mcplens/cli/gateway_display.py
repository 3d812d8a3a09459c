"""What `mcplens gateway` shows on stderr: a live table on a terminal, JSON lines otherwise."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import IO, TYPE_CHECKING, Any, Final, cast

import msgspec

from mcplens.cli.terminal_text import one_line, write_own
from mcplens.downstream.bus_reader import BusReader
from mcplens.events import (
    ConfigurationReloaded,
    Event,
    InboundAnswered,
    InboundConnected,
    InboundDisconnected,
    Remark,
    StateChanged,
    StoreStateChanged,
)

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

    from mcplens.bus import Bus
    from mcplens.gateway.gateway import Gateway

_encode: Final = msgspec.json.Encoder().encode
# The table is drawn at most so often.
_DRAW_S: Final = 0.25
# Of why a server is not running: three lines of a small terminal, enough for its last words.
_STATE_CHARACTERS: Final = 200


async def show_lines(gateway: Gateway, bus: Bus) -> None:
    """One JSON object per line: calls, clients, states of servers; a few milliseconds at once."""
    reader = BusReader(bus, gateway.clock, after_seq=0)
    reader.add(_write_lines)
    try:
        await reader.run()
    finally:
        reader.catch_up()


def _write_lines(batch: list[Event], _missed: int) -> None:
    lines = [_encoded_line(event) for event in batch if type(event) in _LINES]
    if lines:
        sys.stderr.write(b"".join(lines).decode())
        sys.stderr.flush()


def _encoded_line(event: Event) -> bytes:
    if type(event) is InboundAnswered:  # nearly all of them, if there are many
        return _encode(_call_line(event)) + b"\n"
    return _encode(log_line(event)) + b"\n"


def log_line(event: Event) -> dict[str, Any] | None:
    """What is logged of an event; None if nothing is."""
    describe = _LINES.get(type(event))
    return None if describe is None else {"time": round(event.wall, 3), **describe(event)}


class CallLine(msgspec.Struct, gc=False):
    """What is logged of a call."""

    time: float
    event: str
    client: str
    client_id: str
    method: str
    server: str
    outcome: str
    seconds: float


def _call_line(event: InboundAnswered) -> CallLine:
    return CallLine(
        int(event.wall * 1e3 + 0.5) / 1e3,  # a tenth of what `round` costs
        "call",
        event.client_name,
        event.client_id,
        event.method,
        event.target_id,
        event.outcome,
        int(event.elapsed_s * 1e4 + 0.5) / 1e4,
    )


def _call(event: InboundAnswered) -> dict[str, Any]:
    return msgspec.structs.asdict(_call_line(event))


def _connected(event: InboundConnected) -> dict[str, Any]:
    name = event.client_info.get("name")
    return {"event": "connected", "client": name, "client_id": event.client_id}


def _disconnected(event: InboundDisconnected) -> dict[str, Any]:
    return {"event": "disconnected", "client_id": event.client_id, "reason": event.reason}


def _server(event: StateChanged) -> dict[str, Any]:
    line = {"event": "server", "server": event.server_id, "state": event.new}
    return line if event.error is None else line | {"error": event.error.get("message")}


def _store(event: StoreStateChanged) -> dict[str, Any]:
    line = {"event": "store", "store": event.store, "state": event.status}
    return line | {"error": event.reason} if event.reason else line


def _configuration(event: ConfigurationReloaded) -> dict[str, Any]:
    if event.error is not None:
        return {"event": "configuration", "error": event.error.get("message")}
    return {
        "event": "configuration",
        "added": event.added,
        "removed": event.removed,
        "changed": event.changed,
    }


def _remark(event: Remark) -> dict[str, Any]:
    return {"event": "remark", "server": event.server_id, "text": event.message}


_LINES: Final[dict[type[Event], Callable[[Any], dict[str, Any]]]] = {
    InboundAnswered: _call,
    InboundConnected: _connected,
    InboundDisconnected: _disconnected,
    StateChanged: _server,
    ConfigurationReloaded: _configuration,
    StoreStateChanged: _store,
    Remark: _remark,
}


async def show_table(gateway: Gateway, bus: Bus) -> None:
    """A table of servers and calls that changes in place."""
    from rich.console import Console
    from rich.live import Live

    counts: dict[str, list[int]] = {}
    problem = ""
    console = Console(file=cast(IO[str], _OwnDrawing()), force_terminal=True)
    # What is printed meanwhile goes through streams of our own, not through rich.
    live = Live(
        _table(gateway, counts),
        console=console,
        auto_refresh=False,
        redirect_stdout=False,
        redirect_stderr=False,
    )
    with live:
        async for event in bus.subscribe():
            if isinstance(event, InboundAnswered):
                count = counts.setdefault(event.target_id, [0, 0])
                count[0] += 1
                count[1] += event.outcome in ("error", "failed")
            elif isinstance(event, ConfigurationReloaded):
                problem = (event.error or {}).get("message") or ""
            elif log_line(event) is None:
                continue
            live.update(_table(gateway, counts, problem), refresh=True)
            await gateway.clock.sleep(_DRAW_S)


class _OwnDrawing:
    """A file for rich: what it draws is ours, once the cells are harmless (`_cell`)."""

    def write(self, text: str) -> int:
        write_own(sys.stderr, text)
        return len(text)

    def flush(self) -> None:
        sys.stderr.flush()


def _cell(text: str) -> Text:
    """Text that a server may have written, as a cell."""
    from rich.text import Text

    return Text(one_line(text))


def _shortened(text: str) -> str:
    return text if len(text) <= _STATE_CHARACTERS else f"{text[: _STATE_CHARACTERS - 1]}…"


def _table(gateway: Gateway, counts: dict[str, list[int]], problem: str = "") -> Table:
    from rich.table import Table

    table = Table(title=None, box=None, pad_edge=False)
    for heading in ("Server", "State", "Tools", "Calls", "Failed"):
        table.add_column(heading, justify="left" if heading in ("Server", "State") else "right")
    for connection in gateway.offered():
        state = connection.state
        words = state.status.value.lower()
        if gateway.is_loop(connection):
            words = "refused: it leads back to this gateway"
        elif state.message:
            words = _shortened(f"{words}: {state.message}")
        calls, failed = counts.get(connection.server_id, [0, 0])
        tools = len(connection.lists["tools"].items)
        cells = (connection.server_id, words, str(tools), str(calls), str(failed))
        table.add_row(*map(_cell, cells))
    clients = [client for client in gateway.clients.values() if not client.is_stateless]
    table.add_section()
    table.add_row(f"{len(clients)} clients with a session", "", "", "", "")
    if problem:
        table.add_row(_cell("configuration"), _cell(f"as it was: {problem}"), "", "", "")
    return table
