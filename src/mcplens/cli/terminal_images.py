"""Draws an image in terminals that can: kitty's protocol (PNG), or iTerm2's (any format).

The data is decoded and encoded again, so that nothing but base64 of ours is in the sequence.
Used by output.py.
"""

from __future__ import annotations

import base64
import binascii
import os
from typing import Final

# Drawing more takes a terminal seconds.
_MOST_BYTES: Final = 5_000_000
# The longest piece that kitty's protocol allows.
_PIECE: Final = 4096


def image_sequence(data: str, kind: str | None) -> str | None:
    """What draws an image (base64) on this terminal; None if the terminal cannot."""
    protocol = _protocol()
    if protocol is None or len(data) * 3 // 4 > _MOST_BYTES:
        return None
    try:
        image = base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        return None
    text = base64.b64encode(image).decode()
    if protocol == "iterm":
        return f"\x1b]1337;File=inline=1;size={len(image)}:{text}\x07"
    if kind != "image/png":
        return None
    pieces = [text[at : at + _PIECE] for at in range(0, len(text), _PIECE)]
    first = "a=T,f=100,"
    drawn = ""
    for number, piece in enumerate(pieces, 1):
        drawn += f"\x1b_G{first}m={int(number < len(pieces))};{piece}\x1b\\"
        first = ""
    return drawn


def _protocol() -> str | None:
    found = os.environ
    if found.get("TMUX") or found.get("TERM", "").startswith(("screen", "tmux", "dumb")):
        return None  # what is between us and the terminal would print it as text
    program = found.get("TERM_PROGRAM")
    if program in ("iTerm.app", "WezTerm"):
        return "iterm"
    is_kitty = found.get("TERM") == "xterm-kitty" or program == "ghostty"
    return "kitty" if is_kitty or found.get("KITTY_WINDOW_ID") else None
