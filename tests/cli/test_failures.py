"""What a failed connection says, produced for real and kept as text under snapshots/.

UPDATE_SNAPSHOTS=1 writes them anew; read the difference before you keep it.
"""

import contextlib
import json
import os
import re
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest

from mcplens.cli import exit_codes
from tests.cli.shell import Shell, serving
from tests.cli.tls import untrusted_port
from tests.ports import held_port

pytestmark = pytest.mark.slow

SNAPSHOTS = Path(__file__).parent / "snapshots"

# Servers that fail on stdio, as scripts.
SCRIPTS = {
    "exits": "import sys; print('unknown option: --frobnicate', file=sys.stderr); sys.exit(3)",
    "silent": "import sys; print('loading', file=sys.stderr, flush=True); sys.stdin.read()",
    "listens": "import sys; print('Listening on http://localhost:8000/mcp', file=sys.stderr, "
    "flush=True); sys.stdin.read()",
    "garbage": "import sys; print('Listening on port 8000', flush=True); sys.stdin.read()",
}

Words = Callable[[Shell], AbstractContextManager[list[str]]]


@contextmanager
def no_command(shell: Shell) -> Iterator[list[str]]:
    yield ["tools", "--", "no-such-command", "--help"]


def script(name: str, *options: str) -> Words:
    @contextmanager
    def words(shell: Shell) -> Iterator[list[str]]:
        (shell.home / f"{name}.py").write_text(SCRIPTS[name])
        yield ["tools", *options, "--", sys.executable, f"{name}.py"]

    return words


@contextmanager
def refused_port(shell: Shell) -> Iterator[list[str]]:
    with held_port() as port:
        yield ["tools", f"http://127.0.0.1:{port}/mcp"]


@contextmanager
def no_host(shell: Shell) -> Iterator[list[str]]:
    yield ["tools", "http://no-such-host.invalid/mcp"]


def target(text: str) -> Words:
    @contextmanager
    def words(shell: Shell) -> Iterator[list[str]]:
        yield ["tools", text]

    return words


@contextmanager
def no_tls(shell: Shell) -> Iterator[list[str]]:
    with serving("good", "--transport", "http") as url:
        yield ["tools", url.replace("http://", "https://")]


@contextmanager
def untrusted(shell: Shell) -> Iterator[list[str]]:
    with untrusted_port(shell.home) as port:
        yield ["tools", f"https://127.0.0.1:{port}/mcp"]


@contextmanager
def wrong_path(shell: Shell) -> Iterator[list[str]]:
    with serving("good", "--transport", "http") as url:
        yield ["tools", url.replace("/mcp", "/nothing-here")]


def status(fault: str) -> Words:
    @contextmanager
    def words(shell: Shell) -> Iterator[list[str]]:
        with serving("bad", fault, "--transport", "http", "--at", "initialize") as url:
            yield ["tools", url]

    return words


CASES: dict[str, tuple[Words, int]] = {
    "unknown scheme": (target("htp://x"), exit_codes.USAGE),
    "impossible port": (target("http://localhost:99999/mcp"), exit_codes.USAGE),
    "missing command": (no_command, exit_codes.NOT_CONNECTED),
    "exit at once": (script("exits"), exit_codes.NOT_CONNECTED),
    "exit at once, quiet": (script("exits", "-q"), exit_codes.NOT_CONNECTED),
    "silence": (script("silent", "--connect-timeout", "2"), exit_codes.NOT_CONNECTED),
    "garbage on stdout": (script("garbage", "--connect-timeout", "2"), exit_codes.NOT_CONNECTED),
    "listens elsewhere": (
        script("listens", "--connect-timeout", "2"),
        exit_codes.NOT_CONNECTED,
    ),
    "refused port": (refused_port, exit_codes.NOT_CONNECTED),
    "no such host": (no_host, exit_codes.NOT_CONNECTED),
    "untrusted certificate": (untrusted, exit_codes.NOT_CONNECTED),
    "no tls there": (no_tls, exit_codes.NOT_CONNECTED),
    "401": (status("http_401"), exit_codes.SIGN_IN),
    "403": (status("http_403"), exit_codes.NOT_CONNECTED),
    "404": (status("http_404"), exit_codes.NOT_CONNECTED),
    "429": (status("http_429"), exit_codes.NOT_CONNECTED),
    "500": (status("http_500_html"), exit_codes.NOT_CONNECTED),
    "html": (status("http_200_html"), exit_codes.BROKEN_PROTOCOL),
    "wrong path": (wrong_path, exit_codes.NOT_CONNECTED),
}


def normalised(text: str, home: Path) -> str:
    """Without what differs from run to run and from machine to machine."""
    for pattern, replacement in (
        (re.escape(str(home)), "HOME"),
        (re.escape(sys.executable), "PYTHON"),
        (rf"\b{re.escape(Path(sys.executable).name)} exited", "PYTHON exited"),
        (r"127\.0\.0\.1:\d+", "127.0.0.1:PORT"),
        (r"\('127\.0\.0\.1', \d+\)", "('127.0.0.1', PORT)"),
        ("self signed", "self-signed"),  # as OpenSSL 1.1 writes it
        # What resolvers say of a host that is not there.
        ("Temporary failure in name resolution", "Name or service not known"),
        ("No address associated with hostname", "Name or service not known"),
        (r"was not found in [^;\"\n]+", "was not found in FOLDERS"),
        (r'"pid": \d+', '"pid": PID'),
        (r'"searched": \[[^]]*\]', '"searched": FOLDERS'),
        (r'"elapsed_s": [\d.]+', '"elapsed_s": SECONDS'),
        (r'"Date": "[^"]+"', '"Date": DATE'),
        (r"\(_ssl\.c:\d+\)", "(_ssl.c:LINE)"),
    ):
        text = re.sub(pattern, replacement, text)
    return text


