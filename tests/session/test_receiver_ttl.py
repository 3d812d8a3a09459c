"""How long a task lives that we hold for a server, and how many there may be."""

from __future__ import annotations

from typing import Any

import pytest

from mcplens.errors import ServerError
from mcplens.session.question_handler import ServerRequest

from .receiver_bench import SAMPLE, Bench


@pytest.mark.parametrize(("ttl_s", "milliseconds"), [(60.0, 60_000), (7, 7_000), (0.25, 250)])
async def test_a_server_that_names_no_ttl_gets_ours(ttl_s: float, milliseconds: int) -> None:
    bench = Bench(ttl_s=ttl_s)
    task_id = await bench.started()
    assert bench.record(task_id).task.ttl == milliseconds
    await bench.tasks.end()


async def test_a_ttl_that_is_a_function_is_asked_for_each_task() -> None:
    choices = iter([1.0, 2.0])
    bench = Bench(ttl_s=lambda: next(choices))
    first, second = bench.start(), bench.start()
    named = bench.start(ttl=9_000)  # the server chose: ours is not asked
    assert [bench.record(one).task.ttl for one in (first, second, named)] == [1000, 2000, 9000]
    await bench.tasks.end()


@pytest.mark.parametrize("nonsense", [-1.0, float("nan"), float("inf"), "60", None, True])
async def test_a_ttl_of_ours_that_is_no_time_is_said_to_be_none(nonsense: Any) -> None:
    bench = Bench(ttl_s=lambda: nonsense)
    with pytest.raises(ValueError, match="the TTL of a task must be a number of seconds"):
        bench.start()
    assert bench.tasks.list_receiver_tasks() == []


async def test_a_ttl_above_the_limit_is_cut_and_the_actual_one_reported() -> None:
    bench = Bench(longest_ttl_s=100)
    for asked in (100_001, 10**400, 1e300, None):
        task_id = await bench.started(ttl=asked)
        assert (await bench.request("tasks/get", {"taskId": task_id}))["ttl"] == 100_000
    await bench.clock.advance(100)
    assert bench.tasks.list_receiver_tasks() == []


async def test_our_own_ttl_is_cut_to_the_limit_too() -> None:
    bench = Bench(longest_ttl_s=5, ttl_s=60)
    assert bench.record(bench.start()).task.ttl == 5_000
    await bench.tasks.end()


async def test_null_means_no_limit_where_that_is_allowed() -> None:
    bench = Bench(longest_ttl_s=None)
    task_id = await bench.started(ttl=None)
    assert (await bench.request("tasks/get", {"taskId": task_id}))["ttl"] is None
    assert bench.clock.timer_count == 0
    assert bench.asked[0].expires_in_s is None
    await bench.clock.advance(10**9)
    assert bench.status(task_id) == "input_required"
    await bench.tasks.end()


@pytest.mark.parametrize("ttl", [-1, -0.5, "60000", True, [], {}])
async def test_a_ttl_that_is_no_time_is_refused(ttl: Any) -> None:
    bench = Bench()
    with pytest.raises(ServerError, match=r"task\.ttl must be a number of milliseconds") as refusal:
        bench.start(ttl=ttl)
    assert refusal.value.rpc_code == -32602
    assert bench.tasks.list_receiver_tasks() == []
    assert bench.clock.timer_count == 0


@pytest.mark.parametrize("params", [None, [], {}, {"task": True}, {"task": 5}, {"task": None}])
async def test_a_wish_for_a_task_that_is_none_is_refused(params: Any) -> None:
    bench = Bench()
    with pytest.raises(ServerError, match="task must be an object") as refusal:
        bench.tasks.start(ServerRequest(1, SAMPLE, params, b"{}"), bench.ask)
    assert refusal.value.rpc_code == -32602


async def test_a_ttl_of_nothing_is_over_at_once_and_nobody_is_asked_any_more() -> None:
    bench = Bench()
    task_id = bench.start(ttl=0)
    await bench.clock.advance(0)
    assert bench.tasks.get_receiver_task(task_id) is None
    assert not [answer for answer in bench.answers if not answer.done()]
    assert bench.steps() == ["input_required", "gone"]


async def test_beyond_the_limit_a_task_is_refused_until_there_is_room() -> None:
    bench = Bench(most_tasks=2)
    bench.start(ttl=1_000)
    bench.start()
    with pytest.raises(ServerError, match="2 tasks are kept already; no more are taken") as refusal:
        bench.start()
    assert refusal.value.rpc_code == -32603
    await bench.clock.advance(1)
    bench.start()
    assert len(bench.tasks.list_receiver_tasks()) == 2
    await bench.tasks.end()
