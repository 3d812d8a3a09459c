"""What the demo offers: tools and methods, written down beside the functions that do them.

Each feature's file fills these tables when it is imported (features.py imports them all).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from mcplens.protocol.eras import Era

if TYPE_CHECKING:
    from mcplens.demo.call import Call

Json = dict[str, Any]
Work = Callable[["Call"], Awaitable[Json]]

# Where a tool's definition says which feature it shows; the name of the feature's file.
FEATURE: Final = "mcplens/feature"


class Fault(Exception):
    """Answer the request with this JSON-RPC error."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code = code
        self.data = data


class Failure(Exception):
    """The tool failed, and its result says why (`isError`); elsewhere it is an error."""


class Answered(Exception):
    """The work has seen to the answer itself, or wants none to be sent."""


@dataclass(frozen=True)
class Tool:
    definition: Json
    work: Work
    checks_itself: bool  # its arguments are not checked against its schema beforehand

    @property
    def task_support(self) -> str:
        return str(self.definition.get("execution", {}).get("taskSupport", "forbidden"))


@dataclass(frozen=True)
class Method:
    work: Work
    eras: frozenset[Era]


TOOLS: dict[str, Tool] = {}
METHODS: dict[str, Method] = {}


def tool(
    name: str,
    description: str,
    properties: Mapping[str, Any] | None = None,
    *,
    required: tuple[str, ...] = (),
    schema: Mapping[str, Any] | None = None,
    checks_itself: bool = False,
    **more: Any,
) -> Callable[[Work], Work]:
    """Offer a tool; `more` is the rest of its definition (title, outputSchema, annotations …)."""
    whole: Json = {"type": "object", "properties": dict(properties or {}), **(schema or {})}
    if required:
        whole["required"] = list(required)

    def offer(work: Work) -> Work:
        feature = work.__module__.rpartition(".")[2]
        definition = {"name": name, "description": description, "inputSchema": whole, **more}
        definition["_meta"] = {FEATURE: feature}
        TOOLS[name] = Tool(definition, work, checks_itself)
        return work

    return offer


def method(name: str, *eras: Era) -> Callable[[Work], Work]:
    """Offer a method, in both eras unless one is named."""

    def offer(work: Work) -> Work:
        METHODS[name] = Method(work, frozenset(eras or Era))
        return work

    return offer


def text(words: str, **more: Any) -> Json:
    """A tool's result that is one text."""
    return {"content": [{"type": "text", "text": words}], **more}


def failure(words: str) -> Json:
    """A tool's result that says that it failed, for the model to read."""
    return text(words, isError=True)
