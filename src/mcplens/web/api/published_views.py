"""What each view of the gateway publishes and hides, for the page that asks: it can be large."""

from __future__ import annotations

from typing import Final

import msgspec

from mcplens.gateway.service import GatewayService
from mcplens.gateway.view_handler import ViewHandler
from mcplens.web.api.gateway import running_gateway
from mcplens.web.registry import Command, command
from mcplens.workspace.workspace import Workspace

# Enough to see a pattern; the counts are of all.
_MOST_HIDDEN: Final = 500


class HiddenView(msgspec.Struct, frozen=True):
    """Something that a view does not show, and why."""

    kind: str
    server_id: str
    name: str
    reason: str


class PublishedView(msgspec.Struct, frozen=True):
    """A view at its path. The one without a name shows everything.

    `hidden` has the first of what it does not show, `hidden_count` counts all; `problems` says
    which names collided or were left out.
    """

    name: str
    path: str
    url: str | None
    has_own_token: bool
    tools: int
    prompts: int
    resources: int
    hidden: list[HiddenView]
    hidden_count: int
    problems: list[str]


class PublishedViews(Command, frozen=True, kw_only=True):
    """What each view publishes and hides."""


@command
async def published_views(workspace: Workspace, command: PublishedViews) -> list[PublishedView]:
    service = running_gateway(workspace)
    handlers = [one for one in service.gateway.handlers if isinstance(one, ViewHandler)]
    handlers.sort(key=lambda one: one.path)
    return [_published(service, handler) for handler in handlers]


def _published(service: GatewayService, handler: ViewHandler) -> PublishedView:
    catalog, view, address = handler.catalog, handler.view, service.address
    items = catalog.items
    hidden = [
        HiddenView(one.kind, one.server_id, one.name, one.reason)
        for one in catalog.hidden[:_MOST_HIDDEN]
    ]
    return PublishedView(
        view.name,
        handler.path,
        address.url(handler.path) if address is not None else None,
        view.token is not None,
        len(items["tools"]),
        len(items["prompts"]),
        len(items["resources"]) + len(items["resource_templates"]),
        hidden,
        len(catalog.hidden),
        list(catalog.problems)[:_MOST_HIDDEN],
    )
