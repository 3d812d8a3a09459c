"""`mcplens tasks`: a server's background tasks."""

from __future__ import annotations

import click

from mcplens.cli import exit_codes, output
from mcplens.cli.command_options import CommandOptions, name_option, shared_options
from mcplens.cli.command_runner import run
from mcplens.cli.completion_candidates import TASK_ACTIONS, complete_task
from mcplens.cli.saved_content import SavedContent, save_option
from mcplens.protocol.tasks import Task, to_wire
from mcplens.session.client import Client


@click.command("tasks")
@click.argument(
    "words",
    nargs=-1,
    metavar="[TARGET] [list|get|result|cancel] [ID]",
    shell_complete=complete_task,
)
@save_option
@name_option
@shared_options
def command(flags: CommandOptions, words: tuple[str, ...], folder: str | None) -> None:
    """List a server's tasks, or show, wait for, or cancel one.

    `mcplens call --task` runs a tool as a task; with `--detach` it returns at once.

    \b
    mcplens tasks weather
    mcplens tasks weather get 786af
    mcplens tasks weather result 786af
    """
    rest = list(words)
    target = rest.pop(0) if not flags.is_server_known and rest else None
    action = rest.pop(0) if rest else "list"
    if (given := flags.options.get("given_name")) is not None:
        rest.append(given)
    if action not in TASK_ACTIONS:
        raise click.UsageError(f"{action!r}: use list, get, result or cancel")
    if len(rest) != (action != "list"):
        raise click.UsageError(f"{action} takes {'no id' if action == 'list' else 'one task id'}")

    async def work(client: Client) -> int:
        if action == "list":
            _show_all(flags, await client.list_client_tasks())
            return exit_codes.DONE
        if action == "result":
            result = await client.get_client_task_result(rest[0], timeout_s=flags.call_timeout_s)
            saved = SavedContent(folder, f"task-{rest[0]}")
            saved.save_blocks(result.content, is_told=bool(flags.is_json))
            if flags.is_json:
                output.write_raw(result.raw)
            else:
                output.tool_result(result, saved.paths)
            return exit_codes.REFUSED if result.is_error else exit_codes.DONE
        act = client.get_client_task if action == "get" else client.cancel_client_task
        show_task(flags, await act(rest[0]))
        return exit_codes.DONE

    run(flags, target, work)


def _show_all(flags: CommandOptions, tasks: list[Task]) -> None:
    if flags.is_json:
        output.write_json({"tasks": [to_wire(task) for task in tasks]})
        return
    if not tasks:
        output.note("The server has no tasks.")
    output.columns([(task.task_id, described(task)) for task in tasks])


def show_task(flags: CommandOptions, task: Task) -> None:
    """One task, for a person or as JSON."""
    if flags.is_json:
        output.write_json(to_wire(task))
    else:
        output.columns([(task.task_id, described(task))])


def described(task: Task) -> str:
    """The status of a task in one line."""
    message = f": {task.status_message}" if task.status_message else ""
    kept = "" if task.ttl is None else f", kept for {task.ttl / 1000:g} s"
    return f"{task.status}{message} (since {task.created_at}{kept})"
