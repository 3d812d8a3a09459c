"""A test run that ignores signals, as a background job does, tests programs that heed them."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

_IGNORED = ("SIGHUP", "SIGINT", "SIGQUIT", "SIGTERM")
_RUN = """
import signal, subprocess, sys
from tests.signals import stop_inheriting_ignored_signals

for name in sys.argv[2:]:
    signal.signal(getattr(signal, name), signal.SIG_IGN)
stop_inheriting_ignored_signals()
for name in sys.argv[2:]:
    signal.raise_signal(getattr(signal, name))
subprocess.run([sys.executable, "-c", sys.argv[1], *sys.argv[2:]], check=True)
"""
_PROGRAM = """
import signal, sys
print(*[getattr(signal, name) for name in sys.argv[1:]
        if signal.getsignal(getattr(signal, name)) is signal.SIG_IGN])
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX")
def test_a_program_heeds_the_signals_that_the_run_ignores() -> None:
    ran = subprocess.run(
        [sys.executable, "-c", _RUN, _PROGRAM, *_IGNORED], capture_output=True, text=True
    )
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "\n", "")


def test_this_run_passes_no_ignored_signal_on() -> None:
    assert signal.getsignal(signal.SIGINT) is not signal.SIG_IGN
