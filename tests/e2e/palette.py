"""Screenshots made small for the docs: a PNG with a palette, and frames as one animation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from io import BytesIO

from PIL import Image

# As many as one byte tells apart.
_COLOURS = 256


@dataclass(frozen=True)
class AnimationFrame:
    """A screenshot, and how long it is shown."""

    png: bytes
    duration_ms: int


def with_palette(png: bytes) -> bytes:
    """The same picture with at most 256 colours: half the bytes, and no difference to the eye."""
    picture = Image.open(BytesIO(png)).convert("RGB")
    reduced = picture.quantize(
        _COLOURS, method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE
    )
    written = BytesIO()
    reduced.save(written, "PNG", optimize=True)
    return written.getvalue()


def animation(frames: Sequence[AnimationFrame]) -> bytes:
    """The frames as an animated WebP that begins again at its end."""
    first, *others = (Image.open(BytesIO(frame.png)).convert("RGB") for frame in frames)
    written = BytesIO()
    first.save(
        written,
        "WEBP",
        save_all=True,
        append_images=others,
        duration=[frame.duration_ms for frame in frames],
        loop=0,
        lossless=True,
        quality=100,
        method=4,
        minimize_size=True,
    )
    return written.getvalue()
