"""What was recorded, over HTTP."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from typing import Any

import pytest

from mcplens.events import HttpRequestSent
from mcplens.version import VERSION

from .harness import PATIENCE_S, Page, Refusal, Site, logged


async def recorded(web: Site, **query: str) -> list[dict[str, Any]]:
    """The events that are recorded, once there are some: the recorder takes its time."""
    async with asyncio.timeout(PATIENCE_S):
        while True:
            status, body = await web.get("/api/history/events", **query)
            if status == 200 and (events := json.loads(body)["events"]):
                return list(events)
            await asyncio.sleep(0.1)  # the recorder writes on a thread of its own; nothing tells


async def called(page: Page, text: str) -> dict[str, Any]:
    await page.connected("demo")
    return await page.call("CallTool", server_id="demo", name="echo", arguments={"text": text})


async def test_a_run_and_its_events_are_found_page_by_page(web: Site, page: Page) -> None:
    await called(page, "needle-1")
    run_id = web.workspace.bus.run_id
    (found, *_) = await recorded(web, text="needle-1", kind="FrameSent")
    assert found["run_id"] == run_id
    assert found["method"] == "tools/call"
    runs = await web.get_json("/api/history")
    assert runs["runs"][0]["run_id"] == run_id
    counted = runs["runs"][0]
    assert 2 <= counted["message_count"] < counted["event_count"]
    first = await web.get_json("/api/history/events", run=run_id, limit="3")
    assert [event["seq"] for event in first["events"]] == [1, 2, 3]
    assert first["has_more"]
    then = await web.get_json("/api/history/events", run=run_id, limit="3", after="3")
    assert [event["seq"] for event in then["events"]] == [4, 5, 6]
    last = await web.get_json("/api/history/events", run=run_id, limit="2", newest_first="1")
    assert last["events"][0]["seq"] > last["events"][1]["seq"]


async def test_events_are_found_by_their_links(web: Site, page: Page) -> None:
    call = await called(page, "needle-9")
    (reply, *_) = await recorded(web, text="needle-9", kind="FrameReceived")
    run_id, request_seq = reply["run_id"], reply["request_seq"]

    async def found(**query: str) -> set[str]:
        answer = await web.get_json("/api/history/events", run=run_id, **query)
        return {f"{event['seq']} {event['kind']}" for event in answer["events"]}

    of_request = await found(request_seq=str(request_seq))
    assert f"{request_seq} FrameSent" in of_request
    assert {one.split()[1] for one in of_request} >= {"RequestStarted", "FrameReceived"}
    of_call = await found(call_id=call["call_id"], purpose="call")
    assert of_call
    assert of_call <= of_request
    assert await found(call_id=call["call_id"], purpose="heartbeat") == set()
    assert await found(exchange_id="1") == set()  # the demo is on stdio


async def test_an_event_is_had_whole_before_and_after_it_is_recorded(web: Site, page: Page) -> None:
    text = "y" * 5_000
    call = await called(page, text)

    def request() -> dict[str, Any] | None:
        ids = call["request_ids"]
        sent = (e for e in page.events if e["kind"] == "FrameSent" and e["request_id"] in ids)
        return next(sent, None)

    event = await page.until(request)
    assert len(event["head"]) == 300
    place = f"/api/event/{event['run_id']}/{event['seq']}"
    whole = await web.get_json(place)
    assert json.loads(whole["text"])["params"]["arguments"]["text"] == text
    status, data = await web.get(f"{place}/bytes")
    assert (status, len(data)) == (200, event["size_bytes"])


async def test_an_event_is_had_with_fields_that_are_too_large_for_a_row(
    web: Site, page: Page
) -> None:
    await page.connected("demo")
    data = {"text": "z" * 50_000}
    web.workspace.bus.publish(logged(data), "demo")
    event = await page.until(
        lambda: next((e for e in page.events if e["kind"] == "LogReceived" and e["is_cut"]), None)
    )
    whole = await web.get_json(f"/api/event/{event['run_id']}/{event['seq']}")
    assert whole["event"]["detail"]["data"] == data
    assert not whole["event"]["is_cut"]


async def test_a_text_deep_in_a_message_is_found_in_memory_and_in_the_recording(
    web: Site, page: Page
) -> None:
    await called(page, f"{'x' * 2_000} Deep-Needle")
    run_id = web.workspace.bus.run_id
    query = {"run": run_id, "text": "deep-needle", "ignore_case": "1"}
    live = await web.get_json("/api/history/matches", **query)
    frames = [e["seq"] for e in await recorded(web, text="Deep-Needle", kind="FrameSent")]
    assert set(frames) <= set(live["seqs"])
    assert live["last_seq"] >= max(live["seqs"])
    later = await web.get_json("/api/history/matches", **query, after=str(live["last_seq"]))
    assert (later["seqs"], later["is_cut"]) == ([], False)
    # As if memory had moved on: the same events, now from the recording.
    web.workspace.bus._ring.clear()
    stored = await web.get_json("/api/history/matches", **query)
    assert set(frames) <= set(stored["seqs"])
    assert (await web.get("/api/history/matches", text="x"))[0] == 400


async def test_a_recorded_request_is_sent_again_with_a_new_id(web: Site, page: Page) -> None:
    call = await called(page, "once more")

    def request() -> dict[str, Any] | None:
        ids = call["request_ids"]
        sent = (e for e in page.events if e["kind"] == "FrameSent" and e["request_id"] in ids)
        return next(sent, None)

    event = await page.until(request)
    again = await page.call("ReplayCall", seq=event["seq"])
    assert again["result"] == call["result"]
    assert again["request_ids"] != call["request_ids"]


async def test_a_recording_is_exported_and_brought_back(web: Site, page: Page) -> None:
    await called(page, "needle-2")
    await recorded(web, text="needle-2")
    run_id = web.workspace.bus.run_id
    status, trace = await web.get("/api/export", format="jsonl", run=run_id)
    assert status == 200
    assert b"needle-2" in trace
    headers = {"Origin": web.origin}
    url = f"{web.inside}/api/import"
    async with web.http.post(url, data=trace, headers=headers) as answer:
        done = await answer.json()
    assert done["run_ids"] == [run_id]
    assert done["known_count"] > 0
    status, har = await web.get("/api/export", format="har", run=run_id)
    log = json.loads(har)["log"]
    assert (log["version"], log["creator"]["version"]) == ("1.2", VERSION)


def posted(exchange_id: int, url: str) -> HttpRequestSent:
    return HttpRequestSent(exchange_id=exchange_id, method="POST", url=url, headers=[], body=b"{}")


async def test_what_is_exported_of_one_server_holds_nothing_of_another(web: Site) -> None:
    run_id = web.workspace.bus.run_id
    for server_id in ("one", "other"):
        url = f"http://localhost/{server_id}"
        web.workspace.bus.publish(posted(1, url), server_id, 2)
        web.workspace.bus.publish(logged(f"said by {server_id}"), server_id)
    await recorded(web, text="said by other", run=run_id)
    for shape in ("jsonl", "har"):
        query = {"format": shape, "run": run_id}
        _, every = await web.get("/api/export", **query)
        assert b"localhost/one" in every
        assert b"localhost/other" in every
        _, one = await web.get("/api/export", **query, server_id="one")
        assert b"localhost/one" in one
        assert b"other" not in one


async def test_of_the_rows_that_a_page_shows_nothing_else_is_exported(web: Site) -> None:
    run_id = web.workspace.bus.run_id
    for number in range(1, 5):
        url = f"http://localhost/{number}"
        web.workspace.bus.publish(posted(number, url), "one", 2)
    events = await recorded(web, text="localhost/4", run=run_id)
    last = events[0]["seq"]

    async def choose(body: str) -> tuple[int, dict[str, Any]]:
        url = f"{web.inside}/api/export/rows"
        async with web.http.post(url, data=body, headers={"Origin": web.origin}) as answer:
            return answer.status, await answer.json()

    status, chosen = await choose(json.dumps([last - 3, last - 3, last - 1, last - 1]))
    assert status == 200
    for shape in ("jsonl", "har"):
        _, data = await web.get("/api/export", format=shape, run=run_id, rows=chosen["rows"])
        found = [number for number in range(1, 5) if f"localhost/{number}" in data.decode()]
        assert found == [1, 3]
    status, data = await web.get("/api/export", rows=chosen["rows"])
    assert (status, json.loads(data)["code"]) == (400, "INVALID_REQUEST")
    for _ in range(4):  # only so many are kept
        assert (await choose("[1, 1]"))[0] == 200
    status, data = await web.get("/api/export", run=run_id, rows=chosen["rows"])
    assert status == 400
    assert "export it again" in json.loads(data)["message"]
    for wrong in ("[1]", "[2, 1]", "null", "[1, 5, 3, 4]", '["a", "b"]', "[1, 1e30]", "{"):
        assert (await choose(wrong))[0] == 400


async def test_an_import_that_fails_calls_the_file_as_its_user_does(web: Site) -> None:
    url, headers = f"{web.inside}/api/import", {"Origin": web.origin}
    query = {"name": "my trace.jsonl"}
    async with web.http.post(url, data=b"no trace", params=query, headers=headers) as answer:
        message = (await answer.json())["message"]
    assert answer.status == 409
    assert message.startswith("my trace.jsonl cannot be read as a trace")


async def test_a_pinned_answer_has_the_method_that_it_answers(web: Site, page: Page) -> None:
    call = await called(page, "needle-8")

    def reply() -> dict[str, Any] | None:
        ids = call["request_ids"]
        came = (e for e in page.events if e["kind"] == "FrameReceived" and e["request_id"] in ids)
        return next(came, None)

    event = await page.until(reply)
    (pinned,) = await page.ask("Pin", run_id=event["run_id"], seq=event["seq"], label="")
    assert pinned["event"] == event
    assert pinned["event"]["method"] == "tools/call"


async def test_a_question_that_cannot_be_understood_is_an_error_like_any_other(web: Site) -> None:
    wrong = (
        {"limit": "0"},
        {"after": "x"},
        {"since": "x"},
        {"direction": "up"},
        {"exchange_id": "x"},
    )
    for query in wrong:
        status, body = await web.get("/api/history/events", **query)
        assert status == 400
        assert json.loads(body)["code"] == "INVALID_REQUEST"
    assert (await web.get("/api/nothing"))[0] == 404
    assert (await web.get("/api/calls/c99/result"))[0] == 400


async def test_a_pinned_event_is_listed_with_its_label_and_kept(web: Site, page: Page) -> None:
    await called(page, "needle-3")
    (found, *_) = await recorded(web, text="needle-3", kind="FrameSent")
    place = {"run_id": found["run_id"], "seq": found["seq"]}
    (pinned,) = await page.ask("Pin", **place, label="look at this")
    assert (pinned["label"], pinned["event"]["seq"]) == ("look at this", found["seq"])
    (pinned,) = await page.ask("Pin", **place, label="again")
    assert pinned == (await page.ask("ListPins"))[0]
    assert pinned["label"] == "again"
    # As if its run had been forgotten.
    web.workspace.bus._ring.clear()
    connection = sqlite3.connect(web.workspace.recording_path)
    with connection:
        connection.execute("UPDATE runs SET is_forgotten = 1")
    connection.close()
    whole = await web.get_json(f"/api/event/{found['run_id']}/{found['seq']}")
    assert "needle-3" in whole["text"]
    assert await page.ask("Unpin", **place) == []


async def test_events_are_read_back_from_a_place(web: Site, page: Page) -> None:
    await called(page, "needle-4")
    await recorded(web, text="needle-4")
    query = {"run": web.workspace.bus.run_id, "newest_first": "1", "limit": "3"}
    back = await web.get_json("/api/history/events", **query, before="6")
    assert [event["seq"] for event in back["events"]] == [5, 4, 3]
    assert back["has_more"]
    first = await web.get_json("/api/history/events", **query, before="3")
    assert ([event["seq"] for event in first["events"]], first["has_more"]) == ([2, 1], False)


async def test_what_is_recorded_of_a_run_is_deleted_and_recording_goes_on(
    web: Site, page: Page
) -> None:
    await called(page, "needle-5")
    (found, *_) = await recorded(web, text="needle-5", kind="FrameSent")
    run_id = web.workspace.bus.run_id
    await page.ask("Pin", run_id=run_id, seq=found["seq"], label="kept")
    await page.ask("ForgetRun", run_id=run_id)
    gone = await web.get_json("/api/history/events", text="needle-5", kind="FrameSent")
    assert gone["events"] == []
    assert [pin["label"] for pin in await page.ask("ListPins")] == ["kept"]
    await page.call("CallTool", server_id="demo", name="echo", arguments={"text": "needle-6"})
    assert await recorded(web, text="needle-6", run=run_id)
    (gap, *_) = await recorded(web, run=run_id)
    assert (gap["kind"], gap["detail"]["first_seq"]) == ("EventsMissed", 1)


async def test_an_earlier_run_is_deleted_whole(web: Site, page: Page) -> None:
    await called(page, "needle-7")
    await recorded(web, text="needle-7")
    run_id = web.workspace.bus.run_id
    _, trace = await web.get("/api/export", format="jsonl", run=run_id)
    url, headers = f"{web.inside}/api/import", {"Origin": web.origin}
    other = trace.replace(run_id.encode(), b"other-run")
    async with web.http.post(url, data=other, headers=headers) as answer:
        assert (await answer.json())["run_ids"] == ["other-run"]
    await page.ask("ForgetRun", run_id="other-run")
    runs = await web.get_json("/api/history")
    assert [run["run_id"] for run in runs["runs"]] == [run_id]
    with pytest.raises(Refusal, match="not recorded"):
        await page.ask("ForgetRun", run_id="other-run")
