"""The JSON Schema of our configuration file, made from the keys; shipped as mcp.schema.json.

`python -m mcplens.config.json_schema` writes the file; a test proves that it is fresh. Editors use
it to complete and check a `mcp.json` that names it in `$schema`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from mcplens.config import access_keys, keys, replica_settings, telemetry_settings, views
from mcplens.config.keys import AUTH_READERS, SERVER_KEYS, TOP_KEYS, Key

Schema = dict[str, Any]
Reader = Callable[[Any, str], Any]

SCHEMA_FILE: Final = Path(__file__).with_name("mcp.schema.json")
_DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"

# A placeholder can stand for any value.
_PLACEHOLDER: Final[Schema] = {"type": "string", "pattern": r"\{"}
_TEXT: Final[Schema] = {"type": ["string", "number", "boolean"]}
_FILLED: Final[Schema] = {"type": ["string", "number", "boolean"], "minLength": 1}
_OBJECT: Final[Schema] = {"type": "object"}


def _or_placeholder(schema: Schema) -> Schema:
    return {"anyOf": [schema, _PLACEHOLDER]}


def _number(minimum: float | None = None) -> Schema:
    number: Schema = {"type": "number"}
    if minimum is not None:
        number["minimum"] = minimum
    return _or_placeholder(number)


def _choice(*values: str) -> Schema:
    return _or_placeholder({"enum": list(values)})


def _list_of(item: Schema) -> Schema:
    return {"type": "array", "items": item}


def _map_of(item: Schema) -> Schema:
    return {"type": "object", "additionalProperties": item}


_TRANSPORT_NAMES: Final = ("stdio", "http", "streamable-http", "sse", "websocket", "ws")
_ROOT: Final[Schema] = {
    "anyOf": [
        {"type": "string"},
        {
            "type": "object",
            "properties": {"uri": {"type": "string"}, "name": {"type": "string"}},
            "required": ["uri"],
        },
    ]
}

_SCHEMA_OF: Final[Mapping[Reader, Schema]] = {
    keys.text: _TEXT,
    keys.filled: _FILLED,
    keys.flag: _or_placeholder({"type": "boolean"}),
    keys.seconds: _number(0),
    keys.interval_s: _number(),
    keys.milliseconds: _number(0),
    keys.delays: _list_of(_number(0)),
    keys.texts: _list_of(_TEXT),
    keys.names: _list_of(_FILLED),
    keys.mapping: _OBJECT,
    keys.text_mapping: _map_of({"type": ["string", "number", "boolean", "null"]}),
    keys.transport: _choice(*_TRANSPORT_NAMES),
    keys.session_mode: _choice(*keys.SESSION_MODES),
    keys.log_level: _choice(*keys.LOG_CHOICES),
    keys.roots: _list_of(_ROOT),
    keys.secrets: {"anyOf": [_list_of(_FILLED), _OBJECT]},
    keys.scopes: {"anyOf": [{"type": "string"}, _list_of(_TEXT)]},
    keys.grant: _choice(*keys.GRANTS),
    views.separator: _choice(*views.SEPARATORS),
    views.approval: _choice(*views.APPROVAL_MODES),
    views.address: _FILLED,
    access_keys.public_url: _FILLED,
    access_keys.secure_url: _FILLED,
    access_keys.encryption_keys: _list_of(_FILLED),
    access_keys.origins: _list_of(_FILLED),
    access_keys.audiences: {"anyOf": [{"type": "string"}, _list_of(_FILLED)]},
    access_keys.scope_names: {"anyOf": [{"type": "string"}, _list_of(_FILLED)]},
    access_keys.scope_views: _map_of(_list_of(_FILLED)),
    replica_settings.store_url: _FILLED,
    telemetry_settings.collector: _FILLED,
    telemetry_settings.interval: _number(1),
    replica_settings.replica_address: _FILLED,
    replica_settings.signing_keys: {"anyOf": [_FILLED, _list_of(_FILLED)]},
}


def _closed(properties: Mapping[str, Schema]) -> Schema:
    return {"type": "object", "properties": dict(properties), "additionalProperties": False}


def _of_reader(read: Reader) -> Schema:
    """The schema of what a reader accepts."""
    if read is keys.auth:
        members = {name: _of_reader(each) for name, each in AUTH_READERS.items()}
        return {"type": "object", "properties": members}
    if isinstance(read, keys.AtLeast):
        return _or_placeholder({"type": "integer", "minimum": read.least})
    return _SCHEMA_OF[read]


def _view_schema() -> Schema:
    globs = _closed(dict.fromkeys(views.Globs.__struct_fields__, _list_of(_FILLED)))
    published = {"type": "string", "pattern": f"^{views.PUBLISHED_NAME.pattern}$"}
    flag = _SCHEMA_OF[keys.flag]
    special: dict[str, Schema] = {
        "allow": globs,
        "deny": globs,
        "rename": {**_map_of(published), "propertyNames": {"pattern": "^[^:]+:."}},
        "descriptions": {**_map_of(_TEXT), "propertyNames": {"pattern": "^[^:]+:."}},
        "hideAnnotated": _closed(dict.fromkeys(views.ANNOTATION_DEFAULTS, flag)),
    }
    return _closed(
        {name: special.get(name) or _of_reader(read) for name, (_, read) in views.VIEW_KEYS.items()}
    )


def _gateway_schema() -> Schema:
    blocks = {
        "limits": views.LIMIT_KEYS,
        "store": replica_settings.STORE_KEYS,
        "replica": replica_settings.REPLICA_KEYS,
        "telemetry": telemetry_settings.TELEMETRY_KEYS,
    }
    token = _closed({"name": _FILLED, "token": _FILLED, "views": _list_of(_FILLED)})
    oauth = _closed({name: _of_reader(read) for name, read in access_keys.OAUTH_KEYS.items()})
    special: dict[str, Schema] = {
        **{
            name: _closed({key: _of_reader(read) for key, (_, read) in known.items()})
            for name, known in blocks.items()
        },
        "tokens": _list_of({**token, "required": ["name", "token"]}),
        "oauth": {**oauth, "required": ["issuer"]},
    }
    return _closed(
        {
            name: special.get(name) or _of_reader(read)
            for name, (_, read) in views.GATEWAY_KEYS.items()
        }
    )


def _or_null(schema: Schema) -> Schema:
    """null counts as absent, for every key."""
    return {"anyOf": [schema, {"type": "null"}]}


def _properties(known: tuple[Key, ...]) -> dict[str, Schema]:
    special = {"views": _map_of(_view_schema()), "gateway": _gateway_schema()}
    found = {}
    for key in known:
        schema = _or_null(special.get(key.name) or _of_reader(key.read))
        found[key.name] = {"description": key.meaning, **schema} if key.meaning else schema
    return found


def make_schema() -> Schema:
    """The schema of a whole file. Unknown keys are allowed: mcplens keeps them."""
    servers = _properties(SERVER_KEYS)
    servers |= {alias: servers[name] for alias, name in keys.ALIASES.items()}
    servers["disabled"] = _or_null(_SCHEMA_OF[keys.flag])
    return {
        "$schema": _DIALECT,
        "$comment": "Generated by python -m mcplens.config.json_schema; do not edit.",
        "title": "mcplens configuration (mcp.json)",
        "type": "object",
        "properties": {
            "$schema": {"type": "string"},
            "mcpServers": {
                "description": "The servers, by name.",
                **_or_null(_map_of({"type": "object", "properties": servers})),
            },
            **_properties(TOP_KEYS),
        },
    }


def schema_text() -> str:
    return json.dumps(make_schema(), indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    SCHEMA_FILE.write_text(schema_text(), encoding="utf-8")
