"""The token that clients show to each gateway of the benchmark."""

from __future__ import annotations

from typing import Final

TOKEN: Final = "bench-0123456789abcdef0123456789abcdef"
