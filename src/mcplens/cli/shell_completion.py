"""Completion in bash, zsh and fish: click's support, plus what it lacks.

Owns the scripts that `mcplens --completion` prints, and parses the shells' requests. After `--`
follows the user's own command, so files are offered. Used by main.py; the candidates come from
completion_candidates.py.
"""

from __future__ import annotations

import os
import re
from typing import Any, ClassVar, Final

from click.shell_completion import (
    BashComplete,
    CompletionItem,
    FishComplete,
    ShellComplete,
    ZshComplete,
    add_completion_class,
    split_arg_string,
)

from mcplens.cli.terminal_text import one_line

VARIABLE: Final = "_MCPLENS_COMPLETE"

# What a word may hold in bash without being quoted.
_TO_ESCAPE: Final = re.compile(r"[^\w@%+=:,./\-]")

# The line itself is passed on, since bash takes `http://host:80` and `cursor:weather` apart.
_BASH: Final = """\
%(complete_func)s() {
    local IFS=$'\\n' response completion type value

    response=$(env COMP_LINE="${COMP_LINE:0:COMP_POINT}" %(complete_var)s=bash_complete $1)

    for completion in $response; do
        IFS=',' read -r type value <<< "$completion"
        if [[ $type == 'file' ]]; then
            COMPREPLY=()
            compopt -o default
        elif [[ $type == 'plain' ]]; then
            COMPREPLY+=("$value")
            [[ $value == *[=/] ]] && compopt -o nospace
        fi
    done
    return 0
}

complete -o nosort -F %(complete_func)s %(prog_name)s
"""

# zsh puts a blank behind what it completed; not behind `key=` or a folder, which go on. With `if`,
# since a function that ends with a false test has completed nothing in zsh's eyes, which then beeps
# and asks the next completer.
_ADD: Final = "compadd -U -V unsorted -a completions"
_ADD_OPEN: Final = """local -a open closed
        open=(${(M)completions:#*[=/]})
        closed=(${completions:#*[=/]})
        if (( $#open )); then compadd -U -S '' -V unsorted -a open; fi
        if (( $#closed )); then compadd -U -V unsorted -a closed; fi"""

_LOAD_COMPLETION: Final = "(( $+functions[compdef] )) || { autoload -Uz compinit && compinit; }"


class _Ours(ShellComplete):
    def get_completions(self, args: list[str], incomplete: str) -> list[CompletionItem[Any]]:
        if "--" in args:
            return [CompletionItem(incomplete, type="file")]
        found = super().get_completions(args, incomplete)
        for item in found:
            item.help = one_line(item.help) if item.help else None
        # A name that cannot be shown as it is cannot be typed either.
        return [item for item in found if one_line(str(item.value)) == item.value]


class _Bash(_Ours, BashComplete):
    source_template: ClassVar[str] = _BASH

    def get_completion_args(self) -> tuple[list[str], str]:
        line = os.environ["COMP_LINE"]
        words = split_arg_string(line)
        # A blank at the end begins a new word, unless it is quoted.
        is_new = line[-1:].isspace() and not words[-1][-1:].isspace()
        return (words[1:], "") if is_new else (words[1:-1], words[-1])

    def format_completion(self, item: CompletionItem[Any]) -> str:
        """bash replaces what follows the last colon, and takes the answer as it is."""
        line = os.environ["COMP_LINE"]
        word, value = line.rpartition(" ")[2], str(item.value)
        if ":" in word and value.startswith(word):
            value = value[word.rindex(":") + 1 :]
        if not (line.count("'") % 2 or line.count('"') % 2):  # no quote is open
            value = _TO_ESCAPE.sub(lambda match: "\\" + match.group(), value)
        return f"{item.type},{value}"


class _Zsh(_Ours, ZshComplete):
    def source(self) -> str:
        """click's, also for a start file that has not loaded completion itself."""
        first, _, rest = super().source().partition("\n")
        return f"{first}\n{_LOAD_COMPLETION}\n{rest.replace(_ADD, _ADD_OPEN)}"


class _Fish(_Ours, FishComplete):
    pass


def use() -> None:
    """Have click know these shells."""
    for name, kind in (("bash", _Bash), ("zsh", _Zsh), ("fish", _Fish)):
        add_completion_class(kind, name)
