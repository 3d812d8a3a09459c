"""What is known of the replicas of a gateway: the store, this replica, the others, those gone.

Put into words and values here, for `/status` and for the page, which work nothing out. Called by
operation_pages.py and by web/api/gateway.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import msgspec

from mcplens.gateway.replica_configurations import differing_parts
from mcplens.replicas.replica import Presence, Replica
from mcplens.replicas.state_store import StateStore, StoreStatus

if TYPE_CHECKING:
    from mcplens.gateway.gateway import Gateway


class SharedStore(msgspec.Struct, frozen=True):
    """The store that replicas share; `reason` says why it is not `up`.

    `last_problem` is what was wrong with it last, at `last_problem_at`; null if nothing was.
    """

    name: str
    status: StoreStatus
    since: float
    reason: str | None
    last_problem: str | None
    last_problem_at: float | None


class KnownReplica(msgspec.Struct, frozen=True):
    """A replica as this one sees it; `since` is when it started, or when it was found to be gone.

    `differs_in` has the parts of its configuration that are not as here, by their names in the
    file; it is empty, too, where a replica of another version does not tell them.
    """

    id: str
    name: str
    address: str
    version: str
    state: Literal["serving", "leaving", "gone"]
    since: float
    configuration: str
    has_same_configuration: bool
    differs_in: list[str]


class ReplicaStatus(msgspec.Struct, frozen=True):
    """The replicas of a gateway, and whether they count calls together now.

    While the store is not `up`, `others` are those that were last seen.
    """

    store: SharedStore
    this: KnownReplica
    others: list[KnownReplica]
    gone: list[KnownReplica]
    are_limits_shared: bool


def replica_status(gateway: Gateway) -> ReplicaStatus:
    replica = gateway.replica
    others = sorted(replica.others.values(), key=lambda one: one.name)
    return ReplicaStatus(
        _store(replica.store),
        _known(replica, replica.presence),
        [_known(replica, one) for one in others],
        [_known(replica, one.presence, one.at) for one in replica.gone.values()],
        gateway.call_limits.mode == "shared",
    )


def _store(store: StateStore) -> SharedStore:
    state, last = store.state, store.last_problem
    return SharedStore(
        store.name,
        state.status,
        state.since,
        state.reason or None,
        None if last is None else last.reason,
        None if last is None else last.since,
    )


def _known(replica: Replica, one: Presence, gone_at: float | None = None) -> KnownReplica:
    serving: Literal["serving", "leaving"] = "leaving" if one.is_leaving else "serving"
    is_same = one.configuration == replica.configuration
    return KnownReplica(
        one.id,
        one.name,
        one.address,
        one.version,
        serving if gone_at is None else "gone",
        one.since if gone_at is None else gone_at,
        one.configuration,
        is_same,
        [] if is_same else differing_parts(replica.parts, one.parts),
    )
