"""Collections: saved calls in files.

A command that writes carries the digest of the content that the page has; a file that changed since
is not written, and the failure says so in `details.changed_on_disk`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, Final, Literal, TypeVar

import msgspec
from msgspec import Raw

from mcplens.collections.folder import CollectionFile, Content
from mcplens.collections.kept_results import key_of
from mcplens.collections.model import Step, StepKind, step_fields, step_of_tool
from mcplens.collections.variables import PlaceholderProblem, fill_in
from mcplens.errors import InspectorError, ServerError
from mcplens.protocol.frames import decode_value
from mcplens.store.lenient_json import to_json
from mcplens.web.recording_queries import read
from mcplens.web.registry import Command, command
from mcplens.web.safe_json import raw_json
from mcplens.web.thread_pool import run_in_thread
from mcplens.workspace.calls import Call
from mcplens.workspace.recorded_steps import recorded_step
from mcplens.workspace.saved_calls import NewStep, SavedCalls, Variable
from mcplens.workspace.workspace import Workspace

T = TypeVar("T")

# Together longer than the recorder waits before it writes.
_TRIES: Final = 10
_RETRY_S: Final = 0.1


class CollectionFileView(msgspec.Struct, frozen=True):
    """A file of saved calls; `key` names it in commands. `problem` says why it cannot be read."""

    key: str
    path: str
    folder: str
    name: str
    is_given: bool
    count: int
    problem: str | None


class CollectionListView(msgspec.Struct, frozen=True):
    """All collections; `path` is the folder that new ones are written to."""

    path: str
    folders: list[str]
    files: list[CollectionFileView]


class VariableView(msgspec.Struct, frozen=True):
    """A variable that a collection uses; `source` is where its value comes from, null if unset."""

    name: str
    is_secret: bool
    source: Literal["typed", "environment"] | None


class StepView(msgspec.Struct, frozen=True, kw_only=True):
    """A saved call as the file has it. `arguments` is JSON text, placeholders not filled in;
    `problem` says why it cannot be run."""

    index: int
    line: int
    name: str
    description: str
    server_id: str | None
    kind: StepKind
    target: str
    arguments: str
    variables: list[str]
    problem: str | None


class CollectionView(msgspec.Struct, frozen=True, kw_only=True):
    """The content of a file. `problem` (at `line`) says why it is not a collection. One that is not
    confirmed came from elsewhere: a person confirms its servers and variables first."""

    key: str
    path: str
    folder: str
    name: str
    is_given: bool
    description: str
    server_id: str | None
    digest: str
    text: str
    problem: str | None
    line: int | None
    is_confirmed: bool
    steps: list[StepView]
    servers: list[str]
    variables: list[VariableView]


class SavedCallView(msgspec.Struct, frozen=True, kw_only=True):
    """A saved call of one tool. `arguments` is JSON text with `$${` as it was before it was saved,
    or with placeholders if it `has_variables`; `result` is null if it was large or is not known."""

    key: str
    digest: str
    index: int
    name: str
    description: str
    collection: str
    has_variables: bool
    saved: float | None
    arguments: str
    result: Raw


async def on_thread(workspace: Workspace, work: Callable[[SavedCalls], T]) -> T:
    """Reads and writes files, which may block."""

    def prepared() -> T:
        workspace.saved_calls.prepare()
        return work(workspace.saved_calls)

    return await run_in_thread(prepared)


def _view(saved: SavedCalls, content: Content) -> CollectionView:
    file, collection = content.file, content.collection
    servers = collection.servers
    return CollectionView(
        key=file.key,
        path=file.path,
        folder=file.folder,
        name=file.name,
        is_given=file.is_given,
        description=collection.description,
        server_id=collection.server,
        digest=content.digest,
        text=content.text,
        problem=content.problem,
        line=content.line,
        is_confirmed=saved.folder.is_confirmed(content.digest),
        steps=[_step_view(step) for step in collection.steps],
        servers=servers,
        variables=[variable_view(saved.variable(name, servers)) for name in collection.variables],
    )


def _step_view(step: Step) -> StepView:
    return StepView(
        index=step.index,
        line=step.line,
        name=step.name,
        description=step.description,
        server_id=step.server,
        kind=step.kind,
        target=step.target,
        arguments=to_json(step.arguments).decode(),
        variables=list(step.variables),
        problem=step.problem,
    )


def variable_view(variable: Variable) -> VariableView:
    return VariableView(variable.name, variable.is_secret, variable.source)


# -- files -----------------------------------------------------------------------------------------


class ListCollections(Command, frozen=True, kw_only=True):
    """All files with saved calls."""


@command
async def list_collections(workspace: Workspace, command: ListCollections) -> CollectionListView:
    return await on_thread(workspace, _listed)


def _listed(saved: SavedCalls) -> CollectionListView:
    folder = saved.folder
    files = [_file_view(saved, file) for file in folder.files()]
    return CollectionListView(folder.path, folder.folders(), files)


def _file_view(saved: SavedCalls, file: CollectionFile) -> CollectionFileView:
    count, problem = 0, None
    try:
        content = saved.folder.read(file)
        count, problem = len(content.collection.steps), content.problem
    except InspectorError as error:
        problem = error.message
    return CollectionFileView(
        file.key, file.path, file.folder, file.name, file.is_given, count, problem
    )


class ShowCollection(Command, frozen=True, kw_only=True):
    """A file with its saved calls, as it is on the disk now."""

    key: str


@command
async def show(workspace: Workspace, command: ShowCollection) -> CollectionView:
    return await on_thread(workspace, lambda saved: _view(saved, saved.content(command.key)))


class CreateCollection(Command, frozen=True, kw_only=True):
    """A new, empty file; `folder` is like `billing/refunds`, or empty."""

    folder: str
    name: str


@command
async def create(workspace: Workspace, command: CreateCollection) -> CollectionView:
    def made(saved: SavedCalls) -> CollectionView:
        return _view(saved, saved.folder.read(saved.folder.create(command.folder, command.name)))

    return await on_thread(workspace, made)


class RenameCollection(Command, frozen=True, kw_only=True):
    """Another name, or another folder."""

    key: str
    digest: str
    folder: str
    name: str


@command
async def rename(workspace: Workspace, command: RenameCollection) -> CollectionView:
    given = command.key, command.digest, command.folder, command.name
    return await on_thread(workspace, lambda saved: _view(saved, saved.rename(*given)))


class DeleteCollection(Command, frozen=True, kw_only=True):
    """Delete a file; the reply is the path of the backup that is left."""

    key: str
    digest: str


@command
async def delete(workspace: Workspace, command: DeleteCollection) -> str:
    def deleted(saved: SavedCalls) -> str:
        return saved.folder.delete(saved.content(command.key, command.digest))

    return await on_thread(workspace, deleted)


class ConfirmCollection(Command, frozen=True, kw_only=True):
    """A person has seen the servers and variables of the content with this digest."""

    key: str
    digest: str


@command
async def confirm(workspace: Workspace, command: ConfirmCollection) -> CollectionView:
    def confirmed(saved: SavedCalls) -> CollectionView:
        content = saved.content(command.key, command.digest)
        saved.folder.confirm(content)
        return _view(saved, content)

    return await on_thread(workspace, confirmed)


# -- saved calls -----------------------------------------------------------------------------------


class SaveCall(Command, frozen=True, kw_only=True):
    """Save a call to a collection, which is made if it does not exist. Secrets among the arguments
    become `${NAME}`. A call that `is_test` is saved with its result, which `mcplens test` then
    expects."""

    call_id: str
    key: str
    name: str
    description: str = ""
    is_test: bool = False


@command
async def save(workspace: Workspace, command: SaveCall) -> CollectionView:
    call = workspace.calls.find(command.call_id)
    new = _new_step(call, command.name, command.description, is_test=command.is_test)
    return await _save(workspace, command.key, new)


class SaveRecordedTest(Command, frozen=True, kw_only=True):
    """Save a recorded request as a test that expects the recorded answer: of this run, or of
    `run_id`."""

    seq: int
    run_id: str | None = None
    key: str
    name: str
    description: str = ""


@command
async def save_recorded(workspace: Workspace, command: SaveRecordedTest) -> CollectionView:
    run_id = command.run_id or workspace.bus.run_id
    work = partial(recorded_step, run_id=run_id, seq=command.seq, name=command.name)
    tries = _TRIES if run_id == workspace.bus.run_id else 1
    new = await _patiently(workspace, lambda: read(workspace, work), tries)
    return await _save(
        workspace, command.key, msgspec.structs.replace(new, description=command.description)
    )


async def _patiently(workspace: Workspace, work: Callable[[], Awaitable[T]], tries: int) -> T:
    """What happened a moment ago is in the recording a moment later."""
    while True:
        try:
            return await work()
        except InspectorError:
            tries -= 1
            if tries <= 0:
                raise
            await workspace.clock.sleep(_RETRY_S)


async def _save(workspace: Workspace, key: str, new: NewStep) -> CollectionView:
    saved_at = workspace.clock.wall()

    def done(saved: SavedCalls) -> CollectionView:
        found = key
        if all(file.key != key for file in saved.folder.files()):
            folder, _, name = key.rpartition("/")
            found = saved.folder.create(folder, name).key
        return _view(saved, saved.save(found, new, saved_at))

    return await on_thread(workspace, done)


def _new_step(call: Call, name: str, description: str, *, is_test: bool) -> NewStep:
    params = decode_value(call.request)[0]
    if call.kind == "raw" or not isinstance(params, dict | None):
        text = "raw bytes cannot be saved; save a call of a tool, a resource or a prompt"
        raise InspectorError("INVALID_REQUEST", text)
    given = {} if params is None else params
    kind: StepKind = "request"
    target, arguments = call.method, {key: one for key, one in given.items() if key != "_meta"}
    if call.kind == "tool":
        kind, target, arguments = step_of_tool(call.name, given.get("arguments", {}))
    elif call.kind == "resource":
        kind, target, arguments = "read", call.name, {}
    elif call.kind == "prompt":
        kind, target, arguments = "prompt", call.name, given.get("arguments", {})
    raw = call.outcome.raw if call.outcome is not None else None
    return NewStep(
        name=name,
        description=description,
        server_id=call.server_id,
        kind=kind,
        target=target,
        arguments=arguments,
        result=None if raw is None else decode_value(raw)[0],
        error_code=call.error.rpc_code if isinstance(call.error, ServerError) else None,
        is_test=is_test,
    )


class EditSavedCall(Command, frozen=True, kw_only=True):
    """Change a saved call; `arguments` is JSON text with placeholders as the file has them. An
    empty `server_id` means the one of the whole file."""

    key: str
    digest: str
    index: int
    name: str
    description: str
    server_id: str
    kind: StepKind
    target: str
    arguments: str


@command
async def edit(workspace: Workspace, command: EditSavedCall) -> CollectionView:
    try:
        arguments = decode_value(Raw(command.arguments.encode() or b"{}"))[0]
    except (ValueError, UnicodeEncodeError) as problem:
        text = f"the arguments are not valid JSON: {problem}"
        raise InspectorError("INVALID_REQUEST", text) from None
    if not isinstance(arguments, dict):
        raise InspectorError("INVALID_REQUEST", "the arguments must be an object")
    if not command.target.strip():
        raise InspectorError("INVALID_REQUEST", "it does not say what is called")
    fields = step_fields(
        name=command.name,
        description=command.description.strip(),
        server=command.server_id.strip() or None,
        kind=command.kind,
        target=command.target.strip(),
        arguments=arguments,
    )
    edited = partial(SavedCalls.edit, key=command.key, digest=command.digest, index=command.index)
    return await on_thread(workspace, lambda saved: _view(saved, edited(saved, fields=fields)))


class DeleteSavedCall(Command, frozen=True, kw_only=True):
    key: str
    digest: str
    index: int


@command
async def delete_call(workspace: Workspace, command: DeleteSavedCall) -> CollectionView:
    given = command.key, command.digest, command.index
    return await on_thread(workspace, lambda saved: _view(saved, saved.remove(*given)))


class ListSavedCalls(Command, frozen=True, kw_only=True):
    """The saved calls of a tool in all collections."""

    server_id: str
    tool: str


@command
async def list_saved(workspace: Workspace, command: ListSavedCalls) -> list[SavedCallView]:
    def found(saved: SavedCalls) -> list[SavedCallView]:
        kept = saved.results.all()
        calls = saved.calls_of_tool(command.server_id, command.tool)
        return [_saved_view(content, step, kept) for content, step in calls]

    return await on_thread(workspace, found)


def _saved_view(content: Content, step: Step, kept: dict[str, Any]) -> SavedCallView:
    former = kept.get(key_of(content.file.path, step.name))
    arguments = step.arguments
    if not step.variables:
        with contextlib.suppress(PlaceholderProblem):  # its own screen says why
            arguments = fill_in(arguments, lambda name: None)
    return SavedCallView(
        key=content.file.key,
        digest=content.digest,
        index=step.index,
        name=step.name,
        description=step.description,
        collection=content.file.name,
        has_variables=bool(step.variables),
        saved=None if former is None else former.saved,
        arguments=to_json(arguments).decode(),
        result=raw_json(to_json(None if former is None else former.result)),
    )
