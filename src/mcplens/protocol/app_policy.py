"""The Content-Security-Policy of an app, made from what its resource declares.

Pure. An entry that is not a plain origin is left out and named, since one with a `;` could add a
directive of its own; nothing that was not declared is ever added. Called by workspace/apps.py and
by the static check.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from ipaddress import ip_address
from typing import Final, Literal

import msgspec

from mcplens.protocol.apps import AppMeta

PolicyProfile = Literal["specification", "reference"]
# What the app's document may do whatever it declares. Without allow-same-origin its origin is
# opaque, so that it shares neither storage nor cookies with anything.
SANDBOX: Final = "allow-scripts allow-forms"

_ENTRY: Final = re.compile(
    r"(?:(?P<scheme>https?|wss?)://)?(?P<host>(?:\*\.)?[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*\.?)"
    r"(?::(?:\d{1,5}|\*))?(?:/[A-Za-z0-9._~!$&()*+=:@%/-]*)?"
)
# The last label of a host that browsers read as an IPv4 address: 127.1, 0x7f000001.
_NUMBER: Final = re.compile(r"(?:\d+|0[xX][0-9A-Fa-f]*)")
_LOCAL_ENDINGS: Final = ("localhost", "local", "internal", "lan", "home.arpa", "test")
# Names that anybody can point at an address of this machine are not known here; a browser that
# guards private networks asks before it connects to them.
_DIRECTIVES: Final = {
    "resourceDomains": ("script-src", "style-src", "img-src", "font-src", "media-src"),
    "connectDomains": ("connect-src",),
    "frameDomains": ("frame-src",),
    "baseUriDomains": ("base-uri",),
}
_BASE: Final[dict[PolicyProfile, dict[str, tuple[str, ...]]]] = {
    "specification": {
        "script-src": ("'unsafe-inline'",),
        "style-src": ("'unsafe-inline'",),
        "img-src": ("data:",),
        "font-src": (),
        "media-src": ("data:",),
        "worker-src": (),
    },
    "reference": {
        "script-src": ("'unsafe-inline'", "'unsafe-eval'", "'wasm-unsafe-eval'", "blob:", "data:"),
        "style-src": ("'unsafe-inline'", "blob:", "data:"),
        "img-src": ("data:", "blob:"),
        "font-src": ("data:", "blob:"),
        "media-src": ("data:", "blob:"),
        "worker-src": ("blob:",),
    },
}
PROFILES: Final = tuple(_BASE)
_NONE: Final = ("'none'",)
_MOST_CHARACTERS: Final = 200  # of a declared domain


class Entry(msgspec.Struct, frozen=True):
    """A declared domain, and why it is left out of the policy; None if it is in it."""

    key: str
    value: str
    refusal: str | None


class AppPolicy(msgspec.Struct, frozen=True, kw_only=True):
    """The directives of an app's policy in order, and every domain that was declared."""

    directives: dict[str, tuple[str, ...]]
    entries: tuple[Entry, ...]

    def header(self, *, ancestors: Sequence[str] = (), report_uri: str | None = None) -> str:
        """The policy as a header, with who may frame the app and where violations go."""
        parts = [
            f"{name} {' '.join(sources or _NONE)}" for name, sources in self.directives.items()
        ]
        if ancestors:
            parts.append(f"frame-ancestors {' '.join(ancestors)}")
        parts.append(f"sandbox {SANDBOX}")
        if report_uri is not None:
            parts.append(f"report-uri {report_uri}")
        return "; ".join(parts)


def app_policy(
    meta: AppMeta, profile: PolicyProfile = "specification", *, allows_private: bool = False
) -> AppPolicy:
    """The policy for an app that declares this."""
    entries = tuple(
        Entry(key, value[:_MOST_CHARACTERS], refusal_of(value, allows_private=allows_private))
        for key, values in meta.domains.items()
        for value in values
    )
    base = _BASE[profile]
    directives: dict[str, tuple[str, ...]] = {"default-src": ()}
    for key, names in _DIRECTIVES.items():
        accepted = tuple(one.value for one in entries if one.key == key and one.refusal is None)
        for name in names:
            directives[name] = (*base.get(name, ()), *accepted)
    directives["worker-src"] = base["worker-src"]
    directives["base-uri"] = directives["base-uri"] or ("'self'",)
    # Forms are not in the specification's policy, but a way out of it.
    directives |= {"object-src": (), "form-action": ()}
    return AppPolicy(directives=directives, entries=entries)


def refusal_of(entry: str, *, allows_private: bool = False) -> str | None:
    """Why a declared domain cannot be in a policy; None if it can."""
    if len(entry) > _MOST_CHARACTERS:
        return f"it is longer than {_MOST_CHARACTERS} characters"
    found = _ENTRY.fullmatch(entry)
    if found is None:
        if re.search(r"[\s;,'\"]", entry):
            return "it contains a space, a quote, a comma or a semicolon"
        return "it is not an origin like https://api.example.com"
    host = found["host"].removeprefix("*.").rstrip(".").lower()
    if _is_private(host) and not allows_private:
        return "it is in a private network or on this computer, which you have not allowed"
    return None


def _is_private(host: str) -> bool:
    labels = host.split(".")
    if _NUMBER.fullmatch(labels[-1]):
        try:
            return not ip_address(host).is_global
        except ValueError:
            return True  # a browser reads it as an address all the same
    if len(labels) == 1:
        return True
    return any(host == one or host.endswith(f".{one}") for one in _LOCAL_ENDINGS)
