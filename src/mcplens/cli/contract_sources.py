"""Where contracts come from: a live server, a lock, or a trace, as a word on the command line.

Called by the commands `lock`, `diff` and `lint`. Secrets are masked here, before anything else
sees a definition: by value as in the recording, and by name.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, Literal

import click
import msgspec

from mcplens.cli import output
from mcplens.cli.command_options import CommandOptions
from mcplens.cli.exit_codes import CommandError, as_command_error
from mcplens.contracts.canonical import decode
from mcplens.contracts.contract import Contract, keyed
from mcplens.contracts.lock import LockProblem, read_lock
from mcplens.contracts.masking import mask_definition
from mcplens.contracts.pointers import LISTS
from mcplens.errors import InspectorError, ServerError
from mcplens.known_secrets import known_secrets

if TYPE_CHECKING:
    from mcplens.cli.target_resolution import Target
    from mcplens.cli.trace_contracts import ResultSizes, Seen
    from mcplens.session.client import Client

# Our names of the lists, in the order of LISTS.
_KINDS: Final = ("tools", "resources", "resource_templates", "prompts")
_METHOD_NOT_FOUND: Final = -32601
# A server whose lists never end is stopped here: by pages, and by definitions.
_MOST_PAGES: Final = 10_000
_MOST_ITEMS: Final = 100_000
# The largest lock is read whole; one of 5,000 tools has some 10 MB.
_MOST_LOCK_BYTES: Final = 200 * 1024 * 1024
_SHOWN: Final = 12
_TRACE_SIGN: Final = b'"mcplens-trace"'
_LOCK_SIGN: Final = b"mcplens-lock"

SourceKind = Literal["target", "lock", "trace"]


class ContractSource(msgspec.Struct):
    """Contracts by the configured names of their servers, and what they were read from."""

    kind: SourceKind
    shown: str  # the word on the command line, or the command after --
    contracts: dict[str, Contract]
    path: str | None = None  # of a lock or trace
    text: str | None = None  # of a lock
    results: dict[str, ResultSizes] = msgspec.field(default_factory=dict)


def read_source(
    flags: CommandOptions, word: str | None, *, server: str | None = None, run: str | None = None
) -> ContractSource:
    """What a word means: a lock or trace if it names such a file, otherwise a server.

    None is the command after `--`. `server` and `run` choose one of several in a file.

    Raises:
        UsageError: the word is unknown, or it is not clear which server of a file is meant.
        CommandError: a file cannot be read.
    """
    if word is not None and os.path.isfile(word):
        kind = _kind_of_file(word)
        if kind == "lock":
            return read_lock_file(word, server)
        if kind == "trace":
            return _read_trace(flags, word, server, run)
    if word is not None and word.endswith((".lock", ".jsonl")) and not os.path.exists(word):
        raise CommandError(f"there is no file {word}")
    return read_target(flags, word)


def _kind_of_file(path: str) -> SourceKind | None:
    """Whether a file says that it is a lock or a trace; None for anything else."""
    try:
        with open(path, "rb") as file:
            start = file.readline(4096)
            if _TRACE_SIGN in start:
                return "trace"
            # Keys are sorted, so the format is among the first lines.
            rest = start + file.read(4096)
    except OSError as problem:
        raise CommandError(f"{path} cannot be read: {problem.strerror}") from None
    is_meant = path.endswith(".lock") or _LOCK_SIGN in rest
    return "lock" if is_meant else None


# -- locks ----------------------------------------------------------------------------------------


def read_lock_file(path: str, server: str | None = None) -> ContractSource:
    """A lock, or one server of it.

    Raises:
        CommandError: it cannot be read, or does not have this server.
    """
    try:
        with open(path, encoding="utf-8-sig", errors="strict") as file:
            text = file.read(_MOST_LOCK_BYTES)
        contracts = read_lock(text)
    except OSError as problem:
        raise CommandError(f"{path} cannot be read: {problem.strerror}") from None
    except UnicodeDecodeError:
        raise CommandError(f"{path} cannot be read as a lock: it is not UTF-8") from None
    except LockProblem as problem:
        raise CommandError(f"{path} cannot be read as a lock: {problem}") from None
    if server is not None:
        if server not in contracts:
            raise CommandError(f"{path} has no server {server!r}; it has {names_of(contracts)}")
        contracts = {server: contracts[server]}
    return ContractSource("lock", path, contracts, path=path, text=text)


def names_of(names: Any) -> str:
    """Some names for a message."""
    shown = sorted(names)
    more = f" and {len(shown) - _SHOWN} more" if len(shown) > _SHOWN else ""
    return (", ".join(shown[:_SHOWN]) + more) or "none"


# -- traces ---------------------------------------------------------------------------------------


def _read_trace(
    flags: CommandOptions, path: str, server: str | None, run: str | None
) -> ContractSource:
    from mcplens.cli.trace_contracts import read_contracts
    from mcplens.config.secret_keys import find_keys_by_server
    from mcplens.store.trace import BrokenLine

    broken: list[BrokenLine] = []
    with as_command_error():
        keys_of = find_keys_by_server(flags.config)
        found = read_contracts(path, broken)
    for line in broken[:3]:
        output.note(f"note: line {line.line} of {path} was left out: {line.reason}", fg="yellow")
    if len(broken) > 3:
        output.note(f"note: {len(broken) - 3} more lines were left out", fg="yellow")
    seen = _chosen(path, found, server, run)
    contract = _mask_known(seen.contract(keys_of))
    for kind in LISTS:
        if contract.lists[kind] is None:
            output.note(f"note: {path} does not have the whole list of {kind}", fg="yellow")
    return ContractSource("trace", path, {contract.name: contract}, path=path, results=seen.results)


def _chosen(path: str, found: list[Seen], server: str | None, run: str | None) -> Seen:
    left = [
        seen
        for seen in found
        if (server is None or seen.server_id == server)
        and (run is None or seen.run_id.startswith(run))
    ]
    if len(left) == 1:
        return left[0]
    if not left:
        which = f" {server!r}" if server else ""
        known = names_of({seen.server_id for seen in found})
        raise click.UsageError(
            f"{path} has no introduction and no list of a server{which}; servers in it: {known}"
        )
    shown = ", ".join(f"{seen.server_id} in run {seen.run_id[:8]}" for seen in left[:_SHOWN])
    raise click.UsageError(
        f"{path} has several servers or runs: {shown}. Choose one with --server and --run."
    )


# -- live servers ---------------------------------------------------------------------------------


def project_servers(flags: CommandOptions) -> list[str]:
    """The servers of the project's own configuration, which are meant where none is named."""
    from mcplens.config.configuration import load_configuration

    with as_command_error():
        servers = load_configuration(flags.config).servers
    return [one.name for one in servers if flags.config or one.source.scope == "project"]


