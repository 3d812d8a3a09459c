"""Programs made for a test, and what becomes of a command that names one."""

from __future__ import annotations

from pathlib import Path

from mcplens.transports.launch import Launch, resolve_launch


def program(path: Path, content: str = "#!/bin/sh\n", mode: int = 0o755) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)
    path.chmod(mode)
    return str(path)


def resolve(*command: str, **options: object) -> Launch:
    """Resolve as in a terminal, with a shell that must not be asked."""
    settings: dict[str, object] = {"has_terminal": True, "ask_shell": refuse_to_be_asked}
    return resolve_launch(command, **(settings | options))  # type: ignore[arg-type]


def refuse_to_be_asked() -> list[str]:
    raise AssertionError("the shell was asked")
