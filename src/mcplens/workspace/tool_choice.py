"""Tool choice for answers by a testing profile: overrides what the server's request asks for.

The profile sees the sampling request with the person's tool choice; its answer is still validated
against the original request. Called by answers.py.
"""

from __future__ import annotations

from typing import Any, Final, Literal

import msgspec

from mcplens.errors import InspectorError
from mcplens.protocol import sampling
from mcplens.session.profiles import Profiles, TestingProfile
from mcplens.session.question_handler import ServerRequest

ToolChoice = Literal["auto", "none", "required", "specific"]

# A profile that can answer any question; used if no configured profile has this name.
AUTO: Final = "auto"
_AUTO_LIKE: Final[dict[str, Any]] = {"kind": "tool-use", "elicitation": "accept"}


class ProfileOptions(msgspec.Struct, frozen=True):
    """Options for one answer by a profile; a tool choice of None is that of the request."""

    tool_choice: ToolChoice | None = None
    tool: str | None = None  # which one `specific` means
    force: bool = False


def find_profile(name: str, profiles: Profiles) -> TestingProfile:
    """A profile by name, `auto` included.

    Raises:
        ConfigurationError: there is none.
    """
    if name == AUTO and AUTO not in profiles.names():
        return profiles.make(AUTO, _AUTO_LIKE)
    return profiles.get(name)


async def answer_with_tool_choice(
    profile: TestingProfile, request: ServerRequest, options: ProfileOptions, profiles: Profiles
) -> Any:
    """The answer of the profile; None if it leaves the question to a person.

    Raises:
        InspectorError: the tool choice is not possible, or the error of the profile.
    """
    choice = options.tool_choice
    if choice is None or request.method != "sampling/createMessage":
        return await profile.answer(request)
    with_choice = msgspec.structs.replace(request, params=_with_choice(request.params, options))
    answer = await profile.answer(with_choice)
    is_call_wanted = choice in ("required", "specific")
    if answer is None or not is_call_wanted or _calls_tool(answer):
        return answer
    # This profile answers with text, but a tool call is wanted.
    by_tool = profiles.make(profile.name, _AUTO_LIKE)
    return await by_tool.answer(_as_first_round(with_choice))


def _with_choice(params: Any, options: ProfileOptions) -> dict[str, Any]:
    offered = sampling.offered_tools(params)
    wanted = params if isinstance(params, dict) else {}
    choice = options.tool_choice
    if choice in ("required", "specific") and not offered:
        raise _not_possible("the request offers no tools to call")
    if choice == "specific":
        names = [tool["name"] for tool in offered]
        if options.tool not in names:
            raise _not_possible(f"choose the tool to call: {', '.join(names)}")
        chosen = [tool for tool in offered if tool["name"] == options.tool]
        return {**wanted, "tools": chosen, "toolChoice": {"mode": "required"}}
    return {**wanted, "toolChoice": {"mode": choice}} if offered else wanted


def _as_first_round(request: ServerRequest) -> ServerRequest:
    """With an empty last message: after tool results a profile would answer with text."""
    messages = request.params.get("messages")
    kept = [*(messages if isinstance(messages, list) else ()), {"role": "user", "content": []}]
    return msgspec.structs.replace(request, params={**request.params, "messages": kept})


def _calls_tool(answer: Any) -> bool:
    content = answer.get("content") if isinstance(answer, dict) else None
    blocks = content if isinstance(content, list) else [content]
    return any(isinstance(each, dict) and each.get("type") == "tool_use" for each in blocks)


def _not_possible(text: str) -> InspectorError:
    return InspectorError("INVALID_REQUEST", text)
