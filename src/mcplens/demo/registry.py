"""The tools and methods of the demo, registered by decorators on the functions that implement them.

Each feature's module fills these tables when it is imported; `load_features` imports them all.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from mcplens.protocol.eras import Era

if TYPE_CHECKING:
    from mcplens.demo.request_context import RequestContext

Json = dict[str, Any]
Work = Callable[["RequestContext"], Awaitable[Json]]

# Where a tool's definition says which feature it shows; the name of the feature's file.
FEATURE: Final = "mcplens/feature"


class Fault(Exception):
    """Answer the request with this JSON-RPC error."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code = code
        self.data = data


class ToolFailure(Exception):
    """The tool failed, and its result says why (`isError`); elsewhere it is an error."""


class Answered(Exception):
    """The answer was already sent, or none is to be sent."""


@dataclass(frozen=True)
class DemoTool:
    definition: Json
    work: Work
    checks_itself: bool  # its arguments are not checked against its schema beforehand

    @property
    def task_support(self) -> str:
        return str(self.definition.get("execution", {}).get("taskSupport", "forbidden"))


@dataclass(frozen=True)
class DemoMethod:
    work: Work
    eras: frozenset[Era]


TOOLS: dict[str, DemoTool] = {}
METHODS: dict[str, DemoMethod] = {}

# The modules of this package that offer tools, in the order in which the tools are listed. Those
# that conformance suites look for, which read one page, are on the first.
WITH_TOOLS: Final = (
    "basics", "forms", "headers", "content", "structured", "annotations", "failures", "progress",
    "logs", "cancellation", "changes", "subscriptions", "sampling", "elicitation",
    "elicitation_url", "roots", "questions", "task_tools", "client_tasks", "reconnection", "apps",
    "broken", "broken_wire", "broken_list",
)  # fmt: skip
_WITH_METHODS: Final = (
    "completion", "experimental", "handshake", "lists", "logs", "prompts", "resources", "skills",
    "subscriptions", "task_extension", "task_methods", "templates", "tool_calls",
)  # fmt: skip


def load_features() -> None:
    """Import every feature, so that the tables are complete and in order."""
    for name in (*WITH_TOOLS, *_WITH_METHODS):
        import_module(f"mcplens.demo.{name}")
    places = {name: place for place, name in enumerate(WITH_TOOLS)}
    ordered = sorted(TOOLS.items(), key=lambda item: places[item[1].definition["_meta"][FEATURE]])
    TOOLS.clear()
    TOOLS.update(ordered)


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
        definition["_meta"] = {FEATURE: feature, **more.get("_meta", {})}
        TOOLS[name] = DemoTool(definition, work, checks_itself)
        return work

    return offer


def method(name: str, *eras: Era) -> Callable[[Work], Work]:
    """Offer a method, in both eras unless one is named."""

    def offer(work: Work) -> Work:
        METHODS[name] = DemoMethod(work, frozenset(eras or Era))
        return work

    return offer


def text(words: str, **more: Any) -> Json:
    """A tool's result that is one text."""
    return {"content": [{"type": "text", "text": words}], **more}


def failure(words: str) -> Json:
    """A tool's result that says that it failed, for the model to read."""
    return text(words, isError=True)
