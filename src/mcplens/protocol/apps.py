"""MCP Apps (`io.modelcontextprotocol/ui`): which tools have an app, and what its resource declares.

Pure. The words are those of the extension of 2026-01-26. A value of the wrong type is left out and
named among the findings, so that one mistake never hides the rest.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, Literal

import msgspec

UI_EXTENSION: Final = "io.modelcontextprotocol/ui"
APP_MIME_TYPE: Final = "text/html;profile=mcp-app"
# What a client declares that can show apps.
UI_SETTINGS: Final[dict[str, Any]] = {"mimeTypes": [APP_MIME_TYPE]}
URI_SCHEME: Final = "ui://"
# Where earlier servers name the resource.
_FLAT_KEY: Final = "ui/resourceUri"

Visibility = Literal["model", "app"]
_ALL: Final[tuple[Visibility, ...]] = ("model", "app")
# Of one list: every directive of the policy repeats them.
MOST_DOMAINS: Final = 100
DOMAIN_KEYS: Final = ("connectDomains", "resourceDomains", "frameDomains", "baseUriDomains")
PERMISSIONS: Final = ("camera", "microphone", "geolocation", "clipboardWrite")


class AppLink(msgspec.Struct, frozen=True, kw_only=True):
    """What `_meta.ui` of a tool says: the resource of its app, and who may call the tool."""

    resource_uri: str | None
    visibility: tuple[str, ...] = _ALL
    findings: tuple[str, ...] = ()

    @property
    def is_for_apps(self) -> bool:
        return "app" in self.visibility


class AppMeta(msgspec.Struct, frozen=True, kw_only=True):
    """What `_meta.ui` of an app's resource declares."""

    domains: Mapping[str, tuple[str, ...]] = {}
    permissions: tuple[str, ...] = ()
    domain: str | None = None
    prefers_border: bool | None = None
    findings: tuple[str, ...] = ()


class AppDocument(msgspec.Struct, frozen=True, kw_only=True):
    """The resource of an app as it was read: its bytes untouched."""

    uri: str
    mime_type: str | None
    data: bytes
    is_blob: bool
    meta: AppMeta


class AppProblem(ValueError):
    """What was read is not an app; the text says why."""


def app_link(tool: Any) -> AppLink:
    """What a tool's definition says about an app."""
    meta = _object(_object(tool).get("_meta"))
    found = meta.get("ui")
    findings = list(_odd("_meta.ui", found, dict))
    ui = _object(found)
    uri = ui.get("resourceUri", meta.get(_FLAT_KEY))
    findings += _odd("resourceUri", uri, str)
    if isinstance(uri, str) and not uri.startswith(URI_SCHEME):
        findings.append(f"resourceUri must begin with {URI_SCHEME}: {uri}")
    for key in ("csp", "permissions"):
        if key in ui:
            findings.append(
                f"{key} is declared on the tool, where hosts ignore it; move it to _meta.ui of the "
                "resource"
            )
    visibility: Any = ui.get("visibility")
    findings += _odd("visibility", visibility, list)
    seen = (
        tuple(one for one in visibility if isinstance(one, str))
        if isinstance(visibility, list)
        else _ALL
    )
    return AppLink(
        resource_uri=uri if isinstance(uri, str) else None,
        visibility=seen,
        findings=tuple(findings),
    )


def app_document(contents: Sequence[Any], uri: str, listed: Any = None) -> AppDocument:
    """The app in the contents of a resource; `listed` is the resource's entry in the list.

    Raises:
        AppProblem: there is none, or its bytes cannot be read.
    """
    items = [_object(item) for item in contents]
    item = next((one for one in items if one.get("uri") == uri), items[0] if items else None)
    if item is None:
        raise AppProblem(f"{uri} was read, but has no contents")
    text, blob = item.get("text"), item.get("blob")
    if isinstance(text, str):
        data = text.encode("utf-8", "surrogatepass")
    elif isinstance(blob, str):
        try:
            data = base64.b64decode(blob, validate=True)
        except (binascii.Error, ValueError):
            raise AppProblem(f"the blob of {uri} is not valid base64") from None
    else:
        raise AppProblem(f"{uri} has neither text nor a blob")
    mime_type = item.get("mimeType")
    own = _object(item.get("_meta")).get("ui")
    meta = app_meta(own if own is not None else _object(_object(listed).get("_meta")).get("ui"))
    return AppDocument(
        uri=uri,
        mime_type=mime_type if isinstance(mime_type, str) else None,
        data=data,
        is_blob=not isinstance(text, str),
        meta=meta,
    )


def app_meta(ui: Any) -> AppMeta:
    """What a resource declares for its app; `ui` is its `_meta.ui`."""
    findings = list(_odd("_meta.ui", ui, dict))
    fields = _object(ui)
    csp, permissions = fields.get("csp"), fields.get("permissions")
    findings += [*_odd("csp", csp, dict), *_odd("permissions", permissions, dict)]
    domains = {}
    for key in DOMAIN_KEYS:
        value = _object(csp).get(key)
        findings += _odd(f"csp.{key}", value, list)
        if isinstance(value, list):
            used = value[:MOST_DOMAINS]
            domains[key] = tuple(one for one in used if isinstance(one, str))
            findings += [f for one in used for f in _odd(f"an entry of csp.{key}", one, str, True)]
            if len(value) > len(used):
                findings.append(
                    f"csp.{key} has {len(value):,} entries; only the first {len(used)} are used"
                )
    unknown = [key for key in _object(csp) if key not in DOMAIN_KEYS]
    findings += [f"csp.{key[:100]} is not known" for key in unknown[:MOST_DOMAINS]]
    if "sandbox" in fields:
        findings.append("sandbox is for the host to choose, and is ignored")
    domain, border = fields.get("domain"), fields.get("prefersBorder")
    return AppMeta(
        domains=domains,
        permissions=tuple(one for one in PERMISSIONS if one in _object(permissions)),
        domain=domain if isinstance(domain, str) else None,
        prefers_border=border if isinstance(border, bool) else None,
        findings=tuple(findings),
    )


def without_nulls(value: Any) -> Any:
    """A value without members that are null: apps of the official SDK refuse them in `tool`."""
    if isinstance(value, dict):
        return {key: without_nulls(one) for key, one in value.items() if one is not None}
    return [without_nulls(one) for one in value] if isinstance(value, list) else value


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


_NAMES: Final[dict[type, str]] = {dict: "an object", list: "a list", str: "a text"}


def _odd(name: str, value: Any, kind: type, is_needed: bool = False) -> Iterator[str]:
    """The finding about a value of another type; a missing one is fine unless it is needed."""
    if (value is not None or is_needed) and not isinstance(value, kind):
        yield f"{name} must be {_NAMES[kind]}"
