"""The README's picture: what some commands print on a terminal, drawn as SVG.

`python -m tests.docs.picture` (`make pictures`) runs them and writes docs/pictures/terminal.svg.
The picture loads nothing, no font either: whatever is monospaced on the reader's machine will do.
"""

import re
import shlex
import tempfile
from pathlib import Path
from xml.sax.saxutils import escape

from tests.cli.shell import Shell
from tests.docs.markdown import DOCS

PICTURE = DOCS / "pictures" / "terminal.svg"
COMMANDS = (
    "mcplens call demo add a=2 b:=3",
    "mcplens read demo demo://greeting/Ada",
    "mcplens call demo fail-result",
    "mcplens tools http://localhost:1/mcp",
)
COLUMNS = 80

_CHARACTER, _LINE, _MARGIN = 8.4, 20, 16
_STYLES = {
    "1": 'font-weight="bold"',
    "2": 'fill-opacity="0.6"',
    "31": 'fill="#ff8080"',
    "32": 'fill="#8ae28a"',
    "33": 'fill="#f0c674"',
    "36": 'fill="#7fd4e0"',
}
_SEQUENCE = re.compile(r"\x1b\[([\d;]*)m|\x1b\[K|\r")


def screen() -> list[str]:
    """What is on the terminal afterwards, line by line, with its colours."""
    lines = []
    for command in COMMANDS:
        with tempfile.TemporaryDirectory() as home:
            ran = Shell(Path(home)).on_terminal(*shlex.split(command)[1:], columns=COLUMNS)
        lines += [f"\x1b[32m$\x1b[0m \x1b[1m{command}\x1b[0m", *ran.text.splitlines(), ""]
    return lines[:-1]


def plain(line: str) -> str:
    return _SEQUENCE.sub("", line)


def draw(lines: list[str]) -> str:
    """The terminal as SVG."""
    width = COLUMNS * _CHARACTER + 2 * _MARGIN
    height = len(lines) * _LINE + 2 * _MARGIN
    rows = "\n".join(
        f'<text x="{_MARGIN}" y="{_MARGIN + at * _LINE + 14}" xml:space="preserve">'
        f"{_spans(line)}</text>"
        for at, line in enumerate(lines)
        if plain(line)
    )
    return f"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height}" role="img">
<!-- Made by `make pictures` from what the commands print. -->
<title>mcplens in a terminal</title>
<rect width="100%" height="100%" rx="8" fill="#1d2026"/>
<g font-family="ui-monospace, Menlo, Consolas, monospace" font-size="14" fill="#e6e6e6">
{rows}
</g>
</svg>
"""


def _spans(line: str) -> str:
    """A line's text, in pieces of one style each."""
    found, styles, at = "", "", 0
    for match in (*_SEQUENCE.finditer(line), None):
        text = line[at : match.start() if match else None]
        if text:
            found += f"<tspan {styles}>{escape(text)}</tspan>" if styles else escape(text)
        if match and match[1] is not None:
            codes = [code for code in match[1].split(";") if code not in ("", "0")]
            styles = (
                " ".join(filter(None, [styles, *(_STYLES[code] for code in codes)]))
                if codes
                else ""
            )
        at = match.end() if match else at
    return found


if __name__ == "__main__":
    PICTURE.parent.mkdir(exist_ok=True)
    PICTURE.write_text(draw(screen()))
