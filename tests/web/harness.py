"""A web UI on a real port, and a page that speaks to it as the browser does."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp
from websockets.asyncio.client import ClientConnection, connect

from mcplens.config.environment import Environment
from mcplens.events import LogReceived
from mcplens.web.server import Opened, open_web
from mcplens.workspace.workspace import Workspace
from tests.servers.run import ROOT, argv

# Nothing here takes long; this only bounds what never comes.
PATIENCE_S = 20


class Refusal(Exception):
    """A Failure; `error` is what it says."""

    def __init__(self, error: dict[str, Any]) -> None:
        super().__init__(error["message"])
        self.error = error


def _refused(constant: str) -> None:
    raise ValueError(f"a browser cannot read {constant}")


@dataclass
class Page:
    """A page: its commands, and everything that it was told."""

    socket: ClientConnection
    hello: dict[str, Any] = field(default_factory=dict)
    events: list[dict[str, Any]] = field(default_factory=list)
    missed: list[tuple[int, int]] = field(default_factory=list)
    things: dict[tuple[str, str], Any] = field(default_factory=dict)
    changes: list[dict[str, Any]] = field(default_factory=list)
    last_seq: int = 0
    _answers: dict[int, asyncio.Future[Any]] = field(default_factory=dict)
    _told: asyncio.Event = field(default_factory=asyncio.Event)
    _next_id: int = 0

    async def ask(self, command: str, /, **fields: Any) -> Any:
        """Send a command and wait for what it gives; a Failure is raised."""
        self._next_id += 1
        answer = self._answers[self._next_id] = asyncio.get_running_loop().create_future()
        await self.socket.send(json.dumps({"type": command, "id": self._next_id, **fields}))
        async with asyncio.timeout(PATIENCE_S):
            return await answer

    @property
    def last_id(self) -> int:
        """Of the command that was sent last."""
        return self._next_id

    async def until(self, is_so: Callable[[], Any]) -> Any:
        """Wait until what the page was told makes this true; gives what it gave."""
        async with asyncio.timeout(PATIENCE_S):
            while not (found := is_so()):
                self._told.clear()
                await self._told.wait()
        return found

    async def connected(self, server_id: str) -> dict[str, Any]:
        await self.ask("Connect", server_id=server_id)
        return await self.in_state(server_id, "CONNECTED")

    async def confirmed(self, server_id: str) -> Any:
        """What it starts was looked at, and is wanted."""
        shown = await self.ask("ConfirmationOf", server_id=server_id)
        return await self.ask("Confirm", server_id=server_id, fingerprint=shown["fingerprint"])

    async def in_state(self, server_id: str, state: str) -> dict[str, Any]:
        def view() -> Any:
            found = self.things.get(("servers", server_id))
            return found if found and found["state"] == state else None

        found: dict[str, Any] = await self.until(view)
        return found

    async def ended(self, call_id: str) -> dict[str, Any]:
        """The call, once it has ended."""

        def view() -> Any:
            found = self.things.get(("calls", call_id))
            return found if found and found["elapsed_s"] is not None else None

        found: dict[str, Any] = await self.until(view)
        return found

    async def call(self, command: str, /, **fields: Any) -> dict[str, Any]:
        """Make a call and wait for its end."""
        started = await self.ask(command, **fields)
        self.things.setdefault(("calls", started["call_id"]), started)
        return await self.ended(started["call_id"])

    async def listen(self) -> None:
        async for text in self.socket:
            self._hear(json.loads(text, parse_constant=_refused))
            self._told.set()

    def _hear(self, message: dict[str, Any]) -> None:
        kind = message["type"]
        if kind in ("CommandReply", "Failure", "Hello"):
            answer = self._answers.pop(message["id"], None)
            if answer is None:
                return
            if kind == "Failure":
                answer.set_exception(Refusal(message["error"]))
                return
            if kind == "Hello":
                self.hello = message
                self.things = {("servers", one["server_id"]): one for one in message["servers"]}
                self.things["gateway", ""] = message["gateway"]
                self.things |= {("calls", one["call_id"]): one for one in message["calls"]}
                self.things |= {
                    ("questions", one["question_id"]): one for one in message["questions"]
                }
            answer.set_result(message if kind == "Hello" else message["value"])
        elif kind == "Events":
            self.events += message["events"]
            self.last_seq = message["last_seq"]
        elif kind == "Missed":
            self.missed.append((message["first_seq"], message["last_seq"]))
            self.last_seq = message["last_seq"]
        else:
            self.changes.append(message)
            self.things[message["what"], message["key"]] = message["value"]


@dataclass
class Site:
    """A web UI that is up."""

    opened: Opened
    workspace: Workspace
    http: aiohttp.ClientSession
    folder: str = ""  # of the cookie

    @property
    def inside(self) -> str:
        """Where all is that needs the cookie."""
        return self.origin + self.folder

    @property
    def origin(self) -> str:
        return self.opened.url.rstrip("/")

    async def sign_in(self) -> None:
        headers = {"Origin": self.origin}
        body = {"token": self.opened.token}
        async with self.http.post(f"{self.origin}/api/session", json=body, headers=headers) as done:
            assert done.status == 200
            self.folder = (await done.json())["folder"]

    @property
    def cookie(self) -> str:
        return "; ".join(f"{one.key}={one.value}" for one in self.http.cookie_jar)

    @asynccontextmanager
    async def socket(self, **headers: str) -> AsyncIterator[ClientConnection]:
        given = {"Origin": self.origin, "Cookie": self.cookie} | headers
        url = self.inside.replace("http", "ws") + "/api/socket"
        async with connect(
            url, additional_headers=given, max_size=None, compression=None, proxy=None
        ) as socket:
            yield socket

    @asynccontextmanager
    async def page(self, resume: dict[str, Any] | None = None) -> AsyncIterator[Page]:
        """A page that has said Resume."""
        async with self.socket() as socket, asyncio.TaskGroup() as group:
            page = Page(socket)
            listening = group.create_task(page.listen())
            await page.ask("Resume", **(resume or {}))
            try:
                yield page
            finally:
                listening.cancel()

    async def get(self, path: str, **query: str) -> tuple[int, bytes]:
        base = self.inside if path.startswith("/api/") else self.origin
        async with self.http.get(base + path, params=query) as answer:
            return answer.status, await answer.read()

    async def get_json(self, path: str, **query: str) -> Any:
        status, body = await self.get(path, **query)
        assert status == 200, body
        return json.loads(body)


def machine(home: Path, **variables: str) -> Environment:
    """A user's machine of its own, so that no file of the developer's is read or written."""
    project = home / "project"
    project.mkdir(parents=True, exist_ok=True)
    environ = {"HOME": str(home), "PATH": "/usr/bin:/bin", **variables}
    return Environment(cwd=str(project), home=str(home), environ=environ)


def user_config(home: Path) -> Path:
    return home / ".config" / "mcplens" / "mcp.json"


def write_config(home: Path, **servers: dict[str, Any]) -> None:
    path = user_config(home)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"mcpServers": servers}))


def good(*options: str) -> dict[str, Any]:
    """The entry of the well-behaved test server."""
    command, *args = argv("good", *options)
    return {"command": command, "args": args, "cwd": str(ROOT), "inheritEnv": True}


def odd() -> dict[str, Any]:
    """The entry of the server that answers with what it is given."""
    return {"command": PYTHON, "args": [str(ROOT / "tests" / "e2e" / "odd_server.py")]}


def bad(fault: str, *options: str) -> dict[str, Any]:
    """The entry of a misbehaving test server."""
    command, *args = argv("bad", fault, *options)
    return {"command": command, "args": args, "cwd": str(ROOT), "inheritEnv": True}


@asynccontextmanager
async def site(
    home: Path, variables: dict[str, str] | None = None, **options: Any
) -> AsyncIterator[Site]:
    """A web UI for as long as the block lasts, signed in."""
    here = machine(home, **(variables or {}))
    workspace = Workspace(here=here, record=home / "recording.sqlite3")
    async with workspace, open_web(workspace, **{"port": 0, **options}) as opened:
        jar = aiohttp.CookieJar(unsafe=True)  # cookies of an IP address too
        async with aiohttp.ClientSession(cookie_jar=jar) as http:
            running = Site(opened, workspace, http)
            await running.sign_in()
            yield running


PYTHON = sys.executable


def logged(data: object, logger: str | None = None) -> LogReceived:
    """A line of a server's log that belongs to no request."""
    return LogReceived(
        level="info", logger=logger, data=data, request_seq=None, frame_seq=None, call_id=None
    )
