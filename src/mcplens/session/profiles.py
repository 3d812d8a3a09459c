"""Testing profiles: named ways to answer the server's questions without a person.

    manual     leave it to a person              refuse     say no
    fixed      always this text                  delay      wait, then answer like another
    echo       the last thing the user said      script     one way after the other
    tool-use   call the tools that are offered   model      ask a model (see model.py)

Built in are those that need no settings; the rest come from the configuration's `profiles`. More
kinds: `register_profile`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

from mcplens.clock import Clock, SystemClock
from mcplens.errors import ConfigurationError, ServerError
from mcplens.protocol import elicitation, sampling
from mcplens.protocol.examples import example_object
from mcplens.session.handler import REJECTED, ServerRequest

# Answers a question; None leaves it to a person.
Way = Callable[[ServerRequest], Awaitable[Any]]
# Makes a way to answer sampling requests from a profile's settings.
Factory = Callable[["Settings"], Way]

# Profiles that name each other, or steps within steps, end here.
_DEEPEST: Final = 8

ACTIONS: Final = ("accept", "decline", "cancel")


class Settings:
    """What a profile says of itself, read key by key; and what a factory may need besides."""

    def __init__(
        self, name: str, values: Mapping[str, Any], profiles: Profiles, depth: int
    ) -> None:
        self.name = name
        self.clock = profiles.clock
        self._values = values
        self._profiles = profiles
        self._depth = depth

    def __repr__(self) -> str:  # values may hold keys
        return f"<Settings of {self.name}: {sorted(self._values)}>"

    def text(self, key: str, default: str | None = None) -> str:
        value = self._values.get(key, default)
        if not isinstance(value, str):
            raise self.problem(f"{key} has to be a text")
        return value

    def number(self, key: str, default: float | None = None) -> float:
        value = self._values.get(key, default)
        if isinstance(value, bool) or not isinstance(value, int | float) or value < 0:
            raise self.problem(f"{key} has to be a number, not below 0")
        return float(value)

    def flag(self, key: str) -> bool:
        value = self._values.get(key, False)
        if not isinstance(value, bool):
            raise self.problem(f"{key} has to be true or false")
        return value

    def items(self, key: str) -> list[Any]:
        value = self._values.get(key)
        if not isinstance(value, list) or not value:
            raise self.problem(f"{key} has to be a list that is not empty")
        return value

    def get(self, key: str, default: Any = None) -> Any:
        return self._values.get(key, default)

    def way(self, like: Any) -> Way:
        """Another way to answer: the name of a profile, or settings of its own."""
        return self._profiles.way(like, self.name, self._depth + 1)

    def problem(self, text: str) -> ConfigurationError:
        return ConfigurationError("CONFIGURATION_INVALID", f"the profile {self.name}: {text}")


class TestingProfile:
    """One profile: how it answers a completion, and how it answers a form."""

    __test__ = False  # its name is not for pytest

    def __init__(self, name: str, sample: Way, elicit: Way, *, is_forced: bool = False) -> None:
        self.name = name
        self.is_forced = is_forced
        self._sample = sample
        self._elicit = elicit

    def __repr__(self) -> str:
        return f"<TestingProfile {self.name}>"

    async def answer(self, request: ServerRequest) -> Any:
        is_sampling = request.method == "sampling/createMessage"
        return await (self._sample if is_sampling else self._elicit)(request)


class Profiles:
    """The profiles of a configuration, and those that are built in."""

    def __init__(
        self, settings: Mapping[str, Any] | None = None, clock: Clock | None = None
    ) -> None:
        self.clock = clock or SystemClock()
        self._settings = {**BUILT_IN, **(settings or {})}

    def __repr__(self) -> str:
        return f"<Profiles {self.names()}>"

    def names(self) -> list[str]:
        return sorted(self._settings)

    def get(self, name: str) -> TestingProfile:
        """The profile of this name.

        Raises:
            ConfigurationError: there is none, or its settings cannot be used.
        """
        values = self._settings.get(name)
        if values is None:
            known = ", ".join(self.names())
            text = f"there is no profile {name!r}; there are: {known}"
            raise ConfigurationError("CONFIGURATION_INVALID", text)
        return self.make(name, values)

    def make(self, name: str, values: Any) -> TestingProfile:
        """A profile from settings that have no name in the configuration."""
        elicit = elicit_like(values.get("elicitation")) if isinstance(values, Mapping) else by_hand
        sample = self.way(values, name, 0)
        settings = Settings(name, values, self, 0)
        return TestingProfile(name, sample, elicit, is_forced=settings.flag("force"))

    def way(self, like: Any, within: str, depth: int) -> Way:
        if depth > _DEEPEST:
            text = f"the profile {within}: profiles name each other without end"
            raise ConfigurationError("CONFIGURATION_INVALID", text)
        values = self._settings.get(like) if isinstance(like, str) else like
        settings = Settings(like if isinstance(like, str) else within, values or {}, self, depth)
        if not isinstance(values, Mapping):
            raise settings.problem(f"{like!r} is neither a profile nor the settings of one")
        kind = settings.text("kind")
        factory = _FACTORIES.get(kind)
        if factory is None:
            known = ", ".join(sorted(_FACTORIES))
            raise settings.problem(f"there is no kind {kind!r}; there are: {known}")
        return factory(settings)


def register_profile(kind: str, factory: Factory) -> None:
    """Have profiles of a kind of your own: `factory(settings)` gives a function that answers."""
    _FACTORIES[kind] = factory


# -- completions -------------------------------------------------------------------------------


async def by_hand(request: ServerRequest) -> Any:
    """Leave it to a person."""
    return None


def _manual(settings: Settings) -> Way:
    return by_hand


def _fixed(settings: Settings) -> Way:
    answer = sampling.text_answer(
        settings.text("text"),
        model=settings.text("model", "mcplens-fixed"),
        stop_reason=settings.text("stopReason", "endTurn"),
    )

    async def answer_fixed(request: ServerRequest) -> Any:
        return answer

    return answer_fixed


def _echo(settings: Settings) -> Way:
    model = settings.text("model", "mcplens-echo")

    async def answer_echo(request: ServerRequest) -> Any:
        return sampling.text_answer(sampling.last_user_text(request.params), model=model)

    return answer_echo


def _tool_use(settings: Settings) -> Way:
    """Call tools with arguments made from their schemas; when the results came, use words."""
    which = settings.text("which", "first")
    if which not in ("first", "each"):
        raise settings.problem("which has to be first or each")
    model = settings.text("model", "mcplens-tool-use")
    then = settings.way(settings.get("then", {"kind": "echo", "model": model}))

    async def answer_tool_use(request: ServerRequest) -> Any:
        tools = sampling.offered_tools(request.params)
        if not tools or _wants_words(request.params):
            return await then(request)
        chosen = tools if which == "each" else tools[:1]
        calls = [(tool["name"], example_object(tool.get("inputSchema"))) for tool in chosen]
        ids = sampling.fresh_ids(request.params)
        return sampling.tool_use_answer(calls, model=model, ids=ids)

    return answer_tool_use


def _wants_words(params: Any) -> bool:
    """The tools have been called, or must not be."""
    choice, messages = params.get("toolChoice"), params.get("messages")
    if isinstance(choice, dict) and choice.get("mode") == "none":
        return True
    last = messages[-1] if isinstance(messages, list) and messages else None
    content = last.get("content") if isinstance(last, dict) else None
    blocks = content if isinstance(content, list) else [content]
    return any(isinstance(each, dict) and each.get("type") == "tool_result" for each in blocks)


def _refuse(settings: Settings) -> Way:
    message = settings.text("message", "the user rejected the request")

    async def answer_refuse(request: ServerRequest) -> Any:
        raise ServerError(REJECTED, message)

    return answer_refuse


def _delay(settings: Settings) -> Way:
    seconds = settings.number("seconds")
    then = settings.way(settings.get("then"))

    async def answer_late(request: ServerRequest) -> Any:
        await settings.clock.sleep(seconds)
        return await then(request)

    return answer_late


def _script(settings: Settings) -> Way:
    """One way after the other; after the last, the last again, or all from the start."""
    steps = [settings.way(step) for step in settings.items("steps")]
    repeats = settings.flag("repeat")
    count = 0

    async def answer_next(request: ServerRequest) -> Any:
        nonlocal count
        step = count % len(steps) if repeats else min(count, len(steps) - 1)
        count += 1
        return await steps[step](request)

    return answer_next


def _model(settings: Settings) -> Way:
    from mcplens.session.model import ask_model

    return ask_model(settings)


_FACTORIES: dict[str, Factory] = {
    "manual": _manual,
    "fixed": _fixed,
    "echo": _echo,
    "tool-use": _tool_use,
    "refuse": _refuse,
    "delay": _delay,
    "script": _script,
    "model": _model,
}

BUILT_IN: Final[dict[str, dict[str, Any]]] = {
    "manual": {"kind": "manual"},
    "fixed": {
        "kind": "fixed",
        "text": "This is a fixed answer of mcplens.",
        "elicitation": "accept",
    },
    "echo": {"kind": "echo", "elicitation": "accept"},
    "tool-use": {"kind": "tool-use", "elicitation": "accept"},
    "tool-use-each": {"kind": "tool-use", "which": "each", "elicitation": "accept"},
    "refuse": {"kind": "refuse", "elicitation": "decline"},
}


# -- forms -------------------------------------------------------------------------------------


def elicit_like(like: Any) -> Way:
    """How to answer forms: accept, decline, cancel, manual (None), or `{"content": {…}}`.

    To accept a form is to fill it: with its defaults, and made-up values where there are none.

    Raises:
        ConfigurationError: it is none of these.
    """
    if like is None or like == "manual":
        return by_hand
    if isinstance(like, Mapping) and isinstance(like.get("content"), Mapping):
        content = dict(like["content"])
        return _accept(lambda schema: content)
    if like == "accept":
        return _accept(elicitation.example_content)
    if like in ACTIONS:
        return _constant({"action": like})
    text = f'{like!r}: say accept, decline, cancel, manual, or {{"content": {{…}}}}'
    raise ConfigurationError("CONFIGURATION_INVALID", text)


def _accept(fill: Callable[[Any], dict[str, Any]]) -> Way:
    async def accept(request: ServerRequest) -> Any:
        params = request.params
        if elicitation.mode_of(params) == "url":
            return {"action": "accept"}
        return {"action": "accept", "content": fill(params.get("requestedSchema"))}

    return accept


def _constant(result: Any) -> Way:
    async def answer_constant(request: ServerRequest) -> Any:
        return result

    return answer_constant