def check_snapshot(name: str, text: str) -> None:
    file = SNAPSHOTS / f"{re.sub('[ ,]+', '-', name)}.txt"
    if os.environ.get("UPDATE_SNAPSHOTS"):
        file.write_text(text)
    assert text == file.read_text()


@pytest.mark.parametrize("case", CASES)
def test_a_failure_says_which_step_what_was_expected_what_came_and_what_to_try(
    shell: Shell, case: str
) -> None:
    words, code = CASES[case]
    with words(shell) as line:
        done = shell.run(*line)
    assert (done.code, done.out) == (code, b"")
    check_snapshot(case, normalised(done.err, shell.home))


@pytest.mark.parametrize("case", CASES)
def test_a_failure_with_json_is_an_object_with_a_stable_code(shell: Shell, case: str) -> None:
    words, code = CASES[case]
    with words(shell) as line:
        done = shell.run(line[0], "--json", "-q", *line[1:])
    assert (done.code, done.out) == (code, b"")
    (text,) = done.err.splitlines()
    error = json.loads(text)["error"]
    shown = {key: error[key] for key in ("code", "failedAt", "expected", "try", "help")}
    assert "helpUrl" not in error  # the page of the web UI has it, and none is open here
    shown["message"] = error["message"]
    shown["stderr"] = error["details"].get("stderr")
    pretty = json.dumps(shown, indent=2, ensure_ascii=False) + "\n"
    check_snapshot(f"{case} json", normalised(pretty, shell.home))


@contextmanager
def port_that_answers(data: bytes) -> Iterator[int]:
    """A port that answers everything with these bytes, and closes the connection."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            with contextlib.suppress(OSError):  # closed
                while True:
                    connection, _ = listener.accept()
                    with connection:
                        connection.recv(65536)
                        connection.sendall(data)

        thread = threading.Thread(target=serve)
        thread.start()
        yield listener.getsockname()[1]
        listener.shutdown(socket.SHUT_RDWR)
        thread.join()


@pytest.mark.parametrize(
    ("scheme", "answer", "hint"),
    [
        ("http", b"\x15\x03\x01\x00\x02\x02\x46", "use https:// in place of http://"),
        ("http", b"HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.",
         "use https:// in place of http://"),
        ("http", b"", "if it speaks TLS, use https://"),
        ("ws", b"", "if it speaks TLS, use wss://"),
    ],
    ids=["alert", "text", "nothing", "websocket"],
)  # fmt: skip
def test_a_server_that_speaks_tls_is_hinted_at(
    shell: Shell, scheme: str, answer: bytes, hint: str
) -> None:
    with port_that_answers(answer) as port:
        done = shell.run("tools", f"{scheme}://127.0.0.1:{port}/mcp")
    assert hint in done.err
    assert done.code != 0


def test_a_status_that_both_transports_get_is_told_once(shell: Shell) -> None:
    page = b"HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\nConnection: close\r\n\r\nnone"
    with port_that_answers(page) as port:
        done = shell.run("tools", f"http://127.0.0.1:{port}/mcp")
    came = next(line for line in done.err.splitlines() if line.lstrip().startswith("came"))
    assert came.endswith("was answered with 404 Not Found: none; as sse server: the same status")


def test_the_object_is_the_last_line_below_what_the_server_wrote(shell: Shell) -> None:
    with script("exits", "--json")(shell) as line:
        done = shell.run(*line)
    *above, last = done.err.splitlines()
    assert above == ["[stderr] unknown option: --frobnicate"]
    assert json.loads(last)["error"]["code"] == "SERVER_EXITED"


def test_a_flood_of_stray_lines_is_counted_after_the_first_few(shell: Shell) -> None:
    (shell.home / "flood.py").write_text(
        "import sys\nfor n in range(5000): print('chatter', n)\nsys.exit(3)\n"
    )
    done = shell.run("tools", "--", sys.executable, "flood.py")
    assert done.code == exit_codes.NOT_CONNECTED
    assert done.err.count("<- chatter") == 3
    assert "mcplens: 5,000 lines on stdout are not messages" in done.err
    assert len(done.err.splitlines()) < 20


def test_a_flood_of_stray_lines_is_thinned_in_the_recording_which_says_so(shell: Shell) -> None:
    shell.config.parent.mkdir(parents=True)
    shell.config.write_text('{"serverOutputMegabytes": 1}')
    (shell.home / "flood.py").write_text("for n in range(20000): print('chatter', n)\n")
    shell.run("tools", "-q", "--", sys.executable, "flood.py")
    shown = shell.run("history", "show", "-n", "100000").text
    assert "lines of output are not recorded" in shown
    assert 3_000 < shown.count("malformed") < 8_000


def test_every_snapshot_belongs_to_a_case() -> None:
    cases = {re.sub("[ ,]+", "-", f"{case}{kind}") for case in CASES for kind in ("", " json")}
    assert {file.stem for file in SNAPSHOTS.iterdir()} == cases
