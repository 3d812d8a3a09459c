"""Every program in the docs is run, word for word, and prints what stands below it."""

import asyncio
import sys
from pathlib import Path

import pytest

from tests.docs.markdown import DOCS, ROOT, Block, blocks
from tests.servers.run import serve

pytestmark = pytest.mark.slow

PAGES = (
    ROOT / "README.md",
    *(DOCS / "howto" / name for name in ("python.md", "handlers.md", "notebook.md", "skills.md")),
)

# What a reader puts his own address for: the server that stands in, and the part that is replaced.
STAND_INS = {
    "http://127.0.0.1:8000": ("--transport", "http"),
    "http://127.0.0.1:8001": ("--transport", "http", "--path", "/servers/my-server/mcp"),
}
# An example takes a second at most; this only bounds one that hangs.
RUN_TIMEOUT_S = 60


def examples() -> list[tuple[str, Block, str]]:
    """(name, program, what it prints); a program whose first line names a file is that file."""
    found = []
    for page in PAGES:
        shown = blocks(page)
        for number, block in enumerate(shown):
            if block.language == "python" and not file_name(block):
                name = f"{page.name}:{block.line}"
                printed = [
                    following.text
                    for following in shown[number + 1 : number + 2]
                    if following.language == "text"
                ]
                assert printed, f"{name}: what it prints does not stand below it"
                found.append((name, block, printed[0]))
    return found


def file_name(block: Block) -> str | None:
    first = block.text.partition("\n")[0]
    return first.removeprefix("# ") if first.startswith("# ") and first.endswith(".py") else None


@pytest.mark.parametrize(
    ("block", "printed"),
    [pytest.param(block, printed, id=name) for name, block, printed in examples()],
)
async def test_an_example_prints_what_the_page_says(
    block: Block, printed: str, tmp_path: Path
) -> None:
    write_files(tmp_path)
    assert await run_with_stand_ins(block.text, dict(STAND_INS), tmp_path) == printed


async def test_the_test_of_the_page_passes(tmp_path: Path) -> None:
    write_files(tmp_path)
    command = ["-m", "pytest", "-q", "-p", "no:asyncio", "-p", "no:cacheprovider"]
    command += ["-p", "no:hypothesispytest"]  # takes longer to load than all else
    shown = await run_python([*command, "test_server.py"], tmp_path)
    assert "1 passed" in shown


def write_files(folder: Path) -> None:
    """The files that stand in the pages, as a reader would save them."""
    for page in PAGES:
        for file in filter(file_name, blocks(page)):
            (folder / str(file_name(file))).write_text(file.text)


def test_a_sampling_request_is_answered_in_ten_lines() -> None:
    first = next(block for block in blocks(DOCS / "howto" / "handlers.md"))
    assert "sampling=answer" in first.text
    assert len([line for line in first.text.splitlines() if line.strip()]) == 10


async def run_with_stand_ins(
    program: str, stand_ins: dict[str, tuple[str, ...]], folder: Path
) -> str:
    while stand_ins:
        address, arguments = stand_ins.popitem()
        if address in program:
            async with serve("good", *arguments) as server:
                here = f"http://127.0.0.1:{server.port}"
                return await run_with_stand_ins(program.replace(address, here), stand_ins, folder)
    return await run(program, folder)


async def run(program: str, folder: Path) -> str:
    (folder / "example.py").write_text(program)
    return await run_python(["example.py"], folder)


async def run_python(arguments: list[str], folder: Path) -> str:
    pipe = asyncio.subprocess.PIPE
    # A warning (an unclosed connection, a forgotten await) fails the example.
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-W", "error", *arguments, cwd=folder, stdout=pipe, stderr=pipe
    )
    try:
        async with asyncio.timeout(RUN_TIMEOUT_S):
            output, errors = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    assert (process.returncode, errors.decode()) == (0, "")
    return output.decode()
