"""A server that wants a sign-in, with its authorization server, in this process; it can misbehave.

Everything that a test may want wrong is an attribute; what was asked of it is kept.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import itertools
import json
import queue
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import aiohttp
import pytest
from aiohttp import web

import mcplens
from mcplens.auth.steps import Authorize
from mcplens.known_secrets import known_secrets


class Protected:
    """The server, and what it does."""

    def __init__(self) -> None:
        self.base = ""
        self.valid: set[str] = set()  # access tokens
        self.refresh_tokens: set[str] = set()
        self.codes: dict[str, dict[str, str]] = {}
        self.asked: list[str] = []  # paths, in order
        self.forms: list[dict[str, str]] = []  # of the token endpoint
        self.registrations: list[dict[str, Any]] = []
        self.revoked: list[str] = []
        self.authorizations: list[str] = []  # Authorization headers of MCP requests
        self.has_sessions = False
        self.has_stream = False  # HTTP+SSE: the GET is answered, with the place for messages
        self._replies: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self.goodbyes = 0  # each is refused
        self.socket: web.WebSocketResponse | None = None
        self.messages: list[str] = []  # methods that came over it
        self.accepted: list[str] = []  # those that came by POST
        self.streamed: list[str] = []  # those that came by HTTP+SSE
        self.proofs: list[str | None] = []  # their DPoP headers
        self.expires_in: int | None = 3600
        self.token_type = "bearer"
        place = "{base}/.well-known/oauth-protected-resource/mcp"
        self.challenge = f'Bearer resource_metadata="{place}"'
        self.metadata_of_resource: Callable[[], Any] = self._resource
        self.metadata_of_issuer: Callable[[], Any] = self._issuer
        self.token_answer: Callable[[dict[str, str]], web.StreamResponse | None] = lambda _: None
        self.forbids: Callable[[str], web.Response | None] = lambda _: None  # with a good token
        self.returned: Callable[[dict[str, str]], dict[str, str]] = lambda values: values
        self.registration_answer: Callable[[], web.StreamResponse | None] = lambda: None
        self.before_token: Callable[[dict[str, str]], Awaitable[None]] = _at_once
        self.after_token: Callable[[dict[str, str]], Awaitable[None]] = _at_once
        self.mcp_answer: Callable[[dict[str, Any]], web.StreamResponse | None] = lambda _: None
        self.calls_gate: asyncio.Barrier | None = None  # all of them have to be there
        self.is_valid: Callable[[str], Awaitable[bool]] = self._is_valid
        self._numbers = itertools.count(1)
        self._was_asked = threading.Condition()
        self._is_hanging = asyncio.Event()
        self._is_accepted = asyncio.Event()

    @property
    def url(self) -> str:
        return f"{self.base}/mcp"

    async def _is_valid(self, token: str) -> bool:
        return token in self.valid

    def _resource(self) -> dict[str, Any]:
        return {
            "resource": self.url,
            "authorization_servers": [self.base],
            "scopes_supported": ["notes"],
        }

    def _issuer(self) -> dict[str, Any]:
        return {
            "issuer": self.base,
            "authorization_endpoint": f"{self.base}/authorize",
            "token_endpoint": f"{self.base}/token",
            "registration_endpoint": f"{self.base}/register",
            "revocation_endpoint": f"{self.base}/revoke",
            "code_challenge_methods_supported": ["S256"],
            "token_endpoint_auth_methods_supported": ["none"],
            "authorization_response_iss_parameter_supported": True,
        }

    def resource_says(self, **values: Any) -> None:
        """Change the metadata of the server; None leaves a member out."""
        whole = {**self._resource(), **values}
        self.metadata_of_resource = lambda: {k: v for k, v in whole.items() if v is not None}

    def issuer_says(self, **values: Any) -> None:
        """Change the metadata of the authorization server; None leaves a member out."""
        whole = {**self._issuer(), **values}
        self.metadata_of_issuer = lambda: {k: v for k, v in whole.items() if v is not None}

    async def until_accepted(self, method: str, count: int) -> None:
        """Wait until so many messages of a method came by POST and were not refused."""
        while self.accepted.count(method) < count:
            self._is_accepted.clear()
            await self._is_accepted.wait()

    async def until_hanging(self) -> None:
        """Wait until somebody waits for /hang, which is never answered."""
        await self._is_hanging.wait()

    def until_asked(self, path: str, timeout_s: float) -> None:
        """Wait until a path is asked for; from another thread."""
        with self._was_asked:
            assert self._was_asked.wait_for(lambda: path in self.asked, timeout_s), self.asked

    async def handle(self, request: web.Request) -> web.StreamResponse:
        with self._was_asked:
            self.asked.append(request.path)
            self._was_asked.notify_all()
        match request.path:
            case "/.well-known/oauth-protected-resource/mcp":
                return _answer(self.metadata_of_resource())
            case "/.well-known/oauth-authorization-server":
                return _answer(self.metadata_of_issuer())
            case "/register":
                self.registrations.append(await request.json())
                if (refused := self.registration_answer()) is not None:
                    return refused
                return web.json_response({"client_id": f"client-{next(self._numbers)}"}, status=201)
            case "/authorize":
                return self._authorize(dict(request.query))
            case "/token":
                form = dict(await request.post())
                await self.before_token(form)  # type: ignore[arg-type]
                answer = self._token(form)  # type: ignore[arg-type]
                await self.after_token(form)  # type: ignore[arg-type]
                return answer
            case "/revoke":
                self.revoked.append(str((await request.post())["token"]))
                return web.Response()
            case "/hang":
                self._is_hanging.set()
                await asyncio.Event().wait()
            case "/mcp" if request.method == "POST":
                return await self._mcp(request)
            case "/mcp" if request.method == "DELETE":
                self.goodbyes += 1
                return web.Response(status=401)
            case "/mcp" if "Upgrade" in request.headers:
                return await self._socket(request)
            case "/mcp" if self.has_stream:
                return await self._stream(request)
            case "/messages":
                return await self._message(request)
        return web.Response(status=404)

    def _authorize(self, query: dict[str, str]) -> web.Response:
        code = f"code-{next(self._numbers)}"
        self.codes[code] = query
        values = self.returned({"code": code, "state": query["state"], "iss": self.base})
        location = f"{query['redirect_uri']}?{urlencode(values)}"
        return web.Response(status=302, headers={"Location": location})

    def _token(self, form: dict[str, str]) -> web.StreamResponse:
        self.forms.append(form)
        answer = self.token_answer(form)
        if answer is not None:
            return answer
        if form["grant_type"] == "authorization_code":
            asked = self.codes.pop(form["code"], None)
            digest = hashlib.sha256(form["code_verifier"].encode()).digest()
            sent = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
            if asked is None or asked["code_challenge"] != sent:
                return web.json_response({"error": "invalid_grant"}, status=400)
        elif form["grant_type"] == "refresh_token":
            if form["refresh_token"] not in self.refresh_tokens:
                return web.json_response({"error": "invalid_grant"}, status=400)
            self.refresh_tokens.discard(form["refresh_token"])
        return web.json_response(self.new_tokens())

    def new_tokens(self) -> dict[str, Any]:
        number = next(self._numbers)
        access, refresh = f"access-{number}-secret", f"refresh-{number}-secret"
        self.valid.add(access)
        self.refresh_tokens.add(refresh)
        tokens: dict[str, Any] = {
            "access_token": access, "token_type": self.token_type, "refresh_token": refresh
        }  # fmt: skip
        return tokens if self.expires_in is None else tokens | {"expires_in": self.expires_in}

    async def _mcp(self, request: web.Request) -> web.StreamResponse:
        refusal = await self._refusal(request)
        if refusal is not None:
            return refusal
        message = json.loads(await request.read())
        self.accepted.append(message["method"])
        self._is_accepted.set()
        answer = self.mcp_answer(message)
        if answer is not None:
            return answer
        if message["method"] == "tools/call" and self.calls_gate is not None:
            await self.calls_gate.wait()
        if "id" not in message:
            return web.Response(status=202)
        is_first = message["method"] == "initialize" and self.has_sessions
        headers = {"Mcp-Session-Id": "session-1"} if is_first else {}
        return web.json_response(self._reply(message), headers=headers)

    async def _refusal(self, request: web.Request) -> web.Response | None:
        header = request.headers.get("Authorization", "")
        self.authorizations.append(header)
        self.proofs.append(request.headers.get("DPoP"))
        token = header.partition(" ")[2]
        if await self.is_valid(token):
            return self.forbids(token)
        challenge = self.challenge.format(base=self.base)
        return web.json_response({}, status=401, headers={"WWW-Authenticate": challenge})

    async def _socket(self, request: web.Request) -> web.StreamResponse:
        refusal = await self._refusal(request)
        if refusal is not None:
            return refusal
        socket = self.socket = web.WebSocketResponse(protocols=["mcp"])
        await socket.prepare(request)
        async for frame in socket:
            message = json.loads(frame.data)
            self.messages.append(message["method"])
            if "id" in message:
                await socket.send_json(self._reply(message))
        return socket

    async def _stream(self, request: web.Request) -> web.StreamResponse:
        refusal = await self._refusal(request)
        if refusal is not None:
            return refusal
        stream = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await stream.prepare(request)
        replies = self._replies = asyncio.Queue()  # of the stream that was opened last
        await stream.write(b"event: endpoint\ndata: /messages\n\n")
        while True:
            reply = json.dumps(await replies.get())
            await stream.write(f"event: message\ndata: {reply}\n\n".encode())

    async def _message(self, request: web.Request) -> web.StreamResponse:
        refusal = await self._refusal(request)
        if refusal is not None:
            return refusal
        message = json.loads(await request.read())
        self.streamed.append(message["method"])
        if "id" in message:
            self._replies.put_nowait(self._reply(message))
        return web.Response(status=202)

    def _reply(self, message: dict[str, Any]) -> dict[str, Any]:
        results: dict[str, Any] = {
            "initialize": {
                "protocolVersion": "2025-11-25",
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "protected", "version": "1"},
            },
            "tools/list": {"tools": [{"name": "echo", "inputSchema": {"type": "object"}}]},
            "tools/call": {"content": [{"type": "text", "text": "done"}]},
        }
        result = results.get(message["method"])
        if result is None:
            error = {"code": -32601, "message": "no such method"}
            return {"jsonrpc": "2.0", "id": message["id"], "error": error}
        return {"jsonrpc": "2.0", "id": message["id"], "result": result}


async def _at_once(form: dict[str, str]) -> None:
    """Nothing holds up the token endpoint."""


def _answer(value: Any) -> web.StreamResponse:
    return value if isinstance(value, web.StreamResponse) else web.json_response(value)


def keep_sign_ins_in(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have sign-ins kept in this folder, and none known so far, for one test alone."""
    monkeypatch.setenv("MCPLENS_STATE_DIR", str(folder))
    monkeypatch.setenv("MCPLENS_KEYRING", "off")
    known_secrets.forget()


