"""Memory of a process that runs for weeks: when garbage is collected, and freed memory returned.

Called by `mcplens gateway`, which owns its process.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable

from mcplens.bus import Bus
from mcplens.clock import Clock

# As long as the gateway keeps events: by then those of a burst are dropped.
RETURN_EVERY_S = 20.0
# Fewer events than this leave nothing worth returning: an idle gateway does nothing here.
_LEAST_EVENTS = 500


def spare_collector() -> None:
    """Have the garbage collector look at what passes only, and not after every few calls.

    It took a fifth of a call. What is loaded by now stays; little that passes is part of a cycle.
    """
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)


async def return_memory(bus: Bus, clock: Clock, is_quiet: Callable[[], bool]) -> None:
    """Return memory that calls needed, while they come and once after them, until cancelled.

    The allocator of Linux keeps what is freed below its newest block: tens of megabytes, for ever.
    A collection takes some milliseconds, so it is left out while calls run.
    """
    trim = _trimmer()
    seq = bus.last_seq
    while True:
        await clock.sleep(RETURN_EVERY_S)
        if bus.last_seq - seq >= _LEAST_EVENTS:
            seq = bus.last_seq
            if is_quiet():
                gc.collect()
            trim()


def _trimmer() -> Callable[[], object]:
    """What returns freed memory to the system; nothing where the allocator cannot be told to."""
    if sys.platform == "linux":
        import ctypes

        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # musl has none
        if trim is not None:
            return lambda: trim(0)
    return lambda: None
