"""Questions and tasks reach the page, and are still there after a reload."""

from __future__ import annotations

from mcplens.bus import Bus
from mcplens.clock import ManualClock
from mcplens.events import ClientTaskChanged, QuestionClosed, QuestionOpened, ReceiverTaskChanged
from mcplens.workspace.questions import Questions
from mcplens.workspace.tasks import MOST_TASKS, Tasks

from .harness import Site

FORM = {"message": "who?", "requestedSchema": {"type": "object", "properties": {}}}


def open_question(site: Site, number: int) -> None:
    site.workspace.bus.publish(
        QuestionOpened, "demo", 0, f"elicitation-{number}", "elicitation/create", FORM, 7, 3,
        "request", None, 300.0,
    )  # fmt: skip


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
        assert view["caused_by"] == 3
    async with web.page() as second:
        waiting = second.hello["questions"]
        assert [one["question_id"] for one in waiting] == [
            "demo/elicitation-1", "demo/elicitation-2",
        ]  # fmt: skip
        fields = ("elicitation-1", "elicitation/create", "answered", "person")
        web.workspace.bus.publish(QuestionClosed, "demo", 0, *fields)
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
    web.workspace.bus.publish(
        QuestionOpened, "demo", 0, "sampling-1", "sampling/createMessage", params
    )
    web.workspace.follower.catch_up()
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
    web.workspace.bus.publish(
        QuestionOpened, "demo", 0, "sampling-1", "sampling/createMessage", params
    )
    web.workspace.follower.catch_up()
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
            web.workspace.bus.publish(kind, "demo", 0, "t", "tools/call", "working", task, False)
        await page.until(lambda: ("tasks", "demo/receiver/t") in page.things)
        ours = page.things["tasks", "demo/client/t"]
        assert (ours["role"], ours["poll_interval_s"]) == ("client", 0.5)
        assert ours["created"] == 1767225600
    async with web.page() as page:
        assert {one["role"] for one in page.hello["tasks"]} == {"client", "receiver"}


def test_what_is_kept_is_bounded() -> None:
    bus = Bus(ManualClock(), max_events=10_000)
    for number in range(MOST_TASKS + 50):
        bus.publish(ClientTaskChanged, "s", 0, f"t{number}", "tools/call", "working", {}, False)
    tasks = Tasks(lambda key, server_id: None)
    for published in bus.since(0):
        tasks.heed(published)
    assert len(list(tasks)) == MOST_TASKS
    told: list[str] = []
    questions = Questions(lambda key, server_id: told.append(key))
    bus = Bus(ManualClock(), max_events=10_000)
    large = {"message": "who?", "requestedSchema": {"description": "x" * 100_000}}
    for number in range(500):
        bus.publish(QuestionOpened, "s", 0, f"q{number}", "elicitation/create", large)
        bus.publish(QuestionClosed, "s", 0, f"q{number}", "elicitation/create", "answered")
    for published in bus.since(0):
        questions.heed(published)
    assert [one.params for one in questions] == [{"message": "who?"}] * 100
    assert questions.waiting() == []
    assert told.count("s/q0") == 3, "opened, ended, forgotten"
