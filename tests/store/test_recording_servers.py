"""Real servers, recorded: `record=True`, secrets, the exchange of a call, HAR."""

from __future__ import annotations

import gc
import io
import json
import os
import sys
from pathlib import Path

import pytest

import mcplens
from mcplens import events
from mcplens.bus import Bus
from mcplens.clock import SystemClock
from mcplens.store.filters import Filter, SeqRanges
from mcplens.store.har import export_har
from mcplens.store.history import History
from mcplens.store.recorder import Recorder
from mcplens.store.recording_file import default_path
from tests.servers.run import ROOT, argv, serve
from tests.store.samples import stored_events

SECRETS = ("s3cr3t-token", "qu3ry-s3cr3t", "hunter2-in-args", "s3cr3t-in-argv")


def is_recorded() -> bool:
    """Whether the user's own recording is there."""
    return Path(default_path()).exists()


def bytes_of(folder: Path) -> bytes:
    return b"".join(file.read_bytes() for file in folder.iterdir() if file.is_file())


@pytest.fixture(autouse=True)
def state_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MCPLENS_STATE_DIR", str(tmp_path / "state"))
    return tmp_path / "state"


async def test_record_true_records_everything_to_the_users_own_recording() -> None:
    bus = Bus(SystemClock())
    async with mcplens.connect(argv("good"), cwd=str(ROOT), bus=bus, record=True) as client:
        await client.list_tools()
    kept = bus.kept()
    assert len(kept) > 10
    stored = stored_events(default_path())
    # A request that we wrote comes back with its params readable, so the rest is compared.
    without = (events.FrameSent,)
    assert [e for e in stored if not isinstance(e, without)] == [
        e for e in kept if not isinstance(e, without)
    ]
    assert [e.seq for e in stored] == [e.seq for e in kept]


async def test_a_recording_can_have_a_file_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "mine.sqlite3"
    async with mcplens.connect(argv("good"), cwd=str(ROOT), record=path):
        pass
    assert stored_events(path)
    assert not is_recorded()


async def test_nothing_is_recorded_unless_it_is_asked_for() -> None:
    async with mcplens.connect(argv("good"), cwd=str(ROOT)):
        pass
    assert not is_recorded()


async def test_a_connection_that_fails_is_recorded_too() -> None:
    with pytest.raises(mcplens.InspectorError):
        async with mcplens.connect([sys.executable, "-c", "raise SystemExit(3)"], record=True):
            pass
    kinds = {type(event) for event in stored_events(default_path())}
    assert {events.ProcessStarted, events.ProcessExited, events.StateChanged} <= kinds
    with History(default_path()) as history:
        (run,) = history.runs()
        assert run.ended is not None


async def test_a_client_made_with_record_is_recorded_until_it_is_no_longer_used() -> None:
    client = mcplens.create_mcp_client(
        mcplens.create_stdio_transport(argv("good"), cwd=str(ROOT)), record=True
    )
    await mcplens.connect_client(client)
    await mcplens.disconnect_client(client)
    del client
    gc.collect()
    with History(default_path()) as history:
        (run,) = history.runs()
        assert run.ended is not None
        assert len(history.events(Filter(kinds=frozenset({"ProcessExited"})))) == 1


async def test_a_recording_that_fails_is_a_warning_and_the_call_still_works(
    tmp_path: Path,
) -> None:
    (tmp_path / "file").touch()
    with pytest.warns(RuntimeWarning, match="mcplens: not recorded: .*not a directory"):
        async with mcplens.connect(
            argv("good"), cwd=str(ROOT), record=tmp_path / "file" / "x"
        ) as client:
            assert await client.list_tools()


async def test_several_servers_on_one_bus_are_one_run() -> None:
    bus = Bus(SystemClock())
    async with (
        mcplens.connect(argv("good"), cwd=str(ROOT), bus=bus, server_id="a", record=True),
        mcplens.connect(argv("good"), cwd=str(ROOT), bus=bus, server_id="b", record=True),
    ):
        pass
    with History(default_path()) as history:
        (run,) = history.runs()
        assert run.servers == ["a", "b"]
        assert run.event_count == bus.last_seq


