"""Servers that we did not write: how each is started, and all that it offers.

For every tool, resource, template and prompt: what to type, and what must then be printed. The
order of the tools matters where one needs what another did.
"""

import json
import re
import struct
import subprocess
import sys
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mcplens.cli import exit_codes
from tests.node_tools import everything_argv, filesystem_argv, memory_argv
from tests.servers.run import ROOT, argv

SQLITE = ROOT / ".venv-sqlite" / "bin" / "mcp-server-sqlite"

# How a list ends that a server has nothing in: empty, not declared, declared but not known.
EMPTY = (exit_codes.DONE, "the server has no {kind}")
UNDECLARED = (exit_codes.REFUSED, "which the server did not declare")
UNKNOWN = (exit_codes.REFUSED, "the server answered with error -32601: Method not found")


@dataclass(frozen=True)
class Use:
    """One thing that a server offers, used: the words after its name, and what comes of it."""

    name: str
    words: tuple[str, ...]
    shows: str  # a regular expression
    code: int = exit_codes.DONE


def use(name: str, *words: str, shows: str, code: int = exit_codes.DONE) -> Use:
    return Use(name, words, shows, code)


@dataclass(frozen=True)
class RealServer:
    """All that one server offers; a list that it has nothing in is in `without`."""

    command: list[str]
    tools: tuple[Use, ...]
    resources: tuple[Use, ...] = ()
    templates: tuple[Use, ...] = ()  # the word is a URI of the template
    prompts: tuple[Use, ...] = ()
    completions: tuple[Use, ...] = ()
    without: Mapping[str, tuple[int, str]] = field(default_factory=dict)
    options: tuple[str, ...] = ()
    has_state: bool = False  # its tools are called one after the other
    url: str = ""  # it is already running there

    def command_line(self, verb: str, *words: str) -> list[str]:
        """A command of ours for this server."""
        if self.url:
            return [verb, self.url, *words]
        return [verb, *words, *self.options, "--", *self.command]


def _given(**arguments: Any) -> list[str]:
    """Arguments that are more than one word, as `key:=json`."""
    return [f"{key}:={json.dumps(value)}" for key, value in arguments.items()]


