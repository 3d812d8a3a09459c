"""The secrets that this process knows, so that they are masked wherever they come back.

A server may repeat a token in an error, on stderr or in a result. Whoever learns of a secret calls
`known_secrets.learn(…)` once: `targets.py` for headers, URLs and commands, `config/` for what the
configuration has, the sign-in for tokens that it is given, the recorder for values of secret keys.
From then on, for the rest of the run, it is masked in error texts, in log records, in what the
command line prints on stderr, and in every row of an event: recorded, exported, traced or shown by
the page. The events in memory and the results of calls stay as they came.

Nothing is searched while no secret is known, which is so in most runs.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

# A shorter one would be found by chance in ordinary text.
SHORTEST: Final = 8
# Each one is searched for in every row. Beyond this, the oldest of its kind are dropped.
_MOST: Final = 256
_MOST_OF_TRAFFIC: Final = 64
# Sign-ins renew their tokens all the time: many users, or weeks, would push out what the
# configuration has.
_MOST_ISSUED: Final = 256
# A private key has many lines, and a server may print them one by one.
_LONG_LINE: Final = 16

# Where a secret is: start and end.
Span = tuple[int, int]


class KnownSecrets:
    """A set of secrets, and masking of texts and bytes that contain them; safe from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._given: dict[str, None] = {}
        self._issued: dict[str, None] = {}
        self._of_traffic: dict[str, None] = {}
        # All forms of them, longest first.
        self._texts: tuple[str, ...] = ()
        self._data: tuple[bytes, ...] = ()

    def __repr__(self) -> str:
        counts = f"{len(self._given)} given, {len(self._issued)} issued"
        return f"<KnownSecrets, {counts}, {len(self._of_traffic)} of traffic>"

    def __bool__(self) -> bool:
        return bool(self._data)

    # -- learning ------------------------------------------------------------------------------

    def learn(self, *values: object) -> None:
        """Mask these texts from now on; what is not a text, or too short, is left out."""
        self._add(self._given, values, _MOST)

    def learn_issued(self, *values: object) -> None:
        """As `learn`, for tokens and codes that a sign-in was given; only the newest are kept."""
        self._add(self._issued, values, _MOST_ISSUED)

    def learn_from_traffic(self, *values: object) -> None:
        """As `learn`, for values that a message had; only the newest are kept."""
        self._add(self._of_traffic, values, _MOST_OF_TRAFFIC)

    def learn_members(self, members: Mapping[str, Any], names: Iterable[str] | None = None) -> None:
        """Learn the values of members that are named like secrets, or of those named here."""
        if not members:
            return
        from mcplens.protocol.secret_masking import is_secret_option

        wanted = None if names is None else frozenset(names)
        for name, value in members.items():
            if is_secret_option(name) if wanted is None else name in wanted:
                self.learn(*_texts_of(value))

    def learn_headers(self, headers: Mapping[str, str]) -> None:
        """Learn the values of headers that are named like secrets."""
        from mcplens.protocol.secret_masking import is_secret_name

        for name, value in headers.items():
            if is_secret_name(name):
                self.learn(*_credentials(name.lower(), value))

    def learn_url(self, url: str) -> None:
        """Learn the password of a URL, and the values of parameters that are named like secrets."""
        if "@" not in url and "?" not in url:
            return
        from urllib.parse import parse_qsl, unquote, urlsplit

        from mcplens.protocol.secret_masking import is_secret_parameter

        try:
            parts = urlsplit(url)
            named = parse_qsl(parts.query)
        except ValueError:  # not a URL; connecting will say so
            return
        # Without a password the user is a token.
        self.learn(unquote(parts.password or parts.username or ""))
        self.learn(*(value for name, value in named if is_secret_parameter(name)))

    def learn_command(self, argv: Sequence[str]) -> None:
        """Learn the values of options that are named like secrets (`--token X`, `--api-key=X`),
        and those of URLs and headers among the arguments."""
        if not may_hold_secrets(argv):
            return
        from mcplens.protocol.secret_masking import is_secret_name, option_values

        self.learn(*(value for _, value in option_values(argv)))
        for word in argv:
            name, colon, value = word.partition(":")
            if "://" in word:
                self.learn_url(word[word.find("=") + 1 :] if word.startswith("-") else word)
            elif colon and is_secret_name(name) and name.replace("-", "").isalnum():
                self.learn(*_credentials(name.lower(), value.strip()))

    def without_traffic(self) -> KnownSecrets:
        """Those that were given, without what messages told: the same in every run."""
        found = KnownSecrets()
        found.learn(*self._given)
        found.learn_issued(*self._issued)
        return found

    def forget(self) -> None:
        """Forget all: for tests, which share a process."""
        with self._lock:
            self._given.clear()
            self._issued.clear()
            self._of_traffic.clear()
            self._rebuild()

    def _add(self, known: dict[str, None], values: Iterable[object], most: int) -> None:
        new = [
            text
            for value in values
            if isinstance(value, str) and _is_telling(text := value.strip())
            if not any(text in each for each in (self._given, self._issued, self._of_traffic))
        ]
        if not new:
            return
        with self._lock:
            for text in new:
                known[text] = None
            for text in list(known)[: max(len(known) - most, 0)]:
                del known[text]
            self._rebuild()

    def _all(self) -> list[str]:
        return [*self._given, *self._issued, *self._of_traffic]

    def _rebuild(self) -> None:
        forms = {form for text in self._all() for form in _forms(text)}
        # Text of ours first, then its bytes: another thread may be searching.
        self._texts = tuple(sorted(forms, key=len, reverse=True))
        self._data = tuple(form.encode("utf-8", "surrogatepass") for form in self._texts)

    # -- masking -------------------------------------------------------------------------------

    def find(self, data: bytes) -> list[Span]:
        """Where secrets are, in order, none within another."""
        found: list[Span] = []
        for secret in self._data:
            at = data.find(secret)
            while at >= 0:
                found.append((at, at + len(secret)))
                at = data.find(secret, at + len(secret))
        if len(found) < 2:
            return found
        found.sort()
        merged = [found[0]]
        for start, end in found[1:]:
            if start < merged[-1][1]:
                merged[-1] = merged[-1][0], max(end, merged[-1][1])
            else:
                merged.append((start, end))
        return merged

    def begun_at_end(self, data: bytes) -> int:
        """Where a secret begins that may go on in the next piece; the length if none does."""
        starts = [_begun_at(data, secret) for secret in self._data]
        return min(starts, default=len(data))

    @property
    def longest(self) -> int:
        """Length in bytes of the longest form."""
        return max(map(len, self._data), default=0)

    def mask_text(self, text: str) -> str:
        """The text with each secret replaced by a mask."""
        if not self._texts:
            return text
        for secret in self._texts:
            if secret in text:
                from mcplens.protocol.secret_masking import mask

                text = text.replace(secret, mask(secret))
        return text

    def mask_value(self, value: Any) -> Any:
        """A JSON value with secrets in its texts masked, at any depth that is reasonable."""
        return _mapped(value, self.mask_text, 0) if self._texts else value


