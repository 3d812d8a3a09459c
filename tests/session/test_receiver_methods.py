"""What a server may ask about the tasks that we hold for it."""

from __future__ import annotations

from typing import Any

import pytest

from mcplens.protocol.tasks import RELATED_TASK
from mcplens.session.receiver_tasks import PAGE_SIZE

from .receiver_bench import ANSWER, Bench


async def test_a_task_that_is_over_is_not_cancelled_for_the_server() -> None:
    bench = Bench()
    task_id = await bench.started()
    bench.answers[0].set_result(ANSWER)
    await bench.settle()
    code, text = await bench.refusal("tasks/cancel", {"taskId": task_id})
    assert (code, text) == (-32602, "the task is completed and cannot be cancelled")
    assert bench.tasks.cancel_receiver_task(task_id).status == "completed"
    assert await bench.tasks.get_receiver_task_payload(task_id) == ANSWER


async def test_a_cancel_of_the_server_is_answered_with_the_cancelled_task() -> None:
    bench = Bench()
    task_id = await bench.started()
    answer = await bench.request("tasks/cancel", {"taskId": task_id})
    assert (answer["taskId"], answer["status"]) == (task_id, "cancelled")
    assert answer == await bench.request("tasks/get", {"taskId": task_id})
    assert (await bench.refusal("tasks/cancel", {"taskId": task_id}))[0] == -32602


@pytest.mark.parametrize("method", ["tasks/get", "tasks/result", "tasks/cancel"])
@pytest.mark.parametrize("params", [None, [], {}, {"taskId": None}, {"taskId": 5}])
async def test_a_request_that_names_no_task_is_refused(method: str, params: Any) -> None:
    assert await Bench().refusal(method, params) == (-32602, "taskId must be a string")


async def test_the_task_that_the_params_name_wins_over_the_related_one() -> None:
    bench = Bench()
    first, second = [await bench.started() for _ in range(2)]
    params = {"taskId": first, "_meta": {RELATED_TASK: {"taskId": second}}}
    assert (await bench.request("tasks/get", params))["taskId"] == first
    await bench.tasks.end()


async def test_few_tasks_are_one_page_oldest_first() -> None:
    bench = Bench()
    ids = [bench.start() for _ in range(3)]
    for params in (None, {}, {"cursor": None}):
        answer = await bench.request("tasks/list", params)
        assert list(answer) == ["tasks"]
        assert [task["taskId"] for task in answer["tasks"]] == ids
    assert await Bench().request("tasks/list") == {"tasks": []}
    await bench.tasks.end()


async def test_many_tasks_come_page_by_page_even_if_some_expire_meanwhile() -> None:
    bench = Bench()
    ids = [
        bench.tasks.create_receiver_task(
            initial_status="working", ttl=1_000 if number < PAGE_SIZE else 9_000
        ).task.task_id
        for number in range(2 * PAGE_SIZE + 5)
    ]
    first = await bench.request("tasks/list")
    assert [task["taskId"] for task in first["tasks"]] == ids[:PAGE_SIZE]
    await bench.clock.advance(1)  # all that were on the first page are gone
    second = await bench.request("tasks/list", {"cursor": first["nextCursor"]})
    assert [task["taskId"] for task in second["tasks"]] == ids[PAGE_SIZE : 2 * PAGE_SIZE]
    third = await bench.request("tasks/list", {"cursor": second["nextCursor"]})
    assert [task["taskId"] for task in third["tasks"]] == ids[2 * PAGE_SIZE :]
    assert "nextCursor" not in third
    bench.tasks.clear()


async def test_a_full_page_without_another_has_no_cursor() -> None:
    bench = Bench()
    for _ in range(PAGE_SIZE):
        bench.tasks.create_receiver_task(initial_status="working")
    assert "nextCursor" not in await bench.request("tasks/list")
    bench.tasks.clear()


async def test_a_cursor_that_is_none_of_ours_is_refused() -> None:
    bench = Bench()
    for _ in range(PAGE_SIZE + 1):
        bench.tasks.create_receiver_task(initial_status="working")
    ours = (await bench.request("tasks/list"))["nextCursor"]
    prefix = ours[: -len(str(PAGE_SIZE))]
    bad: list[Any] = ["", "1", "2.0", 5, [], ours[1:], prefix, prefix + "0", prefix + "-1"]
    bad += [ours + "0", prefix + "9" * 5_000, prefix + "²", prefix + "1e1"]
    for cursor in bad:
        assert (await bench.refusal("tasks/list", {"cursor": cursor}))[0] == -32602
    bench.tasks.clear()
