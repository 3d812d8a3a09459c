"""Every server of the suite on every transport and in every revision that it speaks.

A `Target` says what to connect to; the `Pool` has its servers running and opens the `Door` to one.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import mcplens
from mcplens.session.handshake import forget_revisions
from tests.node_tools import everything_argv, filesystem_argv, memory_argv
from tests.ports import held_port
from tests.servers.run import ROOT, START_TIMEOUT_S, argv, serve

from . import offers
from .memory_server import serve_memory
from .offers import ELICITATION, ROOTS, SAMPLING, Offer

HANDSHAKE = "2025-11-25"
STATELESS = "2026-07-28"

# What the arguments of our own servers are for each of the suite's transports.
OPTIONS = {
    "stdio": (),
    "sse": ("--transport", "sse"),
    "http": ("--transport", "http"),
    "http-json": ("--transport", "http", "--json"),
    "http-sse": ("--transport", "http", "--sse-answers"),
    "ws": ("--transport", "ws"),
}

# It offers one tool more to a client that can open URLs for its user.
_EVERYTHING_OPTIONS: dict[str, Any] = {"capabilities": {"elicitation": {"form": {}, "url": {}}}}


@dataclass(frozen=True)
class Target:
    server: str
    transport: str
    offer: Offer
    revision: str = "auto"  # what we ask for
    speaks: str = HANDSHAKE  # what must come of it
    lacks: frozenset[str] = frozenset()  # what does not come through on this way

    def __str__(self) -> str:
        revision = "" if self.revision == "auto" and self.speaks == HANDSHAKE else self.revision
        return "-".join(part for part in (self.server, self.transport, revision) if part)

    @property
    def is_stateless(self) -> bool:
        return self.speaks == STATELESS

    def has(self, feature: str) -> bool:
        return feature not in self.lacks and bool(getattr(self.offer, feature))


def _good() -> list[Target]:
    """Ours, on every transport, in both eras where the transport carries both."""
    targets = []
    for transport in ("memory", "stdio", "sse", "http-json", "http-sse", "ws"):
        for revision in (HANDSHAKE, STATELESS):
            if (transport, revision) == ("sse", STATELESS):
                continue  # 2026-07-28 has no such transport
            lacks = {"questions"} if revision == STATELESS else set()
            if (transport, revision) == ("http-json", STATELESS):
                lacks |= {"progress", "log", "filtered_log"}  # no room for them in one JSON body
            targets.append(
                Target("good", transport, offers.GOOD, revision, revision, frozenset(lacks))
            )
    return targets


def _sdk(server: str, offer: Offer) -> list[Target]:
    """The SDKs' own servers: both eras, pinned and found out."""
    targets = [Target(server, "sse", offer)]
    for transport in ("stdio", "http", "http-json"):
        lacks = frozenset({"progress"} if transport == "http-json" else ())
        targets += [
            Target(server, transport, offer, revision, speaks, lacks)
            for revision, speaks in (
                (HANDSHAKE, HANDSHAKE),
                (STATELESS, STATELESS),
                ("auto", STATELESS),
            )
        ]
    return targets


def _reference(server: str, offer: Offer, *, speaks_both: bool) -> list[Target]:
    """The small servers of the MCP project, over stdio."""
    found = Target(server, "stdio", offer, "auto", STATELESS if speaks_both else HANDSHAKE)
    pinned = [Target(server, "stdio", offer, HANDSHAKE)] if speaks_both else []
    return [found, *pinned]


EVERYTHING = [Target("everything", way, offers.EVERYTHING) for way in ("stdio", "sse", "http")]

TARGETS: list[Target] = [
    *_good(),
    *EVERYTHING,
    *_sdk("sdk_mcp", offers.SDK_MCP),
    *_sdk("sdk_fastmcp", offers.SDK_FASTMCP),
    *_reference("filesystem", offers.FILESYSTEM, speaks_both=False),
    *_reference("memory", offers.MEMORY, speaks_both=False),
    *_reference("time", offers.TIME, speaks_both=True),
    *_reference("git", offers.GIT, speaks_both=True),
]