def may_hold_secrets(argv: Sequence[str]) -> bool:
    """Whether a command has long options, values, URLs or headers; most have none of them."""
    return any(word.startswith("--") or "=" in word or ":" in word for word in argv)


# Those of this process. There is one set, since errors and logs belong to no run.
known_secrets: Final = KnownSecrets()

# So many different characters has a secret; of half a secret at the end of a piece, so many bytes
# are masked. Fewer tell nothing.
_TELLING: Final = 4
_DEEPEST: Final = 100


def _is_telling(text: str) -> bool:
    """Whether a text can be searched for: it is not found by chance, it is not a mask of ours, and
    not a placeholder, which only names a secret."""
    return len(text) >= SHORTEST and len(set(text)) >= _TELLING and "${" not in text


def _begun_at(data: bytes, secret: bytes) -> int:
    for length in range(min(len(secret) - 1, len(data)), _TELLING - 1, -1):
        if data.endswith(secret[:length]):
            return len(data) - length
    return len(data)


def _mapped(value: Any, change: Any, depth: int) -> Any:
    if isinstance(value, str):
        return change(value)
    if depth == _DEEPEST:
        return value
    if isinstance(value, dict):
        return {key: _mapped(item, change, depth + 1) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_mapped(item, change, depth + 1) for item in value]
    return value


def _texts_of(value: Any) -> list[str]:
    """The texts within a value."""
    if isinstance(value, dict):
        return [text for item in value.values() for text in _texts_of(item)]
    if isinstance(value, list | tuple):
        return [text for item in value for text in _texts_of(item)]
    return [value] if isinstance(value, str) else []


def _credentials(name: str, value: str) -> list[str]:
    """The secrets within the value of a header: without the scheme, and a password by itself."""
    if name == "cookie":
        return [part.partition("=")[2].strip() for part in value.split(";")]
    scheme, blank, rest = value.strip().partition(" ")
    if not blank or not scheme.replace("-", "").isalnum():
        return [value]
    found = [rest.strip()]
    if scheme.lower() == "basic":
        import base64
        import binascii

        try:
            decoded = base64.b64decode(rest, validate=True).decode("utf-8", "replace")
        except (binascii.Error, ValueError):
            return found
        found.append(decoded.partition(":")[2])
    return found


def _forms(secret: str) -> set[str]:
    """How a secret is written: as it is, in JSON, in JSON within JSON, and in a URL."""
    forms = {secret}
    if not (secret.isascii() and secret.isalnum()):
        import json
        from urllib.parse import quote, quote_plus

        for is_ascii in (True, False):
            once = json.dumps(secret, ensure_ascii=is_ascii)[1:-1]
            forms |= {once, json.dumps(once, ensure_ascii=is_ascii)[1:-1]}
        forms.add(secret.replace("/", "\\/"))
        try:
            quoted = {quote(secret), quote(secret, safe=""), quote_plus(secret)}
        except UnicodeEncodeError:  # a lone surrogate is in no URL
            quoted = set()
        forms |= quoted | {_lower_escapes(text) for text in quoted}
        lines = secret.splitlines()
        if len(lines) > 1:
            forms |= {
                line for line in lines if len(line) >= _LONG_LINE and not line.startswith("-----")
            }
    return forms


def _lower_escapes(text: str) -> str:
    first, *rest = text.split("%")
    return "%".join([first, *(part[:2].lower() + part[2:] for part in rest)])
