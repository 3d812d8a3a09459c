"""Whatever the page may ask for is carried out."""

from typing import get_args

from mcplens.web import commands
from mcplens.web.carrying_out import CARRIERS


def test_every_command_is_carried_out() -> None:
    # The socket itself begins the stream of events, and ends what it has begun.
    assert {*CARRIERS, commands.Resume, commands.Abandon} == set(get_args(commands.AnyCommand))
