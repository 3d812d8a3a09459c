"""The memory of a program with ten clients whose servers die all the time, over 15 minutes."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from typing import Any

import pytest

from tests.servers.run import ROOT

# A quick look: MCPLENS_CURVE_S=150 make soak
SECONDS = float(os.environ.get("MCPLENS_CURVE_S", "900"))
WARM_UP_S = 60.0
MEGABYTE = 1_000_000


@pytest.mark.soak
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
async def test_ten_clients_of_dying_servers_stay_flat_and_under_100_megabytes() -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "tests.interaction.memory_curve",
        str(SECONDS),
        cwd=ROOT,
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdout is not None
    curve: list[dict[str, Any]] = []
    async with asyncio.timeout(SECONDS + 120):
        async for line in process.stdout:
            point = json.loads(line)
            curve.append(point)
            print(f"{point['elapsed_s']:6.0f} s  {point['bytes'] / MEGABYTE:6.1f} MB  {point}")
        assert await process.wait() == 0
    assert curve[-1]["kills"] > SECONDS / 2
    assert curve[-1]["calls"] > 10 * SECONDS
    assert max(point["bytes"] for point in curve) < 100 * MEGABYTE
    warm = [point["bytes"] for point in curve if point["elapsed_s"] >= WARM_UP_S]
    # Flat: what the last third holds is what was held after the first minute, but for some noise.
    last = warm[-max(len(warm) // 3, 1) :]
    assert sum(last) / len(last) < warm[0] + 8 * MEGABYTE
