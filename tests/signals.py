"""Signals that whoever started the run ignores, and that the programs under test must not.

A shell script's background job (`make test &`) ignores Ctrl-C, and `nohup` a hang-up. An ignored
signal stays ignored in every program that is started from there, so the tests that stop one by
Ctrl-C would fail, each web UI of the browser tests among them. A handler is not inherited.
"""

from __future__ import annotations

import signal
from typing import Final

_NAMES: Final = ("SIGINT", "SIGHUP", "SIGQUIT", "SIGTERM")


def stop_inheriting_ignored_signals() -> None:
    """Start programs with the default actions; this process goes on ignoring what it ignores."""
    for name in _NAMES:
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, _ignore)


def _ignore(*_: object) -> None:
    """Do nothing."""
