"""`mcplens test`: runs the tests of `*.mcp.yaml` files, and reports.

Everything that can be wrong before a server is started is found first: files that cannot be read,
tests that are not chosen, variables without a value, files that nobody confirmed.
"""

from __future__ import annotations

import asyncio
import os
import sys
from typing import TYPE_CHECKING, Any

import click

from mcplens.cli import exit_codes, output
from mcplens.cli.command_options import CommandOptions, Seconds, default_options, writable_file
from mcplens.cli.exit_codes import CommandError, as_command_error

if TYPE_CHECKING:
    from mcplens.testing.selection import LoadedFile

_MOST_JOBS = 8


def _made_folder(ctx: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    """A folder that can be written to: better refused before a server is started than after."""
    if value is None or ctx.resilient_parsing:
        return value
    try:
        os.makedirs(value, exist_ok=True)
    except OSError as problem:
        raise click.BadParameter(f"{value!r} cannot be made: {problem.strerror}") from None
    if not os.access(value, os.W_OK):
        raise click.BadParameter(f"{value!r} cannot be written: permission denied")
    return value


@click.command("test")
@click.argument("files", nargs=-1, metavar="[FILES]...")
@click.option(
    "-k",
    "expression",
    metavar="EXPRESSION",
    help="Only tests whose file and name contain these words (and, or, not).",
)
@click.option("--update", is_flag=True, help="Write the snapshots that tests expect.")
@click.option(
    "--retries",
    type=click.IntRange(0, 10),
    default=0,
    metavar="N",
    help="Run a file again up to N times if a test failed; the report says so.",
)
@click.option(
    "-j",
    "--jobs",
    type=click.IntRange(1),
    metavar="N",
    help="How many files at once (the number of processors).",
)
@click.option(
    "--timeout",
    type=Seconds(),
    default=60.0,
    metavar="S",
    help="Time limit of a test that has none of its own (60 s).",
)
@click.option("--junit", metavar="FILE", callback=writable_file, help="Write a JUnit report.")
@click.option(
    "--summary",
    metavar="FILE",
    callback=writable_file,
    help="Append a Markdown summary; automatic on GitHub Actions.",
)
@click.option(
    "--trace-dir",
    metavar="FOLDER",
    callback=_made_folder,
    help="Write the trace of each file here.",
)
@click.option("--config", metavar="FILE", help="Use only this configuration file.")
@click.option("--json", "is_json", is_flag=True, help="Print one JSON object per test.")
@click.option("-q", "--quiet", "is_quiet", is_flag=True, help="Print failures and totals only.")
@click.option(
    "--yes",
    "is_trusted",
    is_flag=True,
    help="Use files and start a project's servers without asking.",
)
@click.option("--no-record", is_flag=True, help="Do not record the tests.")
@click.pass_obj
def command(flags: CommandOptions, /, files: tuple[str, ...], **given: Any) -> None:
    """Run the tests in FILES, or in all *.mcp.yaml files below folders (by default this one).

    Exits with 1 if a test failed, and with 2 if there is no test or a file is wrong.

    \b
    mcplens test
    mcplens test tests/notes.mcp.yaml
    mcplens test -k 'notes and not slow'
    mcplens test --update
    mcplens test --yes --junit report.xml
    """
    from mcplens.cli.test_run import TestRun
    from mcplens.testing.servers import ServerResolver

    flags.options = {**default_options(), **flags.options}
    for name in ("config", "is_json", "is_quiet", "is_trusted", "no_record"):
        flags.options[name] = given[name]
    with as_command_error():
        loaded = _load(files or (".",), given["expression"])
        _confirm(flags, loaded)
        _check_variables(loaded)
        resolver = ServerResolver(flags.config, confirm=lambda entry: _confirm_entry(flags, entry))
        _resolve_names(resolver, loaded)
        run = TestRun(
            loaded,
            resolver,
            _options(flags, given),
            junit=given["junit"],
            summary=given["summary"] or os.environ.get("GITHUB_STEP_SUMMARY"),
            is_json=given["is_json"],
            is_quiet=given["is_quiet"],
        )
    try:
        code = asyncio.run(run.run())
    except KeyboardInterrupt:
        code = exit_codes.INTERRUPTED
    output.flush()
    sys.exit(code)


def _options(flags: CommandOptions, given: dict[str, Any]) -> Any:
    from mcplens.store.recording_file import default_path
    from mcplens.testing.runner import RunOptions

    return RunOptions(
        updates=given["update"],
        retries=given["retries"],
        jobs=given["jobs"] or min(os.cpu_count() or 1, _MOST_JOBS),
        timeout_s=given["timeout"] or float("inf"),
        trace_dir=given["trace_dir"],
        record=None if flags.no_record else os.fspath(default_path()),
        is_partial=given["expression"] is not None,
    )


def _load(names: tuple[str, ...], expression: str | None) -> list[LoadedFile]:
    """All files, read; every problem of every file is told at once."""
    from mcplens.collections.test_file import TestFileProblem, sentence
    from mcplens.testing import selection

    wanted = None
    if expression is not None:
        try:
            wanted = selection.expression(expression)
        except selection.WrongExpression as problem:
            raise click.UsageError(f"-k: {problem}") from None
    loaded: list[LoadedFile] = []
    wrong: list[str] = []
    for path in selection.find_files(names):
        try:
            loaded.append(selection.load_file(path, wanted))
        except TestFileProblem as problem:
            wrong += [f"{path}:{sentence(one)}" for one in problem.problems]
    if wrong:
        raise CommandError("\n".join(wrong))
    found = [file for file in loaded if file.steps]
    if not found:
        where = " ".join(names)
        chosen = f" that -k {expression!r} chooses" if expression else ""
        raise CommandError(f"no test{chosen} was found in {where}; tests are in *.mcp.yaml files")
    return found


def _confirm(flags: CommandOptions, files: list[LoadedFile]) -> None:
    """A content that nobody has seen is confirmed once; it may start programs."""
    from mcplens.cli.confirmation import confirm
    from mcplens.collections.folder import CollectionFolder, given_file
    from mcplens.config.environment import current_environment
    from mcplens.testing.selection import confirmations

    here = current_environment()
    folder = CollectionFolder(here)
    for file in files:
        digests = confirmations(file.path, file.digest, file.content)
        if any(folder.is_confirmed(digest) for digest in digests):
            continue
        if not flags.is_trusted:
            confirm("\n".join(output.one_line(one) for one in _told(file)), "run these tests")
        folder.confirm_digest(digests[0], given_file(here, file.path))


def _told(file: LoadedFile) -> list[str]:
    """What a file does, for the person who confirms it."""
    import msgspec

    content = file.content
    lines = [f"{file.shown} was not written by mcplens on this computer. It uses"]
    for server in content.servers:
        told = server if isinstance(server, str) else msgspec.json.encode(server).decode()
        lines.append(f"  the server {told}")
    names = ", ".join(content.variables)
    lines.append(f"  your variables {names}" if names else "  none of your variables")
    if content.profiles:
        lines.append(f"  profiles {msgspec.json.encode(content.profiles).decode()}")
    for step in content.steps:
        own = "" if step.profile is None else f" answered by {step.profile}"
        lines.append(f"  {step.kind} {step.target}{own}")
    return lines


def _check_variables(files: list[LoadedFile]) -> None:
    from mcplens.collections.variables import unset_text
    from mcplens.config.environment import current_environment

    here = current_environment()
    for file in files:
        saved = {name for step in file.content.steps for name in step.save}
        names = dict.fromkeys(name for step in file.steps for name in step.variables)
        unset = [name for name in names if name not in saved and here.variable(name) is None]
        if unset:
            raise CommandError(f"{file.shown}: {unset_text(unset)}")


def _confirm_entry(flags: CommandOptions, entry: Any) -> None:
    from mcplens.cli.confirmation import confirm_entry

    confirm_entry(flags, entry)


def _resolve_names(resolver: Any, files: list[LoadedFile]) -> None:
    """Ask about configured servers now, and not while tests run; what is wrong fails its test."""
    from mcplens.errors import InspectorError

    for file in files:
        for server in file.content.servers:
            if isinstance(server, str):
                try:
                    resolver.resolve(server, file.path, server)
                except InspectorError:
                    continue
