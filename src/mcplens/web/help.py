"""The help pages of errors as HTML.

Supports only the Markdown that these pages use. All text is escaped. Called by routes.py.
"""

from __future__ import annotations

import re
from html import escape
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from mcplens import help_pages
from mcplens.web.page import new_nonce, page_response

_ITEM: Final = re.compile(r"(?:- |\d+\. )(.*)")

_FRAME: Final = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{title} · mcplens</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style nonce="{nonce}">
:root {{ color-scheme: light dark; }}
body {{ font: 16px/1.6 system-ui, sans-serif; margin: 2.5rem auto; padding: 0 1rem; }}
main {{ max-width: 44rem; margin: 0 auto; }}
h1 {{ font-size: 1.6rem; }} h2 {{ font-size: 1.15rem; margin-top: 2rem; }}
pre {{ padding: .8rem 1rem; overflow-x: auto; border: 1px solid #8886; border-radius: 6px; }}
code {{ font: .9em ui-monospace, monospace; }}
</style></head><body><main>
{body}
</main></body></html>
"""


async def show_help(request: Request) -> Response:
    """The help page of an error code."""
    slug = request.path_params["slug"].removesuffix(".md")
    nonce = new_nonce()
    text = help_pages.text_of(slug)
    if text is None:
        body = "<h1>This help page does not exist</h1>"
        response = page_response(_FRAME.format(title="Help", nonce=nonce, body=body), nonce)
        response.status_code = 404
        return response
    title = escape(text.partition("\n")[0].removeprefix("# "))
    return page_response(_FRAME.format(title=title, nonce=nonce, body=render(text)), nonce)


def render(text: str) -> str:
    """The Markdown of a help page as HTML."""
    parts: list[str] = []
    for number, block in enumerate(re.split(r"^```\w*\n(.*?)^```$", text, flags=re.M | re.S)):
        if number % 2:
            parts.append(f"<pre tabindex=0><code>{escape(block)}</code></pre>")
        else:
            parts += [_block(part) for part in re.split(r"\n{2,}", block.strip()) if part]
    return "\n".join(parts)


def _block(text: str) -> str:
    if heading := re.match(r"(#{1,3}) (.*)", text):
        level = len(heading[1])
        return f"<h{level}>{_inline(heading[2])}</h{level}>"
    lines = text.splitlines()
    if all(_ITEM.match(line) for line in lines):
        first = re.match(r"(\d+)\. ", text)
        texts = [_ITEM.sub(r"\1", line) for line in lines]
        items = "".join(f"<li>{_inline(text)}</li>" for text in texts)
        return f'<ol start="{first[1]}">{items}</ol>' if first else f"<ul>{items}</ul>"
    return f"<p>{_inline(' '.join(lines))}</p>"


def _inline(text: str) -> str:
    """Code, bold and links; links lead to other help pages alone."""
    parts = []
    for number, part in enumerate(re.split(r"`([^`]+)`", text)):
        if number % 2:
            parts.append(f"<code>{escape(part)}</code>")
            continue
        part = re.sub(r"\*\*(.+?)\*\*", r"<strong>\1</strong>", escape(part))
        parts.append(re.sub(r"\[([^\]]+)\]\(([a-z0-9-]+)\.md\)", _LINK, part))
    return "".join(parts)


_LINK: Final = r'<a href="/docs/errors/\2">\1</a>'
