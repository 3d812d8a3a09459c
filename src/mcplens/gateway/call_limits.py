"""The configured limits on calls: per second and at once, of a client, a view and a server.

A call beyond a limit of its client or view, or beyond a rate, is refused at once with a sentence
that names the limit; one beyond a server's limit waits for a place (server_places.py). Asked by
handler.py and plain_calls.py before a request is passed on, and told by gateway.py when it ended.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from mcplens.clock import Clock
from mcplens.config.views import Limits
from mcplens.downstream.server_connection import ServerConnection
from mcplens.gateway.server_places import ServerPlaces, too_many

if TYPE_CHECKING:
    from mcplens.gateway.inbound_call import InboundCall


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


class _Rates:
    """Buckets of one kind, by key."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._buckets: dict[str, _Rate] = {}

    def __repr__(self) -> str:
        return f"<_Rates {len(self._buckets)}>"

    def take(self, key: str, per_second: int) -> bool:
        now = self._clock.monotonic()
        bucket = self._buckets.get(key)
        if bucket is None:
            bucket = self._buckets[key] = _Rate(per_second, now)
        return bucket.take(now)

    def busiest(self) -> tuple[int, str]:
        now = self._clock.monotonic()
        return max(((one.used(now), key) for key, one in self._buckets.items()), default=(0, ""))

    def forget(self, key: str) -> None:
        self._buckets.pop(key, None)

    def clear(self) -> None:
        self._buckets.clear()


class CallLimits:
    """Counts the calls that are under way, by client, by view and by server."""

    def __init__(self, limits: Limits, clock: Clock) -> None:
        self.limits = limits
        self._has_view_limits = limits.has_view_limits  # each call asks for it
        self._clock = clock
        self._of_client: dict[str, int] = {}
        self._of_view: dict[str, int] = {}
        self._places: dict[str, ServerPlaces] = {}
        self._client_rates, self._view_rates = _Rates(clock), _Rates(clock)
        self._server_rates = _Rates(clock)

    def __repr__(self) -> str:
        return (
            f"<CallLimits {sum(self._of_client.values())} calls of {len(self._of_client)} clients>"
        )

    def use(self, limits: Limits) -> None:
        """Have other limits from now on; calls that are under way stay counted."""
        self.limits = limits
        self._has_view_limits = limits.has_view_limits
        for rates in (self._client_rates, self._view_rates, self._server_rates):
            rates.clear()
        for places in self._places.values():
            if places.entry is not None:
                places.use(places.entry, limits.calls_per_server, limits.waiting_calls)

    def admit(self, call: InboundCall) -> None:
        """A client's call begins.

        Raises:
            Refused: its client or its view has too many under way, or makes them too fast.
        """
        key, limits = call.client.key, self.limits
        per_second, at_once = limits.calls_per_second, limits.calls_per_client
        if per_second is not None and not self._client_rates.take(key, per_second):
            raise too_many(f"more than {per_second} calls per second", "limits.callsPerSecond")
        running = self._of_client.get(key, 0)
        if at_once is not None and running >= at_once:
            raise too_many(f"{at_once} calls of this client are under way", "limits.callsPerClient")
        if self._has_view_limits:
            self._admit_to_view(call.client.path)
            call.is_counted_in_view = True
        self._of_client[key] = running + 1
        call.is_counted = True

    def _admit_to_view(self, path: str) -> None:
        per_second, at_once = self.limits.calls_per_second_per_view, self.limits.calls_per_view
        if per_second is not None and not self._view_rates.take(path, per_second):
            text = f"more than {per_second} calls per second at {path}"
            raise too_many(text, "limits.callsPerSecondPerView")
        running = self._of_view.get(path, 0)
        if at_once is not None and running >= at_once:
            raise too_many(f"{at_once} calls at {path} are under way", "limits.callsPerView")
        self._of_view[path] = running + 1

    def nearest(self) -> dict[str, tuple[int, str]]:
        """How near each limit is, by its name: the most that anybody uses of it, and who."""
        of_server = {name: places.running for name, places in self._places.items()}
        return {
            "callsPerClient": _most(self._of_client),
            "callsPerView": _most(self._of_view),
            "callsPerServer": _most(of_server),
            "callsPerSecond": self._client_rates.busiest(),
            "callsPerSecondPerView": self._view_rates.busiest(),
            "callsPerSecondPerServer": self._server_rates.busiest(),
            "waitingCalls": max(
                (places.queue.longest() for places in self._places.values()), default=(0, "")
            ),
        }

    # -- places of a server ------------------------------------------------------------------------

    def take_place(self, call: InboundCall, connection: ServerConnection) -> bool:
        """A call goes to a server; False if it has to wait for a place.

        Raises:
            Refused: the server's calls come too fast.
        """
        entry = connection.live.entry
        places = self._places.get(connection.server_id)
        if places is None or places.entry is not entry:
            places = self._made_places(connection)
        if call.place is places:
            return True
        if places.running >= places.most and not call.is_continuation:
            return False
        if self.limits.calls_per_second_per_server is not None:
            self._check_rate(entry.name, self.limits.calls_per_second_per_server)
        if call.place is not None:
            call.place.free()
        places.take(call)
        return True

    async def wait_for_place(
        self, call: InboundCall, connection: ServerConnection, budget_s: float | None
    ) -> None:
        """A call that got no place waits for one, its client in turn with others.

        Raises:
            Refused: too many calls wait already, or the server's calls come too fast.
            TimeoutExpired: the time of the call is up.
        """
        if self.limits.calls_per_second_per_server is not None:
            self._check_rate(connection.server_id, self.limits.calls_per_second_per_server)
        if call.place is not None:
            call.place.free()
            call.place = None
        await self._made_places(connection).wait(call, budget_s)

    def _check_rate(self, server_id: str, per_second: int) -> None:
        if not self._server_rates.take(server_id, per_second):
            text = f"more than {per_second} calls of {server_id} per second"
            raise too_many(text, "limits.callsPerSecondPerServer")

    def places_of(self, server_id: str) -> ServerPlaces | None:
        """The calls of a server; None if none was ever made."""
        return self._places.get(server_id)

    def _made_places(self, connection: ServerConnection) -> ServerPlaces:
        places = self._places.get(connection.server_id)
        if places is None:
            places = ServerPlaces(connection.server_id, self._clock)
            self._places[connection.server_id] = places
        limits = self.limits
        places.use(connection.live.entry, limits.calls_per_server, limits.waiting_calls)
        return places

    # -- the end -----------------------------------------------------------------------------------

    def ended(self, call: InboundCall) -> None:
        """A call has its answer, whatever it is."""
        if call.is_counted:
            _release(self._of_client, call.client.key)
        if call.is_counted_in_view:
            _release(self._of_view, call.client.path)
        if call.place is not None:
            call.place.free()
            call.place = None

    def forget(self, key: str) -> None:
        """A client is gone."""
        self._client_rates.forget(key)

    def forget_servers(self, known: set[str]) -> None:
        """Servers other than these are not configured any more."""
        for name in self._places.keys() - known:
            if not self._places[name].running:
                del self._places[name]


def _most(counts: dict[str, int]) -> tuple[int, str]:
    found = Counter(counts).most_common(1)
    return (found[0][1], found[0][0]) if found and found[0][1] else (0, "")


def _release(counts: dict[str, int], key: str) -> None:
    running = counts.get(key, 0)
    if running > 1:
        counts[key] = running - 1
    else:
        counts.pop(key, None)
