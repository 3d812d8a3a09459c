"""MCP Apps: one that uses every message of the dialect, and one that stays blank.

Neither makes requests to other hosts: the blank one names a host that does not exist, and the
policy stops it before that. A client that does not declare the extension sees no `_meta.ui`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from mcplens.demo.registry import Json, text, tool
from mcplens.demo.request_context import RequestContext
from mcplens.demo.resources import Contents, resource
from mcplens.protocol.apps import APP_MIME_TYPE, UI_EXTENSION

# What the server declares.
UI: Final[Json] = {UI_EXTENSION: {}}
EVERYTHING: Final = "ui://demo/everything"
BLANK: Final = "ui://demo/blank"


def for_client(context: RequestContext, definition: Json) -> Json:
    """A tool's definition as this client may see it: with its app only if it can show apps."""
    meta = definition.get("_meta", {})
    if "ui" not in meta or context.declares("extensions", UI_EXTENSION):
        return definition
    return {**definition, "_meta": {key: meta[key] for key in meta if key != "ui"}}


@tool(
    "app-everything",
    "Has an app with a button for each message that an app can send, and a list of those that it "
    "received.",
    {"greeting": {"type": "string", "default": "Hello"}},
    title="App with every message",
    _meta={"ui": {"resourceUri": EVERYTHING}},
)
async def everything(context: RequestContext) -> Json:
    greeting = str(context.arguments.get("greeting", "Hello"))
    return text(f"{greeting} from the tool", structuredContent={"greeting": greeting})


@tool(
    "app-roll",
    "For the app alone: its visibility says so, and a model is not offered it.",
    {"sides": {"type": "integer", "minimum": 2, "maximum": 100, "default": 6}},
    title="Roll a die (for the app)",
    _meta={"ui": {"resourceUri": EVERYTHING, "visibility": ["app"]}},
)
async def roll(context: RequestContext) -> Json:
    sides = int(context.arguments.get("sides", 6))
    # The same for everybody, so that a test can expect it.
    return text(f"A die of {sides} sides shows {1 + 2 % sides}")


@tool(
    "app-secret",
    "For the model alone: an app that calls it is refused by the host.",
    title="Not for the app",
    _meta={"ui": {"visibility": ["model"]}},
)
async def secret(context: RequestContext) -> Json:
    return text("An app must not see this")


@tool(
    "app-blank",
    "Has an app that stays blank: its policy is declared on the tool, where hosts ignore it.",
    title="App that stays blank",
    _meta={
        "ui": {
            "resourceUri": BLANK,
            "csp": {"resourceDomains": ["https://cdn.mcplens.invalid"]},
        }
    },
)
async def blank(context: RequestContext) -> Json:
    return text("The app shows this, if it shows anything")


def _page(name: str, ui: Json) -> Json:
    page = Path(__file__).with_name(name).read_text(encoding="utf-8")
    return {"text": page, "_meta": {"ui": ui}}


@resource(EVERYTHING, "app-everything", APP_MIME_TYPE, "The app of the tool app-everything.")
def _everything(context: RequestContext) -> Contents:
    asked: Any = {"clipboardWrite": {}, "geolocation": {}}
    ui: Any = {"prefersBorder": True, "permissions": asked}
    return _page("app_everything.html", ui)


@resource(BLANK, "app-blank", APP_MIME_TYPE, "The app of the tool app-blank.")
def _blank(context: RequestContext) -> Contents:
    return _page("app_blank.html", {})
