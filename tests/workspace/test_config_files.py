"""Our file: servers and settings in it, and what may not be written there."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest

from mcplens.config.environment import Environment
from mcplens.config.keys import TOP_KEYS
from mcplens.errors import ConfigurationError
from mcplens.workspace.config_files import ConfigFiles, settings_of
from mcplens.workspace.form_masking import mask_entry
from tests.web.harness import machine, user_config, write_config


@pytest.fixture
def configured(tmp_path: Path) -> ConfigFiles:
    return ConfigFiles(machine(tmp_path))


def test_the_demo_is_built_in_unless_somebody_configured_one(tmp_path: Path) -> None:
    configured = ConfigFiles(machine(tmp_path))
    (demo,) = configured.load()
    assert (demo.name, demo.source.kind) == ("demo", "built-in")
    write_config(tmp_path, demo={"command": "mine"})
    (demo,) = configured.load()
    assert demo.command == "mine"


def test_what_is_built_in_cannot_be_changed(configured: ConfigFiles) -> None:
    (demo,) = configured.load()
    with pytest.raises(ConfigurationError, match="cannot be changed"):
        configured.edit(demo, {}, None)


@pytest.mark.parametrize("name", ["", " ", "a/b"])
def test_a_name_that_cannot_be_one_is_refused(configured: ConfigFiles, name: str) -> None:
    with pytest.raises(ConfigurationError, match="needs a name"):
        configured.add(name, {"command": "x"})


def test_secrets_are_masked_and_placeholders_are_not() -> None:
    raw = {"command": "x", "env": {"A": "secret", "B": "${B}"}, "auth": {"clientSecret": "s"}}
    shown = mask_entry(raw)
    assert "secret" not in json.dumps(shown["env"])
    assert shown["env"]["B"] == "${B}"
    assert shown["auth"]["clientSecret"] != "s"


FORMER = {"command": "x", "env": {"A": "one", "B": "three"}, "headers": {"H": "secret"}}


def written(tmp_path: Path, name: str) -> object:
    return json.loads(user_config(tmp_path).read_text())["mcpServers"][name]


def test_a_copy_has_the_secrets_of_the_original(tmp_path: Path) -> None:
    write_config(tmp_path, mine=FORMER)
    configured = ConfigFiles(machine(tmp_path))
    mine = next(entry for entry in configured.load() if entry.name == "mine")
    configured.add("copy", mask_entry(mine.raw), mine)
    assert written(tmp_path, "copy") == FORMER


def test_a_variable_that_was_renamed_keeps_its_value(tmp_path: Path) -> None:
    write_config(tmp_path, mine=FORMER)
    configured = ConfigFiles(machine(tmp_path))
    mine = next(entry for entry in configured.load() if entry.name == "mine")
    shown = mask_entry(mine.raw)
    shown["env"] = {"RENAMED": shown["env"]["A"], "B": shown["env"]["B"]}
    configured.edit(mine, shown, None)
    assert written(tmp_path, "mine") == {**FORMER, "env": {"RENAMED": "one", "B": "three"}}


def test_a_mask_is_never_written(tmp_path: Path) -> None:
    former = {"command": "x", "env": {"A": "one", "B": "two"}}
    write_config(tmp_path, mine=former)
    configured = ConfigFiles(machine(tmp_path))
    mine = next(entry for entry in configured.load() if entry.name == "mine")
    shown = mask_entry(mine.raw)["env"]
    # Both were renamed, and both are of the same length: which is which cannot be known.
    renamed = {"command": "x", "env": {"C": shown["A"], "D": shown["B"]}}
    with pytest.raises(ConfigurationError, match=r"env\.C: this is the mask") as refused:
        configured.edit(mine, renamed, None)
    assert refused.value.details["key"] == "env.C"
    with pytest.raises(ConfigurationError, match=r"env\.C"):
        configured.add("other", renamed)
    with pytest.raises(ConfigurationError, match=r"other\.env\.C"):
        configured.import_servers({"other": renamed}, replaces=False)
    assert written(tmp_path, "mine") == former


def test_every_setting_says_what_it_means() -> None:
    assert [key.name for key in TOP_KEYS if not key.meaning.endswith(".")] == []


def test_a_setting_names_the_file_that_sets_it(tmp_path: Path) -> None:
    here = machine(tmp_path)
    project, user = Path(here.cwd) / "mcp.json", user_config(tmp_path)
    user.parent.mkdir(parents=True)
    project.write_text('{"requestTimeoutSeconds": 5, "secretKeys": ["a"]}')
    user.write_text('{"requestTimeoutSeconds": 6, "cacheTtlMs": 300000, "secretKeys": ["b"]}')
    found = settings(ConfigFiles(here))
    assert found["requestTimeoutSeconds"] == (5, str(project), False)
    # What is said is said, also where it is the default.
    assert found["cacheTtlMs"] == (300_000, str(user), True)
    assert found["secretKeys"] == (("a", "b"), f"{project}; {user}", False)
    assert found["taskTtlSeconds"] == (60, "default", True)


def test_a_setting_names_the_flag_and_the_variable_behind_it(tmp_path: Path) -> None:
    file = tmp_path / "named.json"
    file.write_text('{"taskTtlSeconds": "${TTL}"}')
    here = machine(tmp_path)
    environ = {**here.environ, "TTL": "7"}
    with_flag = ConfigFiles(replace(here, environ), str(file))
    assert settings(with_flag)["taskTtlSeconds"] == (
        7,
        f"{file} (--config), environment: TTL",
        True,
    )
    by_variable = ConfigFiles(replace(here, {**environ, "MCPLENS_CONFIG": str(file)}))
    _, source, _ = settings(by_variable)["taskTtlSeconds"]
    assert source == f"{file} (MCPLENS_CONFIG), environment: TTL"


def replace(here: Environment, environ: dict[str, str]) -> Environment:
    return msgspec.structs.replace(here, environ=environ)


def settings(configured: ConfigFiles) -> dict[str, tuple[object, str, bool]]:
    configured.load()
    return {one.name: (one.value, one.source, one.is_ours) for one in settings_of(configured)}


def test_a_setting_goes_into_the_file_beside_what_is_there(tmp_path: Path) -> None:
    path = user_config(tmp_path)
    path.parent.mkdir(parents=True)
    path.write_text('{\n  // mine\n  "mcpServers": {}\n}\n')
    ConfigFiles(machine(tmp_path)).set("cacheTtlMs", 1000)
    assert path.read_text() == '{\n  // mine\n  "mcpServers": {},\n  "cacheTtlMs": 1000\n}\n'
    ConfigFiles(machine(tmp_path)).set("cacheTtlMs", 2000)
    assert '"cacheTtlMs": 2000' in path.read_text()
    with pytest.raises(ConfigurationError, match="no setting"):
        ConfigFiles(machine(tmp_path)).set("nonsense", 1)
