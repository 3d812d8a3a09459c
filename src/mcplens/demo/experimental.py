"""An experimental capability, and the method that it stands for: try it with a raw request."""

from __future__ import annotations

from typing import Final

from mcplens.demo.registry import Fault, Json, method
from mcplens.demo.request_context import RequestContext
from mcplens.inbound.refusal import INVALID_PARAMS

EXPERIMENTAL: Final[Json] = {
    "mcplens/shout": {
        "description": "Makes a text loud.",
        "methods": ["mcplens/shout"],
    }
}


@method("mcplens/shout")
async def shout(context: RequestContext) -> Json:
    words = context.params.get("text")
    if not isinstance(words, str):
        raise Fault(INVALID_PARAMS, "text is missing")
    return {"text": words.upper() + "!"}
