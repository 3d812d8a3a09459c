"""`mcplens skills` and `mcplens skill`: lists, verification, exit codes, folders."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from mcplens.cli import exit_codes
from mcplens.errors import InspectorError
from mcplens.protocol.skill_files import digest_of
from mcplens.session.skill_folder import read_folder
from tests.cli.shell import Ran, Shell

FASTMCP = [sys.executable, "-m", "tests.servers.skills_fastmcp"]


def lines(ran: Ran) -> list[dict[str, Any]]:
    return [json.loads(line) for line in ran.text.splitlines()]


def test_skills_are_listed_and_shown_and_nothing_of_them_is_read(shell: Shell) -> None:
    listed = shell.run("skills", "demo").text
    assert "release-notes    Write release notes from the changes since the last version." in listed
    assert "[4 files, " in listed
    shown = shell.run("skill", "demo", "meeting-minutes", "-v")
    assert 'requested, ignored  allowed-tools: "Bash Read"' in shown.text
    assert "references/TEMPLATE.md  52 bytes" in shown.text
    assert "resources/read" not in shown.err
    whole = json.loads(shell.run("skills", "demo", "--json").out)
    assert [skill["frontmatter"]["name"] for skill in whole["skills"]] == [
        "release-notes",
        "meeting-minutes",
    ]


def test_a_file_is_printed_as_it_came_if_it_is_what_the_manifest_says(shell: Shell) -> None:
    uri = "skill://mcplens-demo/release-notes/SKILL.md"
    assert shell.run("skill", "demo", uri, "SKILL.md").text.startswith("---\nname: release-notes\n")
    assert shell.run("skill", "demo", uri, "assets/badge.png").out.startswith(b"\x89PNG")
    refused = shell.run("skill", "demo", "meeting-minutes", "references/TEMPLATE.md")
    assert (refused.code, refused.out) == (exit_codes.FAILED, b"")
    assert "line ends: the file is served with CRLF" in refused.err
    unlisted = shell.run("skill", "demo", "meeting-minutes", "drafts.txt")
    assert unlisted.code == exit_codes.FAILED
    assert "is not in the manifest" in unlisted.err
    missing = shell.run("skill", "demo", "skill://mcplens-demo/none/SKILL.md")
    assert missing.code == exit_codes.REFUSED


def test_verification_names_every_file_and_ends_with_1_if_one_differs(shell: Shell) -> None:
    right = shell.run("skill", "demo", "release-notes", "--verify")
    assert right.code == exit_codes.DONE
    assert "4 files, 864 bytes: 4 verified" in right.err
    assert "It does not mean: to be trusted" in right.err
    ran = shell.run("skills", "demo", "--verify", "--json")
    assert ran.code == exit_codes.FAILED
    *files, summary = lines(ran)
    assert [file["status"] for file in files] == ["verified"] * 4 + ["mismatch"] * 3
    causes = [file["findings"][0]["cause"] for file in files[4:]]
    assert causes == ["yaml-1.1", "line-ends", "truncated"]
    assert summary["counts"] == {"verified": 4, "mismatch": 3}
    one_file = ("skill", "demo", "release-notes", "SKILL.md", "--verify", "--json")
    one, summary = lines(shell.run(*one_file))
    assert one["digest"] == one["expected_digest"]
    assert (summary["files"], summary["counts"]) == (1, {"verified": 1})
    not_read = shell.run(*one_file, "--max-bytes", "10")
    assert not_read.code == exit_codes.FAILED
    assert [line.get("status") for line in lines(not_read)] == ["not-read", None]
    cut = shell.run("skills", "demo", "--verify", "--max-bytes", "400", "--json")
    assert "not-read" in [line.get("status") for line in lines(cut)]
    assert lines(cut)[-1]["cut"] == "stopped at 400 bytes"


BROKEN = """
import json, sys
SKILL = {"uri": "skill://one/SKILL.md", "frontmatter": {"name": "two"}, "resources": "all"}
for line in sys.stdin:
    message = json.loads(line)
    results = {
        "initialize": {
            "protocolVersion": "2025-11-25", "serverInfo": {"name": "x", "version": "1"},
            "capabilities": {"resources": {}, "extensions": SKILLS},
        },
        "skills/list": {"skills": [SKILL]},
    }
    if "id" in message:
        answer = {"error": {"code": -32601, "message": "no"}}
        if message["method"] in results:
            answer = {"result": results[message["method"]]}
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **answer}), flush=True)
"""


def test_a_broken_entry_ends_with_6_and_an_undeclared_extension_is_not_asked_for(
    shell: Shell,
) -> None:
    script = shell.home / "broken.py"
    declared = 'SKILLS = {"io.modelcontextprotocol/skills": {}}\n'
    script.write_text(declared + BROKEN)
    ran = shell.run("skills", "broken.py", "--verify")
    assert ran.code == exit_codes.BROKEN_PROTOCOL
    assert "the folder is 'one' and the name 'two'" in ran.text
    assert shell.run("skill", "broken.py", "two", "SKILL.md").code == exit_codes.BROKEN_PROTOCOL
    script.write_text("SKILLS = {}\n" + BROKEN)
    refused = shell.run("skills", "broken.py", "-v")
    assert refused.code == exit_codes.REFUSED
    assert '"skills/list"' not in refused.err


def write(folder: Path, name: str, front: str = "", *, file: str = "SKILL.md") -> None:
    path = folder / name / file
    path.parent.mkdir(parents=True)
    path.write_bytes(f"---\nname: {name}\ndescription: For a test.\n{front}---\nBody\n".encode())


# Lists two skills of one name, and knows no other; never answers a read.
TWICE = """
import hashlib, json, sys
def skill(parent, text):
    uri = f"skill://{parent}/pdf/SKILL.md"
    file = {"uri": uri, "digest": "sha256:" + hashlib.sha256(text).hexdigest(), "size": len(text)}
    front = {"name": "pdf", "description": "For a test."}
    return {"uri": uri, "frontmatter": front, "resources": [file]}
