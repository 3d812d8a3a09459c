"""The clocks of a request, what its end tells the server, and answers that come too late."""

from __future__ import annotations

from mcplens.events import LateReply, ProgressReceived, RequestEnded, RequestStarted
from mcplens.session.config import ConnectionConfig
from mcplens.session.queue import Progress

from .scripted import SILENT, STATELESS, ExchangeTransport, Rig, ScriptedServer, failure, text


def slow(**options: object) -> Rig:
    return Rig(ScriptedServer({"tools/call": SILENT}), **options)  # type: ignore[arg-type]


async def test_a_request_times_out_after_60_seconds_and_the_connection_stays_open() -> None:
    async with slow() as rig:
        call = await rig.call()
        await rig.advance(59.9)
        assert not call.done()
        await rig.advance(0.1)
        error = failure(call)
        assert (error.code, error.category, error.retryable) == ("REQUEST_TIMEOUT", "timeout", True)
        assert "tools/call" in error.message
        assert error.details["elapsed_s"] == 60.0
        assert error.details["server_id"] == "scripted"
        assert rig.state == "CONNECTED"
        rig.server.answers["tools/call"] = text()
        assert (await rig.client.call_tool("add")).content[0].text == "ok"


async def test_a_request_that_timed_out_is_cancelled_on_the_server() -> None:
    async with slow() as rig:
        await rig.call()
        identity = rig.entry().id
        await rig.advance(60)
        (cancelled,) = rig.server.sent("notifications/cancelled")
        assert cancelled["params"]["requestId"] == identity
        assert "timed out" in cancelled["params"]["reason"]


async def test_each_call_can_have_its_own_timeout() -> None:
    async with slow(concurrency=8) as rig:
        quick = await rig.call(timeout_s=5)
        slower = await rig.call(timeout_s=7)
        default = await rig.call()
        await rig.advance(5)
        assert (quick.done(), slower.done(), default.done()) == (True, False, False)
        await rig.advance(2)
        assert (slower.done(), default.done()) == (True, False)
        await rig.advance(53)
        assert default.done()


async def test_without_a_timeout_a_request_waits_for_ever() -> None:
    limits = {"request_timeout_s": None, "max_total_timeout_s": None, "ping_interval_s": 0.0}
    async with slow(config=limits) as rig:
        call = await rig.call()
        await rig.advance(1_000_000)
        assert not call.done()


async def test_an_answer_after_the_timeout_is_kept_and_shown_as_late() -> None:
    async with slow() as rig:
        call = await rig.call()
        identity = rig.entry().id
        await rig.advance(60)
        assert call.done()
        rig.server.reply(identity, text("at last"))
        await rig.settle()
        (late,) = rig.events(LateReply)
        assert (late.request_id, late.method) == (identity, "tools/call")
        assert late.message.raw.endswith(b'"at last"}]}}')
        (entry,) = rig.client.queue.get_history()
        assert entry.late_reply == late.message
        assert entry.error is not None


async def test_a_late_error_is_kept_as_late_too_and_harms_no_other_call() -> None:
    async with slow() as rig:
        await rig.call()
        first = rig.entry().id
        await rig.advance(60)
        other = await rig.call()
        rig.server.send_json({"jsonrpc": "2.0", "id": first, "error": {"code": 1, "message": ""}})
        await rig.advance(10)
        assert len(rig.events(LateReply)) == 1
        assert not other.done()


async def test_a_late_answer_that_is_malformed_is_late_and_harms_no_other_call() -> None:
    async with slow() as rig:
        await rig.call()
        first = rig.entry().id
        assert isinstance(first, int)
        await rig.advance(60)
        other = await rig.call()
        rig.server.send(b'{"jsonrpc":"2.0","id":%d,"result":{]}' % first)
        await rig.advance(10)
        (late,) = rig.events(LateReply)
        assert late.request_id == first
        assert not other.done()


async def test_start_and_end_of_a_request_are_events() -> None:
    async with slow() as rig:
        await rig.call()
        identity = rig.entry().id
        await rig.advance(60)
        assert [e.request_id for e in rig.events(RequestStarted)][-1] == identity
        ended = rig.events(RequestEnded)[-1]
        assert (ended.request_id, ended.status, ended.elapsed_s) == (identity, "error", 60.0)
        assert ended.error is not None
        assert ended.error["code"] == "REQUEST_TIMEOUT"


async def test_progress_restarts_the_clock_and_reaches_the_caller() -> None:
    async with slow() as rig:
        heard: list[Progress] = []
        call = await rig.call(on_progress=heard.append)
        identity = rig.entry().id
        for step in range(1, 4):
            await rig.advance(59)
            rig.server.progress(identity, step, total=4, message=f"step {step}")
            await rig.settle()
        assert heard == [Progress(n, 4, f"step {n}") for n in (1, 2, 3)]
        assert [e.progress for e in rig.events(ProgressReceived)] == [1, 2, 3]
        await rig.advance(59)
        assert not call.done()
        await rig.advance(1)
        assert failure(call).code == "REQUEST_TIMEOUT"


