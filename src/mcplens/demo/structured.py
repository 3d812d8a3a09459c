"""Structured results: data beside the text, and the schema that it keeps to."""

from __future__ import annotations

from typing import Final

import msgspec

from mcplens.demo.registry import Json, text, tool
from mcplens.demo.request_context import RequestContext

_WEATHER: Final = {
    "type": "object",
    "properties": {
        "city": {"type": "string"},
        "temperature": {"type": "number", "description": "In degrees Celsius."},
        "conditions": {"type": "string", "enum": ["sunny", "cloudy", "rain"]},
        "hours": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"hour": {"type": "integer"}, "temperature": {"type": "number"}},
                "required": ["hour", "temperature"],
            },
        },
    },
    "required": ["city", "temperature", "conditions"],
}


@tool(
    "structured-weather",
    "Structured content with an output schema; the text has the same as JSON, for older clients.",
    {"city": {"type": "string", "default": "Bern"}},
    title="Weather (made up)",
    outputSchema=_WEATHER,
)
async def weather(context: RequestContext) -> Json:
    city = str(context.arguments.get("city", "Bern"))
    warmth = 10 + len(city)
    report = {
        "city": city,
        "temperature": warmth,
        "conditions": "sunny",
        "hours": [{"hour": hour, "temperature": warmth + hour / 10} for hour in (9, 12, 15)],
    }
    return text(msgspec.json.encode(report).decode(), structuredContent=report)


@tool("structured-free", "Structured content without any schema: shown, but checked by nobody.")
async def free(context: RequestContext) -> Json:
    return text("see the structured content", structuredContent={"deep": {"list": [1, [2, [3]]]}})
