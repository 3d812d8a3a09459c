"""A screenshot as a PNG with a palette: half the bytes, and no difference that an eye would see."""

from __future__ import annotations

import struct
import zlib
from collections import Counter

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
# As many as one byte tells apart.
_COLOURS = 256
# More pixels than this count no more: a surface is seen well enough.
_MANY = 64


def with_palette(png: bytes) -> bytes:
    """The same picture with at most 256 colours; others become the nearest of them."""
    width, height, pixels = _read(png)
    found = Counter(pixels)
    palette = _chosen(found)
    index = {colour: at for at, colour in enumerate(palette)}
    for colour in found:
        if colour not in index:
            index[colour] = _nearest(palette, colour)
    rows = bytearray()
    for y in range(height):
        rows.append(0)  # no filter: with a palette, neighbours say little of each other
        rows += bytes([index[pixel] for pixel in pixels[y * width : (y + 1) * width]])
    header = struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)
    return b"".join(
        [
            _SIGNATURE,
            _chunk(b"IHDR", header),
            _chunk(b"PLTE", b"".join(palette)),
            _chunk(b"IDAT", zlib.compress(bytes(rows), 9)),
            _chunk(b"IEND", b""),
        ]
    )


def _chosen(found: Counter[bytes]) -> list[bytes]:
    """The most frequent ones, then those that would change most: a dot is small, but green."""
    palette = [colour for colour, _ in found.most_common(_COLOURS // 2)]
    far = {
        colour: min(_distance(colour, one) for one in palette)
        for colour in found.keys() - set(palette)
    }
    while far and len(palette) < _COLOURS:
        worst = max(far, key=lambda colour: (far[colour] * min(found[colour], _MANY), colour))
        palette.append(worst)
        del far[worst]
        for colour, distance in far.items():
            far[colour] = min(distance, _distance(colour, worst))
    return palette


def _distance(one: bytes, other: bytes) -> int:
    return (one[0] - other[0]) ** 2 + (one[1] - other[1]) ** 2 + (one[2] - other[2]) ** 2


def _nearest(palette: list[bytes], colour: bytes) -> int:
    return min(range(len(palette)), key=lambda at: _distance(palette[at], colour))


def _chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def _read(png: bytes) -> tuple[int, int, list[bytes]]:
    """Width, height and the RGB pixels of a screenshot of Chromium."""
    width, height, depth, kind = struct.unpack(">IIBB", png[16:26])
    assert (depth, kind in (2, 6)) == (8, True), "not 8 bits of RGB or RGBA"
    at, data = len(_SIGNATURE), b""
    while at < len(png):
        (length,) = struct.unpack(">I", png[at : at + 4])
        if png[at + 4 : at + 8] == b"IDAT":
            data += png[at + 8 : at + 8 + length]
        at += 12 + length
    size = 3 if kind == 2 else 4
    raw, stride = zlib.decompress(data), width * size
    row, pixels = bytearray(stride), []
    for y in range(height):
        start = y * (stride + 1)
        row = _unfiltered(raw[start], bytearray(raw[start + 1 : start + 1 + stride]), row, size)
        pixels += [bytes(row[x : x + 3]) for x in range(0, stride, size)]
    return width, height, pixels


def _unfiltered(kind: int, row: bytearray, above: bytearray, size: int) -> bytearray:
    """A row as it was before its filter (PNG specification, section 9)."""
    for at in range(len(row) if kind else 0):
        left = row[at - size] if at >= size else 0
        up = above[at]
        if kind == 1:
            guess = left
        elif kind == 2:
            guess = up
        elif kind == 3:
            guess = (left + up) // 2
        else:
            corner = above[at - size] if at >= size else 0
            whole = left + up - corner
            guess = min((left, up, corner), key=lambda one: abs(whole - one))
        row[at] = (row[at] + guess) & 255
    return row
