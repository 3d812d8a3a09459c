"""Which cores a client and its server run on.

CPU is measured with both on one core. Left to itself the scheduler puts them now on one and now on
two, and waking another core is charged to the client. Speed is measured as the scheduler wants it.
"""

from __future__ import annotations

import os


def share_one_core(is_wanted: bool) -> None:
    """Run on the first core alone, or on all; what is started from now on inherits it."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {0} if is_wanted else range(os.cpu_count() or 1))
