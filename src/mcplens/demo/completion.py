"""Completion of arguments: of prompts and of resource templates."""

from __future__ import annotations

from typing import Any

from mcplens.demo.prompts import PROMPTS
from mcplens.demo.registry import Fault, Json, method
from mcplens.demo.request_context import RequestContext
from mcplens.demo.templates import TEMPLATES, Values
from mcplens.inbound.refusal import INVALID_PARAMS

# The specification's limit.
_MOST_VALUES = 100


@method("completion/complete")
async def complete(context: RequestContext) -> Json:
    argument = context.params.get("argument")
    if not isinstance(argument, dict) or not isinstance(argument.get("name"), str):
        raise Fault(INVALID_PARAMS, "argument.name is missing")
    given = context.params.get("context")
    others = given.get("arguments") if isinstance(given, dict) else None
    choices = _choices(context.params.get("ref"), argument["name"], others or {})
    typed = str(argument.get("value", "")).lower()
    values = [choice for choice in choices if choice.lower().startswith(typed)]
    return {
        "completion": {
            "values": values[:_MOST_VALUES],
            "total": len(values),
            "hasMore": len(values) > _MOST_VALUES,
        }
    }


def _choices(ref: Any, argument: str, others: Values) -> tuple[str, ...]:
    kind = ref.get("type") if isinstance(ref, dict) else None
    if kind == "ref/prompt" and ref.get("name") in PROMPTS:
        choose = PROMPTS[ref["name"]].choices.get(argument)
    elif kind == "ref/resource":
        uri = ref.get("uri")
        found = next((item for item in TEMPLATES if item.definition["uriTemplate"] == uri), None)
        if found is None:
            raise Fault(INVALID_PARAMS, f"there is no template {uri!r}")
        choose = found.choices.get(argument)
    else:
        raise Fault(INVALID_PARAMS, f"there is nothing to complete for {ref!r}")
    return choose(others) if choose is not None else ()
