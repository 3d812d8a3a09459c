"""Which revision is spoken: pinned, probed, remembered (PROTOCOL B14 and D1)."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from mcplens.errors import InspectorError, ProtocolError
from mcplens.events import EraDecided, LateReply
from mcplens.transports.memory import MemoryTransport

from .scripted import (
    LEGACY,
    SILENT,
    STATELESS,
    ExchangeTransport,
    Refuse,
    Rig,
    ScriptedServer,
    discovered,
    failure,
)

HANDSHAKE_VERSIONS = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]


def auto(answers: dict[str, Any] | None = None, *, is_stateless: bool = False) -> Rig:
    server = ScriptedServer(answers, is_stateless=is_stateless)
    return Rig(server, protocol_version="auto", connect=False)


def era(rig: Rig) -> tuple[str, str]:
    decided = rig.events(EraDecided)[-1]
    assert rig.client.protocol_version == decided.protocol_version
    return decided.era, decided.protocol_version


def reason(rig: Rig) -> str:
    return rig.events(EraDecided)[-1].reason


# -- pinned --------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", HANDSHAKE_VERSIONS)
async def test_any_handshake_revision_can_be_offered(version: str) -> None:
    async with Rig(protocol_version=version) as rig:
        (initialize,) = rig.server.sent("initialize")
        assert initialize["params"]["protocolVersion"] == version
        assert rig.server.methods[0] == "initialize"
        assert era(rig) == ("handshake", version)
        assert reason(rig) == "pinned"
        await rig.client.call_tool("add")
        (call,) = rig.server.sent("tools/call")
        assert list(call["params"]["_meta"]) == ["progressToken"]


async def test_the_stateless_revision_can_be_pinned_and_needs_no_initialize() -> None:
    async with Rig(ScriptedServer(is_stateless=True), protocol_version=STATELESS) as rig:
        assert rig.server.methods == ["server/discover"]
        assert era(rig) == ("stateless", STATELESS)
        assert rig.client.server_info == {"name": "scripted", "version": "1"}


async def test_a_pinned_stateless_server_need_not_offer_discover() -> None:
    server = ScriptedServer({"server/discover": Refuse(-32601)}, is_stateless=True)
    async with Rig(server, protocol_version=STATELESS) as rig:
        assert era(rig) == ("stateless", STATELESS)
        assert "not offered" in reason(rig)
        assert (await rig.client.call_tool("add")).content  # capabilities unknown: not enforced


@pytest.mark.parametrize("answered", ["2025-06-18", "2026-07-28", "1999-01-01", ""])
async def test_a_server_that_answers_a_pinned_revision_with_another_is_a_mismatch(
    answered: str,
) -> None:
    result = {"protocolVersion": answered, "capabilities": {}, "serverInfo": {}}
    server = ScriptedServer({"initialize": lambda request: result})
    async with Rig(server, protocol_version="2025-11-25", connect=False) as rig:
        with pytest.raises(ProtocolError) as problem:
            await rig.client.connect()
        assert problem.value.code == "PROTOCOL_VERSION_MISMATCH"
        assert "2025-11-25" in problem.value.message
        assert problem.value.details["answered"] == [answered]
        assert rig.state == "DISCONNECTED"
        assert server.sent("notifications/initialized") == []


async def test_a_revision_that_we_do_not_speak_cannot_be_pinned() -> None:
    async with Rig(protocol_version="2030-01-01", connect=False) as rig:
        with pytest.raises(ProtocolError, match="2030-01-01") as problem:
            await rig.client.connect()
        assert problem.value.code == "PROTOCOL_VERSION_MISMATCH"
        assert rig.server.methods == []


async def test_a_refusal_that_names_other_versions_is_a_mismatch_with_these() -> None:
    refusal = Refuse(-32602, "Unsupported protocol version", {"supported": ["2024-11-05"]})
    async with Rig(ScriptedServer({"initialize": refusal}), connect=False) as rig:
        with pytest.raises(ProtocolError, match="2024-11-05") as problem:
            await rig.client.connect()
        assert problem.value.code == "PROTOCOL_VERSION_MISMATCH"


async def test_a_pinned_handshake_revision_is_not_given_up_for_a_stateless_one() -> None:
    refusal = Refuse(-32022, "too old", {"supported": [STATELESS], "requested": LEGACY})
    async with Rig(ScriptedServer({"initialize": refusal}), connect=False) as rig:
        with pytest.raises(ProtocolError) as problem:
            await rig.client.connect()
        assert problem.value.code == "PROTOCOL_VERSION_MISMATCH"


async def test_a_pinned_stateless_revision_that_is_not_supported_is_a_mismatch() -> None:
    refusal = Refuse(-32022, "no", {"supported": ["2027-01-01"], "requested": STATELESS})
    server = ScriptedServer({"server/discover": refusal})
    async with Rig(server, protocol_version=STATELESS, connect=False) as rig:
        with pytest.raises(ProtocolError, match="2027-01-01") as problem:
            await rig.client.connect()
        assert problem.value.code == "PROTOCOL_VERSION_MISMATCH"


# -- probed --------------------------------------------------------------------------------------


async def test_a_server_that_answers_discover_is_stateless() -> None:
    async with auto(is_stateless=True) as rig:
        await rig.client.connect()
        assert era(rig) == ("stateless", STATELESS)
        assert "was answered" in reason(rig)
        assert rig.server.methods == ["server/discover"]


@pytest.mark.parametrize("code", [-32601, -32602, -32600, -32603, -32000, 1, -32700])
async def test_any_other_error_to_discover_leads_to_initialize(code: int) -> None:
    async with auto({"server/discover": Refuse(code)}) as rig:
        await rig.client.connect()
        assert era(rig) == ("handshake", "2025-11-25")
        assert str(code) in reason(rig)
        assert rig.server.methods == ["server/discover", "initialize", "notifications/initialized"]


async def test_the_newest_handshake_revision_is_offered_and_an_older_answer_taken() -> None:
    answer = {"protocolVersion": "2024-11-05", "capabilities": {}, "serverInfo": {}}
    async with auto({"initialize": lambda request: answer}) as rig:
        await rig.client.connect()
        assert rig.server.sent("initialize")[0]["params"]["protocolVersion"] == "2025-11-25"
        assert era(rig) == ("handshake", "2024-11-05")


@pytest.mark.parametrize(
    "answer",
    [
        discovered("2025-11-25"),
        discovered("2031-01-01"),
        {"supportedVersions": "all", "capabilities": {}},
        {"hello": "world"},
        {},
        [],
        b'{"jsonrpc":"2.0","id":1,"result":{]}',
        b'{"jsonrpc":"2.0","id":1}',
    ],
)
async def test_an_answer_that_names_no_stateless_revision_of_ours_leads_to_initialize(
    answer: Any,
) -> None:
    async with auto({"server/discover": answer}) as rig:
        await rig.client.connect()
        assert era(rig) == ("handshake", "2025-11-25")


async def test_minus_32022_with_a_common_version_is_stateless() -> None:
    answers = [Refuse(-32022, "pick", {"supported": [STATELESS]}), discovered()]
    async with auto({"server/discover": lambda request: answers.pop(0)}) as rig:
        await rig.client.connect()
        assert era(rig) == ("stateless", STATELESS)
        assert rig.server.sent("initialize") == []


async def test_minus_32022_is_believed_even_if_discover_itself_is_never_answered() -> None:
    refusal = Refuse(-32022, "pick", {"supported": [STATELESS]})
    async with auto({"server/discover": refusal}) as rig:
        await rig.client.connect()
        assert era(rig) == ("stateless", STATELESS)
        assert (await rig.client.call_tool("add")).content


@pytest.mark.parametrize("data", [{"supported": ["2025-11-25"]}, {"supported": "x"}, {}, None, 5])
async def test_minus_32022_without_a_common_version_leads_to_initialize(data: Any) -> None:
    async with auto({"server/discover": Refuse(-32022, "no", data)}) as rig:
        await rig.client.connect()
        assert era(rig) == ("handshake", "2025-11-25")


@pytest.mark.parametrize("code", [-32020, -32021])
async def test_the_other_stateless_errors_are_shown_and_not_taken_for_an_old_server(
    code: int,
) -> None:
    async with auto({"server/discover": Refuse(code, "fix this")}) as rig:
        with pytest.raises(InspectorError, match="fix this"):
            await rig.client.connect()
        assert rig.server.sent("initialize") == []


async def test_silence_leads_to_initialize_after_two_seconds() -> None:
    async with auto({"server/discover": SILENT}) as rig:
        connecting = await rig.started(rig.client.connect())
        await rig.advance(1.9)
        assert rig.server.methods == ["server/discover"]
        await rig.advance(0.1)
        assert connecting.done()
        assert era(rig) == ("handshake", "2025-11-25")
        assert "no answer within 2 s" in reason(rig)
        assert len(rig.server.peers) == 1


async def test_after_the_probe_nothing_of_it_is_left_waiting() -> None:
    async with auto({"server/discover": SILENT}) as rig:
        await rig.started(rig.client.connect())
        await rig.advance(2)
        assert rig.client.connection.correlation.waiting == {}
        discover = rig.server.sent("server/discover")[0]
        rig.server.send_json({"jsonrpc": "2.0", "id": discover["id"], "result": discovered()})
        await rig.settle()
        assert len(rig.events(LateReply)) == 1
        assert era(rig) == ("handshake", "2025-11-25")


async def test_a_late_discover_result_wins_over_an_initialize_that_waits() -> None:
    async with auto({"server/discover": SILENT, "initialize": SILENT}) as rig:
        connecting = await rig.started(rig.client.connect())
        await rig.advance(5)
        assert rig.server.methods == ["server/discover", "initialize"]
        rig.server.reply(rig.server.sent("server/discover")[0]["id"], discovered())
        await connecting
        assert era(rig) == ("stateless", STATELESS)
        assert len(rig.server.peers) == 1
        # The specification forbids cancelling initialize.
        assert rig.server.sent("notifications/cancelled") == []
        assert rig.server.sent("notifications/initialized") == []
        assert (await rig.client.call_tool("add")).content


async def test_a_late_minus_32022_wins_as_well() -> None:
    async with auto({"server/discover": SILENT, "initialize": SILENT}) as rig:
        connecting = await rig.started(rig.client.connect())
        await rig.advance(5)
        rig.server.answers["server/discover"] = discovered()
        rig.server.send_json(
            {
                "jsonrpc": "2.0",
                "id": rig.server.sent("server/discover")[0]["id"],
                "error": {"code": -32022, "message": "", "data": {"supported": [STATELESS]}},
            }
        )
        await connecting
        assert era(rig) == ("stateless", STATELESS)


async def test_a_late_error_of_another_kind_leaves_it_to_initialize() -> None:
    async with auto({"server/discover": SILENT, "initialize": SILENT}) as rig:
        connecting = await rig.started(rig.client.connect())
        await rig.advance(5)
        discover, initialize = rig.server.received
        error = {"code": -32601, "message": "Method not found"}
        rig.server.send_json({"jsonrpc": "2.0", "id": discover["id"], "error": error})
        await rig.settle()
        assert not connecting.done()
        rig.server.reply(initialize["id"], rig.server._initialized(initialize))
        await connecting
        assert era(rig) == ("handshake", "2025-11-25")


@pytest.mark.parametrize("probe", [Refuse(-32601), SILENT], ids=["refused", "silent"])
async def test_an_initialize_refused_with_minus_32022_leads_back_to_stateless(probe: Any) -> None:
    answers = [probe, discovered()]
    refusal = Refuse(-32022, "too old", {"supported": [STATELESS]})
    server = ScriptedServer(
        {"server/discover": lambda request: answers.pop(0), "initialize": refusal}
    )
    async with Rig(server, protocol_version="auto", connect=False) as rig:
        connecting = await rig.started(rig.client.connect())
        await rig.advance(2)
        await connecting
        assert era(rig) == ("stateless", STATELESS)
        assert len(server.peers) == 1
        assert rig.client.connection.correlation.waiting == {}


@pytest.mark.parametrize("probe", [Refuse(-32601), SILENT], ids=["refused", "silent"])
async def test_an_initialize_refused_without_a_common_version_is_a_mismatch(probe: Any) -> None:
    refusal = Refuse(-32022, "no", {"supported": ["2031-01-01"]})
    async with auto({"server/discover": probe, "initialize": refusal}) as rig:
        connecting = await rig.started(rig.client.connect())
        await rig.advance(2)
        error = failure(connecting)
        assert error.code == "PROTOCOL_VERSION_MISMATCH"
        assert "2031-01-01" in error.message


async def test_a_server_that_is_silent_to_everything_costs_the_connection_timeout() -> None:
    async with auto({"server/discover": SILENT, "initialize": SILENT}) as rig:
        connecting = await rig.started(rig.client.connect())
        await rig.advance(29.9)
        assert not connecting.done()
        await rig.advance(0.1)
        assert failure(connecting).code == "CONNECTION_TIMEOUT"


async def test_a_server_that_dies_of_discover_fails_with_its_end() -> None:
    async with auto({"server/discover": SILENT}) as rig:
        connecting = await rig.started(rig.client.connect())
        rig.server.leave()
        await rig.settle()
        assert failure(connecting).code == "CONNECTION_LOST"


async def test_a_transport_that_predates_probing_goes_straight_to_initialize() -> None:
    class Old(MemoryTransport):
        can_be_stateless = False

    server = ScriptedServer()
    rig = Rig(server, make_transport=lambda: Old(server.serve), protocol_version="auto")
    async with rig:
        assert server.methods[0] == "initialize"
        assert "predates" in reason(rig)


# -- probed over HTTP ----------------------------------------------------------------------------


def over_http(answers: dict[str, Any], **options: Any) -> tuple[Rig, ExchangeTransport]:
    server = ScriptedServer(answers)
    transport = ExchangeTransport(server)
    rig = Rig(
        server,
        make_transport=lambda: transport,
        protocol_version="auto",
        connect=False,
        **options,
    )
    return rig, transport


async def test_over_http_a_slow_stateless_server_gets_nothing_but_the_probe() -> None:
    rig, transport = over_http({"server/discover": SILENT})
    async with rig:
        connecting = await rig.started(rig.client.connect())
        await rig.advance(9)
        assert rig.server.methods == ["server/discover"]
        transport.deliver_on(
            rig.server.sent("server/discover")[0]["id"],
            {"jsonrpc": "2.0", "id": 1, "result": discovered()},
        )
        await connecting
        assert era(rig) == ("stateless", STATELESS)
        assert rig.server.methods == ["server/discover"]


async def test_over_http_a_probe_without_an_answer_ends_with_its_stream_before_initialize() -> None:
    rig, transport = over_http({"server/discover": SILENT})
    async with rig:
        connecting = await rig.started(rig.client.connect())
        await rig.advance(10)
        await connecting
        assert era(rig) == ("handshake", "2025-11-25")
        assert "no answer within 10 s" in reason(rig)
        probe = rig.server.sent("server/discover")[0]["id"]
        assert transport.abandoned == [probe]
        assert rig.server.methods == ["server/discover", "initialize", "notifications/initialized"]


async def test_over_http_a_short_connection_timeout_leaves_time_for_initialize() -> None:
    rig, _ = over_http({"server/discover": SILENT}, config={"connection_timeout_s": 3.0})
    async with rig:
        connecting = await rig.started(rig.client.connect())
        await rig.advance(1)
        await connecting
        assert era(rig) == ("handshake", "2025-11-25")


async def test_over_http_a_stateless_server_that_woke_up_meanwhile_is_asked_again() -> None:
    answers = [SILENT, discovered()]
    rig, _ = over_http(
        {"server/discover": lambda request: answers.pop(0), "initialize": Refuse(-32601)}
    )
    async with rig:
        connecting = await rig.started(rig.client.connect())
        await rig.advance(10)
        await connecting
        assert era(rig) == ("stateless", STATELESS)
        assert rig.server.methods == ["server/discover", "initialize", "server/discover"]


# -- remembered ----------------------------------------------------------------------------------


async def again(rig: Rig) -> None:
    """Connect once more to the same server, in the same process."""
    await rig.client.disconnect()
    rig.server.received.clear()
    await rig.client.connect()


def remembering(server: ScriptedServer) -> Rig:
    serve = server.serve  # one object, so that it is one server
    return Rig(
        server,
        make_transport=lambda: MemoryTransport(serve, name="same"),
        protocol_version="auto",
        connect=False,
    )


async def test_the_verdict_is_remembered_and_shown_with_its_reason() -> None:
    async with remembering(ScriptedServer()) as rig:
        await rig.client.connect()
        assert "server/discover" in rig.server.methods
        await again(rig)
        assert rig.server.methods == ["initialize", "notifications/initialized"]
        assert reason(rig).startswith("remembered: server/discover was answered with error -32601")


async def test_a_silent_old_server_costs_its_two_seconds_only_once() -> None:
    async with remembering(ScriptedServer({"server/discover": SILENT})) as rig:
        connecting = await rig.started(rig.client.connect())
        await rig.advance(2)
        await connecting
        now = rig.clock.monotonic()
        await again(rig)
        assert rig.clock.monotonic() == now


async def test_a_server_that_became_stateless_is_noticed() -> None:
    async with remembering(ScriptedServer()) as rig:
        await rig.client.connect()
        rig.server.answers["initialize"] = Refuse(-32601)
        rig.server.answers["server/discover"] = discovered()
        await again(rig)
        assert era(rig) == ("stateless", STATELESS)


async def test_a_server_that_became_old_is_noticed() -> None:
    async with remembering(ScriptedServer(is_stateless=True)) as rig:
        await rig.client.connect()
        old = ScriptedServer()
        rig.server.answers = old.answers
        await again(rig)
        assert era(rig) == ("handshake", "2025-11-25")
        await again(rig)
        assert rig.server.methods == ["initialize", "notifications/initialized"]


async def test_a_remembered_verdict_that_meets_silence_is_forgotten() -> None:
    async with remembering(ScriptedServer(is_stateless=True)) as rig:
        await rig.client.connect()
        await rig.client.disconnect()
        rig.server.answers = ScriptedServer({"server/discover": SILENT}).answers
        connecting = await rig.started(rig.client.connect())
        await rig.advance(30)
        assert failure(connecting).code == "CONNECTION_TIMEOUT"
        connecting = await rig.started(rig.client.connect())
        await rig.advance(2)
        assert connecting.done()
        assert era(rig) == ("handshake", "2025-11-25")


async def test_two_servers_have_two_verdicts() -> None:
    old, new = ScriptedServer(), ScriptedServer(is_stateless=True)
    async with remembering(old) as first, remembering(new) as second:
        await asyncio.gather(first.client.connect(), second.client.connect())
        assert era(first)[0] == "handshake"
        assert era(second)[0] == "stateless"
        await first.client.disconnect()
        await second.client.disconnect()
