"""Examines one server: every check in the order in which things fail, until one explains the rest.

Uses the engine as any surface does, for one attempt without retries; asks only what reads (the
handshake, the lists, a ping), and ends the connection the polite way. Called by the command line
and by the web UI.
"""

from __future__ import annotations

import asyncio
from typing import Any, Final

import msgspec

from mcplens.app import connect
from mcplens.bus import Bus
from mcplens.clock import Clock
from mcplens.doctor.advice import advise, conclusion, configuration_advice
from mcplens.doctor.checks import Check, Diagnosis, Examined, OnCheck
from mcplens.doctor.event_checks import (
    Attempt,
    exit_check,
    handshake_checks,
    http_checks,
    process_checks,
)
from mcplens.doctor.failed_step import gather
from mcplens.doctor.network_checks import NetworkChecks
from mcplens.doctor.sign_in_checks import ReadOnlyAuthorizer, check_sign_in
from mcplens.errors import InspectorError, ServerError, classify
from mcplens.events import ProcessStarted
from mcplens.known_secrets import known_secrets
from mcplens.protocol.lifecycle import ConnectionState
from mcplens.session.client import Client
from mcplens.targets import command_of
from mcplens.transports.base import Closing
from mcplens.transports.network import NetworkOptions

# A server that needs longer to answer is a finding in itself.
CONNECT_TIMEOUT_S: Final = 15.0
# A server that starts, answers and then ends, does so within its first second.
ALIVE_S: Final = 1.0
_LOOK_S: Final = 0.05
_REQUEST_TIMEOUT_S: Final = 15.0
_LISTS: Final = {
    "tools": ("tools",),
    "resources": ("resources", "resource_templates"),
    "prompts": ("prompts",),
}
_LAUNCH_OPTIONS: Final = ("env", "cwd", "inherit_env")
_NOT_FOR_CONNECT: Final = ("auth", "sign_in", "sign_in_timeout_s", "sign_in_networks")


def misconfigured(words: str, error: InspectorError) -> Diagnosis:
    """The diagnosis of a server whose configuration cannot be used."""
    file = str(error.details.get("file") or "the configuration")
    read = Check("configuration", "ok", "reading it", file)
    checks = [Check("configuration", "failed", f"reading {file}", error.message)]
    if error.details.get("variable") or error.details.get("placeholder"):
        checks = [read, Check("placeholders", "failed", "filling them in", error.message)]
    sentence, command = configuration_advice(error, words)
    return Diagnosis(
        server=words,
        checks=tuple(checks),
        conclusion=sentence,
        command=command,
        error=error.to_dict(),
    )