async def test_a_call_over_http_is_one_exchange_with_its_http_side() -> None:
    async with (
        serve("good", "--transport", "http", "--sse-answers") as server,
        mcplens.connect(server.url, record=True) as client,
    ):
        await client.call_tool("echo", {"text": "find me"})
    with History(default_path()) as history:
        first = history.events(Filter(text="find me", kinds=frozenset({"FrameSent"})))[0]
        exchange = history.request_record(first.run_id, first.seq)
    assert exchange is not None
    kinds = [entry.kind for entry in exchange.entries]
    assert kinds == ["FrameSent", "RequestStarted", "FrameReceived", "RequestEnded"]
    assert [entry.kind for entry in exchange.http][:2] == [
        "HttpRequestSent", "HttpResponseReceived",
    ]  # fmt: skip
    assert exchange.http[-1].kind == "HttpExchangeEnded"


@pytest.mark.parametrize("answers", ["--json", "--sse-answers"])
async def test_secrets_are_never_on_the_disk_and_what_is_masked_is_marked(
    tmp_path: Path, state_folder: Path, answers: str
) -> None:
    bus = Bus(SystemClock())
    trace = tmp_path / "state" / "trace.jsonl"
    os.mkdir(state_folder)
    arguments = {"text": "seen", "password": "hunter2-in-args"}
    async with serve("good", "--transport", "http", answers) as server:
        with Recorder(bus, default_path(), trace=trace, secret_keys=["password"]):
            async with mcplens.connect(
                f"{server.url}?key=qu3ry-s3cr3t",
                headers={"Authorization": "Bearer s3cr3t-token", "X-Api-Key": "s3cr3t-token"},
                bus=bus,
            ) as client:
                await client.request("tools/call", {"name": "echo", "arguments": arguments})
                nested = json.dumps({"password": "hunter2-in-args", "more": [arguments]})
                await client.request("tools/call", {"name": "echo", "arguments": {"text": nested}})
    on_disk = bytes_of(state_folder)
    for secret in SECRETS:
        assert secret.encode() not in on_disk
    assert b"seen" in on_disk
    with History(default_path()) as history:
        sent = history.events(Filter(kinds=frozenset({"HttpRequestSent"})))[0]
        frames = history.events(Filter(text="***************"))
        assert {mark["field"] for mark in sent.detail["masked"]} >= {
            "url", "headers.Authorization", "headers.X-Api-Key",
        }  # fmt: skip
        assert all(entry.is_masked for entry in frames)
        kinds = {entry.kind for entry in frames}
        assert {"FrameSent", "FrameReceived", "HttpRequestSent"} <= kinds
        stored = history.event(frames[0].run_id, frames[0].seq)
    assert stored is not None
    assert isinstance(stored.event, events.FrameSent)
    raw = stored.event.message.raw
    assert json.loads(raw)["params"]["arguments"] == arguments | {"password": "*" * 15}
    assert [raw[mark.start : mark.end] for mark in stored.masked] == [b"*" * 15]


async def test_a_script_says_what_is_secret_and_what_goes_with_every_request(
    state_folder: Path,
) -> None:
    async with (
        serve("good", "--transport", "http") as server,
        mcplens.connect(
            server.url,
            record=True,
            secret_keys=["password", "X-Tenant"],
            headers={"X-Tenant": "s3cr3t-token"},
            meta={"trace": "seen", "password": "hunter2-in-args"},
        ) as client,
    ):
        await client.list_tools()
        await client.call_tool("echo", {"text": "hi"}, meta={"trace": "its own"})
    on_disk = bytes_of(state_folder)
    for secret in SECRETS:
        assert secret.encode() not in on_disk
    with History(default_path()) as history:
        sent = {}
        for entry in history.events(Filter(kinds=frozenset({"FrameSent"}))):
            stored = history.event(entry.run_id, entry.seq)
            assert stored is not None
            assert isinstance(stored.event, events.FrameSent)
            sent[entry.method] = json.loads(stored.event.message.raw)
        (http, *_) = history.events(Filter(kinds=frozenset({"HttpRequestSent"})))
    assert sent["tools/list"]["params"]["_meta"]["trace"] == "seen"
    assert sent["tools/call"]["params"]["_meta"]["trace"] == "its own"
    assert sent["tools/call"]["params"]["_meta"]["password"] == "*" * 15
    assert "headers.X-Tenant" in {mark["field"] for mark in http.detail["masked"]}


