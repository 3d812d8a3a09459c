"""`mcplens history replay`: a recorded request, sent again.

Chooses the server: the configured one that it was sent to, or the one in the recording. Masked
values are filled in from the current configuration (store/replay.py).
"""

from __future__ import annotations

import os
import re
import shlex
from typing import Any

import click
import msgspec

from mcplens.cli import output
from mcplens.cli.command_options import CommandOptions, shared_options
from mcplens.cli.command_runner import reporting, run
from mcplens.cli.completion_candidates import complete_run, complete_target
from mcplens.cli.confirmation import confirm
from mcplens.cli.exit_codes import CommandError
from mcplens.cli.target_resolution import Target, is_known, resolve, with_options
from mcplens.events import HttpRequestSent, ProcessStarted
from mcplens.protocol.secret_masking import mask_url
from mcplens.store.recorded_secrets import is_masked
from mcplens.store.replay import KNOWN, ReplayRequest, is_request, request_to_replay
from mcplens.store.row_decoding import StoredEvent

# Headers that a transport makes anew for each request; all others were given by the user.
_OWN_HEADERS = frozenset(
    {
        "host", "user-agent", "accept", "accept-encoding", "content-type", "content-length",
        "connection", "upgrade", "last-event-id", "origin",
    }
)  # fmt: skip
_OWN_PREFIXES = ("mcp-", "sec-websocket-")
_MASKED_QUERY = re.compile(r"[?&]([^=&#?]+)=(?=‹masked)")


class Recorded(msgspec.Struct, frozen=True):
    """A request that was sent, and how its server was reached: a process, or HTTP."""

    stored: StoredEvent
    server_id: str
    way: StoredEvent | None = None


@click.command("replay")
@click.argument("run_id", shell_complete=complete_run)
@click.argument("seq", type=int)
@click.argument("target", required=False, shell_complete=complete_target)
@shared_options
def command(flags: CommandOptions, run_id: str, seq: int, target: str | None) -> None:
    """Send a recorded request again, to its server or to another one.

    Masked values are filled in from the current configuration.

    \b
    mcplens history replay 3f2a 17
    mcplens history replay 3f2a 17 demo
    """
    from mcplens.cli.history import opened

    with opened(flags, is_json=bool(flags.is_json)) as history:
        recorded = _find(history, run_id, seq)
    with reporting(flags, target or recorded.server_id):
        if target is None and flags.server_command is None:
            found = _its_server(flags, recorded)
        else:
            found = resolve(flags, target)
        replay = _unmasked(recorded, found)

    async def work(client: Any) -> None:
        reply = await client.request(replay.method, replay.params)
        if flags.is_json:
            output.write_raw(reply.raw)
        else:
            output.say(output.pretty(reply.value))

    run(flags, found, work)


def _find(history: Any, run_id: str, seq: int) -> Recorded:
    from mcplens.cli.history import run_of
    from mcplens.store.filters import Filter

    run_id = run_of(history, run_id).run_id
    stored = history.event(run_id, seq)
    if not is_request(stored):
        raise click.UsageError(f"event {seq} of that run is not a request that was sent")
    server_id = stored.event.server_id
    ways = {}
    for kind in ("ProcessStarted", "HttpRequestSent"):
        wanted = Filter(run_id=run_id, server_id=server_id, kinds=frozenset({kind}))
        for entry in history.events(wanted, limit=1):
            ways[kind] = history.event(run_id, entry.seq)
    way = ways.get("ProcessStarted") or ways.get("HttpRequestSent")
    return Recorded(stored, server_id, way)


# -- where it goes -----------------------------------------------------------------------------


def _its_server(flags: CommandOptions, recorded: Recorded) -> Target:
    """The server that the request went to."""
    if is_known(flags, recorded.server_id):
        return resolve(flags, recorded.server_id)
    event = recorded.way.event if recorded.way is not None else None
    if isinstance(event, ProcessStarted):
        return _its_command(flags, recorded.server_id, event)
    if isinstance(event, HttpRequestSent):
        return _its_url(flags, recorded.server_id, event)
    raise click.UsageError(
        f"{recorded.server_id} is not configured, and the recording does not say how it was "
        "reached; name a server after the event number"
    )


def _its_command(flags: CommandOptions, name: str, event: ProcessStarted) -> Target:
    hidden = [word for word in event.argv if is_masked(word)]
    if hidden:
        raise _cannot(
            f"the command {shlex.join(event.argv)!r} has masked parts", "give the command after --"
        )
    missing = [variable for variable in event.env_names if variable not in flags.env]
    if missing:
        raise _cannot(
            f"the value of the variable {missing[0]} is not recorded", f"add -e {missing[0]}=VALUE"
        )
    if not flags.is_trusted:
        # It may come from someone else's trace file.
        command = output.one_line(shlex.join(event.argv))
        folder = output.one_line(event.cwd or os.getcwd())
        question = f"the recording starts {output.one_line(name)} with this command:\n  {command}"
        confirm(f"{question}\n  in the folder {folder}", "start it")
    options = {} if event.cwd is None else {"cwd": event.cwd}
    return Target(name, list(event.argv), with_options(flags, options))


def _its_url(flags: CommandOptions, name: str, event: HttpRequestSent) -> Target:
    for entry in _entries(flags):
        if entry.url is not None and entry.is_usable and mask_url(entry.url) == event.url:
            return resolve(flags, entry.name)
    if is_masked(event.url):
        keys = _MASKED_QUERY.findall(event.url)
        what = f"the value of {keys[0]} in the URL" if keys else "the user in the URL"
        raise _cannot(f"{what} was masked, and no configured server has this URL", "name the URL")
    given = {header.lower() for header in flags.headers}
    headers = {}
    for header, value in event.headers:
        if _is_own(header) or header.lower() in given:
            continue
        if is_masked(value):
            raise _cannot(
                f"the value of the header {header} was masked, and no configured server has this "
                "URL",
                f"add -H '{header}: VALUE'",
            )
        headers[header] = value
    return Target(name, event.url, with_options(flags, {"headers": headers}))


def _is_own(header: str) -> bool:
    return header.lower() in _OWN_HEADERS or header.lower().startswith(_OWN_PREFIXES)


def _entries(flags: CommandOptions) -> Any:
    from mcplens.config.configuration import load_configuration

    return load_configuration(flags.config).servers


def _cannot(why: str, advice: str) -> CommandError:
    return CommandError(f"cannot be sent again: {why}; {advice}")


def _unmasked(recorded: Recorded, target: Target) -> ReplayRequest:
    """The request with the values that the configuration has today of what was masked."""
    replay = request_to_replay(recorded.stored, target.secrets)
    if replay.missing:
        key = replay.missing[0]
        if key == KNOWN:
            raise _cannot(f"it contains {key}", "make the call again with its value")
        raise _cannot(
            f"the value of {key} was masked, and {target.name} has no value for it in secretKeys",
            f'write {{"secretKeys": {{"{key}": "${{VARIABLE}}"}}}} there',
        )
    return replay
