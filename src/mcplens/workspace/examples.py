"""Example calls of tools, saved under a name in a file of the user's.

Values whose keys look like secrets are left out. Called by the web UI, on a thread that may block.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from mcplens.config.environment import Environment, user_state_folder
from mcplens.config.files import write_text
from mcplens.errors import InspectorError
from mcplens.protocol.secret_masking import is_secret_name
from mcplens.store.recorded_secrets import KeyMasker, KeysOf
from mcplens.store.recorded_secrets import plain as plain_name

_FILE_NAME: Final = "examples.json"
# More than a person can name.
MOST_EXAMPLES: Final = 1_000
LONGEST_NAME: Final = 100
# Larger calls belong in a recording.
LARGEST_ARGUMENTS: Final = 256 * 1024
LARGEST_RESULT: Final = 16 * 1024


class Example(msgspec.Struct, frozen=True, kw_only=True):
    """A call of a tool, saved under a name; a large result is not saved."""

    server_id: str
    tool: str
    name: str
    saved: float
    arguments: Any
    result: Any = None

    def is_of(self, server_id: str, tool: str) -> bool:
        return (self.server_id, self.tool) == (server_id, tool)


class Examples:
    """The examples in the user's file, read each time, since another process may write it."""

    def __init__(self, here: Environment, keys_of: KeysOf | None = None) -> None:
        self._keys_of = keys_of
        self._path = here.join(user_state_folder(here), _FILE_NAME)

    def __repr__(self) -> str:
        return f"<Examples in {self._path}>"

    def of_tool(self, server_id: str, tool: str) -> list[Example]:
        """Those of one tool, by name."""
        found = [one for one in self._read() if one.is_of(server_id, tool)]
        return sorted(found, key=lambda one: one.name)

    def save(self, example: Example) -> None:
        """Save an example; replaces one of the same name.

        Raises:
            InspectorError: it has no name, is too large, or is one too many.
            ConfigurationError: the file cannot be written.
        """
        name = example.name.strip()[:LONGEST_NAME]
        if not name:
            raise InspectorError("INVALID_REQUEST", "an example needs a name")
        secret = KeyMasker(self._keys_of(example.server_id) if self._keys_of is not None else ())
        given = _encoded(without_secrets(example.arguments, secret.names))
        if len(given) > LARGEST_ARGUMENTS:
            raise InspectorError("INVALID_REQUEST", "these arguments are too large for an example")
        kept = self._without(example.server_id, example.tool, name)
        if len(kept) >= MOST_EXAMPLES:
            raise InspectorError(
                "INVALID_REQUEST", f"there are {MOST_EXAMPLES} examples; delete one first"
            )
        result = _encoded(without_secrets(example.result, secret.names))
        if len(result) > LARGEST_RESULT:
            result = b"null"
        # JSON within a text may have secret members too.
        arguments, kept_result = (
            msgspec.json.decode(secret.mask(data)[0]) for data in (given, result)
        )
        changed = msgspec.structs.replace(
            example, name=name, arguments=arguments, result=kept_result
        )
        self._write([*kept, changed])

    def delete(self, server_id: str, tool: str, name: str) -> None:
        """Delete an example; raises as `save` where the file cannot be written."""
        self._write(self._without(server_id, tool, name))

    def _without(self, server_id: str, tool: str, name: str) -> list[Example]:
        return [
            one for one in self._read() if not (one.is_of(server_id, tool) and one.name == name)
        ]

    def _read(self) -> list[Example]:
        try:
            with open(self._path, "rb") as file:
                return msgspec.json.decode(file.read(), type=list[Example])
        except (OSError, msgspec.DecodeError):
            return []

    def _write(self, examples: list[Example]) -> None:
        text = msgspec.json.format(msgspec.json.encode(examples), indent=2).decode() + "\n"
        write_text(self._path, text, is_private=True)


def _encoded(value: Any) -> bytes:
    try:
        return msgspec.json.encode(value)
    except UnicodeEncodeError:
        text = "an example cannot contain half a character (a lone surrogate)"
        raise InspectorError("INVALID_REQUEST", text) from None


def without_secrets(value: Any, names: frozenset[str] = frozenset()) -> Any:
    """A value without members that are named like a secret, or like one of these, at any depth."""
    if isinstance(value, list):
        return [without_secrets(one, names) for one in value]
    if not isinstance(value, dict):
        return value
    return {
        key: without_secrets(one, names)
        for key, one in value.items()
        if plain_name(key) not in names
        # A number is a count (maxTokens), not a secret.
        and (not is_secret_name(key) or one is None or isinstance(one, int | float))
    }
