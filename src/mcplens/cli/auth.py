"""`mcplens auth`: sign in to a server, see what is kept of it, sign out, and look at each step."""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING, Any

import click

from mcplens.cli import exit_codes, output
from mcplens.cli.command_options import CommandOptions, shared_options
from mcplens.cli.completion_candidates import complete_target
from mcplens.errors import CODES, InspectorError

if TYPE_CHECKING:
    from mcplens.auth.authorizer import ServerAuthorizer
    from mcplens.cli.target_resolution import Target
    from mcplens.session.client import Client

_browser_option = click.option(
    "--no-browser", is_flag=True, help="Print the address; paste what the browser was sent to."
)


@click.group("auth", context_settings={"help_option_names": ["-h", "--help"]})
def command() -> None:
    """Sign in to servers that want it, and out again.

    \b
    mcplens auth login weather
    mcplens auth status
    mcplens auth debug weather
    mcplens auth logout weather
    """


@command.command("login")
@click.argument("target", shell_complete=complete_target)
@_browser_option
@click.option("--token", "has_token", is_flag=True, help="Keep a token, read from stdin, instead.")
@shared_options
def login(flags: CommandOptions, target: str, no_browser: bool, has_token: bool) -> None:
    """Sign in to a server with a browser; every mcplens of yours is signed in then.

    \b
    mcplens auth login weather
    mcplens auth login weather \\
        --no-browser
    mcplens auth login files --token < key
    """
    if has_token:
        token = _read_token()
        _sign_in(flags, target, opens=False, shows_steps=False, token=token)
    else:
        _sign_in(flags, target, opens=not no_browser, shows_steps=False)


@command.command("debug")
@click.argument("target", shell_complete=complete_target)
@_browser_option
@shared_options
def debug(flags: CommandOptions, target: str, no_browser: bool) -> None:
    """Sign in to a server and print each step: its requests, their answers, what was wrong.

    The exit code is that of the step that failed.

    \b
    mcplens auth debug weather
    """
    _sign_in(flags, target, opens=not no_browser, shows_steps=True)


@command.command("status")
@click.argument("target", required=False, shell_complete=complete_target)
@click.option("--show-token", is_flag=True, help="Show the token too, and what it says.")
@shared_options
def status(flags: CommandOptions, target: str | None, show_token: bool) -> None:
    """Show the sign-ins that are kept: where, as whom, for what, until when.

    \b
    mcplens auth status
    mcplens auth status weather \\
        --show-token
    """
    from mcplens.auth.storage import SignInStore
    from mcplens.cli.auth_report import describe, print_sign_in

    store = SignInStore()
    urls = store.servers() if target is None else [_url_of(_resolved(flags, target))]
    found = [(url, asyncio.run(store.load(url))) for url in urls]
    kept = [(url, sign_in) for url, sign_in in found if sign_in is not None]
    if flags.is_json:
        rows = [describe(url, sign_in, show_token=show_token) for url, sign_in in kept]
        output.write_json({"signIns": rows})
    else:
        for url, sign_in in kept:
            print_sign_in(url, sign_in, show_token=show_token)
    if not kept and not flags.is_json:
        output.note("not signed in" if target is not None else "no sign-ins are kept")
    if not kept and target is not None:
        sys.exit(exit_codes.SIGN_IN)


@command.command("logout")
@click.argument("target", shell_complete=complete_target)
@click.option(
    "--forget-client", is_flag=True, help="Forget the client that was registered or entered, too."
)
@shared_options
def logout(flags: CommandOptions, target: str, forget_client: bool) -> None:
    """Sign out: revoke the token where the server can do so, and forget it.

    \b
    mcplens auth logout weather
    mcplens auth logout weather \\
        --forget-client
    """
    from mcplens.cli.command_runner import reporting

    with reporting(flags, target) as about:
        found = _resolved(flags, target)
        about.server = found.shown
        code = asyncio.run(_sign_out(flags, found, forgets_client=forget_client))
    sys.exit(code)


# -- work --------------------------------------------------------------------------------------


def _sign_in(
    flags: CommandOptions, target: str, *, opens: bool, shows_steps: bool, token: str | None = None
) -> None:
    from mcplens.cli.auth_report import print_sign_in
    from mcplens.cli.command_runner import run
    from mcplens.cli.sign_in import TerminalPerson
    from mcplens.cli.target_resolution import Target

    found = _resolved(flags, target)
    person = TerminalPerson(asks=False, opens=opens)
    authorizer = _authorizer(found, person)
    if token is not None:
        asyncio.run(authorizer.take_token(token))
    options = {k: v for k, v in found.options.items() if k not in ("auth", "sign_in_timeout_s")}
    options["authorizer"] = authorizer
    signed = Target(found.name, found.target, options, found.secrets)

    async def work(client: Client) -> None:
        if authorizer.sign_in is None:
            await authorizer.authorize("you asked for a sign-in")
        assert authorizer.sign_in is not None
        print_sign_in(authorizer.server_url, authorizer.sign_in)

    if shows_steps:
        _run_with_steps(flags, signed, work)
    else:
        run(flags, signed, work)


def _run_with_steps(flags: CommandOptions, target: Target, work: Any) -> None:
    from mcplens.cli.auth_report import Checklist
    from mcplens.cli.command_runner import run

    checklist = Checklist()
    try:
        run(flags, target, work, watch=checklist.show)
    except SystemExit as ending:
        if ending.code == exit_codes.SIGN_IN and checklist.cause in CODES:
            failed = InspectorError(str(checklist.cause), "")
            sys.exit(exit_codes.exit_code(failed, is_connected=False))
        raise


async def _sign_out(flags: CommandOptions, target: Target, *, forgets_client: bool) -> int:
    from mcplens.bus import Bus, Publisher
    from mcplens.cli.recording import recording
    from mcplens.clock import SystemClock

    authorizer = _authorizer(target, None)
    clock = SystemClock()
    bus = Bus(clock)
    with recording(flags, bus, target):
        authorizer.attach(Publisher(bus, target.name), clock)
        outcome = await authorizer.sign_out(forgets_client=forgets_client)
        bus.close()
    output.note(f"{authorizer.server_url}: {outcome}")
    return exit_codes.DONE


def _resolved(flags: CommandOptions, target: str) -> Target:
    from mcplens.cli.target_resolution import resolve

    found = resolve(flags, target)
    _url_of(found)
    return found


def _url_of(target: Target) -> str:
    if isinstance(target.target, str) and "://" in target.target.split(" ", 1)[0]:
        return target.target
    raise click.UsageError(f"{target.name} is started by a command; it has no sign-in")


def _authorizer(target: Target, person: Any) -> ServerAuthorizer:
    from mcplens.auth.creation import create_authorizer
    from mcplens.transports.network import NetworkOptions

    options = target.options
    names = ("headers", "ca_file", "insecure")
    network = NetworkOptions(**{name: options[name] for name in names if name in options})
    made = create_authorizer(
        _url_of(target),
        options.get("auth"),
        person,
        network=network,
        timeout_s=options.get("sign_in_timeout_s"),
        is_fresh=person is not None,
    )
    if made is None:
        raise click.UsageError(
            f"{target.name} has an Authorization header of its own, which is sent as it is"
        )
    return made


def _read_token() -> str:
    if sys.stdin.isatty():
        token: str = click.prompt("Token", hide_input=True, err=True)
    else:
        token = sys.stdin.readline()
    if not token.strip():
        raise click.UsageError("no token was given")
    return token.strip()
