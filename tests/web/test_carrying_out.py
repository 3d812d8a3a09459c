"""Whatever the page may ask for is carried out."""

from typing import get_args

from mcplens.web import commands
from mcplens.web.carrying_out import CARRIERS


def test_every_command_is_carried_out() -> None:
    # The socket answers Resume itself: it begins the stream of events.
    assert {*CARRIERS, commands.Resume} == set(get_args(commands.AnyCommand))
