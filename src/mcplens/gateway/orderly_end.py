"""How a gateway ends in order: not ready, then no new calls, and gone when the last one is done.

Sessions go to other replicas meanwhile, where there are any. Owned by gateway.py; begun by
service.py and the command line.
"""

from __future__ import annotations

import asyncio
from enum import Enum
from typing import TYPE_CHECKING

from mcplens.gateway.refused import given_up
from mcplens.inbound.peer import LISTEN
from mcplens.inbound.refusal import INTERNAL_ERROR

if TYPE_CHECKING:
    from mcplens.gateway.gateway import Gateway
    from mcplens.gateway.inbound_call import InboundCall
    from mcplens.gateway.inbound_client import InboundClient


class Stage(Enum):
    """How far the orderly end of a gateway has come."""

    SERVING = "serving"
    LEAVING = "leaving"  # not ready any more, but calls are served until load balancers noticed
    DRAINING = "draining"  # new calls are refused, those under way are finished


class OrderlyEnd:
    """How far the end of a gateway has come."""

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway
        self.stage = Stage.SERVING

    def __repr__(self) -> str:
        return f"<OrderlyEnd {self.stage.value}>"

    async def drain(self, timeout_s: float, *, notice_s: float = 0.0) -> None:
        """End in order: not ready at once, and after `notice_s` new calls are refused.

        Those under way are finished; what takes longer than `timeout_s` is given up, and its
        clients are told so.
        """
        self.stage = Stage.LEAVING
        if notice_s > 0:
            await self._gateway.clock.sleep(notice_s)
        self.stage = Stage.DRAINING
        try:
            async with asyncio.timeout(timeout_s):
                await self._finish_calls(timeout_s)
        except TimeoutError:
            if self._gateway.shared_sessions is not None:
                self._gateway.shared_sessions.handovers.refuse_parked()
            for client in list(self._gateway.clients.values()):
                self.give_up_calls(client, "the gateway was shut down")
        if self._gateway.shared_sessions is not None:
            self._gateway.shared_sessions.handovers.begin_idle()
            await self._gateway.shared_sessions.handovers.ended()

    async def _finish_calls(self, timeout_s: float) -> None:
        """Wait for what is under way; each session goes to another replica once it is idle."""
        shared = self._gateway.shared_sessions
        if shared is None:
            await self._gateway.ledger.idle.wait()
            return
        await shared.writer.flush()
        if shared.handovers.is_possible:
            shared.handovers.begin_idle()
        # A client with several calls at a time may never be idle: after a while, new ones wait.
        parking = self._gateway.clock.call_at(
            self._gateway.clock.monotonic() + timeout_s / 2, shared.handovers.park
        )
        try:
            await self._gateway.ledger.idle.wait()
            await shared.handovers.ended()
            await shared.forwarder.idle.wait()
        finally:
            parking.cancel()

    def still_serves(self, call: InboundCall) -> bool:
        """Whether a call is served although new ones are refused: its session is still here."""
        return (
            self._gateway.shared_sessions is not None
            and self._gateway.shared_sessions.handovers.is_possible
            and not call.is_stateless
            and call.client.peer.protocol_version is not None
        )

    def call_ended(self, client: InboundClient) -> None:
        """A call ended: if this gateway is about to end, its session may go to another replica."""
        shared = self._gateway.shared_sessions
        if self.stage is Stage.DRAINING and shared is not None:
            shared.handovers.call_ended(client)

    def give_up_calls(self, client: InboundClient, why: str) -> None:
        """Answer the calls of a client that are under way with an error that says why."""
        for call in list(client.calls.values()):
            if call.method != LISTEN:
                message, data = given_up(call.server_id, why)
                client.peer.refuse(call.id, INTERNAL_ERROR, message, data)
            call.cancel()
