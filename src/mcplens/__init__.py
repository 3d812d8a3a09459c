"""mcplens: see, drive and serve MCP servers. `async with mcplens.connect(target) as client:`

Names are loaded on first use, so that `import mcplens` is fast.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mcplens.app import connect as connect
    from mcplens.app import connect_client as connect_client
    from mcplens.app import create_http_transport as create_http_transport
    from mcplens.app import create_mcp_client as create_mcp_client
    from mcplens.app import create_memory_transport as create_memory_transport
    from mcplens.app import create_proxy_transport as create_proxy_transport
    from mcplens.app import create_stdio_transport as create_stdio_transport
    from mcplens.app import disconnect_client as disconnect_client
    from mcplens.bus import Bus as Bus
    from mcplens.downstream.creation import (
        create_multi_server_client as create_multi_server_client,
    )
    from mcplens.downstream.creation import create_server_connection as create_server_connection
    from mcplens.downstream.multi_server import MultiServerClient as MultiServerClient
    from mcplens.downstream.result import Failure as Failure
    from mcplens.downstream.result import Success as Success
    from mcplens.downstream.server_connection import ServerConnection as ServerConnection
    from mcplens.downstream.status import ServerStatus as ServerStatus
    from mcplens.errors import ConfigurationError as ConfigurationError
    from mcplens.errors import ConnectError as ConnectError
    from mcplens.errors import HttpError as HttpError
    from mcplens.errors import InspectorError as InspectorError
    from mcplens.errors import ProtocolError as ProtocolError
    from mcplens.errors import ServerError as ServerError
    from mcplens.errors import SkillMismatch as SkillMismatch
    from mcplens.errors import TimeoutExpired as TimeoutExpired
    from mcplens.protocol.frames import Frame as Frame
    from mcplens.protocol.frames import Malformed as Malformed
    from mcplens.protocol.lifecycle import ConnectionState as ConnectionState
    from mcplens.protocol.result_types import Tool as Tool
    from mcplens.protocol.result_types import ToolResult as ToolResult
    from mcplens.protocol.roots import Root as Root
    from mcplens.protocol.skills import Skill as Skill
    from mcplens.protocol.tasks import Task as Task
    from mcplens.session.client import Client as Client
    from mcplens.session.config import ConnectionConfig as ConnectionConfig
    from mcplens.session.config import HandlerConfig as HandlerConfig
    from mcplens.session.config import RetryConfig as RetryConfig
    from mcplens.session.elicitation import ElicitationHandler as ElicitationHandler
    from mcplens.session.profiles import Profiles as Profiles
    from mcplens.session.profiles import register_profile as register_profile
    from mcplens.session.question_handler import PendingRequest as PendingRequest
    from mcplens.session.question_handler import Profile as Profile
    from mcplens.session.question_handler import ServerRequest as ServerRequest
    from mcplens.session.queue import QueueEntry as QueueEntry
    from mcplens.session.queue import QueueStatus as QueueStatus
    from mcplens.session.queue import RequestQueue as RequestQueue
    from mcplens.session.queue import create_request_queue as create_request_queue
    from mcplens.session.results import Reply as Reply
    from mcplens.session.sampling import SamplingHandler as SamplingHandler
    from mcplens.session.skills import SkillBudget as SkillBudget
    from mcplens.sync_client import SyncClient as SyncClient
    from mcplens.sync_client import connect_sync as connect_sync
    from mcplens.version import VERSION as __version__

_HOMES = {
    "Bus": "bus",
    "Client": "session.client",
    "ConfigurationError": "errors",
    "ConnectError": "errors",
    "ConnectionConfig": "session.config",
    "ConnectionState": "protocol.lifecycle",
    "ElicitationHandler": "session.elicitation",
    "Failure": "downstream.result",
    "Frame": "protocol.frames",
    "HandlerConfig": "session.config",
    "HttpError": "errors",
    "InspectorError": "errors",
    "Malformed": "protocol.frames",
    "MultiServerClient": "downstream.multi_server",
    "PendingRequest": "session.question_handler",
    "Profile": "session.question_handler",
    "Profiles": "session.profiles",
    "ProtocolError": "errors",
    "QueueEntry": "session.queue",
    "QueueStatus": "session.queue",
    "Reply": "session.results",
    "RequestQueue": "session.queue",
    "RetryConfig": "session.config",
    "Root": "protocol.roots",
    "SamplingHandler": "session.sampling",
    "ServerConnection": "downstream.server_connection",
    "ServerError": "errors",
    "ServerRequest": "session.question_handler",
    "ServerStatus": "downstream.status",
    "Skill": "protocol.skills",
    "SkillBudget": "session.skills",
    "SkillMismatch": "errors",
    "Success": "downstream.result",
    "SyncClient": "sync_client",
    "Task": "protocol.tasks",
    "TimeoutExpired": "errors",
    "Tool": "protocol.result_types",
    "ToolResult": "protocol.result_types",
    "connect": "app",
    "connect_client": "app",
    "connect_sync": "sync_client",
    "create_http_transport": "app",
    "create_mcp_client": "app",
    "create_memory_transport": "app",
    "create_multi_server_client": "downstream.creation",
    "create_proxy_transport": "app",
    "create_request_queue": "session.queue",
    "create_server_connection": "downstream.creation",
    "create_stdio_transport": "app",
    "disconnect_client": "app",
    "register_profile": "session.profiles",
}

__all__ = [*_HOMES, "__version__"]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return import_module("mcplens.version").VERSION
    if name in _HOMES:
        return getattr(import_module(f"mcplens.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'mcplens' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
