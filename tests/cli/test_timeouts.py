"""How long a command waits: as long as it was told, also beyond the usual maximum."""

from typing import Any

import pytest

from mcplens.cli import exit_codes
from mcplens.cli.command_options import SHARED_NAMES, CommandOptions
from mcplens.cli.target_resolution import with_options
from mcplens.session.config import ConnectionConfig
from tests.cli.shell import Shell
from tests.session.scripted import SILENT, Rig, ScriptedServer, failure


def options(configured: dict[str, Any] | None = None, **given: Any) -> dict[str, Any]:
    """What `connect` is given for these options of the command line."""
    state = CommandOptions()
    state.options = dict.fromkeys(SHARED_NAMES) | {"headers": {}, "env": {}, "roots": ()} | given
    return with_options(state, configured or {})


def limits(**given: Any) -> dict[str, Any]:
    found = options(**given).items()
    known = ConnectionConfig.__struct_fields__
    return {name: value for name, value in found if name in known} | {"ping_interval_s": 0.0}


async def test_a_timeout_above_the_usual_maximum_of_300_seconds_is_honoured() -> None:
    server = ScriptedServer({"tools/call": SILENT})
    async with Rig(server, config=limits(timeout=900.0)) as rig:
        call = await rig.call()
        await rig.advance(899)
        assert not call.done()
        await rig.advance(1)
        assert failure(call).details["elapsed_s"] == 900.0


async def test_a_timeout_of_0_waits_for_ever() -> None:
    server = ScriptedServer({"tools/call": SILENT})
    async with Rig(server, config=limits(timeout=0.0)) as rig:
        call = await rig.call()
        await rig.advance(1_000_000)
        assert not call.done()


def test_a_task_that_does_not_end_in_time_is_reported_with_its_status(shell: Shell) -> None:
    slow = ("task-report", "steps=100", "seconds=60")
    for protocol in ("2025-11-25", "2026-07-28"):
        more = ("--task", "--protocol", protocol) if protocol < "2026" else ("--protocol", protocol)
        ran = shell.run("call", "demo", *slow, *more, "--timeout", "0.3")
        assert ran.code == exit_codes.TIMED_OUT
        assert "last status is working" in ran.err
        assert "the end of the task" in ran.err
        assert "--timeout" in ran.err


def test_a_longer_timeout_leaves_the_configured_maximum_as_it_is() -> None:
    found = options({"max_total_timeout_s": 3600.0}, timeout=900.0)
    assert (found["request_timeout_s"], found["max_total_timeout_s"]) == (900.0, 3600.0)


def test_a_timeout_of_the_command_line_exceeds_a_configured_maximum() -> None:
    found = options({"max_total_timeout_s": 100.0}, timeout=900.0)
    assert (found["request_timeout_s"], found["max_total_timeout_s"]) == (900.0, 900.0)


def test_retries_of_the_configuration_count_unless_others_are_given() -> None:
    assert options({"max_retries": 2})["max_retries"] == 2
    assert options({"max_retries": 2}, retries=0)["max_retries"] == 0


def test_a_log_level_is_asked_for_by_default_and_can_be_chosen_or_switched_off() -> None:
    assert options({})["default_log_level"] == "info"
    assert options({"default_log_level": "error"})["default_log_level"] == "error"
    assert "log_level" not in options({})
    assert options({}, log_level="debug")["log_level"] == "debug"
    assert options({}, log_level="off")["default_log_level"] is None


@pytest.mark.parametrize("value", ["-1", "nan", "inf", "soon"])
@pytest.mark.parametrize("option", ["--timeout", "--connect-timeout"])
def test_what_is_no_time_is_refused(shell: Shell, option: str, value: str) -> None:
    ran = shell.run("tools", "demo", option, value)
    assert ran.code == exit_codes.USAGE
    assert f"{value!r} is not a number of seconds" in ran.err
