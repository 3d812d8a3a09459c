"""The application object of a surface that stays open: many servers, one bus, one recording.

Owns the servers, their calls, questions and tasks, and notifies subscribers of changes. They are
given the key of the object that changed, and read the object when they need it. Closing the
workspace leaves no process behind.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any, Final, Literal, Self

import msgspec

from mcplens.background import Background
from mcplens.bus import Bus
from mcplens.clock import Clock, SystemClock
from mcplens.config.environment import Environment, current_environment
from mcplens.config.model import Configuration, ServerEntry, Source
from mcplens.downstream.configuration_watcher import ConfigurationWatcher
from mcplens.downstream.live_servers import LiveServers
from mcplens.downstream.options import LiveOptions
from mcplens.errors import InspectorError
from mcplens.events import (
    ClientTaskChanged,
    Event,
    FrameSent,
    ListRefreshed,
    QuestionOpened,
    ReceiverTaskChanged,
    RequestPaused,
    RequestResumed,
)
from mcplens.session.options import Record
from mcplens.session.profiles import Profiles
from mcplens.store.recorder import Recorder
from mcplens.store.recording_file import default_path
from mcplens.transports.base import Closing
from mcplens.version import VERSION
from mcplens.workspace import questions
from mcplens.workspace.answers import Answers
from mcplens.workspace.apps import Apps
from mcplens.workspace.calls import Call, Calls
from mcplens.workspace.collection_runs import CollectionRuns
from mcplens.workspace.config_files import BUILT_IN, ConfigFiles
from mcplens.workspace.confirmation import Confirmations
from mcplens.workspace.gateway_switch import GatewaySwitch, PersonAtPage
from mcplens.workspace.other_runs import OtherRuns
from mcplens.workspace.questions import QuestionList
from mcplens.workspace.saved_calls import SavedCalls
from mcplens.workspace.secret_keys import SecretKeys
from mcplens.workspace.server import HANDLED_EVENTS, Server
from mcplens.workspace.server_import import ImportOffers
from mcplens.workspace.statistics import COUNTED_EVENTS
from mcplens.workspace.tasks import Role, Tasks

ObjectKind = Literal[
    "servers", "calls", "questions", "tasks", "lists", "settings", "recording", "collection_runs",
    "runs", "gateway",
]  # fmt: skip
# The kind of object that changed, its key, and the server that it belongs to ("" for none).
OnChange = Callable[[ObjectKind, str, str], None]

# The source of a server that was given on the command line.
GIVEN: Final = "command line"
# Enough for the calls of one person beside many questions, without flooding a server. That person
# decides when to connect and what to list.
LIVE_OPTIONS: Final = LiveOptions(concurrency=16, keeps_ready=False)
# The kinds of event that change anything here; all others are traffic. Each event of a flood is
# looked at, and a look into a set is a fifth of `isinstance`.
_FOLLOWED_EVENTS: Final = COUNTED_EVENTS | HANDLED_EVENTS | questions.KINDS | {
    RequestPaused, RequestResumed, ClientTaskChanged, ReceiverTaskChanged
}  # fmt: skip
# How long to wait for servers to exit before they are killed.
_CLOSE_S: Final = 3.0
# A cancelled call ends at once; one that does not is shown in its current state.
_CANCEL_S: Final = 2.0


class Workspace:
    """Servers by name, with their calls, questions and tasks; use it in an `async with` block."""

    def __init__(
        self,
        *,
        config_path: str | None = None,
        record: Record = True,
        trace: str | None = None,
        here: Environment | None = None,
        clock: Clock | None = None,
        warn: Callable[[str], None] | None = None,
        sign_in_networks: str = "any",
        collections: Sequence[str] = (),
        live_options: LiveOptions | None = None,
        title: str = "web",
        trusts_all: bool = False,
    ) -> None:
        self.clock = clock or SystemClock()
        self.bus = Bus(self.clock)
        self.config_files = ConfigFiles(here or current_environment(), config_path)
        self.confirmations = Confirmations(self.config_files.here, trusts_all=trusts_all)
        self.import_offers = ImportOffers()
        self.secret_keys = SecretKeys(lambda entry: not self.confirmations.is_needed(entry))
        self.saved_calls = SavedCalls(self.config_files.here, self.secret_keys.of, collections)
        self.collection_runs = CollectionRuns(self, self.saved_calls)
        self.calls = Calls(self.clock, self.bus.next_call_id, self._call_changed)
        self.apps = Apps(self.bus, self.clock)
        self.questions = QuestionList(
            lambda key, server_id: self.changed("questions", key, server_id)
        )
        self.tasks = Tasks(lambda key, server_id: self.changed("tasks", key, server_id))
        self.answers = Answers(
            self.questions, lambda server_id: self.find(server_id).ready(), lambda: self.profiles
        )
        self.live_servers = LiveServers(
            bus=self.bus,
            clock=self.clock,
            options=live_options or LIVE_OPTIONS,
            needs_confirmation=self.confirmations.is_needed,
            offers=lambda entry: entry.enabled and entry.source.kind != BUILT_IN,
        )
        self.gateway = GatewaySwitch(self, lambda: self.changed("gateway", ""))
        self.bus_reader = self.live_servers.bus_reader
        self.servers: dict[str, Server] = {}
        self.recording_path = default_path() if isinstance(record, bool) else record
        self.other_runs = OtherRuns(
            os.fspath(self.recording_path),
            self.bus.run_id,
            self.clock,
            lambda run_id: self.changed("runs", run_id),
        )
        self.recorder: Recorder | None = None
        self._is_recorded = record is not False
        self._trace = trace
        self._title = title
        # "public" where people on other machines use this workspace; see auth/creation.py.
        self._sign_in_networks = sign_in_networks
        self._warn = warn
        self._loop: asyncio.AbstractEventLoop | None = None
        self._listeners: list[OnChange] = []
        self._background = Background()
        self._looking = Background()  # goes on until it is ended
        self.reload()
        if self.recording_problem is not None and warn is not None:
            warn(self.recording_problem)

    def __repr__(self) -> str:
        return f"<Workspace {self.bus.run_id}, {len(self.servers)} servers, {self.calls!r}>"

    def _start_recording(self) -> None:
        """Start recording, if it is wanted and the secret keys are known."""
        is_wanted = self._is_recorded or self._trace is not None
        if not is_wanted or self.recorder is not None or self.secret_keys.problem is not None:
            return
        self.recorder = Recorder(
            self.bus,
            self.recording_path if self._is_recorded else None,
            trace=self._trace,
            keys_of=self.secret_keys.of,
            title=self._title,
            version=VERSION,
            warn=self._recording_failed,
            output_bytes=self.config_files.configuration.settings.server_output_mb * 1_000_000,
            clock=self.clock,
        )
        self.changed("recording", "")

    def _recording_failed(self, text: str) -> None:
        """Called by the recorder, on its own thread."""
        if self._warn is not None:
            self._warn(text)
        if self._loop is not None:
            with contextlib.suppress(RuntimeError):  # the loop has ended
                self._loop.call_soon_threadsafe(self.changed, "recording", "")

    @property
    def recording_problem(self) -> str | None:
        """Why recording does not work, or stopped working; None if it works or is off."""
        if self.recorder is not None:
            return self.recorder.problem
        problem = self.secret_keys.problem
        if problem is None or not (self._is_recorded or self._trace is not None):
            return None
        return f"not recorded, because the secret keys are not known: {problem.message}"

    async def __aenter__(self) -> Self:
        self._loop = asyncio.get_running_loop()
        self.bus_reader.add(self._handle_batch)
        self.live_servers.watch_events()
        self._looking.start(self.other_runs.run(), "look for runs of other processes")
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self._looking.end()
        await self.gateway.end()
        await self.answers.end()
        await self.collection_runs.end()
        await self.calls.end()
        leaving = (self._leave(server) for server in self.servers.values())
        await asyncio.gather(*leaving, return_exceptions=True)
        await self._background.ended()
        await self.live_servers.close()
        self.bus.close()
        await self._background.end()
        if self.recorder is not None:
            await self.recorder.aclose()

    async def _leave(self, server: Server) -> None:
        """Disconnect gracefully; kill the server if that takes too long."""
        try:
            async with asyncio.timeout(_CLOSE_S):
                await server.disconnect()
        except TimeoutError:
            await server.disconnect(Closing.KILL)

    # -- subscribers ---------------------------------------------------------------------------

    def listen(self, on_change: OnChange) -> Callable[[], None]:
        """Call `on_change` for every change; returns a function that unsubscribes."""
        self._listeners.append(on_change)
        self.other_runs.want(True)

        def stop() -> None:
            self._listeners.remove(on_change)
            self.other_runs.want(bool(self._listeners))

        return stop

    @property
    def has_listeners(self) -> bool:
        """Whether somebody may see changes: a page is open."""
        return bool(self._listeners)

    def _make(self, entry: ServerEntry) -> Server:
        return Server(
            entry,
            live_servers=self.live_servers,
            profiles=lambda: self.profiles,
            changed=self.server_changed,
            list_changed=self._list_changed,
            sign_in_networks=self._sign_in_networks,
            person=PersonAtPage(self),
        )

    def changed(self, what: ObjectKind, key: str, server_id: str = "") -> None:
        for listener in list(self._listeners):
            listener(what, key, server_id)

    def server_changed(self, server_id: str) -> None:
        self.changed("servers", server_id, server_id)

    def _list_changed(self, kind: str, server_id: str) -> None:
        self.changed("lists", f"{server_id}/{kind}", server_id)

    def _call_changed(self, call_id: str) -> None:
        self.changed("calls", call_id)
        call = self.calls.get(call_id)
        if call is not None and call.elapsed_s is not None:  # the server counts its requests
            self.server_changed(call.server_id)

    def _handle_batch(self, batch: list[Event], missed: int) -> None:
        """Update servers, calls, questions and tasks from events; fast, since it may be a flood."""
        servers = set[str]()
        for event in batch:
            kind = type(event)
            if kind not in _FOLLOWED_EVENTS:
                continue
            if kind in COUNTED_EVENTS:
                counted = self.servers.get(event.server_id)
                if counted is not None and counted.statistics.handle_event(event):
                    servers.add(event.server_id)
            if kind in HANDLED_EVENTS:
                server = self.servers.get(event.server_id)
                if server is not None and server.handle_event(event):
                    servers.add(event.server_id)
                if isinstance(event, ListRefreshed):
                    self._list_changed(event.kind, event.server_id)
            elif isinstance(event, FrameSent):
                self.calls.sent(event)
            elif isinstance(event, RequestPaused | RequestResumed):
                for call_id in event.call_ids:
                    self.changed("calls", call_id)
            elif kind in questions.KINDS:
                self.questions.handle_event(event)
                if isinstance(event, QuestionOpened):
                    self._question_opened(event)
            elif isinstance(event, ClientTaskChanged | ReceiverTaskChanged):
                self._task_changed(event)
        if missed:
            servers = set(self.servers)
            self._reconcile()
        self._settle_questions()
        for server_id in servers:
            self.server_changed(server_id)

    def _question_opened(self, event: QuestionOpened) -> None:
        """Link the task that waits for a question to it."""
        if event.task_id is not None:
            role: Role = "receiver" if event.origin == "task" else "client"
            key = f"{event.server_id}/{event.question_id}"
            self.tasks.asked(event.server_id, role, event.task_id, key)

    def _task_changed(self, event: ClientTaskChanged | ReceiverTaskChanged) -> None:
        self.tasks.handle_event(event)
        call = None if event.call_id is None else self.calls.get(event.call_id)
        if call is not None and isinstance(event, ClientTaskChanged):
            call.task_id = event.task_id
            self.calls.changed(call)

    def _reconcile(self) -> None:
        """Events were missed: take the open questions from the clients."""
        for server_id, server in self.servers.items():
            if server.client is not None:
                self.questions.reconcile(server_id, server.client)
        for call in self.calls:
            self.calls.changed(call)

    def _settle_questions(self) -> None:
        """Notify once per batch: positions of open questions, and calls that wait for them."""
        for call_id in self.questions.update_positions():
            call = self.calls.get(call_id)
            if call is not None:
                waiting = self.questions.waiting()
                call.question_ids = [one.question_id for one in waiting if one.call_id == call_id]
                self.calls.changed(call)

    async def cancel_call(self, call_id: str) -> Call:
        """Cancel a call and reject its open questions; returns the call in its state after that."""
        call = self.calls.cancel(call_id)
        if call.running is not None:
            await asyncio.wait([call.running], timeout=_CANCEL_S)
        self.bus_reader.catch_up()
        self.answers.withdraw(call_id)
        return call

    # -- servers -------------------------------------------------------------------------------

    def find(self, server_id: str) -> Server:
        """A server by its name.

        Raises:
            InspectorError: there is none.
        """
        server = self.servers.get(server_id)
        if server is None:
            raise InspectorError("INVALID_REQUEST", f"there is no server {server_id!r}")
        return server

    def reload(self) -> None:
        """Read the configuration again; connections stay as they are."""
        outdated = self._outdated()
        entries = {entry.name: entry for entry in self.config_files.load()}
        self.secret_keys.learn(self.config_files.configuration, entries.values())
        self._start_recording()
        for name, entry in entries.items():
            server = self.servers.get(name)
            if server is None:
                server = self.servers[name] = self._make(entry)
                self.live_servers.add(server.connection)
                server.is_built_in = entry.source.kind == BUILT_IN
            elif server.is_given or server.entry == entry:
                continue
            server.use(entry)
            self.server_changed(name)
        for name in list(self.servers):
            if name not in entries and not self.servers[name].is_given:
                self.forget(name)
        # The order after a restart: servers of the command line first, then those of the files.
        given = {name: server for name, server in self.servers.items() if server.is_given}
        self.servers = given | {name: self.servers[name] for name in entries}
        if self.live_servers.options.keeps_ready:
            wanted = {**{name: server.entry for name, server in given.items()}, **entries}
            self.live_servers.apply(wanted.values(), self.config_files.configuration.settings)
        for name in outdated ^ self._outdated():
            self.server_changed(name)
        self.gateway.follow()

    async def watch_configuration(self) -> None:
        """Reload whenever a file of the configuration changes, until cancelled.

        A file that cannot be read changes nothing; ConfigurationReloaded says why.
        """
        files = self.config_files
        watcher = ConfigurationWatcher(
            self.follow_configuration, bus=self.bus, here=files.here, path=files.path
        )
        watcher.configuration = files.configuration
        await watcher.run()

    def follow_configuration(self, configuration: Configuration) -> None:
        """The files changed.

        Raises:
            ConfigurationError: the gateway cannot use this configuration; nothing has changed.
        """
        self.gateway.check(configuration)
        self.reload()

    def _outdated(self) -> set[str]:
        settings = self.config_files.configuration.settings
        return {name for name, server in self.servers.items() if server.is_outdated(settings)}

    def forget(self, name: str) -> None:
        """Remove a server from the workspace; its file is not changed."""
        server = self.servers.pop(name)
        self._background.start(self._forget(server), f"forget {name}")
        self.server_changed(name)

    async def _forget(self, server: Server) -> None:
        await server.disconnect()
        self.live_servers.remove(server.connection)

    def give(self, server: Server) -> None:
        """Add a server that was given on the command line."""
        self.secret_keys.add(server.entry)
        self.servers = {server.server_id: server, **self.servers}
        self.live_servers.add(server.connection)
        self.server_changed(server.server_id)

    def new_server(self, name: str, raw: dict[str, Any], overrides: dict[str, Any]) -> Server:
        """A server given on the command line; not added yet."""
        entry = self.config_files.entry(name, raw, Source(GIVEN, "", "given"))
        server = self._make(entry)
        server.overrides = overrides
        server.is_given = True
        return server

    def foreign(self, name: str, entry: ServerEntry, overrides: dict[str, Any]) -> Server:
        """A server of another tool, given as `tool:name`; not added yet."""
        entry = msgspec.structs.replace(entry, name=name)
        server = self._make(entry)
        server.overrides = overrides
        server.is_given = True
        return server

    def connect(self, server_id: str) -> Server:
        """Start connecting.

        Raises:
            InspectorError: it must be confirmed first, or its entry is not valid.
        """
        server = self.find(server_id)
        if server.entry.problem is not None and not server.is_given:
            self.reload()  # what was missing may be there by now
            server = self.find(server_id)
        self.check_confirmed(server)
        try:
            server.connect(self.config_files.configuration.settings)
        finally:
            self.server_changed(server_id)
        return server

    def check_confirmed(self, server: Server) -> None:
        """Raises InspectorError if a person has to confirm the server first."""
        if self.confirmations.is_needed(server.entry):
            name, path = server.server_id, server.entry.source.path
            text = f"{name} came from {path}: review what it starts first"
            raise InspectorError("INVALID_REQUEST", text, details={"needs_confirmation": True})

    async def disconnect(self, server_id: str) -> Server:
        """Disconnect, and wait until that is done."""
        server = self.find(server_id)
        await server.disconnect()
        self.server_changed(server_id)
        return server

    @property
    def profiles(self) -> Profiles:
        """The configured and the built-in profiles."""
        return Profiles(self.config_files.configuration.settings.profiles, self.clock)

    def confirm(self, server_id: str) -> Server:
        server = self.find(server_id)
        self.confirmations.confirm(server.entry)
        if self.live_servers.is_started:
            self.live_servers.start()
        self.server_changed(server_id)
        return server
