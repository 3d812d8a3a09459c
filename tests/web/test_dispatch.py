"""Every command of every subject is carried out, without a table that names it."""

from pathlib import Path
from typing import get_args

from mcplens.web import api
from mcplens.web.dispatch import COMMANDS, SUBJECTS, Abandon, Resume
from mcplens.web.registry import HANDLERS, LATEST_VIEWS, Command
from mcplens.workspace.workspace import ObjectKind


def test_every_command_has_a_function_that_carries_it_out() -> None:
    # The socket itself begins the stream of events, and ends what it has begun.
    assert {*HANDLERS, Resume, Abandon} == set(Command.__subclasses__()) == set(COMMANDS)


def test_every_kind_of_object_that_changes_has_a_view() -> None:
    assert set(LATEST_VIEWS) == set(get_args(ObjectKind))


def test_every_subject_that_has_commands_is_dispatched_to() -> None:
    modules = [Path(folder).glob("*.py") for folder in api.__path__]
    found = {path.stem for paths in modules for path in paths if "@command" in path.read_text()}
    assert {module.__name__.rpartition(".")[2] for module in SUBJECTS} == found - {"__init__"}
