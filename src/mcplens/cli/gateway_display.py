"""What `mcplens gateway` shows on stderr: a live table on a terminal, JSON lines otherwise."""

from __future__ import annotations

import sys
from typing import IO, TYPE_CHECKING, Any, Final, cast

import msgspec

from mcplens.cli.terminal_text import one_line, write_own
from mcplens.events import (
    ConfigurationReloaded,
    Event,
    InboundAnswered,
    InboundConnected,
    InboundDisconnected,
    Remark,
    StateChanged,
)

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

    from mcplens.bus import Bus
    from mcplens.gateway.gateway import Gateway

# The table is drawn at most so often.
_DRAW_S: Final = 0.25


async def show_lines(gateway: Gateway, bus: Bus) -> None:
    """One JSON object per line: calls, clients, states of servers."""
    async for event in bus.subscribe(0):
        line = log_line(event)
        if line is not None:
            sys.stderr.write(msgspec.json.encode(line).decode() + "\n")
            sys.stderr.flush()


def log_line(event: Event) -> dict[str, Any] | None:
    """What is logged of an event; None if nothing is."""
    at: dict[str, Any] = {"time": round(event.wall, 3)}
    if isinstance(event, InboundAnswered):
        return at | {
            "event": "call",
            "client": event.client_name,
            "client_id": event.client_id,
            "method": event.method,
            "server": event.target_id,
            "outcome": event.outcome,
            "seconds": round(event.elapsed_s, 4),
        }
    if isinstance(event, InboundConnected):
        name = event.client_info.get("name")
        return at | {"event": "connected", "client": name, "client_id": event.client_id}
    if isinstance(event, InboundDisconnected):
        return at | {
            "event": "disconnected", "client_id": event.client_id, "reason": event.reason,
        }  # fmt: skip
    if isinstance(event, StateChanged):
        line = at | {"event": "server", "server": event.server_id, "state": event.new}
        if event.error is not None:
            line["error"] = event.error.get("message")
        return line
    if isinstance(event, ConfigurationReloaded):
        line = at | {"event": "configuration"}
        if event.error is not None:
            return line | {"error": event.error.get("message")}
        return line | {"added": event.added, "removed": event.removed, "changed": event.changed}
    if isinstance(event, Remark):
        return at | {"event": "remark", "server": event.server_id, "text": event.message}
    return None


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
            words = f"{words}: {state.message}"[:60]
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
