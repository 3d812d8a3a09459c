"""`mcplens app`: why a tool's MCP App may stay blank, found without a browser."""

from __future__ import annotations

from typing import Any, Final

import click
import msgspec

from mcplens.cli import exit_codes, output
from mcplens.cli.arguments import collect, parse_object, read_words
from mcplens.cli.command_options import CommandOptions, name_option, shared_options
from mcplens.cli.command_runner import run
from mcplens.cli.completion_candidates import complete_words
from mcplens.cli.named_items import find_item
from mcplens.cli.target_resolution import split_tool
from mcplens.protocol.app_checks import AppFinding, check_document, check_result, check_tool
from mcplens.protocol.app_policy import PROFILES, app_policy
from mcplens.protocol.apps import AppDocument, AppLink, AppProblem, app_document, app_link
from mcplens.protocol.result_types import Tool
from mcplens.session.client import Client

_COLOURS: Final = {"error": "red", "warning": "yellow", "note": None}


class _Report(msgspec.Struct, kw_only=True):
    """What is known of an app, and what is wrong with it."""

    tool: str
    uri: str | None
    visibility: list[str]
    mime_type: str | None = None
    size_bytes: int | None = None
    policy: str | None = None
    findings: list[AppFinding] = []


@click.command("app")
@click.argument(
    "words",
    nargs=-1,
    required=True,
    metavar="[TARGET] TOOL [ARGUMENTS]...",
    shell_complete=complete_words,
)
@click.option("--args", "whole", metavar="JSON", help="All arguments: JSON, @file, or - for stdin.")
@click.option(
    "--call",
    "is_called",
    is_flag=True,
    help="Call the tool too, and check that its result has text for hosts without apps; "
    "arguments imply it.",
)
@click.option(
    "--profile",
    type=click.Choice(PROFILES),
    default="specification",
    help="The policy to check against (specification).",
)
@click.option(
    "--allow-private",
    is_flag=True,
    help="Allow addresses of private networks that the app declares.",
)
@name_option
@shared_options
def command(
    flags: CommandOptions,
    words: tuple[str, ...],
    whole: str | None,
    is_called: bool,
    profile: Any,
    allow_private: bool,
) -> None:  # fmt: skip
    """Check the MCP App of a tool. If something keeps it blank, the exit code is 1.

    \b
    mcplens app demo app-everything
    mcplens app demo app-everything --call
    mcplens app demo app-everything --json
    """
    target, name, rest = split_tool(flags, words)
    given = parse_object(whole, "--args") if whole is not None else None

    async def work(client: Client) -> int:
        tool: Tool = find_item(await client.list_tools(), name, "tool")
        link = app_link(tool.value())
        report = _Report(tool=tool.name, uri=link.resource_uri, visibility=list(link.visibility))
        report.findings += check_tool(tool.value(), link)
        document = await _document(client, link, report)
        if document is not None:
            policy = app_policy(document.meta, profile, allows_private=allow_private)
            report.policy = policy.header()
            report.mime_type, report.size_bytes = document.mime_type, len(document.data)
            report.findings += check_document(document, policy)
        if is_called or rest or given is not None:
            arguments = collect(
                read_words(rest),
                whole=given,
                schema=tool.input_schema,
                is_forced=bool(flags.force),
            )
            result = await client.call_tool(tool.name, arguments, timeout_s=flags.call_timeout_s)
            report.findings += check_result(msgspec.to_builtins(result.content))
        _show(flags, report)
        is_blank = any(one.severity == "error" for one in report.findings)
        return exit_codes.FAILED if is_blank else exit_codes.DONE

    run(flags, target, work)


async def _document(client: Client, link: AppLink, report: _Report) -> AppDocument | None:
    """The app's resource; None with the reason among the findings."""
    from mcplens.errors import ProtocolError, ServerError
    from mcplens.protocol.frames import decode_value

    uri = link.resource_uri
    if uri is None:
        text = f"the tool {report.tool} has no app: its _meta.ui names no resourceUri"
        report.findings.append(AppFinding("no-app", "error", text))
        return None
    try:
        result = await client.read_resource(uri)
        value, _ = decode_value(msgspec.Raw(result.raw))
        return app_document(value["contents"], uri, await _listed(client, uri))
    except (ServerError, ProtocolError) as error:
        text = f"the resource {uri} cannot be read: {error.message}"
    except AppProblem as problem:
        text = str(problem)
    report.findings.append(AppFinding("resource-missing", "error", text))
    return None


async def _listed(client: Client, uri: str) -> Any:
    """The resource's entry in the list, which may declare what the read item does not."""
    from mcplens.errors import InspectorError

    try:
        listed = await client.list_resources()
    except InspectorError:
        return None  # an app need not be listed
    return next((one.value() for one in listed if one.uri == uri), None)


def _show(flags: CommandOptions, report: _Report) -> None:
    if flags.is_json:
        output.write_json(msgspec.to_builtins(report))
        return
    size = "" if report.size_bytes is None else f"{report.size_bytes:,} bytes"
    facts = [
        ("tool", report.tool),
        ("resource", report.uri or ""),
        ("type", report.mime_type or ""),
        ("size", size),
        ("visibility", ", ".join(report.visibility)),
        ("policy", report.policy or ""),
    ]
    output.columns([(name, text) for name, text in facts if text])
    for finding in report.findings:
        where = f"line {finding.line}: " if finding.line is not None else ""
        mark = output.style(finding.severity, fg=_COLOURS[finding.severity], bold=True)
        output.say(mark + f"  {where}{finding.text}")
    if not report.findings:
        output.say("Nothing was found that keeps it blank.")
