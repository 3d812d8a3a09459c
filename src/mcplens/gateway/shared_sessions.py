"""Sessions of 2025-11-25 that any replica serves: found at their owner, or taken over from it.

The owner of a session holds its live peer; any other replica passes requests on to it. The store
names the owner, changed by compare-and-set, and has the facts by which another replica goes on when
the owner is gone: who the client is, its log level, its subscriptions, the latest events of its
streams. The store is written behind: a call never waits for it. Owned by gateway.py.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections import OrderedDict
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final
from weakref import WeakValueDictionary

from mcplens.errors import InspectorError, StoreUnavailable
from mcplens.gateway.inbound_client import InboundClient
from mcplens.gateway.received_forwards import not_owner
from mcplens.gateway.refused import Refused
from mcplens.gateway.session_handover import SessionHandovers
from mcplens.gateway.session_search import (
    SessionSearch,
    later,
    may_have_run,
    no_session,
    requests_in,
)
from mcplens.gateway.session_writer import SessionFacts, SessionWriter
from mcplens.gateway.wire import members, text_of
from mcplens.inbound.asgi import AsgiExchange, event
from mcplens.inbound.http_peers import HttpSessionPeer
from mcplens.inbound.session_sharing import StreamEntry, read_log
from mcplens.protocol.frames import Frame, parse
from mcplens.replicas.forwarder import Forwarder, NotOwner, OwnerGone, StreamBroken
from mcplens.replicas.owned_ids import OwnedIds, key_of
from mcplens.replicas.replica import Presence

if TYPE_CHECKING:
    from mcplens.gateway.gateway import Gateway
    from mcplens.inbound.streamable_http import StreamableHttp

_log = logging.getLogger("mcplens.gateway")

_SESSION_HEADER: Final = "mcp-session-id"
# Owners that are remembered; each is a few hundred bytes.
_KEPT_OWNERS: Final = 50_000
# A session changes hands once in a while: whoever finds no owner in so many steps gives up.
_MOST_STEPS: Final = 6
_OF_TASKS: Final = frozenset({"tasks/get", "tasks/cancel", "tasks/update"})


class SharedSessions:
    """The sessions of one replica, and those of others that are asked for here."""

    def __init__(self, gateway: Gateway) -> None:
        replica = gateway.replica
        self._gateway = gateway
        self._replica = replica
        self._store = replica.store
        self.ids = OwnedIds(replica.keys, "session", replica.id)
        self._task_ids = OwnedIds(replica.keys, "task", replica.id)
        self._states = OwnedIds(replica.keys, "state", replica.id)
        gateway.tasks.new_id = self._task_ids.new
        gateway.tasks.is_of_another = self._task_ids.is_of_another
        gateway.suspended.new_state = self._states.new
        gateway.suspended.is_of_another = self._states.is_of_another
        self.forwarder = Forwarder(replica, gateway.clock)
        self.takeovers = 0
        self.writer = SessionWriter(gateway)
        self.handovers = SessionHandovers(gateway, self.writer)
        replica.on_forged.append(self._forged)
        self._owners: OrderedDict[str, str] = OrderedDict()  # session id -> replica, as last seen
        # Each is kept by those who have it or wait for it, so that there is one for a session.
        self._locks = WeakValueDictionary[str, asyncio.Lock]()

    def __repr__(self) -> str:
        return f"<SharedSessions {self.writer!r}, {self.takeovers} taken over>"

    async def close(self) -> None:
        await self.writer.close()
        await self.forwarder.close()

    def _forged(self, member: str) -> None:
        refused = self._gateway.refused_requests
        refused.count += 1
        refused.write("", "", f"the presence of a replica that no key of ours signed: {member}", "")

    def at(self, path: str) -> PathSharing:
        """What the endpoint at a path shares."""
        return PathSharing(self, path)

    # -- requests of 2026-07-28 --------------------------------------------------------------------

    def owner_of_stateless(self, frame: Frame) -> str | None:
        """The other replica that has the task or the suspended call which a request is about."""
        owner = None
        if frame.method in _OF_TASKS:
            task_id = text_of(members(frame.body).get("taskId"))
            owner = self._task_ids.first_owner(task_id) if task_id is not None else None
        elif b"requestState" in frame.raw:
            state = text_of(members(frame.body).get("requestState"))
            owner = self._states.first_owner(state) if state is not None else None
        return None if owner == self._replica.id else owner

    def tasks_elsewhere(self, task_ids: Iterable[str]) -> dict[str, list[str]]:
        """Those of these tasks that other replicas have, by replica."""
        found: dict[str, list[str]] = {}
        for task_id in task_ids:
            owner = self._task_ids.first_owner(task_id)
            if owner is not None and owner != self._replica.id:
                found.setdefault(owner, []).append(task_id)
        return found

    async def serve_stateless(
        self, endpoint: StreamableHttp, exchange: AsgiExchange, body: bytes
    ) -> None:
        """Have the owner of a task or of a suspended call answer."""
        frame = parse(body)
        assert isinstance(frame, Frame)
        owner = self._replica.owner(self.owner_of_stateless(frame) or "")
        if owner is not None:
            search = SessionSearch("", owner.id, [frame])
            if await self._ask(search, owner, exchange, body):
                return
        # Whoever had it is gone, and it is told here that it may have been carried out.
        exchange.is_forwarded = True
        await endpoint.serve_here(exchange, body)

    # -- requests of sessions ----------------------------------------------------------------------

    async def serve(
        self, path: str, endpoint: StreamableHttp, exchange: AsgiExchange, body: bytes
    ) -> None:
        """Answer a request of a session that is not here.

        Raises:
            Refusal: the error to answer with.
        """
        session_id = exchange.headers[_SESSION_HEADER]
        first = self.ids.first_owner(session_id)
        if first is None:
            refused = self._gateway.refused_requests
            refused.count += 1
            reason = "a session id that no replica has made"
            refused.write(exchange.method, exchange.path, reason, exchange.caller)
            raise no_session()
        search = SessionSearch(session_id, first, requests_in(body), path)
        await self.handovers.passed(search, endpoint)
        try:
            for _ in range(_MOST_STEPS + len(self._replica.others)):
                if await self._step(search, endpoint, exchange, body):
                    return
        except StoreUnavailable as problem:
            text = f"the replica that has this session cannot be found: {problem.message}"
            raise later(text, search) from None
        raise later("this session changes hands just now", search)

    async def _step(
        self, search: SessionSearch, endpoint: StreamableHttp, exchange: AsgiExchange, body: bytes
    ) -> bool:
        """One way to answer; False if it was not the right one."""
        session_id = search.session_id
        if session_id in endpoint.sessions:
            await endpoint.serve_here(exchange, body)
            return True
        believed = self._owners.get(session_id, search.first)
        owner = self._replica.owner(believed)
        if owner is not None and believed not in search.refused and not exchange.is_forwarded:
            return await self._ask(search, owner, exchange, body)
        raw = await self._store.get(f"owner:{key_of(session_id)}")
        named = None if raw is None else raw.decode()
        if exchange.is_forwarded and named not in (None, self._replica.id):
            raise not_owner()
        if named is not None and named not in search.refused and named != self._replica.id:
            await self._replica.look()
            owner = self._replica.owner(named)
            if owner is not None:
                self._remember(session_id, named)
                return await self._ask(search, owner, exchange, body)
        if named is not None and named in search.alive:
            raise later("the replica that has this session does not answer", search)
        if not exchange.is_forwarded and (other := await self._other_to_ask(search)) is not None:
            return await self._ask(search, other, exchange, body)
        await self._take_over(search, raw, endpoint, exchange)
        return False  # the next step serves it here, or finds who was faster

    async def _other_to_ask(self, search: SessionSearch) -> Presence | None:
        """Another replica to ask before this one takes a session over.

        A replica that is about to end takes nothing over: another one may. And a session of which
        the store knows nothing may be one that its owner has not written again yet.
        """
        others = [one for one in self._replica.others.values() if not one.is_retired]
        other = next((one for one in others if one.id not in search.refused), None)
        if other is None or self._gateway.is_draining:
            return other
        facts = await self._store.get(f"facts:{key_of(search.session_id)}")
        return other if facts is None else None

    # -- asking the owner --------------------------------------------------------------------------

    async def _ask(
        self, search: SessionSearch, owner: Presence, exchange: AsgiExchange, body: bytes
    ) -> bool:
        try:
            if not await exchange.attend(self.forwarder.forward(owner, exchange, body)):
                return True  # the client left
        except NotOwner:
            search.refused.add(owner.id)
            self._owners.pop(search.session_id, None)
            return False
        except OwnerGone as gone:
            return await self._missed(search, owner, gone, exchange)
        except StreamBroken:
            await self._broken(search, owner, exchange)
        self._remember(search.session_id, owner.id)
        return True

    async def _missed(
        self, search: SessionSearch, owner: Presence, gone: OwnerGone, exchange: AsgiExchange
    ) -> bool:
        """The owner did not answer: whether that is all there is to say."""
        search.refused.add(owner.id)
        self._owners.pop(search.session_id, None)
        if not gone.was_sent:
            if not await self._is_gone(owner):
                search.alive.add(owner.id)
            return False
        if search.may_be_repeated:
            return False
        answers = [may_have_run(one) for one in search.requests]
        whole = answers[0] if len(answers) == 1 else b"[" + b",".join(answers) + b"]"
        await exchange.respond(200, whole, "application/json")
        return True

    async def _broken(self, search: SessionSearch, owner: Presence, exchange: AsgiExchange) -> None:
        """A stream of the owner broke off: a client that can resume finds the rest elsewhere."""
        if search.requests and await self._is_gone(owner):
            for one in search.requests:
                await exchange.write(event(may_have_run(one)))
            await exchange.end()
        else:
            exchange.abort()

    async def _is_gone(self, owner: Presence) -> bool:
        return owner.id not in self._replica.others or await self.forwarder.is_refused(owner)

    def _remember(self, session_id: str, owner_id: str) -> None:
        self._owners[session_id] = owner_id
        self._owners.move_to_end(session_id)
        if len(self._owners) > _KEPT_OWNERS:
            self._owners.popitem(last=False)

    # -- taking over -------------------------------------------------------------------------------

    async def _take_over(
        self,
        search: SessionSearch,
        owner: bytes | None,
        endpoint: StreamableHttp,
        exchange: AsgiExchange,
    ) -> None:
        """Become the owner of a session, if it is this caller's, and nobody else was faster."""
        session_id = search.session_id
        async with self._locks.setdefault(session_id, asyncio.Lock()):
            if session_id not in endpoint.sessions:
                await self._take_over_once(search, owner, endpoint, exchange)

    async def _take_over_once(
        self,
        search: SessionSearch,
        owner: bytes | None,
        endpoint: StreamableHttp,
        exchange: AsgiExchange,
    ) -> None:
        session_id = search.session_id
        key = key_of(session_id)
        raw = await self._store.get(f"facts:{key}")
        facts = None if raw is None else SessionFacts.read(raw)
        if facts is None:
            if exchange.is_forwarded:
                raise not_owner()  # who asks us asks the others, too
            await self._replica.look()  # it may show that the store has lost its data
            if self._replica.is_recovering:
                raise later("the shared store was away", search)
        # Another caller's session does not exist for this one, nor does that of another path.
        if facts is None or (facts.path, facts.caller) != (search.path, exchange.caller):
            raise no_session()
        if self._gateway.is_draining:
            if exchange.is_forwarded:
                raise not_owner()
            raise later("this replica is shutting down", search)
        if not await self.writer.claim(key, owner):
            return
        streams = read_log(await self.writer.read_log(key)).values()
        session = endpoint.adopt(
            session_id, exchange.caller, facts.protocol_version, streams, may_have_run
        )
        client = self._gateway.client_of(session, facts.path)
        client.introduce(facts.client_info, facts.capabilities)
        client.log_level = facts.log_level
        client.subscriptions |= set(facts.subscriptions)  # which the next owner must know, too
        client.is_ready = client.is_adopted = True
        self.takeovers += 1
        self._owners.pop(session_id, None)
        self.writer.adopted(session)
        self._gateway.connected(client)
        _log.info("took a session over from %s", owner.decode() if owner else "nobody")
        self._gateway.spawn(self._restore(client, facts.subscriptions), "restore subscriptions")
        if owner is not None:
            with contextlib.suppress(StoreUnavailable):  # it asks the store when that is back
                await self._store.publish(f"lost:{owner.decode()}", key.encode())

    async def _restore(self, client: InboundClient, uris: Iterable[str]) -> None:
        """Set again what the client had set at the servers."""
        handler = self._gateway.handler_at(client.path)
        if handler is None:
            return
        await self._gateway.settled()
        try:
            if client.log_level is not None:
                await handler.own_methods.set_level(client, client.log_level)
        except InspectorError as problem:
            _log.warning("the log level of a client was not set again: %s", problem.message)
        for uri in uris:
            if uri not in client.subscriptions:
                continue  # the client has unsubscribed meanwhile
            try:
                await handler.own_methods.subscribe(client, uri)
            except (Refused, InspectorError) as problem:
                _log.warning("a subscription was not restored: %s", problem)
        self.writer.changed(client.peer)


class PathSharing:
    """What the endpoint at one path shares (`SessionSharing`)."""

    def __init__(self, shared: SharedSessions, path: str) -> None:
        self._shared = shared
        self._path = path

    def __repr__(self) -> str:
        return f"<PathSharing of {self._path}>"

    def new_id(self) -> str:
        return self._shared.ids.new()

    def closed(self, session: HttpSessionPeer, *, is_over: bool) -> None:
        self._shared.writer.closed(session, is_over=is_over)

    def log(self, session: HttpSessionPeer, entry: StreamEntry) -> None:
        self._shared.writer.log(session, entry)

    def is_elsewhere(self, frame: Frame) -> bool:
        return self._shared.owner_of_stateless(frame) is not None

    @property
    def is_parking(self) -> bool:
        return self._shared.handovers.is_parking

    async def serve(self, endpoint: StreamableHttp, exchange: AsgiExchange, body: bytes) -> None:
        if _SESSION_HEADER in exchange.headers:
            await self._shared.serve(self._path, endpoint, exchange, body)
        else:
            await self._shared.serve_stateless(endpoint, exchange, body)