TEXT = b"---\\nname: pdf\\ndescription: For a test.\\n---\\nBody\\n"
SKILLS = [skill("a", TEXT + b"more"), skill("b", TEXT)]
for line in sys.stdin:
    message = json.loads(line)
    results = {
        "initialize": {
            "protocolVersion": "2025-11-25", "serverInfo": {"name": "x", "version": "1"},
            "capabilities": {
                "resources": {}, "extensions": {"io.modelcontextprotocol/skills": {}},
            },
        },
        "skills/list": {"skills": SKILLS},
    }
    for skill in SKILLS:
        if skill["uri"] == message.get("params", {}).get("uri"):
            results["skills/get"] = {"skill": skill}
    if "id" in message and message["method"] != "resources/read":
        answer = {"error": {"code": -32601, "message": "no"}}
        if message["method"] in results:
            answer = {"result": results[message["method"]]}
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **answer}), flush=True)
"""


def test_of_skills_with_one_name_none_is_dropped_and_a_cut_list_misses_none(shell: Shell) -> None:
    (shell.home / "twice.py").write_text(TWICE)
    write(shell.home / "skills", "pdf")
    compare = ("skills", "twice.py", "--folder", "skills", "--json")
    ran = shell.run(*compare)
    assert [(line["status"], line["uri"]) for line in lines(ran)] == [
        ("same", "skill://b/pdf/SKILL.md"),
        ("only-served", "skill://a/pdf/SKILL.md"),
    ]
    assert ran.code == exit_codes.DONE
    # Of two local ones, each has the entry that is its own; what is left over is missing.
    for parent in ("a", "c"):
        write(shell.home / "skills" / parent, "pdf")
    (shell.home / "skills" / "c" / "pdf" / "SKILL.md").write_text("---\nname: pdf\n---\n")
    (shell.home / "skills" / "a" / "pdf" / "SKILL.md").write_text("---\nname: pdf\n---\nNew\n")
    ran = shell.run(*compare)
    assert [(line["status"], line["path"], line["uri"]) for line in lines(ran)] == [
        ("differs", "a/pdf", "skill://a/pdf/SKILL.md"),
        ("missing", "c/pdf", None),
        ("same", "pdf", "skill://b/pdf/SKILL.md"),
    ]
    write(shell.home / "other", "xls")
    cut = shell.run("skills", "twice.py", "--folder", "other", "--max-skills", "1", "--json")
    first = lines(cut)[0]
    assert (first["name"], first["status"], cut.code) == ("xls", "unknown", exit_codes.FAILED)
    assert "not all was compared: stopped after 1 skills" in cut.err


def test_a_verification_waits_no_longer_than_the_timeout(shell: Shell) -> None:
    (shell.home / "twice.py").write_text(TWICE)
    uri = "skill://b/pdf/SKILL.md"
    ran = shell.run("skill", "twice.py", uri, "SKILL.md", "--verify", "--timeout", "1")
    assert ran.code == exit_codes.TIMED_OUT


def test_a_folder_is_read_before_the_server_is_started(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(shell.home / "skills", "pdf")

    def refuse(path: Path) -> bytes:
        raise PermissionError(13, "Permission denied", str(path))

    with monkeypatch.context() as patch:
        patch.setattr(Path, "read_bytes", refuse)
        with pytest.raises(InspectorError, match=r"SKILL\.md cannot be read: Permission"):
            read_folder(str(shell.home / "skills"))
    ran = shell.run("skills", "--folder", "nowhere", "--", "no-such-command")
    assert ran.code == exit_codes.USAGE
    assert "nowhere is not a folder" in ran.err


@pytest.mark.slow
def test_a_folder_is_compared_with_what_fastmcp_serves_of_it(shell: Shell) -> None:
    folder = shell.home / "skills"
    write(folder, "good")
    (folder / "good" / "notes.md").write_text("Notes\n")
    write(folder, "beta", "beta: yes\n")
    write(folder, "dated", "updated: 2026-01-02\n")
    write(folder, "lower", file="skill.md")
    server = ("--", *FASTMCP, str(folder))
    verified = shell.run("skills", "--verify", "--json", *server)
    *files, summary = lines(verified)
    assert {file["path"]: file["status"] for file in files if "good" in file["uri"]} == {
        "SKILL.md": "verified",
        "notes.md": "verified",
    }
    (beta,) = [file for file in files if "beta" in file["uri"]]
    assert beta["findings"][0]["cause"] == "yaml-1.1"
    assert beta["expected_digest"] == digest_of((folder / "beta" / "SKILL.md").read_bytes())
    assert summary["counts"] == {"mismatch": 1, "verified": 2}
    compared = shell.run("skills", "--folder", str(folder), "--json", *server)
    assert compared.code == exit_codes.FAILED
    verdicts = {line["name"]: line for line in lines(compared)}
    assert {name: line["status"] for name, line in verdicts.items()} == {
        "beta": "differs",
        "dated": "missing",
        "good": "same",
        "lower": "missing",
    }
    assert 'write "2026-01-02"' in verdicts["dated"]["findings"][0]["text"]
    assert "must be SKILL.md" in verdicts["lower"]["findings"][0]["text"]
    text = shell.run("skills", "--folder", str(folder / "good"), *server).text
    assert "ok good is served as it is here" in text
    assert shell.run("skills", "demo", "--folder", "nowhere").code == exit_codes.USAGE
