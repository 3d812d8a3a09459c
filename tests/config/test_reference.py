"""The reference page names every key with its default, every tool and every shape."""

from __future__ import annotations

import inspect
import json
import re
from pathlib import Path
from typing import get_args

import msgspec
import pytest

import mcplens
from mcplens.config.access_keys import OAUTH_KEYS, TOKEN_KEYS
from mcplens.config.configuration import load_configuration
from mcplens.config.export import Shape
from mcplens.config.keys import AUTH_KEYS, SERVER_KEYS, TOP_KEYS, Key
from mcplens.config.model import ServerEntry, Settings
from mcplens.config.other_tools import TOOLS
from mcplens.config.placeholders import resolve
from mcplens.config.replica_settings import REPLICA_KEYS, STORE_KEYS
from mcplens.config.telemetry_settings import TELEMETRY_KEYS
from mcplens.config.views import GATEWAY_KEYS, LIMIT_KEYS, VIEW_KEYS, GatewaySettings, View
from mcplens.session import model_endpoint
from mcplens.session.profiles import _KINDS as KINDS
from mcplens.session.profiles import BUILT_IN, Profiles
from mcplens.transports import login_shell_path
from tests.config.machine import Machine
from tests.docs.markdown import DOCS, ROOT, blocks, sections

PAGE = DOCS / "reference" / "config-file.md"
PACKAGE = Path(mcplens.__file__).parent
OUR_VARIABLE = re.compile(r'"(MCPLENS_[A-Z_]+)"')
# Not keys of a file, but what becomes of them.
OWN_FIELDS = {
    "name", "source", "raw", "inputs", "unknown", "remarks", "problem", "field_problems",
}  # fmt: skip


def rows(title: str) -> dict[str, list[str]]:
    found = re.findall(r"^\| `([^`]+)`.*? \| (.*) \|$", sections(PAGE)[title], re.MULTILINE)
    return {name: rest.split(" | ") for name, rest in found}


def default_of(key: Key, kind: type[msgspec.Struct]) -> object:
    (field,) = (field for field in msgspec.structs.fields(kind) if field.name == key.field)
    if field.default_factory is not msgspec.NODEFAULT:
        return field.default_factory()
    value = list(field.default) if isinstance(field.default, tuple) else field.default
    return value * 1000 if key.name.endswith("Ms") else value


@pytest.mark.parametrize(
    ("title", "keys", "kind"),
    [("A server", SERVER_KEYS, ServerEntry), ("Settings", TOP_KEYS, Settings)],
)
def test_every_key_is_documented_with_its_default(
    title: str, keys: tuple[Key, ...], kind: type[msgspec.Struct]
) -> None:
    documented = rows(title)
    assert list(documented) == [key.name for key in keys]
    for key in keys:
        shown = documented[key.name][0]
        expected = default_of(key, kind)
        assert (None if shown == "–" else json.loads(shown.strip("`"))) == expected


def test_what_nothing_uses_is_said_to_be_unused() -> None:
    source = "".join(path.read_text() for path in PACKAGE.rglob("*.py"))
    documented = rows("Settings")
    for key in TOP_KEYS:
        assert key.is_used == bool(re.search(rf"settings\.{key.field}\b", source)), key.name
        assert key.is_used != ("not used by this version yet" in documented[key.name][-1])


def test_every_field_has_a_key() -> None:
    fields = {field.name for field in msgspec.structs.fields(ServerEntry)} - OWN_FIELDS
    assert fields == {key.field for key in SERVER_KEYS}
    assert set(Settings.__struct_fields__) == {key.field for key in TOP_KEYS}


def test_every_key_of_auth_every_tool_and_every_shape_is_documented() -> None:
    assert tuple(rows("auth")) == AUTH_KEYS
    assert list(rows("Other tools' files")) == list(TOOLS)
    assert list(rows("Importing and exporting")) == list(get_args(Shape))


