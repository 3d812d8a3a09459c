"""The end of a test run: what passed only at the second attempt is named."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from .spreading import preferred
from .suite import LONGEST, order, verdict

ROOT = Path(__file__).parents[1]
# Passes from its second run on; the file is there then.
_TESTS = """
from pathlib import Path

def test_steady():
    pass

def test_flaky():
    path = Path("ran")
    is_second = path.exists()
    path.touch()
    assert is_second
"""


def run_suite(folder: Path, tests: str) -> subprocess.CompletedProcess[str]:
    (folder / "pytest.ini").write_text("[pytest]\n")
    (folder / "test_some.py").write_text(tests)
    program = (
        f"import sys; sys.path.insert(0, {str(ROOT)!r})\n"
        "from tests.suite import run; sys.exit(run())"
    )
    return subprocess.run(
        [sys.executable, "-c", program], cwd=folder, capture_output=True, text=True,
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
    )  # fmt: skip


def test_a_test_that_passes_only_when_run_again_is_named_in_the_last_line(tmp_path: Path) -> None:
    ran = run_suite(tmp_path, _TESTS)
    assert ran.returncode == 0, ran.stdout
    assert ran.stdout.splitlines()[-2:] == [
        "== 1 test passed only when run again: mend",
        "   test_some.py::test_flaky",
    ]


def test_a_test_that_fails_twice_fails_the_run(tmp_path: Path) -> None:
    ran = run_suite(tmp_path, "def test_broken():\n    assert False\n" + _TESTS)
    assert ran.returncode == 1
    assert ran.stdout.splitlines()[-2:] == [
        "== 1 test failed twice",
        "   test_some.py::test_broken",
    ]


def test_a_run_that_never_came_to_its_end_is_not_run_again(tmp_path: Path) -> None:
    ran = run_suite(tmp_path, "import os\n\ndef test_crash():\n    os._exit(3)\n")
    assert ran.returncode == 3
    assert "once more" not in ran.stdout


def test_each_failed_test_is_named_once() -> None:
    assert verdict(["a", "b", "c"], ["b"]) == [
        "== 2 tests passed only when run again: mend", "   a", "   c",
        "== 1 test failed twice", "   b",
    ]  # fmt: skip


def test_a_file_that_takes_long_is_begun_first() -> None:
    names = ["tests/test_api.py::a", "tests/faults/test_matrix.py::b", "tests/web/test_page.py::c"]
    assert [name[-1] for name in sorted(names, key=order)] == ["b", "a", "c"]


def test_the_files_that_are_begun_first_are_there() -> None:
    assert [name for name in LONGEST if not (ROOT / name).exists()] == []


def test_every_other_worker_begins_with_browser_tests_and_then_takes_what_is_left() -> None:
    files = ["tests/cli/test_a.py", "tests/e2e/test_b.py", "tests/e2e/test_c.py"]
    assert preferred(files, "gw0") == preferred(files, "gw2") == "tests/e2e/test_b.py"
    assert preferred(files, "gw1") == "tests/cli/test_a.py"
    assert preferred(files[:1], "gw0") == "tests/cli/test_a.py"
    assert preferred(files[1:], "gw3") == "tests/e2e/test_b.py"