def read_target(flags: CommandOptions, word: str | None) -> ContractSource:
    """The contract of a live server."""
    from mcplens.cli.command_runner import reporting
    from mcplens.cli.target_resolution import resolve

    with reporting(flags, word or "the command after --"):
        target = resolve(flags, word)
    return fetch_target(flags, target, word)


def fetch_target(flags: CommandOptions, target: Target, word: str | None = None) -> ContractSource:
    """Connect to a resolved target and read its introduction and all of its lists."""
    from mcplens.cli.command_runner import run_and_return
    from mcplens.config.secret_keys import find_keys_by_server

    with as_command_error():
        keys = (*find_keys_by_server(flags.config)(target.name), *target.secrets)
    found: list[Contract] = []

    async def work(client: Client) -> None:
        found.append(await fetch_contract(client, target.name, keys))

    run_and_return(flags, target, work)
    (contract,) = found
    return ContractSource("target", word or target.shown, {contract.name: contract})


async def fetch_contract(client: Client, name: str, keys: tuple[str, ...]) -> Contract:
    """What a connected server says of itself, and all of its lists.

    Raises:
        InspectorError: a list cannot be had, or never ends.
    """
    mask = _masker(keys)
    capabilities = client.capabilities
    lists: dict[str, Any] = {}
    for kind, ours in zip(LISTS, _KINDS, strict=True):
        of = "resources" if kind == "resourceTemplates" else kind
        is_declared = capabilities.get(of) is not None
        lists[kind] = await _fetch_list(client, ours, kind, mask) if is_declared else {}
    return Contract(
        name=name,
        server_info=mask(_json(client.server_info)),
        protocol_version=client.protocol_version,
        capabilities=mask(_json(capabilities)),
        instructions=mask(_json(client.instructions)),
        lists=lists,
    )


async def _fetch_list(
    client: Client, ours: str, kind: str, mask: Callable[[bytes], Any]
) -> dict[str, Any]:
    items: list[Any] = []
    cursor: str | None = None
    seen: set[str] = set()
    while True:
        try:
            page = await client.list_page(ours, cursor)
        except ServerError as error:
            # Many servers have resources and do not know templates.
            if kind == "resourceTemplates" and error.rpc_code == _METHOD_NOT_FOUND:
                return {}
            raise
        items += [mask(raw) for raw in _raw_items(page.raw, kind)]
        cursor = page.next_cursor
        if cursor is None:
            return keyed(kind, items)
        if cursor in seen or len(seen) >= _MOST_PAGES or len(items) > _MOST_ITEMS:
            why = f"it repeats the cursor {cursor!r}" if cursor in seen else "stopped there"
            text = f"the list of {kind} does not end after {len(items)} items: {why}"
            raise InspectorError("INVALID_RESPONSE", text)
        seen.add(cursor)


def _raw_items(page: bytes, kind: str) -> list[bytes]:
    """The items of a page as the server sent them, also those that are not offered to users."""
    from mcplens.protocol.result_types import decode_page

    return [bytes(raw) for raw in decode_page(msgspec.Raw(page), kind).items]


def _masker(keys: tuple[str, ...]) -> Callable[[bytes], Any]:
    # What this connection's messages tell depends on their order; a lock must not.
    secrets = known_secrets.without_traffic()

    def mask(data: bytes) -> Any:
        masked = data
        for start, end in reversed(secrets.find(data)):
            fill = b"9" if data[start:end].isdigit() else b"*"  # a number stays one
            masked = masked[:start] + fill * (end - start) + masked[end:]
        try:
            return mask_definition(decode(masked), keys)
        except ValueError as problem:
            return _unreadable(data, problem)

    return mask


def _unreadable(data: bytes, problem: ValueError) -> dict[str, Any]:
    """A definition that cannot be held; its bytes still tell whether it changed."""
    import hashlib

    return {"unreadable": str(problem), "sha256OfBytes": hashlib.sha256(data).hexdigest()}


def _json(value: Any) -> bytes:
    """Any value: integers of any size, and lone surrogates as escapes."""
    return json.dumps(value).encode()


def _mask_known(contract: Contract) -> Contract:
    """Secrets that this process knows by value, and the recording may not have known."""
    mask = _masker(())
    lists = {
        kind: None if items is None else {
            name: mask(_json(item)) for name, item in items.items()
        }
        for kind, items in contract.lists.items()
    }  # fmt: skip
    return msgspec.structs.replace(
        contract,
        lists=lists,
        server_info=mask(_json(contract.server_info)),
        capabilities=mask(_json(contract.capabilities)),
        instructions=mask(_json(contract.instructions)),
    )
