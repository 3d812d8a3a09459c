"""Images, audio and resources of results as files, and images on terminals that draw them."""

import base64
import json
from pathlib import Path

import pytest

from mcplens.cli import exit_codes
from mcplens.cli.saved_content import SavedContent
from mcplens.cli.terminal_images import image_sequence
from mcplens.protocol.result_types import Content
from tests.cli.shell import Shell

PNG = b"\x89PNG\r\n\x1a\n"


def test_results_are_saved_by_tool_place_and_type_and_never_overwritten(shell: Shell) -> None:
    for again in ("", "-2"):
        done = shell.run("call", "demo", "content-mixed", "--save", "out")
        assert done.code == exit_codes.DONE
        assert f"saved as out/content-mixed-2{again}.png" in done.text
    saved = sorted(path.name for path in (shell.home / "out").iterdir())
    assert [name for name in saved if name.endswith(".png")] == [
        "content-mixed-2-2.png",
        "content-mixed-2.png",
    ]
    assert (shell.home / "out" / "content-mixed-2.png").read_bytes().startswith(PNG)


def test_json_stays_exact_and_the_paths_are_told_beside_it(shell: Shell) -> None:
    done = shell.run("call", "demo", "content-audio", "--save", ".", "--json")
    data = json.loads(done.out)["content"][0]["data"]
    assert done.err == "saved ./content-audio-1.wav\n"
    assert (shell.home / "content-audio-1.wav").read_bytes() == base64.b64decode(data)


def test_a_resource_is_saved_under_its_name(shell: Shell) -> None:
    done = shell.run("read", "demo", "demo://image", "--save", "out")
    assert (done.text, done.err) == ("", "saved out/image-1.png\n")
    assert (shell.home / "out" / "image-1.png").read_bytes().startswith(PNG)


def test_a_folder_that_cannot_be_made_is_told_before_anything_is_sent(shell: Shell) -> None:
    (shell.home / "file").write_text("")
    done = shell.run("call", "demo", "content-image", "--save", "file/out")
    assert done.code == exit_codes.USAGE
    assert "file/out cannot be created: Not a directory" in done.err


@pytest.mark.parametrize(
    ("name", "kind", "file"),
    [
        ("../../etc/passwd", "text/plain", "etc-passwd-1.txt"),
        ("..", "image/../../x", "result-1.bin"),
        ("a/b\x00c\n", "application/x-sh;x=/etc", "a-b-c-1.sh"),
        ("x" * 500, "image/png", "x" * 80 + "-1.png"),
    ],
)
def test_a_server_cannot_choose_where_a_file_is_written(
    tmp_path: Path, name: str, kind: str, file: str
) -> None:
    block = Content(type="image", data="AAAA", mime_type=kind)
    SavedContent(str(tmp_path), name).save_blocks([block], is_told=False)
    assert [path.name for path in tmp_path.iterdir()] == [file]


def test_a_link_in_the_folder_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "tool-1.png").symlink_to(tmp_path / "elsewhere")
    saved = SavedContent(str(tmp_path), "tool")
    saved.save_blocks([Content(type="image", data="AAAA", mime_type="image/png")], is_told=False)
    assert saved.paths == {1: str(tmp_path / "tool-1-2.png")}
    assert not (tmp_path / "elsewhere").exists()


def test_data_that_is_not_base64_is_told_and_not_saved(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    block = Content(type="image", data="no base64!", mime_type="image/png")
    SavedContent(str(tmp_path), "tool").save_blocks([block], is_told=True)
    assert not list(tmp_path.iterdir())
    assert "block 1 is not saved: it is not valid base64" in capsys.readouterr().err


def test_an_image_is_drawn_only_where_the_terminal_can(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("TMUX", "TERM_PROGRAM", "KITTY_WINDOW_ID"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    data = base64.b64encode(PNG * 1000).decode()
    assert image_sequence(data, "image/png") is None
    monkeypatch.setenv("TERM_PROGRAM", "iTerm.app")
    assert image_sequence(data, "image/jpeg") == f"\x1b]1337;File=inline=1;size=8000:{data}\x07"
    assert image_sequence("\x1b]0;title\x07", "image/png") is None
    monkeypatch.setenv("TERM_PROGRAM", "ghostty")
    drawn = image_sequence(data, "image/png") or ""
    assert drawn.startswith("\x1b_Ga=T,f=100,m=1;")
    assert drawn.count("\x1b_G") == 3
    assert image_sequence(data, "image/jpeg") is None
    monkeypatch.setenv("TMUX", "1")
    assert image_sequence(data, "image/png") is None


def test_a_terminal_that_draws_gets_the_image_and_a_line_about_it(shell: Shell) -> None:
    shell.variables |= {"TERM_PROGRAM": "iTerm.app"}
    shown = shell.on_terminal("call", "demo", "content-image").out
    assert b"\x1b]1337;File=inline=1;size=" in shown
    assert b"[image image/png, " in shown
