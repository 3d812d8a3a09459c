"""Commands that answer what a server asks, and those about roots and tasks."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Final

from mcplens.workspace.workspace import Workspace

CARRIERS: Final[dict[type, Callable[[Workspace, Any], Awaitable[Any]]]] = {}
