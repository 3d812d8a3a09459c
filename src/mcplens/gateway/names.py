"""Published names: what a tool or prompt of a server is called for the clients of a view. Pure.

A published name depends on the configuration and on its owner alone, as far as that is possible:
another server cannot take it over or change it. Called by catalog.py.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

import msgspec

from mcplens.config.views import PUBLISHED_NAME, Separator

MAX_LENGTH: Final = 64
# Eight hexadecimal digits: two names of one server collide once in four billion pairs.
_HASH_LENGTH: Final = 8
_NOT_ALLOWED: Final = re.compile(r"[^A-Za-z0-9_.-]")
_NOT_ALLOWED_BUT_COLON: Final = re.compile(r"[^A-Za-z0-9_.:-]")
# The separator by which any name is accepted, whatever is published.
ALWAYS_ACCEPTED: Final = ":"


class Original(NamedTuple):
    """A tool or prompt as its server names it."""

    server_id: str
    name: str

    @property
    def qualified(self) -> str:
        """`id:name`, which is accepted in every view."""
        return f"{self.server_id}{ALWAYS_ACCEPTED}{self.name}"


class NameTable(msgspec.Struct, frozen=True):
    """The published names of one view, both ways, and what is worth reporting about them."""

    published: dict[Original, str]
    owners: dict[str, Original]
    problems: tuple[str, ...] = ()

    def resolve(self, name: str) -> Original | None:
        """The original that a client means by a published name or by `id:name`."""
        owner = self.owners.get(name)
        if owner is not None:
            return owner
        # A server id may have a colon itself, so every split is tried.
        at = name.find(ALWAYS_ACCEPTED)
        while at >= 0:
            original = Original(name[:at], name[at + 1 :])
            if original in self.published:
                return original
            at = name.find(ALWAYS_ACCEPTED, at + 1)
        return None


def publish_names(
    originals: Sequence[Original],
    server_ids: Iterable[str],
    *,
    separator: Separator = "__",
    rename: Mapping[str, str] | None = None,
) -> NameTable:
    """Give each original its published name.

    `server_ids` are all configured servers, connected or not: a name that could be read as another
    server's gets a hash, whether that server is there or not.
    """
    renames = rename or {}
    known = tuple(server_ids)
    unique = list(dict.fromkeys(originals))
    problems: list[str] = []
    if len(unique) < len(originals):
        counts = Counter(originals)
        repeated = [one.qualified for one, count in counts.items() if count > 1]
        problems.append(f"listed twice, the first is published: {', '.join(repeated)}")
    shared = Counter(one.name for one in unique)
    published: dict[Original, str] = {}
    owners: dict[str, Original] = {}
    # What a user chose comes first, so that no server can be in its way.
    for original in [*_renamed(unique, renames), *_others(unique, renames)]:
        name = renames.get(original.qualified)
        if name is not None and name in owners:
            problems.append(
                f"{original.qualified} is not renamed: {owners[name].qualified} is called {name}"
            )
            name = None
        if name is None:
            is_shared = shared[original.name] > 1
            name = _natural_name(original, known, separator, is_shared=is_shared)
        if name in owners:
            hashed = with_hash(name, original)
            problems.append(
                f"{original.qualified} is published as {hashed}, "
                f"since {owners[name].qualified} is called {name}"
            )
            name = hashed
        published[original], owners[name] = name, original
    in_order = {original: published[original] for original in unique}
    return NameTable(in_order, owners, tuple(problems))


def _renamed(originals: Sequence[Original], renames: Mapping[str, str]) -> list[Original]:
    return [one for one in originals if one.qualified in renames]


def _others(originals: Sequence[Original], renames: Mapping[str, str]) -> list[Original]:
    return [one for one in originals if one.qualified not in renames]


def _natural_name(
    original: Original, server_ids: Sequence[str], separator: Separator, *, is_shared: bool
) -> str:
    if separator == "none":
        if not is_shared:
            return fit(original.name, original)
        separator = "__"
    name = f"{original.server_id}{separator}{original.name}"
    # `a` + `b__c` and `a__b` + `c` would both be a__b__c.
    is_ambiguous = any(
        name.startswith(f"{other}{separator}") and other != original.server_id
        for other in server_ids
    )
    name = fit(name, original, allows_colon=separator == ":")
    return with_hash(name, original) if is_ambiguous else name


def fit(name: str, original: Original, *, allows_colon: bool = False) -> str:
    """A name as clients accept it; one that had to be changed ends in a hash of the original."""
    pattern = _NOT_ALLOWED_BUT_COLON if allows_colon else _NOT_ALLOWED
    replaced = pattern.sub("_", name)
    if replaced == name and 1 <= len(name) <= MAX_LENGTH:
        return name
    return with_hash(replaced, original)


def with_hash(name: str, original: Original) -> str:
    """A name made different from all others by a hash of what it stands for."""
    key = f"{len(original.server_id)}:{original.server_id}{original.name}".encode(
        "utf-8", "surrogatepass"
    )
    digest = hashlib.sha256(key).hexdigest()[:_HASH_LENGTH]
    return f"{name[: MAX_LENGTH - _HASH_LENGTH - 1]}_{digest}"


def is_publishable(name: str) -> bool:
    """Whether every client accepts this name."""
    return PUBLISHED_NAME.fullmatch(name) is not None