def everything(folder: Path) -> RealServer:
    document = "demo://resource/static/document/"
    dynamic = "demo://resource/dynamic/"
    return RealServer(
        everything_argv(),
        tools=(
            use("echo", "message=Grüße, 世界", shows=r"^Echo: Grüße, 世界$"),
            use("get-annotated-message", "messageType=error", shows=r"^Error: Operation failed$"),
            use("get-env", "-e", "SEEN=yes", shows=r'"SEEN": "yes"'),
            use(
                "get-resource-links",
                "count=2",
                shows=r"(?m)^\[resource demo://resource/dynamic/text/2 Text Resource 2\]$",
            ),
            use(
                "get-resource-reference",
                *("resourceType=Blob", "resourceId=3"),
                shows=r"\[resource demo://resource/dynamic/blob/3\]\n\[text/plain, \d+ bytes\]",
            ),
            use(
                "get-structured-content",
                "location=New York",
                shows=r'^{"temperature":33,"conditions":"Cloudy","humidity":82}$',
            ),
            use("get-sum", "a=1", "b=2.5", shows=r"^The sum of 1 and 2\.5 is 3\.5\.$"),
            use(
                "get-sum",
                *("--args", '{"a": "one"}', "--force"),
                shows="Input validation error",
                code=exit_codes.REFUSED,
            ),
            use("get-tiny-image", shows=r"\n\[image image/png, 4033 bytes: iVBORw0KGgo.*…\]\n"),
            use(
                "gzip-file-as-resource",
                *("name=a.gz", "data=data:text/plain,hello", "outputType=resource"),
                shows=r"^\[resource demo://resource/session/a\.gz\]\n\[application/gzip, 25 bytes",
            ),
            use("toggle-simulated-logging", shows=r"^Started simulated, random-leveled logging"),
            use("toggle-subscriber-updates", shows=r"^Started simulated resource updated"),
            use(
                "trigger-long-running-operation",
                *("duration=0.02", "steps=2"),
                shows=r"^Long running operation completed\. Duration: 0\.02 seconds, Steps: 2\.$",
            ),
            use("simulate-research-query", "topic=lenses", shows="^# Research Report: lenses\n"),
            # What follows is offered only to a client that answers when it is asked.
            use(
                "get-roots-list",
                *("--root", str(folder)),
                shows=rf"URI: {re.escape(folder.as_uri())}\n",
            ),
            use(
                "trigger-sampling-request",
                *("prompt=Hello", "--sampling", "echo"),
                shows='"text": "Resource trigger-sampling-request context: Hello"',
            ),
            use(
                "trigger-sampling-request",
                "prompt=Hello",
                shows="nobody is available to provide a completion",
                code=exit_codes.REFUSED,
            ),
            use(
                "trigger-sampling-request-async",
                *("prompt=Hello", "--sampling", "echo"),
                shows=r"^\[COMPLETED\] (.|\n)*request-async context: Hello",
            ),
            use(
                "trigger-elicitation-request",
                *("--elicit", "accept"),
                shows=r"\n- Email: user@example\.com\n(.|\n)*\n- Favorite Integer: 42\n",
            ),
            use(
                "trigger-elicitation-request-async",
                *("--elicit", "accept"),
                shows=r"^\[COMPLETED\] (.|\n)*\n- Favorite Color: Red\n",
            ),
            use(
                "trigger-url-elicitation",
                *("url=https://example.com/authorize", "--elicit", "accept"),
                shows=r"User completed the URL elicitation flow",
            ),
        ),
        resources=tuple(
            use(f"{document}{name}.md", shows=f"^# Everything Server [-–] {title}\n")
            for name, title in (
                ("architecture", "Architecture"),
                ("extension", "Extension Points"),
                ("features", "Features"),
                ("how-it-works", "How It Works"),
                ("instructions", "Server Instructions"),
                ("startup", "Startup Process"),
                ("structure", "Project Structure"),
            )
        ),
        templates=(
            use(
                f"{dynamic}text/{{resourceId}}",
                f"{dynamic}text/7",
                shows=r"^Resource 7: This is a plaintext resource",
            ),
            use(
                f"{dynamic}blob/{{resourceId}}",
                f"{dynamic}blob/8",
                shows=r"^Resource 8: This is a base64 blob",  # in a pipe, the bytes themselves
            ),
        ),
        prompts=(
            use("simple-prompt", shows=r"^user:\nThis is a simple prompt without arguments\.$"),
            use("args-prompt", "city=Paris", "state=Texas", shows=r"\nWhat's weather in Paris, T"),
            use(
                "completable-prompt",
                *("department=Engineering", "name=Alice"),
                shows="Please promote Alice to the head of the Engineering team",
            ),
            use(
                "resource-prompt",
                *("resourceType=Text", "resourceId=1"),
                shows=r"\[resource demo://resource/dynamic/text/1\]\nResource 1: ",
            ),
        ),
        completions=(
            use("completable-prompt", "department=E", shows=r"^Engineering$"),
            use("completable-prompt", "department=Engineering", "name=A", shows=r"^Alice$"),
            use(f"{dynamic}text/{{resourceId}}", "resourceId=12", shows=r"^12$"),
        ),
    )


