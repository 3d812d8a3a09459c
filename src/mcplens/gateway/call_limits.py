"""The configured limits on calls: per second and at once, of a client, a view and a server.

A call beyond a limit of its client or view, or beyond a rate, is refused at once with a sentence
that names the limit; one beyond a server's limit waits for a place (server_places.py). Asked by
handler.py and plain_calls.py before a request is passed on, and told by gateway.py when it ended.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from typing import TYPE_CHECKING, Final

from mcplens.clock import Clock
from mcplens.config.views import Limits
from mcplens.downstream.server_connection import ServerConnection
from mcplens.gateway import callers
from mcplens.gateway.server_places import ServerPlaces, too_many
from mcplens.inbound.http_peers import HttpSessionPeer

if TYPE_CHECKING:
    from mcplens.gateway.inbound_call import InboundCall
    from mcplens.gateway.inbound_client import InboundClient
    from mcplens.replicas.shared_limits import SharedLimits


# Callers come and go, and not all of them say when; beyond this, those that are idle are forgotten.
_MOST_BUCKETS: Final = 10_000


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
            if len(self._buckets) >= _MOST_BUCKETS:  # one that is full says nothing
                kept = ((name, one) for name, one in self._buckets.items() if one.used(now))
                self._buckets = dict(kept)
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
        self.shared: SharedLimits | None = None  # the store counts the calls of clients and views
        self._sharing: SharedLimits | None = None  # the store counts at least those of servers

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
        self.shared = self._sharing if limits.has_client_limits else None
        for places in self._places.values():
            if places.entry is not None:
                places.use(places.entry, limits)

    def share(self, shared: SharedLimits) -> None:
        """Count together with other replicas; before the first call."""
        self._sharing = shared
        self.use(self.limits)

    @property
    def mode(self) -> str:
        """Who counts, for people."""
        if self._sharing is None:
            return "local"
        problem = self._sharing.problem
        return "shared" if problem is None else f"local, since {problem}"

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

    # -- counted by the store of all replicas ------------------------------------------------------

    async def admitted(self, call: InboundCall) -> None:
        """A client's call begins; as `admit`, and asks the store where replicas share one.

        Raises:
            Refused: as `admit`.
        """
        shared = self.shared
        if shared is None:
            self.admit(call)
            return
        client, limits = call.client, self.limits
        if callers.is_replica(client.peer.caller):
            return  # it has counted the call
        who, path = shared_key(client, shared.replica), client.path
        if (most := limits.calls_per_second) is not None:
            rates = self._client_rates
            await self._take_token(shared, "client", who, most, rates, "callsPerSecond")
        if (most := limits.calls_per_second_per_view) is not None:
            rates = self._view_rates
            await self._take_token(shared, "view", path, most, rates, "callsPerSecondPerView")
        of_client, of_view = self._of_client.get(client.key, 0), self._of_view.get(path, 0)
        self._of_view[path] = of_view + 1
        call.is_counted_in_view = True  # from here on there is something to give back
        for place, most, own, name in (
            (f"client:{who}", limits.calls_per_client, of_client, "callsPerClient"),
            (f"view:{path}", limits.calls_per_view, of_view, "callsPerView"),
        ):
            if most is not None:
                await self._take_shared(shared, call, place, most, own, name)
        self._of_client[client.key] = self._of_client.get(client.key, 0) + 1
        call.is_counted = True

    async def _take_token(
        self, shared: SharedLimits, kind: str, key: str, per_second: int, rates: _Rates, name: str
    ) -> None:
        is_within = await shared.take_token(f"{kind}:{key}", per_second)
        if is_within is None:
            is_within = rates.take(key, per_second)
        if not is_within:
            where = {"client": "", "view": f" at {key}", "server": f" of {key}"}[kind]
            text = f"more than {per_second} calls per second{where}"
            raise too_many(text, f"limits.{name}")

    async def _take_shared(
        self, shared: SharedLimits, call: InboundCall, place: str, most: int, own: int, name: str
    ) -> None:
        is_free = await shared.take_place(place, most)
        if is_free is None:
            is_free = own < most
        elif is_free:
            call.shared_places = (*call.shared_places, place)
        if not is_free:
            whose = "of this client" if name == "callsPerClient" else f"at {call.client.path}"
            raise too_many(f"{most} calls {whose} are under way", f"limits.{name}")

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
        """A call goes to a server; False if `wait_for_place` has to be asked."""
        entry = connection.live.entry
        places = self._places.get(connection.server_id)
        if places is None or places.entry is not entry:
            places = self._made_places(connection)
        if places.running >= places.most_at_once or call.place is not None:
            return self._take_later(call, places)
        call.place = places  # as `places.take` does: each call comes by here
        places.running += 1
        return True

    def _take_later(self, call: InboundCall, places: ServerPlaces) -> bool:
        """As `take_place`, for a call that may have to wait, or has been at another server."""
        if call.place is places:
            return True
        if not call.is_continuation and (places.most_at_once == 0 or not places.has_room):
            return False
        if call.place is not None:
            call.place.free(call)
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
        per_second, server_id = self.limits.calls_per_second_per_server, connection.server_id
        if per_second is not None and self._sharing is None:
            self._check_rate(server_id, per_second)
        elif per_second is not None and self._sharing is not None:
            await self._take_token(
                self._sharing, "server", server_id, per_second, self._server_rates,
                "callsPerSecondPerServer",
            )  # fmt: skip
        if call.place is not None:
            call.place.free(call)
        places = self._made_places(connection)
        if places.has_room:
            places.take(call)
        else:
            await places.wait(call, budget_s)

    def _check_rate(self, server_id: str, per_second: int) -> None:
        if not self._server_rates.take(server_id, per_second):
            text = f"more than {per_second} calls per second of {server_id}"
            raise too_many(text, "limits.callsPerSecondPerServer")

    def places_of(self, server_id: str) -> ServerPlaces | None:
        """The calls of a server; None if none was ever made."""
        return self._places.get(server_id)

    def _made_places(self, connection: ServerConnection) -> ServerPlaces:
        places = self._places.get(connection.server_id)
        if places is None:
            places = ServerPlaces(connection.server_id, self._clock, self._sharing)
            self._places[connection.server_id] = places
        places.use(connection.live.entry, self.limits)
        return places

    # -- the end -----------------------------------------------------------------------------------

    def ended(self, call: InboundCall) -> None:
        """A call has its answer, whatever it is."""
        if call.is_counted:
            _release(self._of_client, call.client.key)
        if call.is_counted_in_view:
            self._leave_view(call)
        places = call.place
        if places is None:
            return
        if places.queue.size or places.shared is not None:
            places.free(call)
        else:  # as `free` does: each call comes by here
            call.place = None
            places.running -= 1

    def _leave_view(self, call: InboundCall) -> None:
        """Of calls that are counted by view, or by the store."""
        _release(self._of_view, call.client.path)
        if self._sharing is not None:
            for place in call.shared_places:
                self._sharing.free_place(place)
            call.shared_places = ()

    def forget(self, key: str) -> None:
        """A client is gone."""
        self._client_rates.forget(key)

    def forget_servers(self, known: set[str]) -> None:
        """Servers other than these are not configured any more."""
        for name in self._places.keys() - known:
            if not self._places[name].running:
                del self._places[name]

    async def close(self) -> None:
        for places in self._places.values():
            await places.close()


def shared_key(client: InboundClient, replica: str) -> str:
    """Who a client is for all replicas: a user or named token, a session, or a token; no secret."""
    caller = client.peer.caller
    if client.is_stateless or callers.is_user(caller):
        return f"caller:{caller}"
    if isinstance(client.peer, HttpSessionPeer):
        return f"session:{hashlib.sha256(client.peer.id.encode()).hexdigest()[:32]}"
    return f"{replica}:{client.id}"  # a pipe or a stream, which stays where it is


def _most(counts: dict[str, int]) -> tuple[int, str]:
    found = Counter(counts).most_common(1)
    return (found[0][1], found[0][0]) if found and found[0][1] else (0, "")


def _release(counts: dict[str, int], key: str) -> None:
    running = counts.get(key, 0)
    if running > 1:
        counts[key] = running - 1
    else:
        counts.pop(key, None)