def test_every_key_of_a_view_and_of_the_gateway_is_documented_with_its_default() -> None:
    for title, keys, kind in (
        ("Views", VIEW_KEYS, View),
        ("Gateway", GATEWAY_KEYS, GatewaySettings),
    ):
        documented = rows(title)
        assert list(documented) == list(keys)
        for name, (field, _) in keys.items():
            shown = documented[name][0]
            default = msgspec.to_builtins(getattr(kind(), field))
            default = list(default) if isinstance(default, tuple) else default
            expected = {} if isinstance(default, dict) else default
            assert (None if shown == "–" else json.loads(shown.strip("`"))) == expected
    assert list(rows("Tokens of the gateway")) == list(TOKEN_KEYS)
    assert list(rows("OAuth of the gateway")) == list(OAUTH_KEYS)
    assert rows("Limits").keys() == LIMIT_KEYS.keys()
    blocks = {"store": STORE_KEYS, "replica": REPLICA_KEYS, "telemetry": TELEMETRY_KEYS}
    for block, members in blocks.items():
        assert [name for name in members if f"`{name}`" not in rows("Gateway")[block][-1]] == []


def test_every_kind_of_profile_and_its_settings_are_documented() -> None:
    documented = rows("Profiles")
    assert list(documented) == [*KINDS, "elicitation", "force"]
    for kind, factory in KINDS.items():
        asked = set(re.findall(r'settings\.\w+\(\s*"(\w+)"', inspect.getsource(factory)))
        if kind == "model":
            asked = set(re.findall(r'settings\.\w+\(\s*"(\w+)"', inspect.getsource(model_endpoint)))
        named = set(re.findall(r"`(\w+)`", documented[kind][-1]))
        assert asked <= named, kind
    text = sections(PAGE)["Profiles"]
    assert [name for name in BUILT_IN if f"`{name}`" not in text] == []


def test_placeholders_stand_for_what_the_page_says() -> None:
    table = re.findall(r"^\| (`.+`) \| (.+) \|$", sections(PAGE)["Placeholders"], re.MULTILINE)
    means = {text.strip("`"): what for texts, what in table for text in texts.split(", ")}
    environ = {"VAR": "value"}
    assert {text: resolve(text, environ.get) for text in means} == {
        "${VAR}": "value",
        "${env:VAR}": "value",
        "{VAR}": "value",
        "${VAR:-default}": "value",
        "$${": "${",
        "${{}": "{",
    }
    assert (means["$${"], means["${{}"]) == ("a literal `${`", "a literal `{`")


def test_every_example_is_a_configuration(machine: Machine) -> None:
    machine.environ |= {"WEATHER_KEY": "k", "SEARCH_TOKEN": "t", "BANK_PIN": "p", "MODEL_KEY": "m"}
    machine.environ |= {"READING_TOKEN": "r", "CI_TOKEN": "c" * 16, "BOT_TOKEN": "b" * 16}
    machine.environ |= {"STORE_PASSWORD": "s", "REPLICA_KEY": "k" * 32}
    examples = [block for block in blocks(PAGE) if block.language == "json"]
    assert len(examples) == 8
    for example in examples:
        machine.write_user(example.text)
        configuration = load_configuration(here=machine.here())
        known = Profiles(configuration.settings.profiles)
        assert [known.get(name).name for name in known.names()] == known.names()
        assert {entry.problem for entry in configuration.servers} <= {None}
        assert (configuration.remarks, configuration.problems) == ((), ())


def test_every_environment_variable_of_ours_is_documented() -> None:
    sources = (ROOT / "src" / "mcplens").rglob("*.py")
    read = {name for path in sources for name in OUR_VARIABLE.findall(path.read_text())}
    documented = {name for name in rows("Environment variables") if name.startswith("MCPLENS_")}
    assert documented == read - {login_shell_path._ASKING_VARIABLE}
