"""What the client declares to the server; and with that, what it handles.

The user chooses: by the handlers that are on, and word for word where `capabilities` says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from mcplens.protocol.apps import UI_EXTENSION, UI_SETTINGS
from mcplens.protocol.eras import SKILLS_EXTENSION

TASKS_EXTENSION: Final = "io.modelcontextprotocol/tasks"
# Declared by the surfaces that have a person: the web UI and the command line.
EXTENSIONS: Final[dict[str, Any]] = {
    TASKS_EXTENSION: {},
    UI_EXTENSION: UI_SETTINGS,
    SKILLS_EXTENSION: {},
}
# Declared by every client that did not choose its extensions: some servers list skills to no
# other client.
OWN_EXTENSIONS: Final[dict[str, Any]] = {SKILLS_EXTENSION: {}}

SAMPLING: Final[dict[str, Any]] = {"tools": {}, "context": {}}
ELICITATION: Final[dict[str, Any]] = {"form": {}, "url": {}}
ROOTS: Final[dict[str, Any]] = {"listChanged": True}
RECEIVER_TASKS: Final[dict[str, Any]] = {
    "list": {},
    "cancel": {},
    "requests": {"sampling": {"createMessage": {}}, "elicitation": {"create": {}}},
}

# Where a method is named among the requests that may be made as tasks.
_TASK_PATHS: Final = {
    "sampling/createMessage": ("requests", "sampling", "createMessage"),
    "elicitation/create": ("requests", "elicitation", "create"),
    "tasks/list": ("list",),
    "tasks/cancel": ("cancel",),
    "tasks/get": (),
    "tasks/result": (),
}


def declared(
    handled: Mapping[str, Any], foreign: set[str], chosen: Mapping[str, Any]
) -> dict[str, Any]:
    """The capabilities to declare.

    `handled` are those of the client's own handlers that are on, `foreign` those that a handler of
    the user's amounts to. What was chosen word for word wins; None takes a capability away.
    Nothing is offered as a task that is not offered at all.
    """
    found: dict[str, Any] = {
        name: {"form": {}} if name == "elicitation" else {} for name in sorted(foreign)
    }
    found |= handled
    found |= chosen
    if "tasks" in handled and "tasks" not in chosen:
        found["tasks"] = _tasks_of(handled["tasks"], found)
    return {name: value for name, value in found.items() if value is not None}


def _tasks_of(tasks: Mapping[str, Any], capabilities: Mapping[str, Any]) -> dict[str, Any] | None:
    """Those of the requests that are answered at all; None if there is none."""
    requests = {
        name: methods
        for name, methods in tasks["requests"].items()
        if capabilities.get(name) is not None
    }
    return {**tasks, "requests": requests} if requests else None


def declares_tasks(capabilities: Mapping[str, Any], method: str) -> bool:
    """Whether a method may be made as a task, or is one of those that are asked of tasks."""
    have: Any = capabilities.get("tasks")
    for key in _TASK_PATHS.get(method, ("",)):
        have = have.get(key) if isinstance(have, Mapping) else None
    return have is not None and have is not False


def for_stateless(capabilities: Mapping[str, Any]) -> dict[str, Any]:
    """As 2026-07-28 has them: tasks are an extension, and changed roots are not notified."""
    kept = {name: value for name, value in capabilities.items() if name != "tasks"}
    if isinstance(kept.get("roots"), Mapping):
        kept["roots"] = {key: value for key, value in kept["roots"].items() if key != "listChanged"}
    return kept
