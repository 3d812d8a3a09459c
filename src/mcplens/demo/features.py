"""The features in the order in which their tools are listed; each is a file of this package."""

from __future__ import annotations

from importlib import import_module
from typing import Final

from mcplens.demo.registry import FEATURE, TOOLS

WITH_TOOLS: Final = (
    "basics", "forms", "content", "structured", "annotations", "failures", "progress", "logs",
    "cancellation", "changes", "subscriptions", "sampling", "elicitation", "elicitation_url",
    "roots", "questions", "task_tools", "client_tasks", "reconnection", "headers", "broken",
    "broken_wire", "broken_list",
)  # fmt: skip
_WITH_METHODS: Final = (
    "calling", "completion", "experimental", "handshake", "listening", "lists", "logs", "prompts",
    "resources", "task_extension", "task_methods", "templates",
)  # fmt: skip


def load() -> None:
    """Import every feature, so that the registry is full and in order."""
    for name in (*WITH_TOOLS, *_WITH_METHODS):
        import_module(f"mcplens.demo.{name}")
    places = {name: place for place, name in enumerate(WITH_TOOLS)}
    ordered = sorted(TOOLS.items(), key=lambda item: places[item[1].definition["_meta"][FEATURE]])
    TOOLS.clear()
    TOOLS.update(ordered)