def _png() -> bytes:
    """One black pixel."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        checked = kind + data
        return struct.pack(">I", len(data)) + checked + struct.pack(">I", zlib.crc32(checked))

    header = chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0))
    body = chunk(b"IDAT", zlib.compress(b"\0\0"))
    return b"\x89PNG\r\n\x1a\n" + header + body + chunk(b"IEND", b"")


def filesystem(folder: Path) -> RealServer:
    png = folder / "dot.png"
    png.write_bytes(_png())
    note, moved, inner = folder / "note.txt", folder / "inner" / "moved.txt", folder / "inner"
    where = re.escape(str(folder))
    return RealServer(
        filesystem_argv(folder),
        has_state=True,
        tools=(
            use(
                "write_file",
                *(f"path={note}", "content=one\ntwo\nthree\n"),
                shows=rf"^Successfully wrote to {where}/note\.txt$",
            ),
            use("read_file", f"path={note}", shows=r"^one\ntwo\nthree$"),
            use("read_text_file", f"path={note}", "head=1", shows=r"^one$"),
            use(
                "read_text_file",
                "path=/etc/hostname",
                shows="Access denied - path outside allowed directories",
                code=exit_codes.REFUSED,
            ),
            use(
                "read_media_file",
                f"path={png}",
                shows=rf"^\[image image/png, {len(_png())} bytes: iVBORw0KGgo",
            ),
            use(
                "read_multiple_files",
                *_given(paths=[str(note), str(folder / "missing")]),
                shows=r"note\.txt:\none\n(.|\n)*missing: Error - ENOENT",
            ),
            use(
                "edit_file",
                *(f"path={note}", *_given(edits=[{"oldText": "two", "newText": "2"}])),
                shows=r"\n one\n-two\n\+2\n three\n",
            ),
            use(
                "create_directory",
                f"path={inner}",
                shows=rf"^Successfully created directory {where}/inner$",
            ),
            use("list_directory", f"path={folder}", shows=r"\[DIR\] inner\n\[FILE\] note\.txt"),
            use(
                "list_directory_with_sizes",
                *(f"path={folder}", "sortBy=size"),
                shows=r"\nTotal: 2 files, 1 directories\n",
            ),
            use(
                "move_file",
                *(f"source={note}", f"destination={moved}"),
                shows=rf"^Successfully moved {where}/note\.txt to {where}/inner/moved\.txt$",
            ),
            use(
                "directory_tree",
                f"path={folder}",
                shows=r'"name": "inner",\s+"type": "directory",\s+"children": \[\s+\{\s+"name"',
            ),
            use(
                "search_files",
                *(f"path={folder}", "pattern=**/*.txt"),
                shows=rf"^{where}/inner/moved\.txt$",
            ),
            use("get_file_info", f"path={moved}", shows=r"(?m)^size: 12\n(.|\n)*^isFile: true$"),
            use("list_allowed_directories", shows=rf"^Allowed directories:\n{where}$"),
        ),
        without={"resources": UNDECLARED, "templates": UNDECLARED, "prompts": UNDECLARED},
    )


def memory(folder: Path) -> RealServer:
    def person(name: str) -> dict[str, Any]:
        return {"name": name, "entityType": "person", "observations": [f"{name} counts"]}

    knows = [{"from": "Ada", "to": "Alan", "relationType": "inspires"}]
    return RealServer(
        memory_argv(),
        has_state=True,
        options=("-e", f"MEMORY_FILE_PATH={folder / 'memory.jsonl'}"),
        tools=(
            use(
                "create_entities",
                *_given(entities=[person("Ada"), person("Alan")]),
                shows=r'"name": "Ada"(.|\n)*"name": "Alan"',
            ),
            use("create_relations", *_given(relations=knows), shows='"relationType": "inspires"'),
            use(
                "add_observations",
                *_given(observations=[{"entityName": "Ada", "contents": ["wrote notes"]}]),
                shows=r'"addedObservations": \[\s+"wrote notes"',
            ),
            use(
                "add_observations",
                *_given(observations=[{"entityName": "nobody", "contents": ["x"]}]),
                shows="Entity with name nobody not found",
                code=exit_codes.REFUSED,
            ),
            use("read_graph", shows=r'"wrote notes"(.|\n)*"relationType": "inspires"'),
            use("search_nodes", "query=Alan", shows=r'"observations": \[\s+"Alan counts"'),
            use("open_nodes", *_given(names=["Ada"]), shows='"wrote notes"'),
            use(
                "delete_observations",
                *_given(deletions=[{"entityName": "Ada", "observations": ["wrote notes"]}]),
                shows="^Observations deleted successfully\n",
            ),
            use(
                "delete_relations",
                *_given(relations=knows),
                shows="^Relations deleted successfully\n",
            ),
            use(
                "delete_entities",
                *_given(entityNames=["Alan"]),
                shows="^Entities deleted successfully\n",
            ),
            use(
                "read_graph",
                shows=r'"entities": \[\s+\{[^{}]*"Ada counts"\s+\]\s+\}\s+\],\s+"relations": \[\]',
            ),
        ),
        resources=(use("memory://knowledge-graph", shows=r'^\{\s*"entities": ?\[\]'),),
        without={"templates": EMPTY, "prompts": UNDECLARED},
    )


def time(_: Path) -> RealServer:
    zones = ("source_timezone=Asia/Tokyo", "target_timezone=Asia/Kolkata")
    return RealServer(
        [_installed("mcp-server-time"), "--local-timezone", "UTC"],
        tools=(
            use(
                "get_current_time",
                "timezone=Asia/Tokyo",
                shows=r'"datetime": "\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+09:00"',
            ),
            use("convert_time", *zones, "time=12:00", shows=r'"time_difference": "-3\.5h"'),
            use("convert_time", *zones, "time=noon", shows="Invalid time", code=exit_codes.REFUSED),
        ),
        without={"resources": EMPTY, "templates": EMPTY, "prompts": EMPTY},
    )


def git(folder: Path) -> RealServer:
    def run(*words: str) -> None:
        subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True)

    run("init", "--quiet", "--initial-branch", "main")
    run("config", "user.name", "Ada")
    run("config", "user.email", "ada@example.com")
    song = folder / "song.txt"
    song.write_text("one\n")
    run("add", ".")
    run("commit", "--quiet", "--message", "The first line")
    song.write_text("one\ntwo\n")
    (folder / "new.txt").write_text("new\n")
    run("add", "new.txt")
    repo = f"repo_path={folder}"
    return RealServer(
        [_installed("mcp-server-git"), "--repository", str(folder)],
        has_state=True,
        tools=(
            use("git_diff_staged", repo, shows=r"new file mode(.|\n)*\n\+new$"),
            use("git_reset", repo, shows="^All staged changes reset$"),
            use("git_status", repo, shows=r"modified:\s+song\.txt(.|\n)*Untracked(.|\n)*new\.txt"),
            use("git_diff_unstaged", repo, "context_lines=0", shows=r"@@[^\n]*\n\+two$"),
            use("git_create_branch", repo, "branch_name=more", shows="^Created branch 'more'"),
            use("git_checkout", repo, "branch_name=more", shows="^Switched to branch 'more'$"),
            use("git_add", repo, *_given(files=["song.txt"]), shows="^Files staged successfully$"),
            use("git_commit", repo, "message=The second line", shows="^Changes committed success"),
            use("git_log", repo, shows=r"The second line(.|\n)*The first line"),
            use("git_diff", repo, "target=main", shows=r"\n one\n\+two$"),
            use("git_show", repo, "revision=HEAD", shows=r"The second line(.|\n)*\+two"),
            use("git_branch", repo, "branch_type=local", shows=r"\* more"),
        ),
        without={"resources": EMPTY, "templates": EMPTY, "prompts": EMPTY},
    )


def sqlite(folder: Path) -> RealServer:
    if not SQLITE.exists():
        raise FileNotFoundError(f"{SQLITE} is missing: `make test` installs it")
    return RealServer(
        [str(SQLITE), "--db-path", str(folder / "test.db")],
        options=("-e", "PYTHONWARNINGS=ignore"),  # it uses what its SDK calls deprecated
        has_state=True,
        tools=(
            use(
                "create_table",
                "query=CREATE TABLE people (name TEXT NOT NULL, born INTEGER)",
                shows="^Table created successfully$",
            ),
            use("list_tables", shows=r"^\[\{'name': 'people'\}\]$"),
            use("describe_table", "table_name=people", shows=r"'name': 'born', 'type': 'INTEGER'"),
            use(
                "write_query",
                "query=INSERT INTO people VALUES ('Ada', 1815)",
                shows=r"^\[\{'affected_rows': 1\}\]$",
            ),
            use(
                "read_query",
                "query=SELECT name FROM people WHERE born < 1900",
                shows=r"^\[\{'name': 'Ada'\}\]$",
            ),
            use("append_insight", "insight=Ada was first", shows="^Insight added to memo$"),
        ),
        resources=(use("memo://insights", shows="^No business insights have been discovered yet"),),
        prompts=(use("mcp-demo", "topic=lenses", shows=r"^user:\n(.|\n)*lenses"),),
        # It declares resources, and then does not know the method.
        without={"templates": UNKNOWN},
    )


def fastmcp(_: Path) -> RealServer:
    return RealServer(
        argv("sdk_fastmcp"),
        tools=(
            use("echo", "text=Grüße, 世界", shows="^Grüße, 世界$"),
            use("add", "a=2", "b=3", shows=r'^\{"sum":5\}$'),
            use("fail", shows="it failed, as it should", code=exit_codes.REFUSED),
            use("slow_progress", "steps=3", shows="^3 steps$"),
            use("introduce", shows="no name was given", code=exit_codes.REFUSED),
        ),
        resources=(use("memo://text", shows="^the memo$"),),
        templates=(use("memo://item/{name}", "memo://item/x", shows="^item x$"),),
        prompts=(use("greet", "name=Ada", shows=r"^user:\nHello, Ada!$"),),
    )


def _installed(command: str) -> str:
    return str(Path(sys.executable).with_name(command))


SERVERS: dict[str, Callable[[Path], RealServer]] = {
    "everything": everything,
    "filesystem": filesystem,
    "memory": memory,
    "time": time,
    "git": git,
    "sqlite": sqlite,
    "fastmcp": fastmcp,
}
