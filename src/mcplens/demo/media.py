"""An image and a sound, made of a few lines, so that no binary files are needed."""

from __future__ import annotations

import base64
import math
import struct
import zlib
from functools import cache


def base64_text(data: bytes) -> str:
    return base64.b64encode(data).decode()


@cache
def png(size: int = 64) -> bytes:
    """A lens: a blue ring on a light ground."""
    middle, rows = (size - 1) / 2, []
    for y in range(size):
        row = bytearray(b"\0")  # each row begins with its filter: none
        for x in range(size):
            radius = math.hypot(x - middle, y - middle) / size
            row += b"\x22\x66\xcc" if 0.3 < radius < 0.45 else b"\xf4\xf7\xfb"
        rows.append(bytes(row))
    header = struct.pack(">IIBBBBB", size, size, 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(b"".join(rows), 9)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(*chunk) for chunk in chunks)


def _chunk(kind: bytes, data: bytes) -> bytes:
    checked = kind + data
    return struct.pack(">I", len(data)) + checked + struct.pack(">I", zlib.crc32(checked))


@cache
def wav(seconds: float = 0.25, pitch_hz: float = 440.0, rate: int = 8_000) -> bytes:
    """A short tone that fades out."""
    count = int(seconds * rate)
    samples = bytes(
        int(128 + 60 * (1 - step / count) * math.sin(math.tau * pitch_hz * step / rate))
        for step in range(count)
    )
    layout = struct.pack("<4sIHHIIHH", b"fmt ", 16, 1, 1, rate, rate, 1, 8)
    body = b"WAVE" + layout + struct.pack("<4sI", b"data", count) + samples
    return struct.pack("<4sI", b"RIFF", len(body)) + body


ICON = f"data:image/png;base64,{base64_text(png(16))}"
