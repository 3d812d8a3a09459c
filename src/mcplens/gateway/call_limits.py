"""The configured limits on calls: at once per client and per server, and per second per client.

A call beyond a limit is refused at once with a sentence that names the limit; nothing waits here.
Asked by handler.py before a request is passed on, and told by gateway.py when it has ended.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from mcplens.clock import Clock
from mcplens.config.views import Limits
from mcplens.gateway.refused import Refused

if TYPE_CHECKING:
    from mcplens.gateway.inbound_call import InboundCall

# In the range that JSON-RPC leaves to servers; clients may try again later.
TOO_MANY_CALLS: Final = -32029


class _Rate:
    """A bucket that fills with one token per call allowed, up to a second's worth."""

    def __init__(self, per_second: int, now: float) -> None:
        self._per_second = per_second
        self._tokens = float(per_second)
        self._at = now

    def take(self, now: float) -> bool:
        filled = self._tokens + (now - self._at) * self._per_second
        self._tokens, self._at = min(filled, float(self._per_second)), now
        if self._tokens < 1:
            return False
        self._tokens -= 1
        return True

    def used(self, now: float) -> int:
        """How many calls of a second's worth are used up."""
        filled = self._tokens + (now - self._at) * self._per_second
        return max(0, round(self._per_second - min(filled, float(self._per_second))))


class CallLimits:
    """Counts the calls that are under way, by client and by server."""

    def __init__(self, limits: Limits, clock: Clock) -> None:
        self.limits = limits
        self._clock = clock
        self._of_client: dict[str, int] = {}
        self._of_server: dict[str, int] = {}
        self._rates: dict[str, _Rate] = {}

    def __repr__(self) -> str:
        return (
            f"<CallLimits {sum(self._of_client.values())} calls of {len(self._of_client)} clients>"
        )

    def use(self, limits: Limits) -> None:
        """Have other limits from now on; calls that are under way stay counted."""
        self.limits = limits
        self._rates.clear()

    def admit(self, call: InboundCall) -> None:
        """A client's call begins.

        Raises:
            Refused: the client has too many under way, or makes them too fast.
        """
        key, limits = call.client.key, self.limits
        per_second, at_once = limits.calls_per_second, limits.calls_per_client
        if per_second is not None and not self._rate(key, per_second).take(self._clock.monotonic()):
            raise _refused(f"more than {per_second} calls per second", "callsPerSecond")
        running = self._of_client.get(key, 0)
        if at_once is not None and running >= at_once:
            raise _refused(f"{at_once} calls of this client are under way", "callsPerClient")
        self._of_client[key] = running + 1
        call.is_counted = True

    def nearest(self) -> dict[str, tuple[int, str]]:
        """How near each limit is, by its name: the most that anybody uses of it, and who."""
        by_client = Counter(self._of_client).most_common(1)
        by_server = Counter(self._of_server).most_common(1)
        now, per_second = self._clock.monotonic(), self.limits.calls_per_second
        rates = ((rate.used(now), key) for key, rate in self._rates.items())
        busiest = max(rates, default=(0, ""))
        return {
            "callsPerClient": (by_client[0][1], by_client[0][0]) if by_client else (0, ""),
            "callsPerServer": (by_server[0][1], by_server[0][0]) if by_server else (0, ""),
            "callsPerSecond": busiest if per_second is not None else (0, ""),
        }

    def passed_on(self, call: InboundCall, server_id: str) -> None:
        """A call goes to a server.

        Raises:
            Refused: that server has too many under way.
        """
        at_once, running = self.limits.calls_per_server, self._of_server.get(server_id, 0)
        if at_once is not None and running >= at_once:
            raise _refused(f"{at_once} calls of {server_id} are under way", "callsPerServer")
        if call.server_id != server_id:
            if call.server_id:
                self._release(self._of_server, call.server_id)
            self._of_server[server_id] = running + 1

    def ended(self, call: InboundCall) -> None:
        """A call has its answer, whatever it is."""
        if call.is_counted:
            self._release(self._of_client, call.client.key)
        if call.server_id:
            self._release(self._of_server, call.server_id)

    def forget(self, key: str) -> None:
        """A client is gone."""
        self._rates.pop(key, None)

    def _rate(self, key: str, per_second: int) -> _Rate:
        if key not in self._rates:
            self._rates[key] = _Rate(per_second, self._clock.monotonic())
        return self._rates[key]

    def _release(self, counts: dict[str, int], key: str) -> None:
        running = counts.get(key, 0)
        if running > 1:
            counts[key] = running - 1
        else:
            counts.pop(key, None)


def _refused(what: str, limit: str) -> Refused:
    return Refused(TOO_MANY_CALLS, f"too many calls: {what} (limits.{limit}); try again later")
