"""The saved calls of a workspace: collections in files, their variables, and calls saved to them.

Variables come from the environment, or are typed once and kept in memory for as long as mcplens
runs. Reading and writing blocks: the web UI calls it on a thread. Running is up to
collection_runs.py.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Iterable
from typing import Any, Final, Literal

import msgspec

from mcplens.collections.examples_conversion import convert_examples
from mcplens.collections.folder import CollectionFolder, Content, changed_on_disk
from mcplens.collections.kept_results import LARGEST, KeptResult, KeptResults
from mcplens.collections.model import Step, StepKind, step_fields
from mcplens.collections.secret_arguments import without_secrets
from mcplens.collections.shown_values import ValueMasker
from mcplens.collections.snapshots import Snapshots, comparable, snapshot_path
from mcplens.collections.variables import PlaceholderProblem, escape, fill_in, variables_in
from mcplens.collections.yaml_edits import append_step, remove_step, replace_step
from mcplens.config.environment import Environment
from mcplens.errors import InspectorError
from mcplens.known_secrets import known_secrets
from mcplens.protocol.secret_masking import is_secret_option
from mcplens.protocol.yaml_values import YamlProblem
from mcplens.store.recorded_secrets import KeyMasker, KeysOf
from mcplens.store.recorded_secrets import plain as plain_name

LONGEST_NAME: Final = 100
# Larger calls belong in a recording.
LARGEST_ARGUMENTS: Final = 256 * 1024
_LONGEST_VALUE: Final = 64 * 1024


class Variable(msgspec.Struct, frozen=True):
    """A variable of a collection, and where its value comes from; None if it is not set."""

    name: str
    is_secret: bool
    source: Literal["typed", "environment"] | None


class NewStep(msgspec.Struct, frozen=True, kw_only=True):
    """A call that is to be saved, and what it gave: a result, or the code of a JSON-RPC error.

    A step that `is_test` expects the same again. One that `is_recorded` has masks in place of its
    secrets, whose values are not known.
    """

    name: str
    description: str
    server_id: str
    kind: StepKind
    target: str
    arguments: dict[str, Any]
    result: Any = None
    error_code: int | None = None
    is_test: bool = False
    is_recorded: bool = False

    @property
    def expect(self) -> dict[str, Any] | None:
        """What a test expects: the error, or the result as it is in the snapshot."""
        if not self.is_test:
            return None
        if self.error_code is not None:
            return {"error": self.error_code}
        is_error = isinstance(self.result, dict) and self.result.get("isError") is True
        return {**({"is_error": True} if is_error else {}), "snapshot": True}


class SavedCalls:
    """The collections of a workspace."""

    def __init__(self, here: Environment, keys_of: KeysOf, given: Iterable[str] = ()) -> None:
        self._here = here
        self._keys_of = keys_of
        self.folder = CollectionFolder(here, given)
        self.results = KeptResults(here)
        self._typed: dict[str, str] = {}
        self._lock = threading.Lock()
        self._is_prepared = False

    def __repr__(self) -> str:
        return f"<SavedCalls in {self.folder!r}, {len(self._typed)} variables typed>"

    def prepare(self) -> None:
        """Before the first use: examples of earlier versions become collections."""
        with self._lock:
            if not self._is_prepared:
                convert_examples(self._here, self.folder, self.results)
                self._is_prepared = True

    # -- reading -------------------------------------------------------------------------------

    def content(self, key: str, digest: str | None = None) -> Content:
        """A collection as it is now; with a digest, only if it is still as it was seen.

        Raises:
            InspectorError: there is none, it cannot be read, or it changed
                (`details.changed_on_disk`).
        """
        content = self.folder.read(self.folder.find(key))
        if digest is not None and content.digest != digest:
            raise changed_on_disk(content.file.path)
        return content

    def calls_of_tool(self, server_id: str, tool: str) -> list[tuple[Content, Step]]:
        """The saved calls of one tool in all collections, by name."""
        target = escape(tool)
        found = [
            (content, step)
            for content in self._readable()
            for step in content.collection.steps
            if (step.kind, step.server, step.target) == ("call", server_id, target)
        ]
        return sorted(found, key=lambda one: one[1].name)

    def _readable(self) -> list[Content]:
        found = []
        for file in self.folder.files():
            try:
                found.append(self.folder.read(file))
            except InspectorError:
                continue  # its own screen says why
        return found

    # -- writing -------------------------------------------------------------------------------

    def save(self, key: str, new: NewStep, saved: float) -> Content:
        """Append a call to a collection; its secrets become `${NAME}`, whose values are kept.

        Raises:
            InspectorError: it has no name, is too large, or cannot be written.
        """
        name = _checked_name(new.name)
        keys = tuple(self._keys_of(new.server_id))
        without = without_secrets(new.arguments, keys)
        if len(msgspec.json.encode(without.arguments)) > LARGEST_ARGUMENTS:
            raise InspectorError("INVALID_REQUEST", "these arguments are too large to be saved")
        if new.is_test and new.result is None and new.error_code is None:
            text = "a test needs an answer to compare with; save a call that was answered"
            raise InspectorError("INVALID_REQUEST", text)
        with self._lock:  # of two pages that save at once, none is refused
            written = self._append(key, name, new, without.arguments)
            if (new.expect or {}).get("snapshot"):
                known_secrets.learn(*without.values.values())  # the answer may repeat them
                write_snapshot(written.file.path, name, new.result, keys)
        for variable, value in () if new.is_recorded else without.values.items():
            if self.lookup(variable) is None:
                self.type_in(variable, value)
        self._keep_result(written.file.path, name, new.result, keys, saved)
        return written

    def _append(self, key: str, name: str, new: NewStep, arguments: Any) -> Content:
        content = self.content(key)
        self._check_readable(content)
        if any(step.name == name for step in content.collection.steps):
            text = f"{content.file.name} has a call named {name!r} already; choose another name"
            raise InspectorError("INVALID_REQUEST", text)
        fields = step_fields(
            name=name,
            description=new.description.strip(),
            server=None if content.collection.server == new.server_id else new.server_id,
            kind=new.kind,
            target=escape(new.target),
            arguments=arguments,
        )
        step = {field: value for field, value in fields.items() if value is not None}
        if new.expect is not None:
            step["expect"] = new.expect
        return self.folder.write(content, _edit(lambda: append_step(content.text, step)))

    def _keep_result(
        self, path: str, name: str, result: Any, keys: tuple[str, ...], saved: float
    ) -> None:
        data = msgspec.json.encode(without_secret_members(result, keys))
        kept = msgspec.json.decode(KeyMasker(keys).mask(data)[0]) if len(data) <= LARGEST else None
        self.results.keep(path, name, KeptResult(saved, kept))

    def edit(self, key: str, digest: str, index: int, fields: dict[str, Any]) -> Content:
        """Change fields of a step; others, and comments, stay.

        Raises:
            InspectorError: it changed on disk, or cannot be written.
        """
        content = self.content(key, digest)
        former = self.step(content, index)
        name = _checked_name(str(fields["name"]))
        is_taken = any(one.name == name for one in content.collection.steps if one != former)
        if is_taken and name != former.name:
            text = f"{content.file.name} has a call named {name!r} already; choose another name"
            raise InspectorError("INVALID_REQUEST", text)
        try:
            list(variables_in([fields.get("with"), fields.get(former.kind)]))
        except PlaceholderProblem as problem:
            raise InspectorError("INVALID_REQUEST", problem.text) from None
        changed = {**fields, "name": name}
        text = _edit(lambda: replace_step(content.text, index, changed))
        written = self.folder.write(content, text)
        self.results.move(content.file.path, former.name, content.file.path, name)
        _change_snapshots(content.file.path, lambda known: known.move(former.name, name))
        return written

    def remove(self, key: str, digest: str, index: int) -> Content:
        """Remove a step; raises as `edit`."""
        content = self.content(key, digest)
        step = self.step(content, index)
        written = self.folder.write(content, _edit(lambda: remove_step(content.text, index)))
        self.results.forget(content.file.path, step.name)
        _change_snapshots(content.file.path, lambda known: known.drop(step.name))
        return written

    def rename(self, key: str, digest: str, folder: str, name: str) -> Content:
        """Move a collection within our folder; raises as `edit`."""
        content = self.content(key, digest)
        file = self.folder.rename(content, folder, name)
        for step in content.collection.steps:
            self.results.move(content.file.path, step.name, file.path)
        former = snapshot_path(content.file.path)
        if os.path.exists(former):
            with contextlib.suppress(OSError):  # the tests then say that it is missing
                os.rename(former, snapshot_path(file.path))
        return self.folder.read(file)

    def step(self, content: Content, index: int) -> Step:
        """A step of a collection.

        Raises:
            InspectorError: there is none, or the file is not a collection.
        """
        self._check_readable(content)
        if not 0 <= index < len(content.collection.steps):
            raise InspectorError("INVALID_REQUEST", f"there is no call {index + 1}")
        return content.collection.steps[index]

    def _check_readable(self, content: Content) -> None:
        if content.problem is not None:
            text = f"{content.file.path} is not a collection: {content.problem}"
            raise InspectorError("INVALID_REQUEST", text)

    # -- variables -----------------------------------------------------------------------------

    def type_in(self, name: str, value: str | None) -> None:
        """Keep a value in memory for the rest of the run; None forgets it."""
        if value is None:
            self._typed.pop(name, None)
            return
        if len(value) > _LONGEST_VALUE:
            raise InspectorError("INVALID_REQUEST", f"the value of {name} is too long")
        self._typed[name] = value
        self._learn(name, value)

    def lookup(self, name: str) -> str | None:
        """The value of a variable; what was typed comes first."""
        typed = self._typed.get(name)
        return typed if typed is not None else self._here.variable(name)

    def variable(self, name: str, server_ids: Iterable[str] = ()) -> Variable:
        source: Literal["typed", "environment"] | None = None
        if name in self._typed:
            source = "typed"
        elif self._here.variable(name) is not None:
            source = "environment"
        return Variable(name, self._is_secret(name, server_ids), source)

    def _is_secret(self, name: str, server_ids: Iterable[str]) -> bool:
        keys = {plain_name(key) for one in ("", *server_ids) for key in self._keys_of(one)}
        return is_secret_option(name) or plain_name(name) in keys

    def _learn(self, name: str, value: str, server_ids: Iterable[str] = ()) -> None:
        if self._is_secret(name, server_ids):
            known_secrets.learn(value)

    def filled(self, step: Step) -> tuple[str, dict[str, Any]]:
        """Target and arguments of a step with its variables; secret values are masked from now on.

        Raises:
            InspectorError: a variable is not set.
        """
        server_ids = [step.server] if step.server is not None else []

        def lookup(name: str) -> str | None:
            value = self.lookup(name)
            if value is not None:
                self._learn(name, value, server_ids)
            return value

        try:
            target, arguments = fill_in([step.target, step.arguments], lookup)
        except PlaceholderProblem as problem:
            details = {"variable": problem.variable} if problem.variable else {}
            raise InspectorError("INVALID_REQUEST", problem.text, details=details) from None
        keys = tuple(key for one in server_ids for key in self._keys_of(one))
        known_secrets.learn(*without_secrets(arguments, keys).values.values())
        return target, arguments


def write_snapshot(path: str, name: str, result: Any, keys: Iterable[str]) -> None:
    """Keep a result as the snapshot of a test in the file at this path.

    Raises:
        ConfigurationError: the file of snapshots cannot be read or written.
    """
    snapshots = Snapshots(path)
    snapshots.put(name, snapshot_value(result, keys))
    snapshots.write()


def snapshot_value(result: Any, keys: Iterable[str]) -> Any:
    """A result as its snapshot has it."""
    masker = ValueMasker(keys)
    masker.learn(result)
    return comparable(result, masker)


def _change_snapshots(path: str, change: Callable[[Snapshots], None]) -> None:
    """Follow a step in the snapshots of its file; one that cannot be changed is left as it is."""
    if not os.path.exists(snapshot_path(path)):
        return
    with contextlib.suppress(InspectorError):
        snapshots = Snapshots(path)
        change(snapshots)
        snapshots.write()


def without_secret_members(value: Any, keys: tuple[str, ...]) -> Any:
    """A result without members that are named like secrets, or declared so, at any depth."""
    from mcplens.protocol.secret_masking import is_secret_name

    names = {plain_name(key) for key in keys}

    def without(value: Any) -> Any:
        if isinstance(value, list):
            return [without(one) for one in value]
        if not isinstance(value, dict):
            return value
        return {
            key: without(one)
            for key, one in value.items()
            if plain_name(key) not in names
            # A number is a count (maxTokens), not a secret.
            and (not is_secret_name(key) or one is None or isinstance(one, int | float))
        }

    return without(value)


def _checked_name(text: str) -> str:
    name = text.strip()[:LONGEST_NAME]
    if not name:
        raise InspectorError("INVALID_REQUEST", "a saved call needs a name")
    return name


def _edit(change: Any) -> str:
    try:
        return str(change())
    except YamlProblem as problem:
        raise InspectorError("INVALID_REQUEST", problem.text) from None
    except UnicodeEncodeError:
        text = "half a character (a lone surrogate) cannot be saved"
        raise InspectorError("INVALID_REQUEST", text) from None
