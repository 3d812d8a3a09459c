"""Which tests are run: the files below a folder, and the tests that an expression names."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from typing import Final

import msgspec

from mcplens.collections.folder import SUFFIX, digest_of
from mcplens.collections.model import KINDS
from mcplens.collections.test_file import TestFile, TestStep, read_test_file
from mcplens.config.files import invalid, read_text
from mcplens.protocol.yaml_values import LARGEST_BYTES

# Folders that hold no tests of the project.
_LEFT_OUT: Final = frozenset({"node_modules", "__pycache__", "venv", "site-packages"})
_WORD: Final = re.compile(r"\s*(?:(?P<open>\()|(?P<close>\))|(?P<word>[^\s()]+))")

# Whether a test of this name is wanted.
Wanted = Callable[[str], bool]


class LoadedFile(msgspec.Struct, frozen=True, kw_only=True):
    """A test file that was read: its tests, and those of them that are to be run."""

    path: str  # absolute
    shown: str  # as a person would name it
    digest: str
    content: TestFile
    steps: list[TestStep]


class WrongExpression(ValueError):
    """An expression of `-k` that is not understood."""


def find_files(names: Iterable[str]) -> list[str]:
    """The test files that these names mean: files, and all files below folders.

    Raises:
        ConfigurationError: there is no such file or folder.
    """
    found: dict[str, str] = {}
    for name in names:
        if os.path.isdir(name):
            paths = _below(name)
        elif os.path.isfile(name):
            paths = [name]
        else:
            raise invalid(f"there is no file or folder {name!r}", file=name)
        for path in paths:  # two runs of one file would write the same snapshots
            found.setdefault(os.path.join(_real_folder(path), os.path.basename(path)), path)
    return list(found.values())


def _real_folder(path: str) -> str:
    return os.path.realpath(os.path.dirname(os.path.abspath(path)))


def _below(folder: str) -> list[str]:
    found = []
    for parent, names, files in os.walk(folder):
        names[:] = sorted(
            name for name in names if not name.startswith(".") and name not in _LEFT_OUT
        )
        found += [
            os.path.normpath(os.path.join(parent, name))
            for name in sorted(files)
            if name.endswith(SUFFIX) and not name.startswith(".")
        ]
    return found


def load_file(path: str, wanted: Wanted | None = None) -> LoadedFile:
    """Read a test file, and choose the tests that are wanted.

    Raises:
        TestFileProblem: it is not a test file.
        ConfigurationError: it cannot be read.
    """
    text = read_text(path)
    if len(text) > LARGEST_BYTES:
        raise invalid(f"{path} is larger than {LARGEST_BYTES // 1024} kB", file=path)
    content = read_test_file(text)
    steps = content.steps
    if wanted is not None:
        steps = with_needed(content, [step for step in steps if wanted(f"{path}::{step.name}")])
    return LoadedFile(
        path=os.path.abspath(path),
        shown=path,
        digest=digest_of(text),
        content=content,
        steps=steps,
    )


def confirmations(path: str, digest: str, content: TestFile) -> list[str]:
    """What a content may have been confirmed as; the first is what it is confirmed as from now on.

    A collection is confirmed for its calls: its confirmation counts if there is nothing else. A
    command means another program in another folder.
    """
    if any(isinstance(server, dict) for server in content.servers):
        return [f"test:{digest_of(f'{digest} {_real_folder(path)}')}"]
    is_collection = not content.profiles and all(
        step.kind in KINDS and step.profile is None for step in content.steps
    )
    return [f"test:{digest}", *([digest] if is_collection else [])]


def with_needed(content: TestFile, chosen: list[TestStep]) -> list[TestStep]:
    """The chosen tests, and before them those that save a variable which one of them uses."""
    kept = {step.index for step in chosen}
    for step in reversed(content.steps):
        if step.index not in kept:
            continue
        for name in step.variables:
            before = [one for one in content.steps[: step.index] if name in one.save]
            kept |= {one.index for one in before[-1:]}
    return [step for step in content.steps if step.index in kept]


def expression(text: str) -> Wanted:
    """An expression of `-k`: words, which a name must contain, with and, or, not and brackets.

    Raises:
        WrongExpression: it is not one.
    """
    words = [match[match.lastgroup or "word"] for match in _WORD.finditer(text)]
    parser = _Parser(words)
    wanted = parser.either()
    if parser.words:
        raise WrongExpression(f"{text!r}: {parser.words[0]!r} was not expected here")
    return wanted


class _Parser:
    """Words with `and`, `or`, `not` and brackets, in the usual order."""

    def __init__(self, words: list[str]) -> None:
        self.words = words

    def __repr__(self) -> str:
        return f"<_Parser before {self.words}>"

    def either(self) -> Wanted:
        options = [self.both()]
        while self.take("or"):
            options.append(self.both())
        return lambda name: any(option(name) for option in options)

    def both(self) -> Wanted:
        parts = [self.one()]
        while self.take("and"):
            parts.append(self.one())
        return lambda name: all(part(name) for part in parts)

    def one(self) -> Wanted:
        if self.take("not"):
            inner = self.one()
            return lambda name: not inner(name)
        if self.take("("):
            inner = self.either()
            if not self.take(")"):
                raise WrongExpression("a bracket is not closed")
            return inner
        if not self.words or self.words[0] in (")", "and", "or"):
            raise WrongExpression("a word is missing")
        word = self.words.pop(0).lower()
        return lambda name: word in name.lower()

    def take(self, word: str) -> bool:
        if self.words and self.words[0] == word:
            self.words.pop(0)
            return True
        return False
