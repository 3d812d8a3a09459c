"""A reverse proxy between a client and a server that is reached by a URL.

Listens, connects, and says which `Host` is let through; the bytes are moved by http_relay.py, on a
thread of their own. Only the origin of the server is reached, and each connection of the client has
its own connection to the server. Used by `mcplens tap URL`.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
import sys
import threading
from collections.abc import AsyncIterator
from functools import partial
from typing import Final
from urllib.parse import SplitResult, urlsplit

from mcplens.errors import ConfigurationError
from mcplens.events import Remark
from mcplens.protocol.secret_masking import mask_url
from mcplens.tap.backlog import TapBus, TapPublisher
from mcplens.tap.conversation import Conversation
from mcplens.tap.http_framing import ResponseFraming
from mcplens.tap.http_head import Heads
from mcplens.tap.http_observer import ObservedConnection
from mcplens.tap.http_relay import HttpRelay
from mcplens.tap.message_rewriting import MessageRewriting
from mcplens.tap.socket_loop import READ, SocketLoop
from mcplens.transports.network import is_loopback, unreachable

_CONNECT_S: Final = 30.0
_SCHEMES: Final = ("http", "https", "ws", "wss")
# The recorder works in a thread of its own: how long it may keep us from passing bytes on.
_SWITCH_S: Final = 0.0002
# Connections that wait to be accepted.
_BACKLOG: Final = 128


class HttpTap:
    """Listens for a client, and passes what it sends on to one server."""

    def __init__(
        self,
        url: str,
        bus: TapBus,
        name: str,
        *,
        context: ssl.SSLContext | None = None,
        allowed_hosts: frozenset[str] = frozenset(),
        rewrites_auth: bool = False,
    ) -> None:
        self.target: SplitResult = urlsplit(url)
        if self.target.scheme not in _SCHEMES or not self.target.hostname:
            raise ConfigurationError(
                "CONFIGURATION_INVALID", f"{url} is not an http, https, ws or wss address"
            )
        self._is_tls = self.target.scheme in ("https", "wss")
        self._netloc = self.target.netloc.rpartition("@")[2]
        self._publish = TapPublisher(bus, name)
        self._conversation = Conversation(self._publish)
        self._context = context if self._is_tls else None
        self._allowed_hosts = allowed_hosts
        self._rewrites_auth = rewrites_auth
        self._relays: set[HttpRelay] = set()
        self._listeners: list[socket.socket] = []
        self._is_accepting = False
        self.backlog = bus.backlog
        self.heads = Heads(self._netloc.encode(), self._is_allowed)
        self.loop = SocketLoop()

    def __repr__(self) -> str:
        return f"<HttpTap {self._netloc}, {len(self._relays)} connections>"

    @contextlib.asynccontextmanager
    async def listening(self, host: str, port: int) -> AsyncIterator[str]:
        """Serve while the block lasts; gives the address that the client uses.

        Raises:
            OSError: the port is taken, or the address is not one of this machine.
        """
        self._listeners = await asyncio.to_thread(_listeners, host, port)
        number = self._listeners[0].getsockname()[1]
        shown = f"[{host}]" if ":" in host else host
        path = self.target.path or "/"
        query = f"?{self.target.query}" if self.target.query else ""
        scheme = "ws" if self.target.scheme in ("ws", "wss") else "http"
        address = f"{scheme}://{shown}:{number}{path}{query}"
        # So the session is live before its first message.
        waits = f"waiting for a client at {mask_url(address)}, which is passed on to {self._netloc}"
        self.backlog.add(self._remark, waits)
        sys.setswitchinterval(_SWITCH_S)
        self.loop.call(self._accept_on)
        self.loop.start()
        try:
            yield address
        finally:
            self.loop.call(self._stop)
            await asyncio.to_thread(self.loop.stop)
            self.backlog.add(lambda _: self._conversation.ended(), None)

    # -- on the loop's thread ----------------------------------------------------------------------

    def _accept_on(self) -> None:
        if not self._is_accepting:
            self._is_accepting = True
            for listener in self._listeners:
                self.loop.watch(listener, 0, READ, partial(self._accept, listener))

    def _accept(self, listener: socket.socket, _: int) -> None:
        try:
            sock, _ = listener.accept()
        except (BlockingIOError, ConnectionError):
            return
        except OSError:  # there are no more descriptors: until a connection is closed
            self._accept_off()
            return
        self._relays.add(HttpRelay(self, sock))

    def _accept_off(self) -> None:
        if self._is_accepting:
            self._is_accepting = False
            for listener in self._listeners:
                self.loop.watch(listener, READ, 0, lambda _: None)

    def closed(self, relay: HttpRelay) -> None:
        self._relays.discard(relay)
        self._accept_on()

    def _stop(self) -> None:
        for relay in list(self._relays):
            relay.stop()
        self._accept_off()
        for listener in self._listeners:
            listener.close()
        self._listeners = []

    # -- what the relays need ----------------------------------------------------------------------

    def observe(self, responses: ResponseFraming) -> ObservedConnection:
        origin = f"{'s' if self._is_tls else ''}://{self._netloc}"
        return ObservedConnection(self._conversation, self._publish, origin, responses)

    def rewriting(self) -> MessageRewriting | None:
        if not self._rewrites_auth:
            return None
        origin = f"{'https' if self._is_tls else 'http'}://{self._netloc}"
        return MessageRewriting(self.heads, origin)

    def connect(self, relay: HttpRelay) -> None:
        """Connect to the server, and tell the relay."""
        work = partial(self._connect, relay)
        threading.Thread(target=work, name="tap connects", daemon=True).start()

    def _connect(self, relay: HttpRelay) -> None:
        host = self.target.hostname or ""
        port = self.target.port or (443 if self._is_tls else 80)
        try:
            sock = socket.create_connection((host, port), timeout=_CONNECT_S)
            if self._context is not None:
                sock = _with_tls(sock, self._context, host)
        except OSError as problem:
            message = unreachable(problem, f"tap to {host}:{port}", host, port).message
            self.loop.call(partial(relay.not_connected, message))
            return
        if not self.loop.call(partial(relay.connected, sock)):
            sock.close()

    def _is_allowed(self, host: str) -> bool:
        try:
            name = urlsplit(f"//{host}").hostname or ""
        except ValueError:
            return False
        return is_loopback(name) or name in self._allowed_hosts

    def _remark(self, text: str) -> None:
        self._publish(Remark(message=text))


def _with_tls(sock: socket.socket, context: ssl.SSLContext, host: str) -> socket.socket:
    try:
        return context.wrap_socket(sock, server_hostname=host)
    except BaseException:
        sock.close()
        raise


def _listeners(host: str, port: int) -> list[socket.socket]:
    """Sockets on all addresses of a name, with the same port.

    Raises:
        OSError: the first one cannot be opened.
    """
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    listeners: list[socket.socket] = []
    for family, _, _, _, address in dict.fromkeys(found):
        place = address if not listeners else (address[0], port, *address[2:])
        try:
            listener = socket.create_server(place, family=family, backlog=_BACKLOG)
        except OSError:
            if not listeners:
                raise
            continue
        listener.setblocking(False)
        listeners.append(listener)
        port = listener.getsockname()[1]
    return listeners
