"""Python in the docs that is not run as a program must still fit mcplens as it is."""

import ast
import inspect
import re
from pathlib import Path

import pytest

import mcplens
from mcplens.session.options import TransportKeywords
from mcplens.targets import transport_for
from mcplens.transports.stdio import StdioTransport
from mcplens.transports.streamable_http import StreamableHttpTransport
from tests.docs.markdown import DOCS, ROOT, Block, blocks

PAGES = (ROOT / "README.md", ROOT / "ARCHITECTURE.md", *sorted(DOCS.rglob("*.md")))


def python_in(page: Path) -> list[Block]:
    """Fenced programs, and calls like `mcplens.connect(url)` in the text."""
    fenced = [block for block in blocks(page) if block.language == "python"]
    lines = enumerate(page.read_text().splitlines(), start=1)
    calls = [(number, call) for number, line in lines for call in _CALL.findall(line)]
    return fenced + [Block("python", call, number, "") for number, call in calls if "…" not in call]


_CALL = re.compile(r"`(mcplens\.\w+\([^`]*\))`")
PYTHON = [
    pytest.param(block, id=f"{page.relative_to(ROOT)}:{block.line}")
    for page in PAGES
    for block in python_in(page)
]


def parsed(block: Block) -> ast.AST:
    flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT | ast.PyCF_ONLY_AST
    return compile(block.text, "example", "exec", flags=flags)  # type: ignore[no-any-return]


def names_of_mcplens(tree: ast.AST) -> list[ast.Attribute]:
    return [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == "mcplens"
    ]


@pytest.mark.parametrize("block", PYTHON)
def test_python_in_the_docs_uses_names_that_mcplens_has(block: Block) -> None:
    used = {node.attr for node in names_of_mcplens(parsed(block))}
    assert used - set(mcplens.__all__) == set()


@pytest.mark.parametrize("block", PYTHON)
def test_python_in_the_docs_uses_options_that_connect_has(block: Block) -> None:
    known = {
        name
        for function in (mcplens.connect, transport_for, StdioTransport, StreamableHttpTransport)
        for name in inspect.signature(function).parameters
    } | set(TransportKeywords.__annotations__)
    used = {
        keyword.arg
        for node in ast.walk(parsed(block))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "connect"
        for keyword in node.keywords
    }
    assert used - known == set()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_link_to_a_file_leads_somewhere(page: Path) -> None:
    links = re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text())
    files = [link for link in links if "://" not in link]
    assert [link for link in files if not (page.parent / link).exists()] == []
