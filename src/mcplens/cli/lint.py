"""`mcplens lint`: what servers promise, checked by rules, and what it costs in a prompt."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Final

import click

from mcplens.cli import exit_codes, output
from mcplens.cli.command_options import CommandOptions, shared_options
from mcplens.cli.completion_candidates import complete_target
from mcplens.cli.diff import shown_pointer

if TYPE_CHECKING:
    from mcplens.cli.contract_sources import ContractSource
    from mcplens.lint.cost import ContextCost, Cost
    from mcplens.lint.registry import LintResult, SwitchedOff

_FORMS: Final = ("text", "json", "markdown", "sarif", "github")
_SEVERITIES: Final = ("error", "warning", "note", "never")
_COLOURS: Final = {"error": "red", "warning": "yellow", "note": "blue"}
# As many as one reads; --all and the other formats have all of them.
_SHOWN_COSTS: Final = 10
_SHOWN_OF_RULE: Final = 5


@click.command("lint")
@click.argument("words", nargs=-1, metavar="[TARGET|LOCK|TRACE]...",
                shell_complete=complete_target)  # fmt: skip
@click.option("--off", "off", multiple=True, metavar="RULE[#POINTER]",
              help="Leave a rule out, everywhere or at one place; may be repeated.")  # fmt: skip
@click.option("--budget", type=click.IntRange(min=0), metavar="TOKENS",
              help="Exit with 1 if tools and instructions cost more than this.")  # fmt: skip
@click.option("--fail-on", type=click.Choice(_SEVERITIES), default="error", show_default=True,
              help="Exit with 1 if there are findings of this severity, or worse.")  # fmt: skip
@click.option("--format", "form", type=click.Choice(_FORMS), default="text", show_default=True,
              metavar="FORM", help=f"How to print the findings: {', '.join(_FORMS)}; --json is "
              "short for json.")  # fmt: skip
@click.option("--all", "is_all", is_flag=True, help="Print every finding and every cost.")
@click.option("--server", metavar="NAME", help="The server to check, in a lock or trace of many.")
@click.option("--run", "run_id", metavar="RUN", help="The run to check, in a trace of many.")
@shared_options
def command(
    flags: CommandOptions,
    words: tuple[str, ...],
    off: tuple[str, ...],
    budget: int | None,
    fail_on: str,
    form: str,
    is_all: bool,
    server: str | None,
    run_id: str | None,
) -> None:
    """Check what servers promise: specification, quality, clients, safety, and context cost.

    Servers are checked together, also for names that several have; without a name, those of
    mcp.lock, else of the project's mcp.json. A trace also tells how long results were. Rules that
    are off in the project's mcp.json (lintOff) stay off.

    \b
    mcplens lint demo --fail-on never
    mcplens lint weather billing
    mcplens lint mcp.lock --format sarif
    mcplens lint --budget 5000 \\
      --off quality-output-schema \\
      -- python server.py
    """
    from mcplens.lint.cost import context_cost
    from mcplens.lint.registry import lint
    from mcplens.lint.reports import fails

    switches = [*_given(off), *_configured(flags)]
    sources = _sources(flags, words, server, run_id)
    contracts = [contract for source in sources for contract in source.contracts.values()]
    result = lint(contracts, switches)
    results = {tool: sizes for source in sources for tool, sizes in source.results.items()}
    cost = context_cost(contracts, results)
    _show(flags, sources, result, cost, budget, "json" if flags.is_json else form, is_all)
    is_over = budget is not None and cost.tokens > budget
    if is_over:
        output.note(f"the budget of {budget:,} tokens is exceeded: about {cost.tokens:,}", fg="red")
    is_failed = is_over or fails(result.findings, fail_on)
    sys.exit(exit_codes.FAILED if is_failed else exit_codes.DONE)


def _sources(
    flags: CommandOptions, words: tuple[str, ...], server: str | None, run_id: str | None
) -> list[ContractSource]:
    """What is checked together."""
    from mcplens.cli.contract_sources import project_servers, read_source
    from mcplens.contracts.lock import FILE_NAME

    given: list[str | None] = [*words]
    if flags.server_command is not None:
        given.append(None)
    if not given:
        given = [FILE_NAME] if os.path.isfile(FILE_NAME) else [*project_servers(flags)]
    if len(given) > 1 and flags.trace is not None:
        raise click.UsageError("--trace is for one server")
    found: list[ContractSource] = []
    for word in given or [None]:
        source = read_source(flags, word, server=server, run=run_id)
        twice = {name for other in found for name in other.contracts} & source.contracts.keys()
        if twice:
            text = f"{source.shown} has a server called {min(twice)}, as one before it has"
            raise click.UsageError(f"{text}; check them one by one")
        found.append(source)
    return found


def _given(off: tuple[str, ...]) -> list[SwitchedOff]:
    from mcplens.cli.near_names import near_names
    from mcplens.lint.registry import RULES, parse_switch

    found = []
    for text in off:
        try:
            found.append(parse_switch(text))
        except ValueError as problem:
            near = near_names(text.partition("#")[0], RULES)
            hint = f" Did you mean {' or '.join(near)}?" if near else ""
            raise click.UsageError(f"--off {text}: {problem}.{hint}") from None
    return found


def _configured(flags: CommandOptions) -> list[SwitchedOff]:
    """The rules that are off in the configuration; one that is not known is said."""
    from mcplens.cli.exit_codes import as_command_error
    from mcplens.config.configuration import load_configuration
    from mcplens.lint.registry import parse_switch

    with as_command_error():
        settings = load_configuration(flags.config).settings
    found = []
    for text in settings.lint_off:
        try:
            found.append(parse_switch(text))
        except ValueError as problem:
            output.note(f"note: lintOff has {text!r}: {problem}", fg="yellow")
    return found


def _show(
    flags: CommandOptions,
    sources: list[ContractSource],
    result: LintResult,
    cost: ContextCost,
    budget: int | None,
    form: str,
    is_all: bool,
) -> None:
    from mcplens.cli.finding_locations import FindingLocations
    from mcplens.lint.reports import as_annotations, as_json, as_markdown
    from mcplens.lint.sarif import as_sarif

    if form == "json":
        output.write_json(as_json(result, cost, budget))
    elif form == "markdown":
        output.say(as_markdown(result, cost, budget))
    elif form == "sarif":
        output.write_json(as_sarif(result, FindingLocations(flags, sources).locate))
    elif form == "github":
        for line in as_annotations(result, FindingLocations(flags, sources).locate):
            output.say(line)
    else:
        _print_findings(result, is_all)
        _print_cost(cost, is_all)
    output.flush()


def _print_findings(result: LintResult, is_all: bool) -> None:
    from mcplens.lint.registry import RULES
    from mcplens.lint.reports import counts

    off = f" ({result.off_count} switched off)" if result.off_count else ""
    output.say(f"{counts(result.findings)}{off}", bold=True)
    by_rule: dict[str, list[tuple[str, str]]] = {}
    for one in result.findings:
        by_rule.setdefault(one.rule, []).append((one.server + one.pointer, one.message))
    for rule_id, hits in by_rule.items():
        rule = RULES[rule_id]
        head = output.style(rule.severity, fg=_COLOURS[rule.severity], bold=True)
        output.say(head + f" {rule_id}: {rule.title} ({len(hits)})")
        shown = hits if is_all else hits[:_SHOWN_OF_RULE]
        for where, message in shown:
            output.say(f"  {shown_pointer(where)}  {output.one_line(message)}")
        if len(hits) > len(shown):
            output.say(f"  … and {len(hits) - len(shown)} more; --all prints them")
        output.say(output.style(f"  {rule.reason} {rule.source}", dim=True))


def _print_cost(cost: ContextCost, is_all: bool) -> None:
    output.say(f"about {cost.tokens:,} tokens in every prompt; heaviest definitions:", bold=True)
    shown = cost.definitions if is_all else cost.definitions[:_SHOWN_COSTS]
    output.columns(
        [
            (f"{one.tokens:>7,}", shown_pointer(one.server + one.pointer) + _listed(one))
            for one in shown
        ]
    )
    if cost.results:
        output.say("results that were seen, in tokens (largest, mean, count):", bold=True)
        results = cost.results if is_all else cost.results[:_SHOWN_COSTS]
        output.columns(
            [
                (f"{one.largest_tokens:>7,}", f"{one.mean_tokens:,}  {one.count}×  {one.tool}")
                for one in results
            ]
        )


def _listed(cost: Cost) -> str:
    return "" if cost.is_in_every_prompt else "  (only where it is listed)"