async def test_progress_never_reaches_beyond_the_absolute_maximum() -> None:
    async with slow() as rig:
        call = await rig.call()
        for step in range(1, 31):
            assert not call.done()
            await rig.advance(10)
            if step < 30:
                rig.server.progress(rig.entry().id, step)
        error = failure(call)
        assert error.code == "REQUEST_TIMEOUT"
        assert error.details["elapsed_s"] == 300.0


async def expires_after(rig: Rig, seconds: float, timeout_s: float | None = None) -> None:
    """A call that is never answered fails after so long, and not before."""
    call = await rig.call(timeout_s=timeout_s)
    await rig.advance(seconds - 1)
    assert not call.done()
    await rig.advance(1)
    assert failure(call).details["elapsed_s"] == seconds


async def test_a_maximum_below_the_timeout_of_a_request_is_absolute() -> None:
    config = {"request_timeout_s": 600.0, "max_total_timeout_s": 100.0, "ping_interval_s": 0.0}
    async with slow(config=config) as rig:
        await expires_after(rig, 100.0)


async def test_the_default_maximum_rises_with_the_timeout_of_a_request() -> None:
    async with slow(config={"request_timeout_s": 600.0, "ping_interval_s": 0.0}) as rig:
        await expires_after(rig, 600.0)
    assert ConnectionConfig(request_timeout_s=None).max_total_timeout_s is None
    chosen = ConnectionConfig(request_timeout_s=600.0, max_total_timeout_s=300.0)
    assert chosen.max_total_timeout_s == 300.0


async def test_a_calls_own_timeout_may_exceed_both_limits() -> None:
    config = {"request_timeout_s": 50.0, "max_total_timeout_s": 100.0, "ping_interval_s": 0.0}
    async with slow(config=config) as rig:
        await expires_after(rig, 900.0, timeout_s=900)


async def test_progress_can_be_told_not_to_restart_the_clock() -> None:
    async with slow(config={"progress_resets_timeout": False}) as rig:
        call = await rig.call()
        await rig.advance(50)
        rig.server.progress(rig.entry().id, 1)
        await rig.advance(10)
        assert failure(call).code == "REQUEST_TIMEOUT"


async def test_progress_for_a_token_that_nobody_has_restarts_nothing() -> None:
    async with slow() as rig:
        call = await rig.call()
        await rig.advance(50)
        tokens: tuple[object, ...] = (999, "x", None, True, 1.0, {}, [])
        for token in tokens:
            rig.server.progress(token, 1)
        await rig.settle()
        await rig.advance(10)
        assert call.done()
        assert rig.events(ProgressReceived) == []


async def test_progress_without_a_number_is_shown_and_harmless() -> None:
    async with slow() as rig:
        call = await rig.call()
        rig.server.progress(rig.entry().id, "half")  # type: ignore[arg-type]
        await rig.settle()
        assert rig.events(ProgressReceived) == []
        assert not call.done()


async def test_a_progress_callback_that_fails_does_not_harm_the_call() -> None:
    async with slow() as rig:
        call = await rig.call(on_progress=lambda progress: 1 / 0)
        identity = rig.entry().id
        rig.server.progress(identity, 1)
        rig.server.reply(identity, text())
        assert (await call).content
        assert any("on_progress failed" in remark for remark in rig.remarks())


async def test_a_token_is_sent_with_every_request_that_asks_for_progress() -> None:
    async with Rig() as rig:
        await rig.client.list_tools()
        await rig.client.list_tools(on_progress=lambda progress: None)
        without, with_token = rig.server.sent("tools/list")
        assert "_meta" not in without.get("params", {})
        assert with_token["params"]["_meta"] == {"progressToken": with_token["id"]}


async def test_the_callers_own_meta_is_sent_beside_the_token() -> None:
    async with Rig() as rig:
        await rig.client.call_tool("add", meta={"example.com/trace": "t"})
        (call,) = rig.server.sent("tools/call")
        assert call["params"]["_meta"] == {
            "progressToken": call["id"],
            "example.com/trace": "t",
        }


async def test_progress_for_a_token_of_the_callers_own_choice_restarts_the_clock() -> None:
    async with slow() as rig:
        heard: list[Progress] = []
        call = await rig.call(meta={"progressToken": "mine"}, on_progress=heard.append)
        await rig.advance(50)
        rig.server.progress("mine", 1)
        await rig.advance(50)
        assert heard == [Progress(1)]
        assert not call.done()


async def test_a_stateless_exchange_is_cancelled_by_closing_it_and_not_by_a_message() -> None:
    server = ScriptedServer({"tools/call": SILENT}, is_stateless=True)
    transport = ExchangeTransport(server)
    rig = Rig(server, make_transport=lambda: transport, protocol_version=STATELESS)
    async with rig:
        await rig.call()
        identity = rig.entry().id
        await rig.advance(60)
        assert transport.abandoned == [identity]
        assert server.sent("notifications/cancelled") == []
