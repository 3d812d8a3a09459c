"""Our own configuration, from real files: found, merged, and never stopped by one bad entry."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from mcplens.config.configuration import find_files, load_configuration, user_file
from mcplens.config.model import Configuration, Settings
from mcplens.errors import ConfigurationError
from tests.config.machine import Machine

SERVER = {"command": "server"}


def servers(**entries: object) -> dict[str, object]:
    return {"mcpServers": entries}


def load(machine: Machine, path: Path | None = None) -> Configuration:
    return load_configuration(str(path) if path else None, here=machine.here())


def refusal(machine: Machine, path: Path | None = None) -> ConfigurationError:
    with pytest.raises(ConfigurationError) as caught:
        load(machine, path)
    assert caught.value.code == "CONFIGURATION_INVALID"
    return caught.value


class TestFiles:
    def test_without_any_file_there_are_no_servers_and_the_defaults(self, machine: Machine) -> None:
        assert load(machine) == Configuration()

    def test_the_nearest_file_upward_is_the_projects(self, machine: Machine) -> None:
        machine.write_project(servers(far=SERVER))
        near = machine.project / "a"
        deep = near / "b" / "c"
        deep.mkdir(parents=True)
        (file,) = find_files(here=machine.here(deep))
        assert (file.path, file.scope) == (str(machine.project / "mcp.json"), "project")
        machine.write(near / "mcp.json", servers(near=SERVER))
        (file,) = find_files(here=machine.here(deep))
        assert file.path == str(near / "mcp.json")

    def test_the_search_ends_at_the_repositorys_root(self, machine: Machine) -> None:
        machine.write("work/mcp.json", servers(outside=SERVER))
        assert find_files(here=machine.here()) == ()

    def test_a_worktree_whose_git_is_a_file_is_a_repository_too(self, machine: Machine) -> None:
        (machine.project / ".git").rmdir()
        (machine.project / ".git").write_text("gitdir: elsewhere")
        machine.write("work/mcp.json", servers(outside=SERVER))
        assert find_files(here=machine.here()) == ()

    def test_without_a_repository_the_search_ends_at_home(self, machine: Machine) -> None:
        (machine.project / ".git").rmdir()
        machine.write("../mcp.json", servers(above=SERVER))
        assert find_files(here=machine.here()) == ()
        machine.write("mcp.json", servers(at_home=SERVER))
        (file,) = find_files(here=machine.here())
        assert file.path == str(machine.home / "mcp.json")

    def test_the_projects_server_wins_by_name_and_says_so(self, machine: Machine) -> None:
        project = machine.write_project(servers(both={"command": "theirs"}, only_project=SERVER))
        user = machine.write_user(servers(only_user=SERVER, both={"command": "mine"}))
        configuration = load(machine)
        assert [entry.name for entry in configuration.servers] == [
            "both",
            "only_project",
            "only_user",
        ]
        both = configuration.find("both")
        assert both is not None
        assert (both.command, both.source.path) == ("theirs", str(project))
        assert both.remarks == (f"also defined in {user}; this one is used",)
        assert [source.scope for source in configuration.sources] == ["project", "user"]

    def test_a_file_that_is_named_replaces_both(self, machine: Machine) -> None:
        machine.write_project(servers(project=SERVER))
        machine.write_user(servers(user=SERVER))
        named = machine.write("elsewhere/servers.json", servers(named=SERVER))
        assert [entry.name for entry in load(machine, named).servers] == ["named"]
        machine.environ["MCPLENS_CONFIG"] = str(named)
        assert [entry.name for entry in load(machine).servers] == ["named"]
        other = machine.write("elsewhere/other.json", servers(other=SERVER))
        (entry,) = load(machine, other).servers
        assert (entry.name, entry.source.scope) == ("other", "given")

    def test_a_named_file_is_relative_to_where_we_are_and_may_begin_at_home(
        self, machine: Machine
    ) -> None:
        machine.write(machine.project / "x" / "c.json", servers(here=SERVER))
        machine.write("c.json", servers(home=SERVER))
        here = machine.here()
        assert load_configuration("x/c.json", here=here).find("here") is not None
        assert load_configuration("~/c.json", here=here).find("home") is not None

    def test_the_users_file_found_upward_is_read_once_and_as_the_users(
        self, machine: Machine
    ) -> None:
        user = machine.write_user(servers(mine=SERVER))
        configuration = load_configuration(here=machine.here(user.parent))
        assert [(one.path, one.scope) for one in configuration.sources] == [(str(user), "user")]

    def test_a_file_that_is_named_and_not_there_is_an_error(self, machine: Machine) -> None:
        path = machine.home / "no.json"
        error = refusal(machine, path)
        assert error.message == f"{path} cannot be read: No such file or directory"
        assert error.details == {"file": str(path)}

    @pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
    def test_a_file_that_may_not_be_read_is_an_error(self, machine: Machine) -> None:
        machine.write_project(servers()).chmod(0)
        assert "cannot be read: Permission denied" in refusal(machine).message

    def test_a_folder_in_place_of_a_file_is_an_error(self, machine: Machine) -> None:
        assert "Is a directory" in refusal(machine, machine.home).message

    def test_a_tolerant_reader_gets_the_other_files_and_the_problem(self, machine: Machine) -> None:
        machine.write_project("{")
        machine.write_user(servers(mine=SERVER))
        configuration = load_configuration(here=machine.here(), is_tolerant=True)
        assert [entry.name for entry in configuration.servers] == ["mine"]
        assert [problem.code for problem in configuration.problems] == ["CONFIGURATION_INVALID"]

    def test_the_users_file_is_where_the_platform_keeps_configuration(
        self, machine: Machine
    ) -> None:
        assert user_file(machine.here()) == str(machine.home / ".config/mcplens/mcp.json")


class TestContent:
    @pytest.mark.parametrize("text", ["", "\n", "{}", '{"mcpServers": {}}', "// later\n"])
    def test_an_empty_file_has_no_servers(self, machine: Machine, text: str) -> None:
        machine.write_project(text)
        configuration = load(machine)
        assert configuration.servers == ()
        assert configuration.problems == ()

    @pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le"])
    def test_a_byte_order_mark_is_passed_over(self, machine: Machine, encoding: str) -> None:
        text = '{"mcpServers": {"é": {"command": "x"}}}'
        mark = "\ufeff" if encoding == "utf-16-le" else ""
        (machine.project / "mcp.json").write_bytes((mark + text).encode(encoding))
        assert [entry.name for entry in load(machine).servers] == ["é"]

    def test_comments_and_trailing_commas_are_allowed(self, machine: Machine) -> None:
        machine.write_project('{"mcpServers": { // mine\n "a": {"command": "x",}, /* b */ },}')
        (entry,) = load(machine).servers
        assert entry.is_usable

    def test_a_syntax_error_names_file_line_and_column(self, machine: Machine) -> None:
        path = machine.write_project('{\n  "mcpServers": {\n    "a": {"command" "x"}\n  }\n}')
        error = refusal(machine)
        assert error.message == (
            f"{path}, line 3, column 21: expected a colon after 'command', not '\"'"
        )
        assert error.details == {"file": str(path), "line": 3, "column": 21}

    def test_bytes_that_are_no_text_are_named_by_their_place(self, machine: Machine) -> None:
        (machine.project / "mcp.json").write_bytes(b'{\n "a\xff": 1}')
        error = refusal(machine)
        assert "line 2, column 4: this is not UTF-8 text" in error.message

    @pytest.mark.parametrize("text", ["[]", '"x"', "null", "3"])
    def test_a_file_that_is_no_object_is_refused(self, machine: Machine, text: str) -> None:
        machine.write_project(text)
        assert "must be an object" in refusal(machine).message

    def test_servers_that_are_no_object_are_refused_with_their_place(
        self, machine: Machine
    ) -> None:
        machine.write_project('{\n "mcpServers": []}')
        assert "line 2, column 2: mcpServers must be an object" in refusal(machine).message

    def test_a_server_named_twice_is_told_and_the_last_one_counts(self, machine: Machine) -> None:
        path = machine.write_project(
            '{"mcpServers": {\n  "a": {"command": "first"},\n  "a": {"command": "last"}\n}}'
        )
        configuration = load(machine)
        assert [entry.command for entry in configuration.servers] == ["last"]
        assert configuration.remarks == (
            f"{path}, line 3, column 3: mcpServers.a occurs twice, in line 2 and in line 3; "
            "the last one is used",
        )

    def test_unknown_keys_at_the_top_are_told(self, machine: Machine) -> None:
        path = machine.write_project({"$schema": "x", "mcpServer": {}, "theme": 1})
        assert load(machine).remarks == (f"{path}: unknown keys: mcpServer, theme",)

    def test_one_bad_entry_disables_only_itself_and_names_file_server_and_key(
        self, machine: Machine
    ) -> None:
        path = machine.write_project(
            '{"mcpServers": {\n "good": {"command": "x"},\n'
            ' "bad": {\n  "command": "x",\n  "env": {"TOKEN": "${MCPLENS_UNSET}"}}\n}}'
        )
        good, bad = load(machine).servers
        assert good.is_usable
        assert not bad.is_usable
        assert bad.problem is not None
        assert bad.problem.message == (
            f"{path}, line 5: server 'bad': env.TOKEN: the environment variable "
            "'MCPLENS_UNSET' is not set; set it, or give a default: ${MCPLENS_UNSET:-default}"
        )
        assert bad.problem.details == {
            "file": str(path),
            "server": "bad",
            "key": "env.TOKEN",
            "variable": "MCPLENS_UNSET",
            "is_local": True,
            "line": 5,
            "column": 3,
        }

    def test_a_server_is_found_by_name_and_by_a_title_that_is_unmistakable(
        self, machine: Machine
    ) -> None:
        machine.write_project(
            servers(
                a={"command": "x", "name": "Weather"},
                b={"command": "x", "name": "Twin"},
                c={"command": "x", "name": "Twin"},
            )
        )
        configuration = load(machine)
        found = configuration.find("Weather")
        assert found is not None
        assert found.name == "a"
        assert configuration.find("Twin") is None

    def test_a_file_in_another_tools_shape_can_be_named(self, machine: Machine) -> None:
        vscode = machine.write("x.json", {"servers": {"v": {"type": "stdio", "command": "x"}}})
        codex = machine.write("y.toml", '[mcp_servers.c]\ncommand = "x"\n')
        goose = machine.write("z.yaml", "extensions:\n  g: {type: stdio, cmd: x, args: []}\n")
        for path, name, kind in (
            (vscode, "v", "vscode"),
            (codex, "c", "codex"),
            (goose, "g", "goose"),
        ):
            configuration = load(machine, path)
            assert [entry.name for entry in configuration.servers] == [name]
            assert configuration.sources[0].kind == kind


class TestSettings:
    def test_every_key_has_its_default(self, machine: Machine) -> None:
        machine.write_project({"mcpServers": {}})
        assert load(machine).settings == Settings()

    def test_every_key_is_read_in_its_own_unit(self, machine: Machine) -> None:
        machine.environ["PRESET"] = "mine"
        machine.write_project(
            {
                "requestTimeoutSeconds": 5,
                "capabilitiesTimeoutSeconds": 1.5,
                "authorizationTimeoutSeconds": "7",
                "connectionRetryCount": 0,
                "capabilitiesRefreshIntervalSeconds": 5,
                "cacheTtlMs": 250,
                "defaultPresetId": "${PRESET}",
                "profiles": {"p": {"x": "plain"}},
                "views": {"v": {"allow": {"tools": ["a*"]}}},
                "gateway": {"listen": "127.0.0.1:8080"},
                "settings": {"theme": "dark"},
            }
        )
        assert load(machine).settings == Settings(
            request_timeout_s=5.0,
            capabilities_timeout_s=1.5,
            authorization_timeout_s=7.0,
            connection_retry_count=0,
            capabilities_refresh_interval_s=30.0,
            cache_ttl_s=0.25,
            default_preset_id="mine",
            profiles={"p": {"x": "plain"}},
            views={"v": {"allow": {"tools": ["a*"]}}},
            gateway={"listen": "127.0.0.1:8080"},
            settings={"theme": "dark"},
        )

    @pytest.mark.parametrize("value", [0, -1])
    def test_a_refresh_interval_of_nothing_is_off(self, machine: Machine, value: int) -> None:
        machine.write_project({"capabilitiesRefreshIntervalSeconds": value})
        assert load(machine).settings.capabilities_refresh_interval_s == 0.0

    def test_the_projects_settings_go_over_the_users_name_by_name(self, machine: Machine) -> None:
        machine.write_project({"requestTimeoutSeconds": 1, "profiles": {"a": 1}})
        machine.write_user(
            {"requestTimeoutSeconds": 2, "cacheTtlMs": 1000, "profiles": {"a": 2, "b": 2}}
        )
        settings = load(machine).settings
        assert (settings.request_timeout_s, settings.cache_ttl_s) == (1.0, 1.0)
        assert settings.profiles == {"a": 2, "b": 2}, "a profile of the user's stays"

    def test_of_views_and_the_gateway_the_users_win(self, machine: Machine) -> None:
        hiding = {"deny": {"tools": ["*"]}}
        machine.write_project(
            {
                "views": {"mine": {}, "theirs": {}},
                "defaultPresetId": "theirs",
                "gateway": {"listen": "127.0.0.1:1"},
            }
        )
        machine.write_user({"views": {"mine": hiding}, "defaultPresetId": "mine"})
        settings = load(machine).settings
        assert settings.views == {"mine": hiding, "theirs": {}}
        assert settings.default_preset_id == "mine"
        assert settings.gateway == {"listen": "127.0.0.1:1"}

    def test_a_project_cannot_open_a_port_to_other_machines(self, machine: Machine) -> None:
        machine.write_project({"gateway": {"listen": "0.0.0.0:80"}})
        configuration = load(machine)
        assert configuration.settings.gateway == {}
        (problem,) = configuration.problems
        assert "a project's file may only listen on this machine" in problem.message
        machine.write_project({})
        machine.write_user({"gateway": {"listen": "0.0.0.0:80"}})
        assert load(machine).settings.gateway == {"listen": "0.0.0.0:80"}

    @pytest.mark.parametrize(
        "access",
        [
            {"tokens": [{"name": "ci", "token": "0123456789abcdef"}]},
            {"oauth": {"issuer": "https://login.example.com"}},
            {"allowedHosts": ["*"]},
            {"allowedOrigins": ["https://app.example.com"]},
            {"publicUrl": "https://mcp.example.com"},
        ],
    )
    def test_a_project_cannot_say_who_may_use_the_gateway(
        self, machine: Machine, access: dict[str, Any]
    ) -> None:
        machine.write_project({"gateway": access})
        configuration = load(machine)
        assert configuration.settings.gateway == {}
        (problem,) = configuration.problems
        assert "may not say who may use the gateway" in problem.message
        machine.write_project({})
        machine.write_user({"gateway": access})
        assert load(machine).settings.gateway == access

    @pytest.mark.parametrize(
        ("access", "key"),
        [
            ({"tokens": [{"name": "ci", "token": "short"}]}, "gateway.tokens[0].token"),
            ({"tokens": [{"name": "a b", "token": "0123456789abcdef"}]}, "gateway.tokens[0].name"),
            ({"tokens": [{"name": "ci"}]}, "gateway.tokens[0]"),
            (
                {"tokens": [{"name": "ci", "token": each * 16} for each in "ab"]},
                "gateway.tokens[1].name",
            ),
            (
                {"tokens": [{"name": each, "token": "0123456789abcdef"} for each in "ab"]},
                "gateway.tokens[1].token",
            ),
            ({"oauth": {}}, "gateway.oauth"),
            ({"oauth": {"issuer": "http://login.example.com"}}, "gateway.oauth.issuer"),
            ({"oauth": {"issuer": "https://x", "requiredScopes": ['a"b']}},
             "gateway.oauth.requiredScopes"),
            ({"oauth": {"issuer": "https://x", "isuer": "y"}}, "gateway.oauth.isuer"),
            ({"allowedOrigins": ["app.example.com"]}, "gateway.allowedOrigins[0]"),
            ({"publicUrl": "mcp.example.com"}, "gateway.publicUrl"),
        ],
    )  # fmt: skip
    def test_access_that_makes_no_sense_is_told_by_its_key(
        self, machine: Machine, access: dict[str, Any], key: str
    ) -> None:
        machine.write_user({"gateway": access})
        configuration = load(machine)
        assert configuration.settings.gateway == {}
        assert [problem.details["key"] for problem in configuration.problems] == [key]

    def test_a_wrong_setting_is_told_and_leaves_the_default(self, machine: Machine) -> None:
        path = machine.write_project(
            {
                "requestTimeoutSeconds": "soon",
                "connectionRetryCount": 1.5,
                "views": {"good": {}, "bad": "${MCPLENS_UNSET}", "worse": {"alow": {}}},
                "mcpServers": {"a": SERVER},
            }
        )
        configuration = load(machine)
        assert configuration.settings == Settings(views={"good": {}})
        told = [problem.message for problem in configuration.problems]
        assert told[0] == f"{path}: requestTimeoutSeconds: must be a number, not a string"
        assert told[1] == f"{path}: connectionRetryCount: must be a whole number"
        assert told[2].startswith(f"{path}: views.bad: the environment variable 'MCPLENS_UNSET'")
        assert told[3].startswith(f"{path}: views.worse.alow: not a key here; use separator, ")
        assert configuration.servers[0].is_usable
