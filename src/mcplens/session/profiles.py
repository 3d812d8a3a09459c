"""Testing profiles: named ways to answer the server's questions without a person.

    manual     leave it to a person              refuse     say no
    fixed      always this text                  delay      wait, then answer like another
    echo       the last thing the user said      script     one way after the other
    tool-use   call the tools that are offered   model      ask a model (see model_endpoint.py)

Built in are those that need no settings; the rest come from the configuration's `profiles`. More
kinds: `register_profile`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

from mcplens.clock import Clock, SystemClock
from mcplens.errors import ConfigurationError, ServerError
from mcplens.protocol import elicitation, sampling
from mcplens.protocol.schema_examples import example_object
from mcplens.session.question_handler import REJECTED, ServerRequest

# Answers a question; None leaves it to a person.
Way = Callable[[ServerRequest], Awaitable[Any]]
# Makes a way to answer sampling requests from a profile's settings.
Factory = Callable[["ProfileSettings"], Way]

# Profiles that name each other, or steps within steps, end here.
_DEEPEST: Final = 8
# Some 30 years: a number beyond is a mistake, and may be none that a clock can take.
_LARGEST: Final = 1e9
# What a profile may have whatever its kind.
_SHARED: Final = frozenset({"kind", "elicitation", "force"})

ACTIONS: Final = ("accept", "decline", "cancel")


class ProfileSettings:
    """What a profile says of itself, read key by key; and what a factory may need besides."""

    def __init__(
        self, name: str, values: Mapping[str, Any], profiles: Profiles, depth: int
    ) -> None:
        self.name = name
        self.clock = profiles.clock
        self._values = values
        self._profiles = profiles
        self._depth = depth
        self._asked = set(_SHARED)

    def __repr__(self) -> str:  # values may hold keys
        return f"<ProfileSettings of {self.name}: {sorted(self._values)}>"

    def text(self, key: str, default: str | None = None) -> str:
        value = self.get(key, default)
        if not isinstance(value, str):
            raise self.problem(f"{key} has to be a text")
        return value

    def number(self, key: str, default: float | None = None) -> float:
        value = self.get(key, default)
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if not is_number or not 0 <= value <= _LARGEST:
            raise self.problem(f"{key} has to be a number from 0 to {_LARGEST:,.0f}")
        return float(value)

    def flag(self, key: str) -> bool:
        value = self.get(key, False)
        if not isinstance(value, bool):
            raise self.problem(f"{key} has to be true or false")
        return value

    def items(self, key: str) -> list[Any]:
        value = self.get(key)
        if not isinstance(value, list) or not value:
            raise self.problem(f"{key} has to be a list that is not empty")
        return value

    def get(self, key: str, default: Any = None) -> Any:
        self._asked.add(key)
        return self._values.get(key, default)

    def way(self, like: Any, key: str = "then") -> Way:
        """Another way to answer: the name of a profile, or settings of its own; `key` has it."""
        if isinstance(like, str | Mapping):
            return self._profiles.way(like, self.name, key, self._depth + 1)
        raise self.problem(f"{key} has to be the name of a profile, or settings with a kind")

    def unknown(self) -> list[str]:
        """The keys that the profile did not read."""
        return sorted(self._values.keys() - self._asked)

    def problem(self, text: str) -> ConfigurationError:
        return _wrong(f"the profile {self.name}: {text}")


def _wrong(text: str) -> ConfigurationError:
    return ConfigurationError("CONFIGURATION_INVALID", text)


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
        self._own: Mapping[str, Any] = settings or {}  # may be filled in when it is looked up

    def __repr__(self) -> str:
        return f"<Profiles {self.names()}>"

    def names(self) -> list[str]:
        return sorted({*BUILT_IN, *self._own})

    def is_own(self, name: str) -> bool:
        """Whether the configuration says what a name means.

        A project's configuration cannot give another meaning to what is built in: it could have
        questions of the user's own servers sent to a URL.
        """
        of_project: frozenset[str] = getattr(self._own, "of_project", frozenset())
        return name in self._own and not (name in BUILT_IN and name in of_project)

    def get(self, name: str) -> TestingProfile:
        """The profile of this name.

        Raises:
            ConfigurationError: there is none, or its settings cannot be used.
        """
        if name not in self._own and name not in BUILT_IN:
            raise _wrong(f"there is no profile {name!r}; there are: {', '.join(self.names())}")
        return self.make(name, self._values(name))

    def make(self, name: str, values: Any) -> TestingProfile:
        """A profile from settings that have no name in the configuration.

        Raises:
            ConfigurationError: its settings cannot be used.
        """
        if not isinstance(values, Mapping):
            raise _wrong(f"the profile {name} has to be an object with a kind")
        settings = ProfileSettings(name, values, self, 0)
        sample = self._made(settings)
        try:
            elicit = elicit_like(settings.get("elicitation"))
        except ConfigurationError as problem:
            raise settings.problem(f"elicitation is {problem.message}") from None
        return TestingProfile(name, sample, elicit, is_forced=settings.flag("force"))

    def way(self, like: str | Mapping[str, Any], within: str, key: str, depth: int) -> Way:
        """How another profile answers completions: by its name, or by settings in place."""
        if depth > _DEEPEST:
            raise _wrong(f"the profile {within}: profiles name each other without end")
        name, values = within, like
        if isinstance(like, str):
            name, values = like, self._values(like)
        if not isinstance(values, Mapping):
            raise _wrong(f"the profile {within}: {key} is {like!r}, and there is no such profile")
        return self._made(ProfileSettings(name, values, self, depth))

    def _values(self, name: str) -> Any:
        return self._own[name] if self.is_own(name) else BUILT_IN.get(name)

    def _made(self, settings: ProfileSettings) -> Way:
        kind = settings.text("kind")
        factory = _FACTORIES.get(kind)
        if factory is None:
            known = ", ".join(sorted(_FACTORIES))
            raise settings.problem(f"there is no kind {kind!r}; there are: {known}")
        way = factory(settings)
        # A kind of the user's own may ask for its settings later.
        if factory is _KINDS.get(kind) and (unknown := settings.unknown()):
            raise settings.problem(f"{', '.join(unknown)}: {kind} has no such setting")
        return way


def register_profile(kind: str, factory: Factory) -> None:
    """Have profiles of a kind of your own: `factory(settings)` gives a function that answers."""
    _FACTORIES[kind] = factory


# -- completions -------------------------------------------------------------------------------


async def by_hand(request: ServerRequest) -> Any:
    """Leave it to a person."""
    return None


def _manual(settings: ProfileSettings) -> Way:
    return by_hand


def _fixed(settings: ProfileSettings) -> Way:
    """Always this text; or, word for word, this answer."""
    answer = settings.get("answer")
    if answer is None:
        answer = sampling.text_answer(
            settings.text("text"),
            model=settings.text("model", "mcplens-fixed"),
            stop_reason=settings.text("stopReason", "endTurn"),
        )
    elif not isinstance(answer, Mapping):
        raise settings.problem("answer has to be an object: a result of sampling/createMessage")
    else:
        answer = dict(answer)  # findings are about JSON objects

    async def answer_fixed(request: ServerRequest) -> Any:
        return answer

    return answer_fixed


def _echo(settings: ProfileSettings) -> Way:
    model = settings.text("model", "mcplens-echo")

    async def answer_echo(request: ServerRequest) -> Any:
        return sampling.text_answer(sampling.last_user_text(request.params), model=model)

    return answer_echo


def _tool_use(settings: ProfileSettings) -> Way:
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
    """The tools have been called, or must not be; unless one must be, all the same."""
    choice, messages = params.get("toolChoice"), params.get("messages")
    mode = choice.get("mode") if isinstance(choice, dict) else None
    if mode in ("none", "required"):
        return bool(mode == "none")
    last = messages[-1] if isinstance(messages, list) and messages else None
    content = last.get("content") if isinstance(last, dict) else None
    blocks = content if isinstance(content, list) else [content]
    return any(isinstance(each, dict) and each.get("type") == "tool_result" for each in blocks)


def _refuse(settings: ProfileSettings) -> Way:
    message = settings.text("message", "the user rejected the request")

    async def answer_refuse(request: ServerRequest) -> Any:
        raise ServerError(REJECTED, message)

    return answer_refuse


def _delay(settings: ProfileSettings) -> Way:
    seconds = settings.number("seconds")
    then = settings.way(settings.get("then"))

    async def answer_late(request: ServerRequest) -> Any:
        await settings.clock.sleep(seconds)
        return await then(request)

    return answer_late


def _script(settings: ProfileSettings) -> Way:
    """One way after the other; after the last, the last again, or all from the start."""
    given = enumerate(settings.items("steps"))
    steps = [settings.way(step, f"steps[{at}]") for at, step in given]
    repeats = settings.flag("repeat")
    count = 0

    async def answer_next(request: ServerRequest) -> Any:
        nonlocal count
        step = count % len(steps) if repeats else min(count, len(steps) - 1)
        count += 1
        return await steps[step](request)

    return answer_next


def _model(settings: ProfileSettings) -> Way:
    from mcplens.session.model_endpoint import ask_model

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
_KINDS: Final = dict(_FACTORIES)

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
