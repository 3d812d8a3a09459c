"""Questions and tasks reach the page, and are still there after a reload."""

from __future__ import annotations

from typing import Any

from mcplens.bus import Bus
from mcplens.clock import ManualClock
from mcplens.events import ClientTaskChanged, QuestionClosed, QuestionOpened, ReceiverTaskChanged
from mcplens.workspace.questions import QuestionList
from mcplens.workspace.tasks import MOST_TASKS, Tasks

from .harness import Site

FORM = {"message": "who?", "requestedSchema": {"type": "object", "properties": {}}}


def open_question(site: Site, number: int) -> None:
    site.workspace.bus.publish(
        QuestionOpened(
            question_id=f"elicitation-{number}",
            method="elicitation/create",
            params=FORM,
            request_id=7,
            request_seq=70,
            caused_by_seq=3,
            call_id=None,
            timeout_s=300.0,
        ),
        "demo",
    )


def question_opened(name: str, params: dict[str, Any]) -> QuestionOpened:
    return QuestionOpened(
        question_id=name,
        method="elicitation/create",
        params=params,
        request_seq=None,
        caused_by_seq=None,
        call_id=None,
    )


def question_closed(name: str, answered_by: str = "") -> QuestionClosed:
    return QuestionClosed(
        question_id=name,
        method="elicitation/create",
        outcome="answered",
        answered_by=answered_by,
        opened_seq=None,
    )


def ask_for_sampling(site: Site, params: dict[str, Any]) -> None:
    site.workspace.bus.publish(
        QuestionOpened(
            question_id="sampling-1",
            method="sampling/createMessage",
            params=params,
            request_seq=None,
            caused_by_seq=None,
            call_id=None,
        ),
        "demo",
    )


def task_changed(
    kind: type[ClientTaskChanged | ReceiverTaskChanged], task_id: str, task: dict[str, Any]
) -> ClientTaskChanged | ReceiverTaskChanged:
    return kind(
        task_id=task_id,
        method="tools/call",
        status="working",
        task=task,
        request_seq=None,
        call_id=None,
    )


async def test_questions_survive_a_reload_while_they_wait_and_when_they_ended(
    web: Site,
) -> None:
    async with web.page() as first:
        open_question(web, 1)
        open_question(web, 2)
        await first.until(lambda: ("questions", "demo/elicitation-2") in first.things)
        view = first.things["questions", "demo/elicitation-1"]
        assert view["params"] == FORM
        assert view["deadline"] - view["opened"] == 300
        assert (view["request_seq"], view["caused_by_seq"], view["is_inferred"]) == (70, 3, False)
    async with web.page() as second:
        waiting = second.hello["questions"]
        assert [one["question_id"] for one in waiting] == [
            "demo/elicitation-1", "demo/elicitation-2",
        ]  # fmt: skip
        web.workspace.bus.publish(question_closed("elicitation-1", "person"), "demo")
        key = ("questions", "demo/elicitation-1")
        await second.until(lambda: second.things[key]["is_done"])
        ended = second.things[key]
        assert (ended["outcome"], ended["answered_by"]) == ("answered", "person")
    async with web.page() as third:
        assert [(one["is_done"], one["params"]) for one in third.hello["questions"]] == [
            (True, FORM), (False, FORM),
        ]  # fmt: skip


async def test_the_pictures_and_sounds_of_a_question_are_served(web: Site) -> None:
    image = {"type": "image", "data": "iVBORw0KGgo=", "mimeType": "image/png"}
    page_in_it = {"type": "image", "data": "PHNjcmlwdD4=", "mimeType": "text/html"}
    params = {"messages": [{"role": "user", "content": [image, page_in_it]}], "maxTokens": 1}
    ask_for_sampling(web, params)
    web.workspace.bus_reader.catch_up()
    url = f"{web.inside}/api/questions/demo%2Fsampling-1/blob"
    pointer = "/messages/0/content/{}/data"
    async with web.http.get(url, params={"pointer": pointer.format(0)}) as answer:
        assert answer.status == 200
        assert answer.content_type == "image/png"
        assert await answer.read() == b"\x89PNG\r\n\x1a\n"
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
    async with web.http.get(url, params={"pointer": pointer.format(1)}) as answer:
        assert answer.content_type == "application/octet-stream"
        assert answer.headers["Content-Disposition"].startswith("attachment")
    status, _ = await web.get("/api/questions/demo%2Fnone/blob", pointer="")
    assert status == 400


async def test_what_a_question_asks_is_served_with_every_digit(web: Site) -> None:
    params = {"messages": [], "maxTokens": 1, "metadata": {"id": 12345678901234567890}}
    ask_for_sampling(web, params)
    web.workspace.bus_reader.catch_up()
    async with web.http.get(f"{web.inside}/api/questions/demo%2Fsampling-1/params") as answer:
        assert answer.content_type == "application/json"
        assert "12345678901234567890" in await answer.text()
    status, _ = await web.get("/api/questions/demo%2Fnone/params")
    assert status == 400


async def test_tasks_of_both_roles_are_told_apart(web: Site) -> None:
    task = {
        "taskId": "t", "status": "working", "ttl": 60_000, "pollInterval": 500,
        "createdAt": "2026-01-01T00:00:00Z",
    }  # fmt: skip
    async with web.page() as page:
        for kind in (ClientTaskChanged, ReceiverTaskChanged):
            web.workspace.bus.publish(task_changed(kind, "t", task), "demo")
        await page.until(lambda: ("tasks", "demo/receiver/t") in page.things)
        ours = page.things["tasks", "demo/client/t"]
        assert (ours["role"], ours["poll_interval_s"]) == ("client", 0.5)
        assert ours["created"] == 1767225600
    async with web.page() as page:
        assert {one["role"] for one in page.hello["tasks"]} == {"client", "receiver"}


def test_what_is_kept_is_bounded() -> None:
    bus = Bus(ManualClock(), max_events=10_000)
    for number in range(MOST_TASKS + 50):
        bus.publish(task_changed(ClientTaskChanged, f"t{number}", {}), "s")
    tasks = Tasks(lambda key, server_id: None)
    for event in bus.since(0):
        assert isinstance(event, ClientTaskChanged)
        tasks.handle_event(event)
    assert len(list(tasks)) == MOST_TASKS
    told: list[str] = []
    questions = QuestionList(lambda key, server_id: told.append(key))
    bus = Bus(ManualClock(), max_events=10_000)
    large = {"message": "who?", "requestedSchema": {"description": "x" * 100_000}}
    for number in range(500):
        name = f"q{number}"
        bus.publish(question_opened(name, large), "s")
        bus.publish(question_closed(name), "s")
    for event in bus.since(0):
        questions.handle_event(event)
    assert [one.params for one in questions] == [{"message": "who?"}] * 100
    assert questions.waiting() == []
    assert told.count("s/q0") == 3, "opened, ended, forgotten"
