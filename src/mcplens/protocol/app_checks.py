"""Why an app may stay blank, found without a browser: in its tool, its resource and its HTML.

Pure. Called by `mcplens app`, and by the web UI, which adds what a browser knows. A finding is a
sentence that names what to change.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Any, Final, Literal

import msgspec

from mcplens.protocol.app_policy import AppPolicy
from mcplens.protocol.apps import APP_MIME_TYPE, URI_SCHEME, AppDocument, AppLink

_URL: Final = re.compile(
    r"(?P<scheme>[a-z][a-z0-9+.-]*)://(?:[^/?#@]*@)?(?P<host>[^/?#:]*)(?::(?P<port>\d+))?"
    r"(?P<path>/[^?#]*)?",
    re.IGNORECASE,
)
_USUAL_PORTS: Final = {"http": "80", "https": "443", "ws": "80", "wss": "443"}
# Schemes that an entry with another scheme lets through too.
_PLAIN: Final = {"https": "http", "wss": "ws"}
# A message of this size is too large for some clients.
_LARGE_BYTES: Final = 1024 * 1024
# More of the same kind say nothing new.
_MOST_ORIGINS: Final = 20
# A check must end soon, whatever the HTML is.
_MOST_CHECKED: Final = 2 * 1024 * 1024
_MOST_REFERENCES: Final = 1_000
_MOST_CHARACTERS: Final = 500

Severity = Literal["error", "warning", "note"]


class AppFinding(msgspec.Struct, frozen=True):
    """What is wrong with an app: an error keeps it blank in every host, a warning in some."""

    code: str
    severity: Severity
    text: str
    line: int | None = None


class _Reference(msgspec.Struct, frozen=True):
    """An address in the HTML, the directive that it falls under, and the list to declare it in."""

    url: str
    directive: str
    key: str
    line: int


_TAGS: Final = {
    ("script", "src"): ("script-src", "resourceDomains"),
    ("img", "src"): ("img-src", "resourceDomains"),
    ("video", "src"): ("media-src", "resourceDomains"),
    ("audio", "src"): ("media-src", "resourceDomains"),
    ("source", "src"): ("media-src", "resourceDomains"),
    ("iframe", "src"): ("frame-src", "frameDomains"),
    ("base", "href"): ("base-uri", "baseUriDomains"),
}
_LINKS: Final = {"stylesheet": "style-src", "modulepreload": "script-src", "icon": "img-src"}
_QUOTED: Final = r"""\(\s*["'`]((?:https?|wss?):[^"'`\s]+)["'`]"""
_IN_SCRIPTS: Final = (
    (re.compile(r"\bfetch" + _QUOTED), "connect-src", "connectDomains"),
    (re.compile(r"\bnew\s+(?:WebSocket|EventSource)" + _QUOTED), "connect-src", "connectDomains"),
    (re.compile(r"\bimport" + _QUOTED), "script-src", "resourceDomains"),
    (re.compile(r"""\bfrom\s*["'](https?:[^"'\s]+)["']"""), "script-src", "resourceDomains"),
)
_IN_STYLES: Final = re.compile(r"""(?:@import\s+|url\(\s*)["']?(https?:[^"')\s]+)""")
_STORAGE: Final = re.compile(
    r"\b(localStorage|sessionStorage|indexedDB|document\.cookie|navigator\.serviceWorker)\b"
)


class _Page(HTMLParser):
    """The addresses and scripts of an HTML document."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.references: list[_Reference] = []
        self.relative: list[tuple[str, int]] = []
        self.scripts: list[tuple[str, int]] = []
        self.has_script_file = False
        self._within = ""

    def __repr__(self) -> str:
        return f"<_Page {len(self.references)} references, {len(self.scripts)} scripts>"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        line = self.getpos()[0]
        self._within = tag if tag in ("script", "style") else self._within
        if tag == "script" and given.get("src"):
            self.has_script_file = True
        for name, value in given.items():
            if (tag, name) in _TAGS:
                self._refer(value, *_TAGS[tag, name], line)
            elif name == "style":
                self._style(value, line)
        if tag == "link" and "href" in given:
            for word in given.get("rel", "").lower().split():
                if word in _LINKS:
                    self._refer(given["href"], _LINKS[word], "resourceDomains", line)

    def handle_endtag(self, tag: str) -> None:
        if tag == self._within:
            self._within = ""

    def handle_data(self, data: str) -> None:
        line = self.getpos()[0]
        if self._within == "style":
            self._style(data, line)
        elif self._within == "script":
            self.scripts.append((data, line))
            for pattern, directive, key in _IN_SCRIPTS:
                self._find(pattern, data, line, directive, key)

    def _style(self, text: str, line: int) -> None:
        self._find(_IN_STYLES, text, line, "style-src", "resourceDomains")

    def _find(
        self, pattern: re.Pattern[str], text: str, line: int, directive: str, key: str
    ) -> None:
        counted = 0
        for match in pattern.finditer(text):
            if len(self.references) >= _MOST_REFERENCES:
                return
            line += text.count("\n", counted, match.start())
            counted = match.start()
            self._add(match[1], directive, key, line)

    def _add(self, url: str, directive: str, key: str, line: int) -> None:
        if len(self.references) < _MOST_REFERENCES:
            self.references.append(_Reference(url[:_MOST_CHARACTERS], directive, key, line))

    def _refer(self, url: str, directive: str, key: str, line: int) -> None:
        url = url.strip()
        if re.match(r"(?:https?|wss?):", url, re.IGNORECASE) or url.startswith("//"):
            whole = f"https:{url}" if url.startswith("//") else url
            self._add(whole, directive, key, line)
        elif len(self.relative) >= _MOST_ORIGINS:
            return
        elif url and not re.match(r"[a-z][a-z0-9+.-]*:|#", url, re.IGNORECASE):
            self.relative.append((url[:_MOST_CHARACTERS], line))


def check_tool(tool: Any, link: AppLink) -> list[AppFinding]:
    """What is wrong with a tool's definition as far as its app goes."""
    found = [
        AppFinding(_code_of(text), "error" if "must" in text else "warning", text)
        for text in link.findings
    ]
    nulls = list(null_paths(tool))
    if nulls:
        names = ", ".join(nulls[:3])
        text = (
            f"{names} {'is' if len(nulls) == 1 else 'are'} null in the tool's definition: in hosts "
            "that pass it on, an app of the official SDK refuses to start; leave it out"
        )
        found.append(AppFinding("null-field", "warning", text))
    return found


def check_document(document: AppDocument, policy: AppPolicy) -> list[AppFinding]:
    """What is wrong with an app's resource, under this policy."""
    return [*_about_resource(document, policy), *_about_html(document, policy)]


def check_result(content: Any) -> list[AppFinding]:
    """Whether a tool's result has text for hosts that show no apps."""
    blocks = content if isinstance(content, list) else []
    texts = [one for one in blocks if isinstance(one, dict) and one.get("type") == "text"]
    if any(str(one.get("text", "")).strip() for one in texts):
        return []
    text = "the result has no text: hosts without apps, and the model, have nothing to show"
    return [AppFinding("no-text-fallback", "warning", text)]


def null_paths(value: Any, path: str = "") -> Iterator[str]:
    """Where a value has members that are null."""
    if isinstance(value, dict):
        for key, one in value.items():
            here = f"{path}.{key}" if path else str(key)
            # A schema may say null, and means it.
            if one is None:
                yield here
            elif key not in ("inputSchema", "outputSchema"):
                yield from null_paths(one, here)
    elif isinstance(value, list):
        for index, one in enumerate(value):
            yield from null_paths(one, f"{path}[{index}]")


def _code_of(text: str) -> str:
    return "policy-on-tool" if "on the tool" in text else "tool-definition"


def _about_resource(document: AppDocument, policy: AppPolicy) -> Iterator[AppFinding]:
    uri, size = document.uri, len(document.data)
    if not uri.startswith(URI_SCHEME):
        yield AppFinding("wrong-uri", "error", f"{uri} does not begin with {URI_SCHEME}")
    if document.mime_type != APP_MIME_TYPE:
        given = document.mime_type or "missing"
        text = f"the type of {uri} is {given}; hosts show only {APP_MIME_TYPE}"
        yield AppFinding("wrong-type", "error", text)
    for text in document.meta.findings:
        yield AppFinding("declaration", "warning", text)
    for entry in policy.entries:
        if entry.refusal is not None:
            text = f"{entry.value} in csp.{entry.key} is left out of the policy: {entry.refusal}"
            yield AppFinding("refused-domain", "warning", text)
    if size > _LARGE_BYTES:
        text = f"the app has {size / 1024 / 1024:.1f} MiB; some clients read no more than 1 MiB"
        yield AppFinding("large", "note", text)


def _about_html(document: AppDocument, policy: AppPolicy) -> Iterator[AppFinding]:
    try:
        html = document.data.decode()
    except UnicodeDecodeError:
        yield AppFinding("not-utf-8", "warning", "the HTML is not UTF-8")
        html = document.data.decode("utf-8", "replace")
    if not html.strip():
        yield AppFinding("empty", "error", "the app is empty: its resource has no HTML")
        return
    is_whole = len(html) <= _MOST_CHECKED
    if not is_whole:
        yield AppFinding("partly-checked", "note", "only the first 2 MiB of the HTML are checked")
    page = _Page()
    # Not closed: what never ends is not run by browsers either, and takes long to look through.
    page.feed(html if is_whole else html[:_MOST_CHECKED] + "</style></script>")
    yield from _undeclared(page, policy)
    for url, line in page.relative:
        text = f"{url} is a relative address, and an app has no address of its own: inline it"
        yield AppFinding("relative-address", "warning", text, line)
    code = "\n".join(text for text, _ in page.scripts)
    if is_whole and not page.has_script_file and "ui/initialize" not in code:
        what = "none of its scripts sends" if code.strip() else "it has no script that sends"
        yield AppFinding("no-hello", "error", f"{what} ui/initialize, so hosts never start it")
    stored = sorted(set(_STORAGE.findall(code)))
    if stored:
        text = (
            f"it uses {', '.join(stored)}, which throws in a frame with an opaque origin; catch "
            "the error"
        )
        yield AppFinding("storage", "warning", text)


def _undeclared(page: _Page, policy: AppPolicy) -> Iterator[AppFinding]:
    seen = set[tuple[str, str]]()
    for one in page.references:
        sources = policy.directives.get(one.directive, ())
        origin = _origin(one.url)
        if (origin, one.key) in seen or any(covers(source, one.url) for source in sources):
            continue
        seen.add((origin, one.key))
        if len(seen) > _MOST_ORIGINS:
            return
        text = (
            f"{one.url} is blocked by {one.directive}: declare {origin} in csp.{one.key} of the "
            "resource's _meta.ui"
        )
        severity: Severity = "error" if one.directive == "script-src" else "warning"
        yield AppFinding("undeclared-origin", severity, text, one.line)


def _origin(url: str) -> str:
    found = _URL.match(url)
    if found is None:
        return url
    port = f":{found['port']}" if found["port"] else ""
    return f"{found['scheme']}://{found['host']}{port}".lower()


def covers(source: str, url: str) -> bool:
    """Whether an entry of a policy lets an address through (CSP level 3, without redirects)."""
    if source.endswith(":"):
        return url.lower().startswith(source.lower())
    found = _URL.match(url)
    if source.startswith("'") or found is None:
        return False
    own = found["scheme"].lower()
    scheme, mark, rest = source.lower().partition("://")
    if not mark:
        scheme, rest = "", source.lower()
    if scheme not in ("", own, _PLAIN.get(own)):
        return False
    authority, _, path = rest.partition("/")
    host, _, port = authority.partition(":")
    name, usual = found["host"].lower(), _USUAL_PORTS.get(own)
    is_host = name.endswith(host[1:]) if host.startswith("*.") else name == host
    is_port = port == "*" or (found["port"] or usual) == (port or usual)
    prefix, whole = f"/{path}", (found["path"] or "/").lower()
    is_path = not path or (whole.startswith(prefix) if path.endswith("/") else whole == prefix)
    return is_host and is_port and is_path
