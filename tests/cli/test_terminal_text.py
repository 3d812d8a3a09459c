"""What a server wrote cannot harm a terminal, whichever command shows it."""

import json
import re
import sys
import threading
import unicodedata
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from mcplens.cli.main import COMMANDS
from mcplens.cli.terminal_text import Styled, one_line, visible, visible_json
from tests.cli.shell import Shell
from tests.cli.terminal import Terminal, terminal
from tests.servers.hostile import EVIL
from tests.servers.run import ROOT

pytestmark = pytest.mark.slow

SERVER = ["--", sys.executable, "-S", str(ROOT / "tests" / "servers" / "hostile.py")]
# The escape sequences that mcplens itself writes: styles, and a line that is drawn anew.
OURS = re.compile(r"\x1b\[(0|1|2|31|32|33|34)m|\r\x1b\[K|\r(?=\n)")
HARMFUL = ("Cc", "Cf", "Cs", "Zl", "Zp")

# Each command in the ways in which it shows text; `-v` has the frames too.
ON_TERMINAL = {
    "info": ["info -v"],
    "ping": ["ping -v"],
    "tools": ["tools", "tools --first-page", "tools --json"],
    "resources": ["resources -v", "resources --json"],
    "templates": ["templates"],
    "prompts": ["prompts"],
    "read": ["read x://a", "read x://a --json"],
    "prompt": ["prompt any", "prompt any --json"],
    "complete": ["complete any a=b"],
    "request": ["request x/odd", "request x/odd --json", "request x/none"],
    "raw": ['raw {"jsonrpc":"2.0","id":5,"method":"x/odd"}'],
    "call": [
        "call run -v",
        "call run --json",
        "call fail",
        "call error",
        "call error --json",
        "call die -q",
        "call stray",
        "call broken",
        "call nosuch",
        "call task --task",
    ],
    "tasks": ["tasks", "tasks get a", "tasks result a", "tasks cancel a --json"],
    "watch": ["watch --for 0.1", "watch --for 0.1 --json"],
    "subscribe": ["subscribe x://a --for 0.1"],
    "doctor": ["doctor", "doctor --json"],
    "skills": ["skills --force", "skills --json"],
    "skill": ["skill x --force"],
    "app": ["app run", "app run --json"],
    "lock": ["lock --as evil"],
    "lint": ["lint --all", "lint --format markdown", "lint --format github"],
}
HISTORY = ["list", "show", "search owned", "search owned --json", "export", "export --har"]
# These show nothing that a server wrote; what a tap writes is for a client, not for a terminal.
NOT_SHOWING = {"help", "demo", "tap"}


def assert_harmless(screen: Terminal) -> None:
    left = OURS.sub("", screen.drawn).replace("\n", "").replace("\t", "")
    found = {hex(ord(each)) for each in left if unicodedata.category(each) in HARMFUL}
    assert not found, screen.drawn


def test_every_command_is_run_against_the_hostile_server() -> None:
    elsewhere = {"auth", "collections", "gateway", "history", "servers", "shell", "web"}
    elsewhere |= {"diff", "mock", "test", "verify"}
    tested = {*ON_TERMINAL, *NOT_SHOWING, *elsewhere}
    assert tested == set(COMMANDS)


@pytest.mark.parametrize("line", [line for lines in ON_TERMINAL.values() for line in lines])
def test_nothing_that_a_server_wrote_reaches_the_terminal_as_a_control_character(
    shell: Shell, line: str
) -> None:
    with terminal(shell, *line.split(" "), "--no-record", *SERVER) as screen:
        screen.end()
        assert "owned" in screen.drawn
        assert_harmless(screen)


def configured(shell: Shell, *, exits: bool = False) -> str:
    """A configuration file with the hostile server, which may exit with its last words."""
    words = f"import sys; sys.stderr.write({EVIL!r}); sys.exit(3)"
    args = ["-c", words] if exits else SERVER[2:]
    path = shell.home / "hostile.json"
    path.write_text(json.dumps({"mcpServers": {"evil": {"command": SERVER[1], "args": args}}}))
    return str(path)


# The table of the gateway, which is drawn anew in place.
TABLE = re.compile(r"\x1b\[(\?25[lh]|1m|0m|2K|1A)|\r")


def test_the_table_of_the_gateway_shows_what_a_server_said_harmlessly(shell: Shell) -> None:
    words = ["--config", configured(shell, exits=True), "--yes", "--no-record", "--no-auth"]
    with terminal(shell, "gateway", *words, columns=300) as screen:
        screen.read_while(lambda: "error: " not in screen.drawn, "the failure of the server")
        screen.press_ctrl_c()
        assert screen.end() == 0
        assert "\x1b[1mServer" in screen.drawn
        left = TABLE.sub("", screen.drawn).replace("\n", "")
        assert not {each for each in left if unicodedata.category(each) in HARMFUL}, screen.drawn


