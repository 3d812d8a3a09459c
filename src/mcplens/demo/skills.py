"""Skills (io.modelcontextprotocol/skills): one that is right, and one that is broken in three ways.

meeting-minutes: a value in its front matter is read as YAML 1.1, TEMPLATE.md is served with other
line ends than its manifest was made with, and GLOSSARY.md is served without its end. It also hides
characters and a comment, asks for tools, and has a file that its manifest lacks.
"""

from __future__ import annotations

import hashlib
from typing import Final

from mcplens.demo.lists import page
from mcplens.demo.media import base64_text, png
from mcplens.demo.registry import Fault, Json, method
from mcplens.demo.request_context import RequestContext
from mcplens.demo.resources import resource
from mcplens.inbound.refusal import INVALID_PARAMS
from mcplens.protocol.eras import SKILLS_EXTENSION

# What the server declares.
SKILLS: Final[Json] = {SKILLS_EXTENSION: {"directoryRead": True}}
_ROOT: Final = "skill://mcplens-demo"
RIGHT: Final = f"{_ROOT}/release-notes/SKILL.md"
BROKEN: Final = f"{_ROOT}/meeting-minutes/SKILL.md"

_TYPES: Final = {"md": "text/markdown", "py": "text/x-python", "txt": "text/plain"}

_RELEASE_NOTES: Final = """\
---
name: release-notes
description: Write release notes from the changes since the last version.
license: Apache-2.0
metadata:
  author: mcplens
  version: "1.0"
---

# Release notes

1. Run `scripts/collect.py` for the list of changes.
2. Sort them by what a user notices: **new**, **changed**, **fixed**.
3. Write each as one sentence, as [the style guide](references/STYLE.md) says.
"""

_STYLE: Final = """\
# Style

- Say what a user can do now, not what the code does.
- One change is one sentence.
"""

_COLLECT: Final = """\
import subprocess

subprocess.run(["git", "log", "--oneline"], check=True)
"""

# U+200B and the tag characters below are what a person does not see, and a model does.
_MINUTES: Final = (
    "---\n"
    "name: meeting-minutes\n"
    "description: Turn a transcript into minutes.\n"
    "allowed-tools: Bash Read\n"
    "beta: yes\n"
    "---\n\n"
    "# Meeting minutes\n\n"
    "Use [the template](references/TEMPLATE.md) and [the glossary](references/GLOSSARY.md).\n"
    "<!-- A model reads this comment; a person who sees the page does not. -->\n"
    "Send the minutes to everybody\u200b who was there.\U000e0068\U000e0069\n"
)

_TEMPLATE: Final = "# Minutes of DATE\n\n## Present\n\n## Decided\n\n## To do\n"

_GLOSSARY: Final = """\
# Glossary

- **Action item**: something that one person does until a date.
- **Decision**: something that nobody has to discuss again.
"""

# What each manifest was made of, by path.
_LISTED: Final[dict[str, dict[str, bytes]]] = {
    RIGHT: {
        "SKILL.md": _RELEASE_NOTES.encode(),
        "references/STYLE.md": _STYLE.encode(),
        "scripts/collect.py": _COLLECT.encode(),
        "assets/badge.png": png(),
    },
    BROKEN: {
        "SKILL.md": _MINUTES.encode(),
        "references/TEMPLATE.md": _TEMPLATE.encode(),
        "references/GLOSSARY.md": _GLOSSARY.encode(),
    },
}
# What is served instead, or beside.
_SERVED: Final[dict[str, dict[str, bytes]]] = {
    RIGHT: {},
    BROKEN: {
        "references/TEMPLATE.md": _TEMPLATE.replace("\n", "\r\n").encode(),
        "references/GLOSSARY.md": _GLOSSARY.encode()[:60],
        "drafts.txt": b"Not in the manifest.\n",
    },
}
_FRONT_MATTER: Final[dict[str, Json]] = {
    RIGHT: {
        "name": "release-notes",
        "description": "Write release notes from the changes since the last version.",
        "license": "Apache-2.0",
        "metadata": {"author": "mcplens", "version": "1.0"},
    },
    BROKEN: {
        "name": "meeting-minutes",
        "description": "Turn a transcript into minutes.",
        "allowed-tools": "Bash Read",
        "beta": True,  # as YAML 1.1 has it
    },
}


def _folder(uri: str) -> str:
    return uri.removesuffix("/SKILL.md")


def _entry(uri: str) -> Json:
    files = [
        {
            "uri": f"{_folder(uri)}/{path}",
            "digest": f"sha256:{hashlib.sha256(data).hexdigest()}",
            "size": len(data),
        }
        for path, data in _LISTED[uri].items()
    ]
    return {"uri": uri, "frontmatter": _FRONT_MATTER[uri], "resources": files}


@method("skills/list")
async def list_skills(context: RequestContext) -> Json:
    return page("skills", [_entry(uri) for uri in _LISTED], context)


@method("skills/get")
async def get_skill(context: RequestContext) -> Json:
    uri = context.params.get("uri")
    if uri not in _LISTED:
        raise Fault(INVALID_PARAMS, "there is no such skill", {"uri": uri})
    return {"skill": _entry(uri)}


@method("resources/directory/read")
async def read_directory(context: RequestContext) -> Json:
    uri = context.params.get("uri")
    if uri not in _FOLDERS:
        raise Fault(INVALID_PARAMS, "there is no such folder", {"uri": uri})
    return page("resources", _FOLDERS[uri], context)


def _folders() -> dict[str, list[Json]]:
    """The children of each folder, by its URI."""
    found: dict[str, list[Json]] = {_ROOT: []}
    for skill in _LISTED:
        for path in {**_LISTED[skill], **_SERVED[skill]}:
            uri = f"{_folder(skill)}/{path}"
            _add(found, uri, _mime_type(path))
            while (uri := uri.rpartition("/")[0]) != _ROOT:
                _add(found, uri, "inode/directory")
    return found


def _add(found: dict[str, list[Json]], uri: str, kind: str) -> None:
    folder, _, name = uri.rpartition("/")
    child = {"uri": uri, "name": name, "mimeType": kind}
    children = found.setdefault(folder, [])
    if child not in children:
        children.append(child)


def _mime_type(path: str) -> str:
    return _TYPES.get(path.rpartition(".")[2], "image/png")


def _offer(uri: str, path: str, data: bytes) -> None:
    about = _FRONT_MATTER[uri]
    name, words = (
        (about["name"], about["description"]) if path == "SKILL.md" else (path, f"Of {uri}.")
    )
    is_text = not path.endswith(".png")
    content = {"text": data.decode()} if is_text else {"blob": base64_text(data)}
    offer = resource(
        f"{_folder(uri)}/{path}", name, _mime_type(path), words, is_listed=path == "SKILL.md"
    )  # fmt: skip
    offer(lambda context: content)


for _uri in _LISTED:
    for _path, _data in {**_LISTED[_uri], **_SERVED[_uri]}.items():
        _offer(_uri, _path, _data)
_FOLDERS: Final = _folders()
