"""What the subjects in api/ register: a function for each command, and for each kind of object the
function that makes its latest view.

The annotations of a function say which command it takes and what the reply carries; dispatch.py
and typescript.py take it from there.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Final, TypeVar, get_type_hints

import msgspec
from msgspec import Raw

from mcplens.workspace.workspace import ObjectKind, Workspace

# A field of any JSON that was left out.
NOTHING: Final = Raw(b"")


class Command(msgspec.Struct, frozen=True, tag=True, tag_field="type", kw_only=True):
    """`id` is chosen by the page; CommandReply and Failure repeat it."""

    id: int


C = TypeVar("C", bound=Command)
V = TypeVar("V")
# Takes the workspace and the command; returns the value of the CommandReply, or raises an
# InspectorError, which becomes the Failure.
Handler = Callable[[Workspace, C], Awaitable[V]]
# The workspace and the object's key; None for an object that is gone.
LatestView = Callable[[Workspace, str], V]

HANDLERS: Final[dict[type[Command], Handler[Any, Any]]] = {}
LATEST_VIEWS: Final[dict[ObjectKind, LatestView[Any]]] = {}


def command(handler: Handler[C, V]) -> Handler[C, V]:
    """Carry out commands of the type that the parameter `command` of this function has."""
    kind = get_type_hints(handler)["command"]
    assert kind not in HANDLERS, f"two functions carry out {kind.__name__}"
    HANDLERS[kind] = handler
    return handler


def latest_view(what: ObjectKind) -> Callable[[LatestView[V]], LatestView[V]]:
    """Make views of this kind of object with the function, when one of them changed."""

    def register(view: LatestView[V]) -> LatestView[V]:
        LATEST_VIEWS[what] = view
        return view

    return register


def returned_type(function: Callable[..., Any]) -> Any:
    """What a function is annotated to return (an async one: what it gives when awaited)."""
    return get_type_hints(function)["return"]