def test_what_is_compared_tested_and_played_back_is_shown_harmlessly(shell: Shell) -> None:
    trace, lock = str(shell.home / "evil.jsonl"), str(shell.home / "mcp.lock")
    assert shell.run("call", "run", "--trace", trace, "--no-record", *SERVER).out
    assert shell.run("lock", "demo").code == 0
    file = shell.home / "odd.mcp.yaml"
    file.write_text(
        "version: 1\nserver: evil\ntests: [{name: a, call: run}, {name: b, call: fail}]\n"
    )
    target = ["--config", configured(shell), "--yes", "--no-record"]
    for line in (
        ["diff", lock, "evil", "--server", "demo", *target],
        ["test", str(file), *target[:-1]],
        ["verify", trace, "evil", "--allow-writes", *target],
        ["mock", trace, "--http", "--no-auth"],
    ):
        with terminal(shell, *line) as screen:
            if line[0] == "mock":
                screen.read_while(lambda: "http://" not in screen.drawn, "its address")
                screen.press_ctrl_c()
            screen.end()
            assert line[0] == "mock" or "owned" in screen.drawn, screen.drawn
            assert_harmless(screen)


def test_a_run_of_saved_calls_shows_what_a_server_said_harmlessly(shell: Shell) -> None:
    folder = shell.config.parent / "collections"
    folder.mkdir(parents=True)
    text = "version: 1\nserver: evil\ntests: [{name: a, call: run}, {name: b, call: fail}]\n"
    (folder / "odd.mcp.yaml").write_text(text)
    words = ["--config", configured(shell), "--yes", "--allow-writes", "--no-record"]
    with terminal(shell, "collections", "run", "odd", *words) as screen:
        screen.end()
        assert "owned" in screen.drawn
        assert_harmless(screen)


def test_the_shell_shows_nothing_of_a_server_as_a_control_character(shell: Shell) -> None:
    steps = shell.home / "steps.txt"
    steps.write_text("tools\ncall run\ncall error\nread x://a\ninfo\n")
    words = ["shell", "--keep-going", "--no-record", *SERVER]
    with steps.open("rb") as file, terminal(shell, *words, stdin=file) as screen:
        screen.end()
        assert "owned" in screen.drawn
        assert_harmless(screen)


def test_what_is_printed_above_the_prompt_of_the_shell_is_harmless(shell: Shell) -> None:
    with terminal(shell, "shell", "--no-record", *SERVER, columns=300) as screen:
        screen.until_line("stderr")
        screen.type("call run\n")
        screen.until_line("text\\x1b]0;owned")
        screen.type("exit\n")
        screen.end()
    # The prompt has escape sequences of its own.
    sequences = ("\x1b]0;", "\x1b[2J", "\x1b[8m", "\x9b", "\x9d", "\u202e", "\u200b", "\x08\x7f")
    assert [each for each in sequences if each in screen.drawn] == []


