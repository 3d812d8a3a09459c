"""The messages on a tapped WebSocket, read from the bytes that pass.

A reader for each direction takes the frames apart (RFC 6455, compression by RFC 7692) and hands
over whole messages and the close frame; it changes nothing, and gives up on bytes that are not
frames, which pass all the same. Pure. Used by http.py, which moves the bytes.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import Final

import msgspec

from mcplens.protocol.frames import Message, parse, too_long

# As for HTTP: a longer message is passed on, but only its start is recorded.
MAX_MESSAGE_BYTES: Final = 64 * 1024 * 1024
_KEPT_BYTES: Final = 64 * 1024

_CONTINUATION: Final = 0x0
_TEXT: Final = 0x1
_BINARY: Final = 0x2
_CLOSE: Final = 0x8
_OPCODES: Final = frozenset({_CONTINUATION, _TEXT, _BINARY, _CLOSE, 0x9, 0xA})
# RFC 7692, 7.2.2: what the sender left out at the end of each compressed message.
_DEFLATE_TAIL: Final = b"\x00\x00\xff\xff"


class SocketClosed(msgspec.Struct, frozen=True):
    """A close frame: its code (None if it has none) and reason."""

    code: int | None
    reason: str

    def __str__(self) -> str:
        shown = "without a code" if self.code is None else f"with {self.code}"
        return f"closed {shown}: {self.reason}" if self.reason else f"closed {shown}"


class SocketMessage(msgspec.Struct, frozen=True):
    """A whole message; MCP's are text."""

    message: Message
    is_binary: bool


class Deflate(msgspec.Struct, frozen=True):
    """What both sides agreed on in the handshake about compression, for one direction."""

    keeps_context: bool


def negotiated_deflate(extensions: str, side: str) -> Deflate | None:
    """Compression of what a side (`client`, `server`) sends, by the server's answer."""
    for extension in extensions.split(","):
        name, *parameters = (part.strip() for part in extension.split(";"))
        if name == "permessage-deflate":
            return Deflate(keeps_context=f"{side}_no_context_takeover" not in parameters)
    return None


class NotFrames(Exception):
    """These bytes are not WebSocket frames."""


class SocketReader:
    """Frames of one direction, as they come in pieces."""

    def __init__(
        self,
        take: Callable[[SocketMessage | SocketClosed], None],
        deflate: Deflate | None = None,
    ) -> None:
        self._take = take
        self._deflate = deflate
        self._inflate = zlib.decompressobj(-zlib.MAX_WBITS)
        self._buffer = bytearray()
        # Of the frame whose payload is being read.
        self._opcode: int | None = None
        self._is_final = False
        self._left = 0
        self._mask = b""
        self._at = 0
        self._control = bytearray()
        # Of the message that its frames make up.
        self._parts = bytearray()
        self._is_binary = False
        self._is_compressed = False
        self._is_cut = False

    def __repr__(self) -> str:
        return f"<SocketReader {self._left} bytes of a frame to come>"

    def feed(self, data: bytes) -> None:
        """Read more bytes.

        Raises:
            NotFrames: they are not frames; nothing more can be read.
        """
        self._buffer += data
        while self._opcode is not None or self._read_head():
            if not self._read_payload():
                return

    def _read_head(self) -> bool:
        """Take the head of a frame, if it is whole."""
        buffer = self._buffer
        if len(buffer) < 2:
            return False
        opcode, size = buffer[0] & 0x0F, buffer[1] & 0x7F
        is_masked = bool(buffer[1] & 0x80)
        wide = {126: 2, 127: 8}.get(size, 0)
        length = 2 + wide + (4 if is_masked else 0)
        if opcode not in _OPCODES or buffer[0] & 0x30:
            raise NotFrames
        if len(buffer) < length:
            return False
        if wide:
            size = int.from_bytes(buffer[2 : 2 + wide])
        self._opcode, self._is_final = opcode, bool(buffer[0] & 0x80)
        self._left, self._at = size, 0
        self._mask = bytes(buffer[2 + wide : length]) if is_masked else b""
        if opcode in (_TEXT, _BINARY):
            self._is_binary = opcode == _BINARY
            self._is_compressed = bool(buffer[0] & 0x40)
            if self._is_compressed and self._deflate is None:
                raise NotFrames
        self._control.clear()
        del buffer[:length]
        return True

    def _read_payload(self) -> bool:
        """Take what has come of a payload; whether the frame is whole."""
        piece = bytes(self._buffer[: self._left])
        del self._buffer[: self._left]
        self._left -= len(piece)
        if self._mask:
            piece = _unmasked(piece, self._mask, self._at)
            self._at += len(piece)
        opcode = self._opcode
        if opcode in (_CONTINUATION, _TEXT, _BINARY):
            self._add(piece)
        else:
            self._control += piece[: 125 - len(self._control)]  # RFC 6455, 5.5: no longer than that
        if self._left:
            return False
        self._opcode = None
        if opcode == _CLOSE:
            self._take(_closed(bytes(self._control)))
        elif opcode in (_CONTINUATION, _TEXT, _BINARY) and self._is_final:
            self._finish()
        return True

    def _add(self, piece: bytes) -> None:
        if self._is_compressed:
            piece = self._inflated(piece)
        if self._is_cut:
            return
        self._parts += piece
        if len(self._parts) > MAX_MESSAGE_BYTES:
            self._is_cut = True
            del self._parts[_KEPT_BYTES:]

    def _inflated(self, piece: bytes) -> bytes:
        try:
            whole = self._inflate.decompress(piece, MAX_MESSAGE_BYTES)
            while self._inflate.unconsumed_tail:  # a bomb; the window must still see all of it
                self._is_cut = True
                rest = self._inflate.unconsumed_tail
                self._inflate.decompress(rest, _KEPT_BYTES)
        except zlib.error:
            raise NotFrames from None
        return whole

    def _finish(self) -> None:
        if self._is_compressed:
            self._add(_DEFLATE_TAIL)
            if self._deflate is None or not self._deflate.keeps_context:
                self._inflate = zlib.decompressobj(-zlib.MAX_WBITS)
        data = bytes(self._parts[:_KEPT_BYTES] if self._is_cut else self._parts)
        message = too_long(data, MAX_MESSAGE_BYTES) if self._is_cut else parse(data)
        self._parts.clear()
        self._is_cut = False
        self._take(SocketMessage(message, self._is_binary))


def _closed(payload: bytes) -> SocketClosed:
    if len(payload) < 2:
        return SocketClosed(None, "")
    return SocketClosed(int.from_bytes(payload[:2]), payload[2:].decode("utf-8", "replace"))


def _unmasked(piece: bytes, mask: bytes, at: int) -> bytes:
    """XOR with the mask, from its byte `at` on; as one number, since a loop is slow."""
    size = len(piece)
    turn = at % 4
    key = (mask[turn:] + mask[:turn]) * (size // 4 + 1)
    return (int.from_bytes(piece) ^ int.from_bytes(key[:size])).to_bytes(size)
