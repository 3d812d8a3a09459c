"""`mcplens ping`: whether a server answers, and how fast."""

from __future__ import annotations

import click

from mcplens.cli import output
from mcplens.cli.completion import complete_target
from mcplens.cli.running import run
from mcplens.cli.state import State, shared_options
from mcplens.session.client import Client


@click.command("ping")
@click.argument("target", required=False, shell_complete=complete_target)
@click.option("-c", "--count", default=1, show_default=True, help="How many pings.")
@shared_options
def command(state: State, target: str | None, count: int) -> None:
    """Measure how long a server takes to answer.

    \b
    mcplens ping demo -c 3
    """

    async def work(client: Client) -> None:
        for number in range(1, count + 1):
            latency_s = await client.ping(timeout_s=state.timeout)
            if state.is_json:
                output.write_json({"ping": number, "latencyMs": round(latency_s * 1000, 3)})
            else:
                output.say(f"answered in {latency_s * 1000:.1f} ms")

    run(state, target, work)