class _HostileSignIn(BaseHTTPRequestHandler):
    """Wants a sign-in, and has the same texts in everything that it says of it."""

    def do_GET(self) -> None:
        here = f"http://{self.headers['Host']}"
        if "oauth-protected-resource" in self.path:
            facts = {"resource": f"{here}/mcp", "authorization_servers": [here]}
            self._answer(200, facts | {"scopes_supported": [EVIL], "resource_name": EVIL})
        elif "well-known" in self.path:
            ends = dict.fromkeys(("authorization_endpoint", "token_endpoint"), f"{here}/x")
            facts = {"issuer": here, "registration_endpoint": f"{here}/register", **ends}
            lists = {"response_types_supported": ["code"], "scopes_supported": [EVIL]}
            pkce = {"code_challenge_methods_supported": ["S256"]}
            self._answer(200, {**facts, **lists, **pkce, f"odd{EVIL}": EVIL})
        else:
            self._answer(401, {"error": EVIL})

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        is_register = self.path == "/register"
        self._answer(400 if is_register else 401, {"error": EVIL, "error_description": EVIL})

    def _answer(self, status: int, value: object) -> None:
        body = json.dumps(value, ensure_ascii=False).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("WWW-Authenticate", 'Bearer realm="\x9b2J\x85"')
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Not on the terminal of the tests."""


@pytest.mark.parametrize("action", ["debug", "login"])
def test_a_sign_in_shows_nothing_of_a_server_as_a_control_character(
    shell: Shell, action: str
) -> None:
    with HTTPServer(("127.0.0.1", 0), _HostileSignIn) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        address = f"http://127.0.0.1:{server.server_port}/mcp"
        words = ["auth", action, address, "--no-browser", "--no-record"]
        with terminal(shell, *words) as screen:
            assert screen.end() != 0
        server.shutdown()
        thread.join()
    assert "owned" in screen.drawn
    assert_harmless(screen)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Shell:
    """A shell with a run in its recording."""
    shell = Shell(tmp_path_factory.mktemp("home"))
    assert shell.run("call", "stray", *SERVER).code == 0
    return shell


@pytest.mark.parametrize("line", HISTORY)
def test_the_history_shows_nothing_of_a_server_as_a_control_character(
    recorded: Shell, line: str
) -> None:
    with terminal(recorded, "history", *line.split(" ")) as screen:
        assert screen.end() == 0
        assert_harmless(screen)


def test_one_recorded_event_is_harmless_on_a_terminal_and_exact_in_a_pipe(recorded: Shell) -> None:
    found = recorded.run("history", "search", "stray\x1b", "--json").text.splitlines()
    event = next(entry for line in found if (entry := json.loads(line))["kind"] == "FrameReceived")
    words = ["history", "show", event["run_id"], str(event["seq"])]
    with terminal(recorded, *words) as screen:
        assert screen.end() == 0
        assert "stray\\u001b]0;owned" in screen.drawn
        assert_harmless(screen)
    assert recorded.run(*words).out == f"stray{EVIL}\n".encode()


@pytest.mark.parametrize(
    ("tool", "prompt"),
    [
        ("ask", f"{one_line(f'title{EVIL}')[:64]}…> "),
        ("visit", "Opened it (a), decline (d), cancel (c)? [c] "),
        ("complete", "Answer> "),
    ],
)
def test_a_question_of_a_server_is_harmless(shell: Shell, tool: str, prompt: str) -> None:
    with terminal(shell, "call", tool, "--no-record", *SERVER) as screen:
        screen.until(prompt)
        screen.type("\x04")
        screen.end()
        assert_harmless(screen)


def test_a_server_that_the_web_ui_cannot_reach_is_reported_harmlessly(shell: Shell) -> None:
    words = ["web", "--no-open", "--port", "0", "--no-record", *SERVER, "--die"]
    with terminal(shell, *words) as screen:
        screen.until_line("is not connected")
        screen.press_ctrl_c()
        screen.end()
        assert "\\u202egpj" in screen.drawn
        assert_harmless(screen)


@pytest.mark.parametrize("line", ["servers", "servers list --json", "servers import FILE --yes"])
def test_names_in_a_configuration_are_harmless(shell: Shell, tmp_path: Path, line: str) -> None:
    file = shell.config if "import" not in line else tmp_path / "theirs.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    server = {"command": f"run{EVIL}".replace("\0", ""), "args": [EVIL], "odd" + EVIL: 1}
    file.write_text(json.dumps({"mcpServers": {f"name{EVIL}": server}}))
    with terminal(shell, *line.replace("FILE", str(file)).split(" ")) as screen:
        screen.end()
        assert "owned" in screen.drawn
        assert_harmless(screen)


def test_a_tool_whose_name_a_terminal_would_obey_is_not_completed(shell: Shell) -> None:
    shell.config.parent.mkdir(parents=True)
    entry = {"command": SERVER[1], "args": SERVER[2:]}
    shell.config.write_text(json.dumps({"mcpServers": {"evil": entry}}))
    assert shell.run("tools", "evil").code == 0
    shell.variables |= {"_MCPLENS_COMPLETE": "bash_complete", "COMP_LINE": "mcplens call evil "}
    offered = shell.run().text.splitlines()
    assert "plain,run" in offered
    assert not [line for line in offered if "owned" in line]


def test_json_in_a_pipe_is_exact_and_on_a_terminal_means_the_same(shell: Shell) -> None:
    words = ["request", "x/odd", "--json", "-q", "--no-record", *SERVER]
    expected = {f"key{EVIL}": f"value{EVIL}"}
    assert shell.run(*words).out == json.dumps(expected, ensure_ascii=False).encode() + b"\n"
    with terminal(shell, *words) as screen:
        screen.end()
        assert json.loads(screen.drawn) == expected


def test_a_resource_is_copied_exactly_into_a_pipe(shell: Shell) -> None:
    done = shell.run("read", "x://a", "-q", "--no-record", *SERVER)
    assert done.out == f"body{EVIL}\n".encode() + b"\0"


def test_every_invisible_character_of_unicode_is_escaped() -> None:
    shaped = re.compile("[\n\t\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd]")
    for number in range(sys.maxunicode + 1):
        each = chr(number)
        if unicodedata.category(each) not in HARMFUL or 0x13430 <= number < 0x13440:
            continue
        assert shaped.match(each) or visible(each).isascii(), hex(number)


def test_ordinary_text_stays_as_it_is() -> None:
    for text in (
        "äöü\u00a0: ß",
        "日本語\u3000です",
        "שלום",
        "👨\u200d👩\u200d👧",
        "نمی\u200cشود",
        "a\tb\n",
    ):
        assert visible(text) == text
    assert visible("one\r\ntwo") == "one\ntwo"
    assert visible("a\u200db") == "a\\u200db"


def test_escapes_in_json_keep_the_value() -> None:
    text = json.dumps({"a": EVIL + "\ud800"}, ensure_ascii=False)
    assert json.loads(visible_json(text)) == json.loads(text)
    assert visible_json(text).isascii()


def test_a_styled_text_has_no_escape_sequence_of_its_parts() -> None:
    line = Styled(("a\x1b[31m", {"bold": True})) + "b\x1b[0m"
    assert line.rendered(has_colours=True, is_line=False) == "\x1b[1ma\\x1b[31m\x1b[0mb\\x1b[0m"
    assert f"{line}" == "a\x1b[31mb\x1b[0m"
