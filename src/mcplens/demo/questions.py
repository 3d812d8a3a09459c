"""Several questions in one call: a form, sampling and roots."""

from __future__ import annotations

from mcplens.demo.client_questions import ClientQuestion, ask_all
from mcplens.demo.elicitation import NAME_ONLY, accepted, form
from mcplens.demo.registry import Json, text, tool
from mcplens.demo.request_context import RequestContext
from mcplens.demo.sampling import question, spoken


@tool(
    "ask-everything",
    "Asks three things at once: a form, a model's answer and the roots. All must be answered "
    "before the call goes on.",
)
async def ask_everything(context: RequestContext) -> Json:
    answers = await ask_all(
        context,
        {
            "form": ClientQuestion("elicitation/create", form("What is your name?", NAME_ONLY)),
            "model": ClientQuestion("sampling/createMessage", question("Say something nice.", 50)),
            "roots": ClientQuestion("roots/list", {}),
        },
    )
    name = accepted(answers["form"], NAME_ONLY)["name"]
    count = len(answers["roots"].get("roots") or ())
    return text(f"{name} has {count} roots, and the model says: {spoken(answers['model'])}")
