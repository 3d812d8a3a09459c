"""`mcplens ping`: whether a server answers, and how fast."""

from __future__ import annotations

import click

from mcplens.cli import output
from mcplens.cli.command_options import CommandOptions, shared_options
from mcplens.cli.command_runner import run
from mcplens.cli.completion_candidates import complete_target
from mcplens.session.client import Client


@click.command("ping")
@click.argument("target", required=False, shell_complete=complete_target)
@click.option("-c", "--count", default=1, show_default=True, help="How many pings.")
@shared_options
def command(flags: CommandOptions, target: str | None, count: int) -> None:
    """Measure how long a server takes to answer.

    \b
    mcplens ping demo -c 3
    """

    async def work(client: Client) -> None:
        for number in range(1, count + 1):
            latency_s = await client.ping(timeout_s=flags.timeout)
            if flags.is_json:
                output.write_json({"ping": number, "latencyMs": round(latency_s * 1000, 3)})
            else:
                output.say(f"answered in {latency_s * 1000:.1f} ms")

    run(flags, target, work)
