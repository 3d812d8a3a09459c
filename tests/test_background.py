"""Tasks that go on beside whoever began them."""

import asyncio

from mcplens.background import Background


async def test_ending_calls_everything_off_and_waits_for_it() -> None:
    ended = []

    async def work(name: str) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            ended.append(name)

    background = Background()
    for name in ("a", "b"):
        background.start(work(name), name)
    await asyncio.sleep(0)
    await background.end()
    assert sorted(ended) == ["a", "b"]
    assert len(background) == 0


async def test_work_that_is_awaited_is_not_called_off() -> None:
    async def work() -> int:
        await asyncio.sleep(0)
        return 3

    background = Background()
    task = background.start(work(), "work")
    await background.ended()
    assert task.result() == 3


async def test_work_that_ends_its_own_background_outlives_that() -> None:
    background = Background()
    other = background.start(asyncio.Event().wait(), "other")

    async def work() -> str:
        await background.end()
        return "done"

    async with asyncio.timeout(5):
        assert await background.start(work(), "work") == "done"
    assert other.cancelled()
