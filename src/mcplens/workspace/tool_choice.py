"""A profile that a person calls on for one question, steered by the tool choice that he made.

The server's request is shown to the profile with that choice; what goes back is judged by the
request as it came. Called by replying.py.
"""

from __future__ import annotations

from typing import Any, Final, Literal

import msgspec

from mcplens.errors import InspectorError
from mcplens.protocol import sampling
from mcplens.session.profiles import Profiles, TestingProfile
from mcplens.session.question_handler import ServerRequest

ToolChoice = Literal["auto", "none", "required", "specific"]

# Does something sensible with every question; no entry can be called this by a profile's name.
AUTO: Final = "auto"
_AUTO_LIKE: Final[dict[str, Any]] = {"kind": "tool-use", "elicitation": "accept"}


class ProfileOptions(msgspec.Struct, frozen=True):
    """What a person chose beside the profile; None leaves it as the server asked."""

    tool_choice: ToolChoice | None = None
    tool: str | None = None  # which one `specific` means
    force: bool = False


def find_profile(name: str, profiles: Profiles) -> TestingProfile:
    """A profile by its name, `auto` among them.

    Raises:
        ConfigurationError: there is none.
    """
    if name == AUTO and AUTO not in profiles.names():
        return profiles.make(AUTO, _AUTO_LIKE)
    return profiles.get(name)


async def answer_with_tool_choice(
    profile: TestingProfile, request: ServerRequest, steering: ProfileOptions, profiles: Profiles
) -> Any:
    """What the profile answers; None if it leaves that to a person.

    Raises:
        InspectorError: the choice cannot be met, or the profile's own error.
    """
    choice = steering.tool_choice
    if choice is None or request.method != "sampling/createMessage":
        return await profile.answer(request)
    steered = msgspec.structs.replace(request, params=_steered(request.params, steering))
    answer = await profile.answer(steered)
    is_call_wanted = choice in ("required", "specific")
    if answer is None or not is_call_wanted or _calls_tool(answer):
        return answer
    # This profile speaks; somebody wants to see a tool called.
    by_tool = profiles.make(profile.name, _AUTO_LIKE)
    return await by_tool.answer(_as_first_round(steered))


def _steered(params: Any, steering: ProfileOptions) -> dict[str, Any]:
    offered = sampling.offered_tools(params)
    wanted = params if isinstance(params, dict) else {}
    choice = steering.tool_choice
    if choice in ("required", "specific") and not offered:
        raise _not_possible("the server offers no tool that could be called")
    if choice == "specific":
        names = [tool["name"] for tool in offered]
        if steering.tool not in names:
            raise _not_possible(f"choose the tool to call: {', '.join(names)}")
        chosen = [tool for tool in offered if tool["name"] == steering.tool]
        return {**wanted, "tools": chosen, "toolChoice": {"mode": "required"}}
    return {**wanted, "toolChoice": {"mode": choice}} if offered else wanted


def _as_first_round(request: ServerRequest) -> ServerRequest:
    """Without results that would make a profile use words; its ids stay those of all messages."""
    messages = request.params.get("messages")
    kept = [*(messages if isinstance(messages, list) else ()), {"role": "user", "content": []}]
    return msgspec.structs.replace(request, params={**request.params, "messages": kept})


def _calls_tool(answer: Any) -> bool:
    content = answer.get("content") if isinstance(answer, dict) else None
    blocks = content if isinstance(content, list) else [content]
    return any(isinstance(each, dict) and each.get("type") == "tool_use" for each in blocks)


def _not_possible(text: str) -> InspectorError:
    return InspectorError("INVALID_REQUEST", text)