def answers(folder: Path) -> dict[str, Callable[[Any], Any]]:
    """What this client says when a server asks."""
    return {
        ROOTS: lambda _: {"roots": [{"uri": folder.as_uri(), "name": "the roots"}]},
        SAMPLING: lambda _: {
            "role": "assistant",
            "model": "test",
            "stopReason": "endTurn",
            "content": {"type": "text", "text": "sampled"},
        },
        ELICITATION: lambda _: {"action": "accept", "content": {"name": "Ada"}},
    }


@dataclass
class Door:
    """A way in to one running server."""

    target: Target
    folder: Path
    address: Any
    options: dict[str, Any]

    def __repr__(self) -> str:
        return f"<Door to {self.target}>"

    def connect(self, **options: Any) -> mcplens.connect:
        """Connect as the target says; roots, sampling and elicitation are answered."""
        forget_revisions()  # each connection finds out for itself
        asked = {"protocol_version": self.target.revision, "concurrency": 8}
        asked["request_handlers"] = answers(self.folder)
        return mcplens.connect(self.address, **{**asked, **self.options, **options})


class Pool:
    """Starts each server once, when it is first needed, and ends them all."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._stack = AsyncExitStack()
        self._urls: dict[tuple[str, str], str] = {}

    def __repr__(self) -> str:
        return f"<Pool of {len(self._urls)} servers>"

    async def __aenter__(self) -> Pool:
        (self._folder / "note.txt").write_text("the note")
        git = await asyncio.create_subprocess_exec("git", "init", "--quiet", cwd=self._folder)
        assert await git.wait() == 0
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._stack.aclose()

    async def open(self, target: Target) -> Door:
        address, options = await self._reach(target)
        return Door(target, self._folder, address, options)

    async def _reach(self, target: Target) -> tuple[Any, dict[str, Any]]:
        if target.transport == "memory":
            return mcplens.create_memory_transport(serve_memory), {}
        if target.transport == "stdio":
            return self._command(target.server)
        key = (target.server, target.transport)
        if key not in self._urls:
            self._urls[key] = await self._stack.enter_async_context(_run(*key))
        options = dict(_EVERYTHING_OPTIONS) if target.server == "everything" else {}
        return self._urls[key], options | ({"transport": "sse"} if "sse" in key else {})

    def _command(self, server: str) -> tuple[list[str], dict[str, Any]]:
        match server:
            case "everything":
                return everything_argv(), dict(_EVERYTHING_OPTIONS)
            case "filesystem":
                return filesystem_argv(self._folder), {}
            case "memory":
                store = self._folder / "memory.jsonl"
                store.unlink(missing_ok=True)
                return memory_argv(), {"env": {"MEMORY_FILE_PATH": str(store)}}
            case "time" | "git":
                return [str(Path(sys.executable).with_name(f"mcp-server-{server}"))], {}
            case "good":
                return argv("good", "--era", "both"), {"cwd": str(ROOT)}
            case _:
                return argv(server), {"cwd": str(ROOT)}


@asynccontextmanager
async def _run(server: str, transport: str) -> AsyncIterator[str]:
    if server == "everything":
        async with serve_everything("sse" if transport == "sse" else "streamableHttp") as url:
            yield url
        return
    era = ("--era", "both") if server == "good" else ()
    async with serve(server, *era, *OPTIONS[transport]) as running:
        yield running.url


@asynccontextmanager
async def serve_everything(mode: Literal["sse", "streamableHttp"]) -> AsyncIterator[str]:
    """Run server-everything on a free port; it tells nobody which one it would take itself."""
    with held_port() as port:
        async with _listening(mode, port):
            yield f"http://127.0.0.1:{port}/{'sse' if mode == 'sse' else 'mcp'}"


@asynccontextmanager
async def _listening(mode: Literal["sse", "streamableHttp"], port: int) -> AsyncIterator[None]:
    process = await asyncio.create_subprocess_exec(
        *everything_argv(mode),
        env={**os.environ, "PORT": str(port)},
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
    )
    assert process.stderr is not None
    reading = None
    try:
        async with asyncio.timeout(START_TIMEOUT_S):
            while b"on port" not in (line := await process.stderr.readline()):
                assert line, "server-everything ended before it listened"
        # It logs every message there; a pipe that nobody reads would stop it.
        reading = asyncio.ensure_future(process.stderr.read())
        yield
    finally:
        if process.returncode is None:
            process.kill()  # on SIGINT it waits for streams that nobody closes
        await process.wait()
        if reading is not None:
            await reading
