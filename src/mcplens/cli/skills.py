"""`mcplens skills` and `mcplens skill`: the skills of a server, listed, shown and verified."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final

import click

from mcplens.cli import exit_codes, output
from mcplens.cli.command_options import CommandOptions, shared_options
from mcplens.cli.command_runner import run
from mcplens.cli.completion_candidates import complete_words
from mcplens.cli.known_names import remember
from mcplens.cli.named_items import find_item
from mcplens.cli.target_resolution import split_target
from mcplens.errors import InspectorError
from mcplens.session.client import Client

if TYPE_CHECKING:
    from mcplens.protocol.skill_folders import FolderVerdict, LocalSkill
    from mcplens.protocol.skills import Skill, SkillFinding, SkillList
    from mcplens.session.skill_verification import FileVerdict, VerificationTotals

# As the official Inspector: enough for what people publish, and an end for what never ends.
_MOST_BYTES: Final = 64 * 1024 * 1024
_MOST_SKILLS: Final = 1000

_MARKS: Final = {
    "verified": ("ok", "green"),
    "unverifiable": ("--", "yellow"),
    "not-read": ("--", "yellow"),
    "mismatch": ("!!", "red"),
    "broken": ("!!", "red"),
    "failed": ("!!", "red"),
}


def _budget_options(command: Any) -> Any:
    options = (
        click.option("--verify", is_flag=True, help="Read every file, and check it."),
        click.option("--max-bytes", type=click.IntRange(min=1), default=_MOST_BYTES, metavar="N",
                     help=f"With --verify: read no more bytes than this ({_MOST_BYTES})."),
    )  # fmt: skip
    for option in reversed(options):
        command = option(command)
    return command


@click.command("skills")
@click.argument("words", nargs=-1, metavar="[TARGET]", shell_complete=complete_words)
@_budget_options
@click.option(
    "--max-skills",
    type=click.IntRange(min=1),
    default=_MOST_SKILLS,
    metavar="N",
    help=f"List at most this many skills ({_MOST_SKILLS}).",
)
@click.option(
    "--folder",
    metavar="DIR",
    help="Compare with the skills in this folder: which are missing on the server, and why.",
)
@shared_options
def skills(
    flags: CommandOptions,
    words: tuple[str, ...],
    verify: bool,
    max_bytes: int,
    max_skills: int,
    folder: str | None,
) -> None:
    """List the skills of a server; nothing of them is read unless --verify asks for it.

    --verify and --folder print JSON Lines with --json, and exit with 1 if something differs, with 6
    if an answer of the server is broken.

    \b
    mcplens skills demo
    mcplens skills demo --json
    mcplens skills \\
      https://example.com/mcp --verify
    mcplens skills -- python server.py
    """
    target, rest = split_target(flags, words)
    if rest:
        raise click.UsageError(f"expected [TARGET], got: {' '.join(words)}")
    if verify and folder is not None:
        raise click.UsageError("give one of --verify and --folder")
    local = None
    if folder is not None:
        from mcplens.session.skill_folder import read_folder

        try:
            local = read_folder(folder)
        except InspectorError as problem:
            raise exit_codes.CommandError(problem.message) from None

    async def work(client: Client) -> int | None:
        from mcplens.session.skills import SkillBudget

        found = await client.list_skills(SkillBudget(skills=max_skills))
        remember(flags, target, "skills", found)
        if verify:
            return await _verify(client, flags, found.skills, max_bytes, found.cut)
        if local is not None:
            return await _compare(client, flags, found, local)
        if flags.is_json:
            items = b",".join(skill.raw for skill in found)
            output.write_raw(b'{"skills":[' + items + b"]}")
        else:
            _print_list(found)
        return None

    run(flags, target, work)


@click.command("skill")
@click.argument(
    "words",
    nargs=-1,
    required=True,
    metavar="[TARGET] URI|NAME [FILE]",
    shell_complete=complete_words,
)
@_budget_options
@shared_options
def skill(flags: CommandOptions, words: tuple[str, ...], verify: bool, max_bytes: int) -> None:
    """Show one skill, or print a file of it that was verified; --verify checks one file or all.

    A pipe or a file gets the content as it came. A file that is not what the manifest says is not
    printed: exit code 1.

    \b
    mcplens skill demo release-notes
    mcplens skill demo \\
      release-notes SKILL.md
    mcplens skill demo \\
      release-notes --verify
    """
    target, rest = split_target(flags, words)
    if not 1 <= len(rest) <= 2:
        raise click.UsageError(f"expected [TARGET] URI|NAME [FILE], got: {' '.join(words)}")

    async def work(client: Client) -> int | None:
        one = await _find(client, rest[0])
        path = rest[1] if len(rest) == 2 else None
        if verify:
            return await _verify(client, flags, [one], max_bytes, path=path)
        if path is not None:
            report = await client.read_skill_file(one, path, timeout_s=flags.call_timeout_s)
            if flags.is_json:
                output.write_raw(report.raw)
            else:
                _print_file(report.data, report.mime_type)
        elif flags.is_json:
            output.write_raw(one.raw)
        else:
            _print_skill(one)
        return None

    run(flags, target, work)


async def _find(client: Client, word: str) -> Skill:
    """A skill by its URI, which need not be listed, or by its name."""
    if "://" in word or word.endswith("/SKILL.md"):
        return await client.get_skill(word)
    found = (await client.list_skills()).skills
    same = [one for one in found if one.name == word]
    if len(same) > 1:
        uris = ", ".join(one.uri for one in same)
        raise exit_codes.CommandError(f"{len(same)} skills are named {word}: give one of {uris}")
    one: Skill = find_item(found, word, "skill", ("name", "uri"))
    return one


# -- verification ------------------------------------------------------------------------------


async def _verify(
    client: Client,
    flags: CommandOptions,
    found: Iterable[Skill],
    most: int,
    cut: str | None = None,
    path: str | None = None,
) -> int:
    from mcplens.session.skill_verification import VerificationTotals, verify_skills

    totals, last = VerificationTotals(cut=cut), ""
    timeout_s = flags.call_timeout_s
    async for verdict in verify_skills(client, found, totals, most, path, timeout_s=timeout_s):
        if flags.is_json:
            output.write_json(_line("file", verdict))
            continue
        if verdict.skill != last:
            last = verdict.skill
            output.say(output.style(verdict.skill or "(an entry without a uri)", bold=True))
        _print_verdict(verdict)
    if flags.is_json:
        output.write_json(_line("summary", totals))
    elif not flags.is_quiet:
        _print_totals(totals)
    return _exit_code(totals)


def _exit_code(totals: VerificationTotals) -> int:
    if totals.counts.get("broken"):
        return exit_codes.BROKEN_PROTOCOL
    is_partial = totals.cut is not None
    is_wrong = totals.counts.get("mismatch") or totals.counts.get("failed")
    return exit_codes.FAILED if is_wrong or is_partial else exit_codes.DONE


def _line(kind: str, value: Any) -> dict[str, Any]:
    """A line of JSON Lines: its type, then the fields of the value."""
    import msgspec

    fields: dict[str, Any] = msgspec.to_builtins(value)
    return {"type": kind, **fields}


def _print_verdict(verdict: FileVerdict) -> None:
    mark, colour = _MARKS[verdict.status]
    path = verdict.path or "the entry"
    size = "" if verdict.size is None else f"  {verdict.size:,} bytes"
    shown = "" if verdict.status == "verified" else f"  {verdict.status}"
    output.say("  " + output.style(mark, fg=colour) + f" {path}{size}{shown}")
    _print_findings(verdict.findings, "     ")


def _print_findings(findings: Iterable[SkillFinding], indent: str) -> None:
    for finding in findings:
        word = "error" if finding.is_error else "warning"
        for line in output.fitted(f"{word}: {finding.text}", sys.stdout, len(indent)):
            output.say(indent + line)


def _print_totals(totals: VerificationTotals) -> None:
    counts = ", ".join(f"{count} {status}" for status, count in totals.counts.items())
    output.note(f"{totals.files} files, {totals.bytes:,} bytes: {counts or 'nothing to verify'}")
    if totals.counts.get("verified"):
        output.note("verified means: as the manifest says. It does not mean: to be trusted.")
    if totals.cut is not None:
        output.note(f"not all was verified: {totals.cut}", fg="yellow")


# -- a folder on the disk ----------------------------------------------------------------------


async def _compare(
    client: Client, flags: CommandOptions, found: SkillList, local: list[LocalSkill]
) -> int:
    from mcplens.session.skill_folder import compare_with_served

    verdicts = await compare_with_served(client, found, local)
    for verdict in verdicts:
        if flags.is_json:
            output.write_json(_line("skill", verdict))
        else:
            _print_folder_verdict(verdict)
    if found.cut is not None and not flags.is_quiet:
        output.note(f"not all was compared: {found.cut}", fg="yellow")
    is_broken = any(one.problem for one in found)
    is_same = all(verdict.status in ("same", "only-served") for verdict in verdicts)
    if is_broken:
        return exit_codes.BROKEN_PROTOCOL
    return exit_codes.DONE if is_same else exit_codes.FAILED


_FOLDER_WORDS: Final = {
    "same": ("ok", "green", "is served as it is here"),
    "differs": ("!!", "red", "is served, and differs"),
    "missing": ("!!", "red", "is not served"),
    "unlisted": ("!!", "yellow", "is served and not listed: skills/get gives it"),
    "only-served": ("--", "yellow", "is served, and is not in the folder"),
    "unknown": ("--", "yellow", "is not in the part of the list that was read"),
}


def _print_folder_verdict(verdict: FolderVerdict) -> None:
    mark, colour, words = _FOLDER_WORDS[verdict.status]
    where = verdict.path if verdict.path is not None else verdict.uri
    output.say(
        output.style(mark, fg=colour) + " " + output.style(verdict.name, bold=True)
        + f" {words}  ({where})"
    )  # fmt: skip
    _print_findings(verdict.findings, "   ")


# -- lists and details -------------------------------------------------------------------------


def _print_list(found: SkillList) -> None:
    if not found.skills:
        output.note("the server lists no skills; one that you know by its URI may exist: "
                    "mcplens skill TARGET URI")  # fmt: skip
    rows = []
    for one in found:
        text = f"{output.first_line(one.description)}  [{_extent(one)}]".strip()
        if one.problem:
            text = f"{text}  ! broken: {one.problem}"
        elif warnings := [finding.text for finding in one.findings]:
            text = f"{text}  ! {'; '.join(warnings)}"
        rows.append((one.name or one.uri or "(no name)", text))
    output.columns(rows)
    for finding in found.findings:
        output.note(f"note: {finding.text}")
    if found.cut is not None:
        output.note(f"there may be more: {found.cut}", fg="yellow")


def _extent(one: Skill) -> str:
    if one.is_dynamic:
        return "dynamic"
    word = "file" if len(one.files) == 1 else "files"
    return f"{len(one.files)} {word}, {one.size_bytes:,} bytes"


def _print_skill(one: Skill) -> None:
    from mcplens.protocol.json_comparison import shown

    output.say(output.style(one.name or one.uri, bold=True))
    output.paragraph(one.description)
    output.say()
    rows = [("uri", one.uri)]
    rows += [
        (key, value if isinstance(value, str) else shown(value))
        for key, value in one.frontmatter.items()
        if key not in ("name", "description")
    ]
    if one.ttl_ms is not None:
        rows.append(("fresh for", f"{one.ttl_ms / 1000:g} s ({one.cache_scope})"))
    rows += [("requested, ignored", text) for text in one.requests()]
    rows += [
        ("broken" if finding.is_error else "warning", finding.text) for finding in one.findings
    ]
    output.columns(rows)
    output.say()
    if one.is_dynamic:
        output.say("dynamic: its files are not listed, so they cannot be verified")
        return
    output.columns([(one.path_of(file.uri), f"{file.size:,} bytes") for file in one.files], 2)
    output.say()
    output.say("Nothing of it was read; --verify reads its files and checks them.")


def _print_file(data: bytes, kind: str | None) -> None:
    if not sys.stdout.isatty():
        output.write_bytes(data)
        return
    try:
        output.say(data.decode().removesuffix("\n"))
    except UnicodeDecodeError:
        output.say(f"[{kind or 'binary'}, {len(data):,} bytes; pipe it to a file]")
