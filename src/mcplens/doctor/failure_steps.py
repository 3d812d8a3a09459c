"""The steps that can fail, by the code of the error: what each expects, and what to try.

Data only; failed_step.py adjusts them to the details of an error.
"""

from __future__ import annotations

from typing import Final, NamedTuple


class Step(NamedTuple):
    """One step: its name, what is expected, what to try if it fails."""

    name: str
    expected: str
    hint: str


# By the code of the error. STRAY_OUTPUT is CONNECTION_TIMEOUT after output that is not a message,
# LISTENING is CONNECTION_FAILED of our own page, NOT_ON_WINDOWS that of a command there, and
# TARGET is CONFIGURATION_INVALID that is not about a file.
STEPS: Final = {
    "COMMAND_NOT_FOUND": Step(
        "finding the command",
        "a program of that name on PATH",
        "install it, give its full path, or set PATH with -e PATH=…",
    ),
    "CONFIGURATION_INVALID": Step(
        "reading the configuration", "", "fix the configuration as described above"
    ),
    "TARGET": Step(
        "checking the target and its options",
        "a server that these can lead to",
        "correct it as described above",
    ),
    "SERVER_EXITED": Step(
        "handshake",
        "a server that keeps running and answers on stdout",
        "run the command by hand and read its output",
    ),
    "CONNECTION_TIMEOUT": Step(
        "first byte",
        "an answer to server/discover or initialize",
        "check that this starts an MCP server; allow more time with --connect-timeout",
    ),
    "STRAY_OUTPUT": Step(
        "framing",
        "one JSON-RPC message per line on stdout, and nothing else",
        "have the server log to stderr; check that this starts an MCP server on stdio",
    ),
    "HOST_NOT_FOUND": Step("DNS", "an address for the host", "check the host name in the URL"),
    "CONNECTION_REFUSED": Step(
        "TCP connection",
        "a server listening there",
        "start the server, or check the host and port of the URL",
    ),
    "CONNECTION_FAILED": Step(
        "opening the connection", "a reachable server", "check the URL"
    ),
    "NOT_ON_WINDOWS": Step(
        "starting the server",
        "Linux or macOS",
        "give the server's URL (HTTP, SSE or WebSocket), or run mcplens in WSL",
    ),
    "LISTENING": Step(
        "serving the page", "a free port", "choose another with --port, or check --host"
    ),
    "CONNECTION_RESET": Step(
        "HTTP exchange", "a complete answer", "see the server's log: it closed the connection"
    ),
    "TLS_FAILED": Step(
        "TLS",
        "a certificate that can be trusted",
        "use --ca-file for your own CA, or --insecure to skip the check",
    ),
    "AUTHENTICATION_FAILED": Step(
        "sign-in",
        "a server that accepts our credentials",
        "sign in with `mcplens auth login`, or send a credential: -H 'Authorization: Bearer …'",
    ),
    "SIGN_IN_FAILED": Step(
        "sign-in", "a finished sign-in", "see each step with `mcplens auth debug`"
    ),
    "RATE_LIMITED": Step("HTTP status", "a server below its rate limit", "try again later"),
    "HTTP_ERROR": Step("HTTP status", "200 with an MCP answer", "see the server's log"),
    "PROTOCOL_VERSION_MISMATCH": Step(
        "handshake",
        "a protocol revision that both sides speak",
        "pin one that the server speaks with --protocol",
    ),
    "INVALID_RESPONSE": Step(
        "reading the answer", "a valid MCP answer", "show every byte with -v"
    ),
    "NO_RESPONSE": Step("the answer", "a message before the end", "show the exchange with -v"),
    "MESSAGE_TOO_LARGE": Step("reading the answer", "a message within the limit", ""),
    "SKILL_MISMATCH": Step(
        "verifying the skill", "the file that its manifest describes", "see all with --verify"
    ),
    "REDIRECT_REFUSED": Step(
        "following the redirect",
        "an address of the same origin",
        "if you trust it, use the redirect's address directly",
    ),
    "ENDPOINT_REFUSED": Step(
        "SSE endpoint", "an endpoint of the same origin", "do not trust this server"
    ),
    "REQUEST_TIMEOUT": Step("the answer", "an answer in time", "allow more time with --timeout"),
    "CAPABILITY_NOT_SUPPORTED": Step(
        "sending the request",
        "a server that declares this capability",
        "--force sends it anyway",
    ),
    "CONNECTION_LOST": Step(
        "the connection", "a lasting connection", "try again; see the server's log"
    ),
    "STORE_UNAVAILABLE": Step(
        "the shared store", "a store that answers", "check gateway.store, and the store itself"
    ),
    "SESSION_EXPIRED": Step("the session", "a session that the server knows", "try again"),
}  # fmt: skip

_PATH_HINT = "check the path of the URL; MCP servers are often at /mcp or /sse"

HTTP_HINTS: Final = {
    200: _PATH_HINT,
    400: "pin the revision that the server speaks with --protocol",
    403: "read what the server says; if it wants a credential: -H 'Authorization: Bearer …'",
    404: _PATH_HINT,
    405: _PATH_HINT,
    406: _PATH_HINT,
    500: "see the server's log",
    501: _PATH_HINT,
    502: "start the server behind the proxy",
    503: "try again later: the server is not ready",
    504: "see why the server behind the proxy does not answer",
}