async def test_secrets_of_a_broken_message_are_not_on_the_disk_by_way_of_its_error(
    state_folder: Path,
) -> None:
    answer = '{"jsonrpc":"1.0","id":%s,"result":{"password":"hunter2-in-args"}}'
    program = f"""
import sys, json
for line in sys.stdin:
    request = json.loads(line)
    if "id" in request:
        print({answer!r} % json.dumps(request["id"]), file=sys.stderr, flush=True)
        print({answer!r} % json.dumps(request["id"]), flush=True)
"""
    bus = Bus(SystemClock())
    command = [sys.executable, "-c", program, "--password=s3cr3t-in-argv"]
    with (
        Recorder(bus, default_path(), secret_keys=["password"]),
        pytest.raises(mcplens.InspectorError, match="hunter2"),
    ):
        async with mcplens.connect(command, bus=bus, server_id="s", protocol_version="2025-11-25"):
            pass
    on_disk = bytes_of(state_folder)
    assert b"INVALID_RESPONSE" in on_disk
    for secret in SECRETS:
        assert secret.encode() not in on_disk
    kinds = {event.__class__ for event in stored_events(default_path())}
    assert {events.FrameReceived, events.RequestEnded} <= kinds


async def test_the_http_side_is_exported_as_har() -> None:
    async with (
        serve("good", "--transport", "http") as server,
        mcplens.connect(
            server.url, headers={"Authorization": "Bearer s3cr3t-token"}, record=True
        ) as client,
    ):
        await client.call_tool("echo", {"text": "find me"})
    file = io.BytesIO()
    with History(default_path()) as history:
        count = export_har(history, file)
    log = json.loads(file.getvalue())["log"]
    assert log["version"] == "1.2"
    assert len(log["entries"]) == count > 2
    (call,) = (
        entry
        for entry in log["entries"]
        if "find me" in entry["request"].get("postData", {}).get("text", "")
    )
    assert (call["request"]["method"], call["response"]["status"]) == ("POST", 200)
    assert call["request"]["url"] == server.url
    assert "find me" in call["response"]["content"]["text"]
    assert call["time"] >= call["timings"]["wait"] >= 0
    assert call["startedDateTime"].endswith("+00:00")
    headers = {pair["name"]: pair["value"] for pair in call["request"]["headers"]}
    assert headers["Authorization"] == "‹masked, 19 characters›"
    assert call["request"]["postData"]["mimeType"] == "application/json"


@pytest.mark.parametrize("kind", ["FrameSent", "FrameReceived", "HttpExchangeEnded"])
async def test_of_chosen_events_the_exchanges_that_carried_them_are_exported(kind: str) -> None:
    async with (
        serve("good", "--transport", "http") as server,
        mcplens.connect(server.url, record=True) as client,
    ):
        for text in ("first", "second", "third"):
            await client.call_tool("echo", {"text": f"find the {text}"})
    file = io.BytesIO()
    with History(default_path()) as history:
        chosen = [row.seq for _, row in history.scan(Filter(text="the second")) if row.kind == kind]
        if not chosen:  # an answer that was streamed: its pieces hold the text
            wanted = Filter(text="the second", kinds=frozenset({"HttpBytesReceived"}))
            chosen = [row.seq for _, row in history.scan(wanted)]
        count = export_har(history, file, Filter(seqs=SeqRanges([chosen[0], chosen[0]])))
    (call,) = json.loads(file.getvalue())["log"]["entries"]
    assert count == 1
    assert "the second" in call["request"]["postData"]["text"]
    assert "the second" in call["response"]["content"]["text"]
