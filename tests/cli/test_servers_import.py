"""`mcplens servers import`, and the confirmation of what was imported."""

import json
from typing import Any

from mcplens.cli import exit_codes
from tests.cli.shell import Shell
from tests.cli.terminal import terminal
from tests.servers.run import ROOT, argv

COMMAND, *ARGS = argv("good")
GOOD = {"command": COMMAND, "args": ARGS, "cwd": str(ROOT)}


def write_file(shell: Shell, **servers: dict[str, Any]) -> None:
    (shell.home / "theirs.json").write_text(json.dumps({"mcpServers": servers}))


def configured(shell: Shell) -> dict[str, Any]:
    if not shell.config.exists():
        return {}
    servers = json.loads(shell.config.read_text())["mcpServers"]
    assert isinstance(servers, dict)
    return servers


def test_without_a_terminal_nothing_is_imported_unless_told_so(shell: Shell) -> None:
    write_file(shell, one=GOOD)
    refused = shell.run("servers", "import", "theirs.json")
    assert refused.code == exit_codes.USAGE
    assert f"Use --yes to add 1 server to {shell.config}." in refused.err
    assert configured(shell) == {}
    assert shell.run("servers", "import", "theirs.json", "--yes").code == exit_codes.DONE
    assert list(configured(shell)) == ["one"]


def test_on_a_terminal_an_import_asks(shell: Shell) -> None:
    write_file(shell, one=GOOD)
    for typed, code, expected in (("n", exit_codes.FAILED, []), ("y", exit_codes.DONE, ["one"])):
        with terminal(shell, "servers", "import", "theirs.json", columns=300) as screen:
            screen.until(f"Add 1 server to {shell.config}? [y/N]: ")
            screen.type(f"{typed}\n")
            assert screen.end() == code
        assert list(configured(shell)) == expected


def test_a_name_that_is_taken_stops_only_its_own_server(shell: Shell) -> None:
    shell.config.parent.mkdir(parents=True)
    shell.config.write_text('{"mcpServers": {"mine": {"command": "own"}}}')
    write_file(shell, mine=GOOD, demo=GOOD, fresh=GOOD)
    done = shell.run("servers", "import", "theirs.json", "--yes")
    assert done.code == exit_codes.FAILED
    assert list(configured(shell)) == ["mine", "fresh"]
    assert configured(shell)["mine"] == {"command": "own"}
    assert "mine is not imported" in done.err
    assert "demo is not imported: it is the name of the built-in demo server" in done.err
    assert done.err.count("--replace") == 2
    again = shell.run("servers", "import", "theirs.json", "--yes")
    assert (again.code, "nothing was imported" in again.err) == (exit_codes.USAGE, True)
    assert shell.run("servers", "import", "theirs.json", "--yes", "--replace").code == 0
    assert {name: entry["command"] for name, entry in configured(shell).items()} == {
        "mine": COMMAND,
        "fresh": COMMAND,
        "demo": COMMAND,
    }


def test_an_entry_that_nothing_can_be_started_from_is_not_imported(shell: Shell) -> None:
    write_file(shell, one=GOOD, typo={"cmd": "x"})
    done = shell.run("servers", "import", "theirs.json", "--yes")
    assert done.code == exit_codes.FAILED
    assert "typo is not imported: it has neither a command nor a url" in done.err
    assert list(configured(shell)) == ["one"]


def test_what_was_imported_is_confirmed_before_it_is_first_started(shell: Shell) -> None:
    write_file(shell, one=GOOD)
    shell.run("servers", "import", "theirs.json", "--yes")
    words = ["call", "one", "echo", "text=hi"]
    refused = shell.run(*words)
    assert refused.code == exit_codes.USAGE
    assert f"{shell.config} starts one with this command:" in refused.err
    assert shell.run(*words, "--yes").text == "hi\n"
    assert shell.run(*words).text == "hi\n"
    assert shell.run("servers", "import", "theirs.json", "--yes", "--replace").code == 0
    assert shell.run(*words).code == exit_codes.USAGE  # it may be another one


def test_the_confirmation_shows_all_that_decides_and_masks_nothing(shell: Shell) -> None:
    write_file(
        shell,
        run={
            "command": "node",
            "args": ["x.js", "--token", "t0ken"],
            "cwd": "/srv/x",
            "env": {"API_KEY": "k3y", "NODE_OPTIONS": "--require /tmp/evil.js"},
            "inheritEnv": True,
            "profile": "mine",
        },
        web={
            "url": "https://example.com/mcp?key=k3y",
            "headers": {"Authorization": "Bearer t0ken"},
            "insecure": True,
        },
    )
    shell.run("servers", "import", "theirs.json", "--yes")
    assert shell.run("tools", "run").err.endswith(
        f"""{shell.config} starts run with this command:
  node x.js --token t0ken
  in the folder /srv/x
  with API_KEY=k3y
  with NODE_OPTIONS=--require /tmp/evil.js
  and with all variables of your environment
  with profile "mine"
Use --yes to start it.
"""
    )
    assert shell.run("tools", "web").err.endswith(
        f"""{shell.config} connects web to:
  https://example.com/mcp?key=k3y
  with the header Authorization: Bearer t0ken
  with insecure true
Use --yes to connect to it.
"""
    )


def test_one_entry_that_is_broken_does_not_stop_the_others(shell: Shell) -> None:
    (shell.home / "theirs.json").write_text(
        '{"mcpServers": {"broken": 7, "one": {"command": "x"}}}'
    )
    done = shell.run("servers", "import", "theirs.json", "--yes")
    assert (done.code, list(configured(shell))) == (exit_codes.FAILED, ["one"])
    assert "broken is not imported" in done.err