class Examination:
    """The checks of one server."""

    def __init__(
        self,
        examined: Examined,
        *,
        bus: Bus,
        clock: Clock,
        on_check: OnCheck | None = None,
        alive_s: float = ALIVE_S,
    ) -> None:
        self._examined = examined
        self._bus = bus
        self._clock = clock
        self._listener = on_check
        self._alive_s = alive_s
        self._checks: list[Check] = []
        self._authorizer: ReadOnlyAuthorizer | None = None

    def __repr__(self) -> str:
        return f"<Examination {self._examined.name} {len(self._checks)} checks>"

    async def run(self) -> Diagnosis:
        """Run the checks until one explains the rest."""
        try:
            await self._examine()
        except InspectorError as error:
            return self._failed(error)
        sentence, command = conclusion(self._checks, self._examined.words)
        return self._diagnosis(sentence, command, None)

    # -- before connecting -----------------------------------------------------------------------

    async def _examine(self) -> None:
        examined = self._examined
        where = examined.file or "the command line"
        self._tell(Check("configuration", "ok", "reading it", f"{examined.name}, from {where}"))
        if examined.file is not None:
            self._tell(Check("placeholders", "ok", "filling them in", "every variable is set"))
        if examined.url is None:
            await self._find_command()
        else:
            network = self._network()
            await NetworkChecks(examined.url, network, self._clock, self._tell).run()
            has_own = any(name.lower() == "authorization" for name in network.headers)
            if not has_own:
                self._authorizer = ReadOnlyAuthorizer(examined.url, examined.options, network)
        await self._connect()

    async def _find_command(self) -> None:
        from mcplens.transports.launch import resolve_launch

        command = command_of(self._examined.target)
        options = self._examined.options
        given = {name: options[name] for name in _LAUNCH_OPTIONS if options.get(name) is not None}
        tried, started = f"looking for {command[0]}", self._clock.monotonic()
        try:
            launch = await asyncio.to_thread(resolve_launch, command, **given)
        except InspectorError as error:
            name = "placeholders" if error.details.get("variable") else "command"
            # What to do about it is said at the end.
            self._tell(Check(name, "failed", tried, error.message.partition("; install it")[0]))
            raise
        elapsed_s = self._clock.monotonic() - started
        came = launch.argv[0] + (f", in {launch.cwd}" if launch.cwd else "")
        self._tell(Check("command", "ok", tried, came, elapsed_s))

    def _network(self) -> NetworkOptions:
        names = ("headers", "ca_file", "insecure")
        options = self._examined.options
        return NetworkOptions(**{name: options[name] for name in names if options.get(name)})

    # -- connected -------------------------------------------------------------------------------

    async def _connect(self) -> None:
        client = connect(self._examined.target, **self._connect_options()).client
        began, after = self._clock.monotonic(), self._bus.last_seq
        problem = None
        try:
            await client.connect()
            await self._outlive(client, after)
        except InspectorError as error:
            problem = error
        attempt = Attempt(self._bus.since(after), began, self._clock.monotonic(), problem)
        try:
            await self._judge(attempt)
            await self._ask(client)
        finally:
            await self._disconnect(client)

    async def _outlive(self, client: Client, after: int) -> None:
        """Wait until a process is a second old.

        Raises:
            InspectorError: it ended before.
        """
        events = self._bus.since(after)
        started = next((event for event in events if isinstance(event, ProcessStarted)), None)
        if started is None:
            return
        due = started.mono + self._alive_s
        while (left := due - self._clock.monotonic()) > 0:
            if client.state is not ConnectionState.CONNECTED:
                raise classify(client.last_error or Exception("the connection was lost"))
            await self._clock.sleep(min(left, _LOOK_S))

    def _connect_options(self) -> dict[str, Any]:
        options = dict(self._examined.options)
        options |= {"server_id": self._examined.name, "bus": self._bus, "clock": self._clock}
        options["max_retries"] = 0
        options.setdefault("connection_timeout_s", CONNECT_TIMEOUT_S)
        if self._authorizer is not None:
            options = {key: v for key, v in options.items() if key not in _NOT_FOR_CONNECT}
            options["authorizer"] = self._authorizer
        return options

    async def _judge(self, attempt: Attempt) -> None:
        """What the attempt says; raises its error."""
        is_remote = self._examined.url is not None
        for check in http_checks(attempt) if is_remote else process_checks(attempt):
            self._tell(check)
        is_told = any(check.state == "failed" for check in self._checks)
        error = attempt.error
        if error is not None and error.code == "AUTHENTICATION_FAILED" and self._is_refused():
            assert self._authorizer is not None
            after = self._bus.last_seq
            looked_up = check_sign_in(self._authorizer, lambda: self._bus.since(after), self._tell)
            raise await looked_up or error
        if not is_told:
            for check in handshake_checks(attempt):
                self._tell(check)
        if error is not None:
            raise error

    def _is_refused(self) -> bool:
        return self._authorizer is not None and self._authorizer.refusal is not None

    async def _ask(self, client: Client) -> None:
        """Each list that is declared, and a ping."""
        for capability, kinds in _LISTS.items():
            if capability in client.capabilities:
                for kind in kinds:
                    await self._list(client, kind)
        started = self._clock.monotonic()
        try:
            await client.ping(timeout_s=_REQUEST_TIMEOUT_S)
        except InspectorError as error:
            state = "warning" if isinstance(error, ServerError) else "failed"
            self._tell(Check("ping", state, "a ping", error.message))  # type: ignore[arg-type]
            return
        self._tell(Check("ping", "ok", "a ping", "answered", self._clock.monotonic() - started))

    async def _list(self, client: Client, kind: str) -> None:
        fetch = getattr(client, f"list_{kind}")
        tried, started = (
            f"{'resources/templates' if '_' in kind else kind}/list",
            self._clock.monotonic(),
        )
        try:
            items = await fetch(timeout_s=_REQUEST_TIMEOUT_S)
        except InspectorError as error:
            is_lacking = isinstance(error, ServerError) and error.rpc_code == -32601
            state = "warning" if is_lacking and kind == "resource_templates" else "failed"
            self._tell(Check(kind, state, tried, error.message))  # type: ignore[arg-type]
            return
        broken = tuple(f"{item.name}: {item.problem}" for item in items if item.problem)
        came = f"{len(items)} listed" + (f", {len(broken)} of them broken" if broken else "")
        elapsed_s = self._clock.monotonic() - started
        self._tell(Check(kind, "warning" if broken else "ok", tried, came, elapsed_s, broken[:8]))

    async def _disconnect(self, client: Client) -> None:
        began, after = self._clock.monotonic(), self._bus.last_seq
        is_connected = client.connection.introduction is not None
        await client.disconnect(Closing.GRACEFUL)
        attempt = Attempt(self._bus.since(after), began, self._clock.monotonic(), None)
        check = exit_check(attempt) if is_connected else None
        if check is not None:
            self._tell(check)

    # -- the result ------------------------------------------------------------------------------

    def _tell(self, check: Check) -> None:
        check = msgspec.structs.replace(
            check,
            tried=known_secrets.mask_text(check.tried),
            came=known_secrets.mask_text(check.came),
            lines=tuple(map(known_secrets.mask_text, check.lines)),
        )
        self._checks.append(check)
        if self._listener is not None:
            self._listener(check)

    def _failed(self, error: InspectorError) -> Diagnosis:
        error = classify(error)
        shown = self._examined.shown
        evidence = gather(shown, self._bus.kept(), is_connected=False)
        sentence, command = advise(error, evidence, self._examined)
        return self._diagnosis(sentence, command, error)

    def _diagnosis(self, sentence: str, command: str, error: InspectorError | None) -> Diagnosis:
        return Diagnosis(
            server=self._examined.shown,
            checks=tuple(self._checks),
            conclusion=sentence,
            command=known_secrets.mask_text(command),
            error=None if error is None else error.to_dict(),
        )
