"""What clients send and how their requests end: published, counted and written down.

Knows how many requests are under way, and when none is; writes what else belongs into the audit
log. Owned by gateway.py; called by handler.py and plain_calls.py.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from mcplens.events import InboundAnswered, InboundReceived
from mcplens.gateway import callers
from mcplens.gateway.audit_log import AuditLine, line_of
from mcplens.inbound.peer import LISTEN
from mcplens.protocol.frames import Frame

if TYPE_CHECKING:
    from mcplens.gateway.gateway import Gateway
    from mcplens.gateway.inbound_call import InboundCall
    from mcplens.gateway.inbound_client import InboundClient


class CallLedger:
    """The requests of all clients."""

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway
        self._publish = gateway.bus.publish_as("")
        self.running = 0  # requests that are under way
        self.idle = asyncio.Event()  # none is
        self.idle.set()

    def __repr__(self) -> str:
        return f"<CallLedger {self.running} under way>"

    def received(self, client: InboundClient, frame: Frame) -> int:
        """Publish a message of a client's; the seq by which its downstream requests name it."""
        event = InboundReceived(
            client_id=client.id,
            client_name=client.name,
            message=frame,
            size_bytes=len(frame.raw),
            method=frame.method or None,
        )
        return self._publish(event, len(frame.raw))

    def began(self, call: InboundCall) -> None:
        """A request of a client's is being served; an open stream is not waited for."""
        gateway, client = self._gateway, call.client
        now = gateway.clock.wall()
        if call.is_stateless:
            client.use = gateway.stateless_uses.of(client, now)
        if call.method != LISTEN:
            client.use.began(now)
            self.running += 1
            self.idle.clear()
            if gateway.telemetry is not None:
                gateway.telemetry.began(call)

    def ended(self, call: InboundCall, outcome: str, size_bytes: int) -> None:
        """Count a request of a client's that has ended, write it into the audit log, publish it."""
        gateway, client = self._gateway, call.client
        elapsed_s = gateway.clock.monotonic() - call.started_at
        if call.trace is not None:
            call.trace.end(call, outcome, elapsed_s)
        gateway.call_limits.ended(call)
        gateway.statistics.add(
            call.server_id, call.method, outcome, elapsed_s, call.size_bytes, size_bytes
        )
        if gateway.audit_log is not None:
            time, run = gateway.clock.wall(), gateway.bus.run_id
            gateway.audit_log.add(line_of(call, outcome, size_bytes, elapsed_s, time=time, run=run))
        if call.method != LISTEN:
            client.use.ended(outcome)
            self.running -= 1
            gateway.ending.call_ended(client)
            if self.running == 0:
                self.idle.set()
        answered = InboundAnswered(
            client_id=client.id,
            client_name=client.name,
            request_seq=call.seq,
            method=call.method,
            target_id=call.server_id,
            outcome=outcome,
            size_bytes=size_bytes,
            elapsed_s=elapsed_s,
        )
        self._publish(answered, 0)

    def note(
        self,
        method: str,
        outcome: str,
        reason: str,
        *,
        caller: str = "",
        client: str = "",
        path: str = "",
        name: str | None = None,
        server_id: str = "",
        seq: int = 0,
    ) -> None:
        """Write a line into the audit log that is not of a request which was served."""
        gateway = self._gateway
        if gateway.audit_log is None:
            return
        gateway.audit_log.add(
            AuditLine(
                time=gateway.clock.wall(),
                run=gateway.bus.run_id,
                seq=seq,
                client=client,
                client_id="",
                path=path,
                method=method,
                name=name,
                server=server_id,
                outcome=outcome,
                seconds=0.0,
                request_bytes=0,
                answer_bytes=0,
                reason=reason,
                caller=callers.name_of(caller),
            )
        )
