"""The lock around a refresh token."""

import asyncio
import sys
from pathlib import Path

from mcplens.auth.file_lock import FileLock
from mcplens.clock import ManualClock, SystemClock

HOLD = """
import asyncio, sys
from mcplens.auth.file_lock import FileLock
from mcplens.clock import SystemClock
async def hold():
    async with FileLock(sys.argv[1], SystemClock(), 5):
        print("held", flush=True)
        await asyncio.Event().wait()
asyncio.run(hold())
"""


async def test_the_lock_of_a_process_that_was_killed_is_free(tmp_path: Path) -> None:
    path = str(tmp_path / "lock")
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", HOLD, path, stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout is not None
    async with asyncio.timeout(30):
        assert await process.stdout.readline() == b"held\n"
        clock = ManualClock()
        waiting = FileLock(path, clock, 1.0)
        entering = asyncio.ensure_future(waiting.__aenter__())
        await clock.settle()
        assert not entering.done()
        await clock.advance(2.0)  # it goes on without, rather than never
        assert not (await entering).is_held
        await waiting.__aexit__(None, None, None)
        process.kill()
        await process.wait()
        async with FileLock(path, SystemClock(), 5.0) as lock:
            assert lock.is_held
