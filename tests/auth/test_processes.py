"""Several processes share one sign-in: a refresh token is good for one use, by one of them."""

import asyncio
import sys
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import mcplens
from tests.auth.protected import Protected, consent

ROTATIONS = 10
# Calls a tool for each line on stdin, and prints how it went; nobody is there to sign in.
PROGRAM = """
import asyncio, sys
import mcplens

async def run(url):
    async with mcplens.connect(url, protocol_version="2025-11-25") as client:
        print("connected", flush=True)
        while await asyncio.to_thread(sys.stdin.readline):
            try:
                await client.call_tool("echo")
                print("done", flush=True)
            except mcplens.InspectorError as error:
                print(error.code, flush=True)

asyncio.run(run(sys.argv[1]))
"""


class Caller:
    """A process that calls a tool whenever it is told to."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process

    async def says(self) -> str:
        assert self.process.stdout is not None
        return (await self.process.stdout.readline()).decode().strip()

    async def call(self) -> str:
        self.start_call()
        return await self.says()

    def start_call(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(b"call\n")


@asynccontextmanager
async def caller(server: Protected) -> AsyncIterator[Caller]:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", PROGRAM, server.url, stdin=PIPE, stdout=PIPE
    )
    try:
        yield Caller(process)
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


@asynccontextmanager
async def two_callers(server: Protected) -> AsyncIterator[tuple[Caller, Caller]]:
    """Two processes with the sign-in that a person made before."""
    async with mcplens.connect(server.url, sign_in=consent, protocol_version="2025-11-25"):
        pass
    async with asyncio.timeout(60), caller(server) as one, caller(server) as two:
        assert [await one.says(), await two.says()] == ["connected", "connected"]
        # What is still on its way would be refused, and begin a refresh, at a time of its own.
        await server.until_accepted("notifications/initialized", 3)
        yield one, two


async def test_two_processes_keep_their_sign_in_through_ten_rotations(server: Protected) -> None:
    used: list[str] = []

    async def note_use(form: dict[str, str]) -> None:
        used.append(form.get("refresh_token", ""))

    async with two_callers(server) as (one, two):
        server.before_token = note_use
        for _ in range(ROTATIONS):
            server.valid.clear()
            assert set(await asyncio.gather(one.call(), two.call())) == {"done"}
    assert len(used) == len(set(used)) == ROTATIONS  # each token once, by one of the two
    assert server.asked.count("/authorize") == 1


async def test_a_process_that_is_killed_while_it_rotates_does_not_end_the_sign_in(
    server: Protected,
) -> None:
    is_asked, goes_on = asyncio.Event(), asyncio.Event()

    async def hold(form: dict[str, str]) -> None:
        if not is_asked.is_set():
            is_asked.set()
            await goes_on.wait()
            raise asyncio.CancelledError  # it is gone, and its request with it

    async with two_callers(server) as (one, two):
        server.before_token = hold
        server.valid.clear()
        one.start_call()
        await is_asked.wait()
        two.start_call()  # waits for the lock
        one.process.kill()
        await one.process.wait()
        assert await two.says() == "done"
        goes_on.set()
    assert server.asked.count("/authorize") == 1


async def test_a_rotated_refresh_token_that_is_lost_with_its_answer_leads_to_a_new_sign_in(
    server: Protected,
) -> None:
    is_rotated, goes_on = asyncio.Event(), asyncio.Event()

    async def hold(form: dict[str, str]) -> None:
        if not is_rotated.is_set():
            server.valid.clear()
            is_rotated.set()
            await goes_on.wait()

    async with two_callers(server) as (one, two):
        server.after_token = hold
        server.valid.clear()
        one.start_call()
        await is_rotated.wait()
        one.process.kill()
        await one.process.wait()
        assert await two.call() == "AUTHENTICATION_FAILED"  # rather than no answer at all
        goes_on.set()
        async with mcplens.connect(
            server.url, sign_in=consent, protocol_version="2025-11-25"
        ) as client:
            await client.call_tool("echo")
        assert await two.call() == "done"  # the new sign-in is everybody's
