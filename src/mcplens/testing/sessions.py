"""The sessions of one test file: each server is connected when a step first needs it.

A server that died is started again for the next step; one that cannot be reached is not tried
twice. At the end every process is gone. Used by one task from beginning to end.
"""

from __future__ import annotations

from typing import Any

import msgspec

from mcplens.app import connect
from mcplens.bus import Bus
from mcplens.clock import Clock
from mcplens.collections.shown_values import ValueMasker
from mcplens.collections.test_file import ServerSpec, TestStep
from mcplens.errors import InspectorError, ServerError
from mcplens.protocol.lifecycle import ConnectionState
from mcplens.session.client import Client
from mcplens.session.profiles import Profiles, TestingProfile
from mcplens.session.question_handler import REJECTED, ServerRequest
from mcplens.testing.servers import ServerResolver, ServerTarget


class Answers:
    """Answers the server's questions by the profile of the step that runs."""

    name = "test"

    def __init__(self) -> None:
        self.profile: TestingProfile | None = None

    def __repr__(self) -> str:
        return f"<Answers by {self.profile!r}>"

    @property
    def is_forced(self) -> bool:
        return self.profile is not None and self.profile.is_forced

    async def answer(self, request: ServerRequest) -> Any:
        """The answer of the profile; a test never waits for a person."""
        answer = None if self.profile is None else await self.profile.answer(request)
        if answer is None:
            text = f"the test has no `profile` that answers {request.method}"
            raise ServerError(REJECTED, text)
        return answer


class Session:
    """One connected server."""

    def __init__(self, target: ServerTarget, opened: connect, answers: Answers) -> None:
        self.target = target
        self.client: Client = opened.client
        self.answers = answers
        self.masker = ValueMasker(target.secret_keys)
        self._has_schemas = False

    def __repr__(self) -> str:
        return f"<Session with {self.client!r}>"

    async def know_schemas(self) -> None:
        """List the tools once, for their output schemas; `valid` compares with them."""
        if not self._has_schemas:
            await self.client.list_tools()
            self._has_schemas = True


class Sessions:
    """The connections of one file."""

    def __init__(self, path: str, resolver: ServerResolver, bus: Bus, clock: Clock) -> None:
        self._path = path
        self._resolver = resolver
        self._bus = bus
        self._clock = clock
        self._open: dict[str, Session] = {}
        self._failed: dict[str, InspectorError] = {}
        self._profiles: dict[str, TestingProfile] = {}
        self._known_profiles: Profiles | None = None

    def __repr__(self) -> str:
        return f"<Sessions of {self._path}: {len(self._open)} open, {len(self._failed)} failed>"

    async def session(self, server: ServerSpec) -> Session:
        """The connected session of a server.

        Raises:
            InspectorError: it cannot be used, or not be reached.
        """
        key = server if isinstance(server, str) else msgspec.json.encode(server).decode()
        if key in self._failed:
            raise self._failed[key].copy()
        session = self._open.get(key)
        if session is not None and session.client.state is ConnectionState.CONNECTED:
            return session
        try:
            if session is not None:  # it died: the next step has a new process
                await session.client.disconnect()
            session = self._open[key] = self._made(server, session)
            await session.client.connect()
        except InspectorError as error:
            self._failed[key] = error
            raise
        return session

    def _made(self, server: ServerSpec, former: Session | None) -> Session:
        name = self._name(server) if former is None else former.target.name
        target = self._resolver.resolve(server, self._path, name)
        answers = Answers()
        opened = connect(
            target.target,
            **target.options,
            server_id=target.name,
            sampling=answers,
            elicitation=answers,
            bus=self._bus,
            clock=self._clock,
        )
        return Session(target, opened, answers)

    def _name(self, server: ServerSpec) -> str:
        """A name for an entry, which has none: unique in the trace of this file."""
        if isinstance(server, str):
            return server
        taken = {session.target.name for session in self._open.values()}
        name, number = "server", 2
        while name in taken:
            name, number = f"server {number}", number + 1
        return name

    def choose_profile(self, session: Session, step: TestStep, own: dict[str, Any]) -> None:
        """Answer by the profile of this step, or of its server.

        Raises:
            ConfigurationError: there is no such profile, or it cannot be used.
        """
        like = step.profile if step.profile is not None else session.target.profile
        if like is None:
            session.answers.profile = None
            return
        if self._known_profiles is None:
            self._known_profiles = self._resolver.profiles(own)
        if isinstance(like, dict):
            session.answers.profile = self._known_profiles.make(step.name, like)
            return
        if like not in self._profiles:  # one of several steps goes on from step to step
            self._profiles[like] = self._known_profiles.get(like)
        session.answers.profile = self._profiles[like]

    async def close(self) -> None:
        """End all servers; none is left running."""
        for session in self._open.values():
            await session.client.disconnect()