@asynccontextmanager
async def protected() -> AsyncIterator[Protected]:
    """Serve it for the length of the block."""
    server = Protected()
    app = web.Application(client_max_size=1 << 30)
    app.router.add_route("*", "/{path:.*}", server.handle)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    assert site._server is not None
    port = site._server.sockets[0].getsockname()[1]  # type: ignore[attr-defined]
    server.base = f"http://127.0.0.1:{port}"
    try:
        yield server
    finally:
        await runner.cleanup()


@contextmanager
def protected_beside() -> Iterator[Protected]:
    """Serve it on a thread, for tests that wait for processes."""
    started: queue.Queue[tuple[Protected, asyncio.AbstractEventLoop, asyncio.Event]] = queue.Queue()

    async def run() -> None:
        async with protected() as server:
            stop = asyncio.Event()
            started.put((server, asyncio.get_running_loop(), stop))
            await stop.wait()

    thread = threading.Thread(target=lambda: asyncio.run(run()))
    thread.start()
    server, loop, stop = started.get(timeout=30)
    try:
        yield server
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(30)


def connect(server: Protected, **options: Any) -> mcplens.connect:
    """A client of the server."""
    return mcplens.connect(server.url, protocol_version="2025-11-25", **options)


async def failure(server: Protected, **options: Any) -> mcplens.InspectorError:
    """The error of a sign-in that does not succeed; it says what to do next, whatever failed."""
    with pytest.raises(mcplens.InspectorError) as caught:
        async with connect(server, **{"sign_in": consent, **options}):
            pass
    if caught.value.code == "SIGN_IN_FAILED":
        assert caught.value.details["hint"]
    return caught.value


async def consent(request: Authorize) -> str:
    """A person who is signed in there already, and agrees to everything."""
    return await consent_at(request.url)


async def consent_at(url: str) -> str:
    """Where the authorization server sends the browser."""
    async with (
        aiohttp.ClientSession() as session,
        session.get(url, allow_redirects=False) as answer,
    ):
        return answer.headers["Location"]


def changed(change: Callable[[dict[str, str]], None]) -> Callable[[Authorize], Any]:
    """A person whose browser comes back with something else in the address."""

    async def come_back(request: Authorize) -> str:
        returned = await consent(request)
        values = {name: all_of[0] for name, all_of in parse_qs(urlsplit(returned).query).items()}
        change(values)
        return f"{returned.partition('?')[0]}?{urlencode(values)}"

    return come_back
