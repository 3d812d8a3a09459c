"""`mcplens tasks`: what a server works on in the background."""

from __future__ import annotations

from typing import Final

import click

from mcplens.cli import exits, output
from mcplens.cli.completion import complete_first
from mcplens.cli.running import run
from mcplens.cli.state import State, shared_options
from mcplens.protocol.tasks import Task, to_wire
from mcplens.session.client import Client

_ACTIONS: Final = ("list", "get", "result", "cancel")


@click.command("tasks")
@click.argument(
    "words",
    nargs=-1,
    metavar="[TARGET] [list|get|result|cancel] [ID]",
    shell_complete=complete_first,
)
@shared_options
def command(state: State, words: tuple[str, ...]) -> None:
    """List a server's tasks; or show, wait for, or cancel one of them.

    `mcplens call --task` runs a tool as a task, and with `--detach` leaves it running.

    \b
    mcplens tasks weather
    mcplens tasks weather get 786af
    mcplens tasks weather result 786af
    """
    rest = list(words)
    target = rest.pop(0) if state.server_command is None and rest else None
    action = rest.pop(0) if rest else "list"
    if action not in _ACTIONS:
        raise click.UsageError(f"{action!r}: say list, get, result or cancel")
    if len(rest) != (action != "list"):
        raise click.UsageError(f"{action} takes {'no id' if action == 'list' else 'one task id'}")

    async def work(client: Client) -> int:
        if action == "list":
            _show_all(state, await client.list_client_tasks())
            return exits.DONE
        if action == "result":
            result = await client.get_client_task_result(rest[0])
            if state.is_json:
                output.write_raw(result.raw)
            else:
                output.tool_result(result)
            return exits.REFUSED if result.is_error else exits.DONE
        act = client.get_client_task if action == "get" else client.cancel_client_task
        show_task(state, await act(rest[0]))
        return exits.DONE

    run(state, target, work)


def _show_all(state: State, tasks: list[Task]) -> None:
    if state.is_json:
        output.write_json({"tasks": [to_wire(task) for task in tasks]})
        return
    if not tasks:
        output.note("The server has no tasks.")
    output.columns([(task.task_id, described(task)) for task in tasks])


def show_task(state: State, task: Task) -> None:
    """One task, for a person or as JSON."""
    if state.is_json:
        output.write_json(to_wire(task))
    else:
        output.columns([(task.task_id, described(task))])


def described(task: Task) -> str:
    """Where a task stands, in one line."""
    message = f": {task.status_message}" if task.status_message else ""
    kept = "" if task.ttl is None else f", kept for {task.ttl / 1000:g} s"
    return f"{task.status}{message} (since {task.created_at}{kept})"
