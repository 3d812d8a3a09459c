"""`mcplens history save-test`: recorded calls as tests that expect the recorded answers."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

from mcplens.cli import output
from mcplens.cli.command_options import CommandOptions
from mcplens.cli.completion_candidates import complete_run
from mcplens.cli.exit_codes import CommandError
from mcplens.errors import InspectorError

if TYPE_CHECKING:
    from mcplens.store.history import History
    from mcplens.workspace.saved_calls import NewStep

# More than a person looks through.
_MOST_CALLS = 1_000


@click.command("save-test")
@click.argument("run_id", shell_complete=complete_run)
@click.argument("seqs", nargs=-1, type=int, metavar="[SEQ]...")
@click.option(
    "-o",
    "--output",
    "path",
    required=True,
    metavar="FILE",
    help="The test file (*.mcp.yaml); tests are added to one that exists.",
)
@click.option("--name", help="The name of the test, if it is one; else the name of its tool.")
@click.option("--server", help="The configured server of the tests, instead of the recorded one.")
@click.pass_obj
def command(
    flags: CommandOptions,
    run_id: str,
    seqs: tuple[int, ...],
    path: str,
    name: str | None,
    server: str | None,
) -> None:
    """Save recorded requests as tests; by default all calls of tools, resources and prompts.

    Each test expects the recorded answer, which is written to a snapshot beside the file.

    \b
    mcplens history save-test 3f2a \\
      -o notes.mcp.yaml
    mcplens history save-test 3f2a 17 \\
      --name adds -o notes.mcp.yaml
    """
    from mcplens.cli.history import opened, run_of
    from mcplens.workspace.recorded_steps import requests_of

    if not path.endswith(".mcp.yaml"):
        raise click.UsageError("the name of a test file ends in .mcp.yaml")
    if name is not None and len(seqs) != 1:
        raise click.UsageError("--name is for one test: give the SEQ of its request")
    with opened(flags, is_json=False) as history:
        full = run_of(history, run_id).run_id
        found = list(seqs) or requests_of(history, full)
        if not found:
            raise CommandError("that run has no calls of tools, resources or prompts")
        wanted = found if seqs else found[:_MOST_CALLS]
        steps, left_out = _steps(history, full, wanted, name or "", is_strict=bool(seqs))
        servers: dict[str, Any] = {
            one: server or _server(history, full, one, path)
            for one in dict.fromkeys(step.server_id for step in steps)
        }
    names = _write(path, steps, servers)
    told = "1 test" if len(names) == 1 else f"{len(names)} tests"
    output.say(f"{told} written to {path}: {', '.join(names)}")
    if len(found) > len(wanted):
        text = f"only the first {len(wanted):,} of {len(found):,} calls were saved; name others"
        output.note(f"mcplens: {text} by their SEQ", fg="yellow")
    for seq, reason in left_out.items():
        output.note(f"mcplens: request {seq} was left out: {reason}", fg="yellow")


def _steps(
    history: History, run_id: str, seqs: list[int], name: str, *, is_strict: bool
) -> tuple[list[NewStep], dict[int, str]]:
    """The requests as tests, and why others cannot be: an error, if they were named."""
    from mcplens.workspace.recorded_steps import recorded_step

    steps: list[NewStep] = []
    left_out: dict[int, str] = {}
    for seq in seqs:
        try:
            steps.append(recorded_step(history, run_id, seq, name))
        except InspectorError as problem:
            if is_strict:
                raise
            left_out[seq] = problem.message
    if not steps:
        seq, reason = next(iter(left_out.items()))
        raise CommandError(f"no call of that run can be saved; request {seq}: {reason}")
    return steps, left_out


def _server(history: History, run_id: str, server_id: str, path: str) -> Any:
    """The server of a test: a configured name, else the command or the URL that was recorded."""
    from mcplens.cli.target_resolution import DEMO
    from mcplens.config.configuration import load_configuration
    from mcplens.events import HttpRequestSent, ProcessStarted
    from mcplens.store.filters import Filter
    from mcplens.store.recorded_secrets import is_masked

    if server_id == DEMO or load_configuration(is_tolerant=True).find(server_id) is not None:
        return server_id
    kinds = frozenset({"ProcessStarted", "HttpRequestSent"})
    wanted = Filter(run_id=run_id, server_id=server_id, kinds=kinds)
    for entry in history.events(wanted, limit=1):
        stored = history.event(run_id, entry.seq)
        event = stored.event if stored is not None else None
        if isinstance(event, HttpRequestSent) and not is_masked(event.url):
            return {"url": event.url}
        if isinstance(event, ProcessStarted) and not any(map(is_masked, event.argv)):
            command, *args = event.argv
            found: dict[str, Any] = {"command": _portable(command)}
            return found | ({"args": args} if args else {}) | _cwd(event.cwd, path)
    text = f"{server_id} is not configured, and how it was reached was masked; add --server NAME"
    raise CommandError(text)


def _portable(command: str) -> str:
    """A program by its name, if the PATH leads to the same one; elsewhere it has another path."""
    import shutil

    name = os.path.basename(command)
    return name if shutil.which(name) == command else command


def _cwd(cwd: str | None, path: str) -> dict[str, str]:
    """The folder that the command started in, seen from the folder of the file."""
    relative = os.path.relpath(cwd or os.getcwd(), os.path.dirname(os.path.abspath(path)))
    return {} if relative == "." else {"cwd": relative}


def _write(path: str, steps: list[NewStep], servers: dict[str, Any]) -> list[str]:
    """Add the tests to the file; gives their names."""
    from mcplens.collections.folder import CollectionFolder, digest_of, given_file
    from mcplens.collections.model import VERSION, step_fields
    from mcplens.collections.secret_arguments import without_secrets
    from mcplens.collections.snapshots import Snapshots
    from mcplens.collections.test_file import TestFileProblem, read_test_file, sentence
    from mcplens.collections.variables import escape
    from mcplens.collections.yaml_edits import append_steps
    from mcplens.collections.yaml_text import dump
    from mcplens.config.environment import current_environment
    from mcplens.config.files import read_text, replace_text
    from mcplens.config.secret_keys import find_keys_by_server
    from mcplens.known_secrets import known_secrets
    from mcplens.testing.selection import confirmations
    from mcplens.workspace.saved_calls import snapshot_value

    first = next(iter(servers.values()))
    text = dump({"version": VERSION, "server": first, "tests": []})
    keys_of = find_keys_by_server()
    here = current_environment()
    folder = CollectionFolder(here)
    is_new = not os.path.exists(path)
    if not is_new:
        text = read_text(path)
    try:
        found = read_test_file(text)
    except TestFileProblem as problem:
        raise CommandError(f"{path}:{sentence(problem.problems[0])}") from None
    # Who writes a file has seen what it does, but maybe not what was in it before.
    is_seen = is_new or any(map(folder.is_confirmed, confirmations(path, digest_of(text), found)))
    taken = {step.name for step in found.steps}
    names: list[str] = []
    added: list[dict[str, Any]] = []
    snapshots = Snapshots(path)
    for step in steps:
        name = _free(step.name, taken)
        taken.add(name)
        names.append(name)
        keys = tuple(keys_of(step.server_id))
        own = servers[step.server_id]
        without = without_secrets(step.arguments, keys)
        known_secrets.learn(*without.values.values())  # the answer may repeat them
        fields = step_fields(
            name=name,
            description="",
            server=None if is_new and own == first else own,
            kind=step.kind,
            target=escape(step.target),
            arguments=without.arguments,
        )
        kept = {key: value for key, value in fields.items() if value is not None}
        added.append({**kept, "expect": step.expect})
        if (step.expect or {}).get("snapshot"):
            snapshots.put(name, snapshot_value(step.result, keys))
    text = append_steps(text, added)
    snapshots.write()
    replace_text(path, text)
    if is_seen:
        digest = confirmations(path, digest_of(text), read_test_file(text))[0]
        folder.confirm_digest(digest, given_file(here, path))
    return names


def _free(name: str, taken: set[str]) -> str:
    """A name that no other test of the file has."""
    free, number = name, 2
    while free in taken:
        free, number = f"{name} ({number})", number + 1
    return free
