"""Standard logging under the name `mcplens`: silent until a program turns it on.

Debug is for what happens, warning for what the user of the library should know. Nothing that is
logged holds a secret: no message bodies, headers, arguments or environment, URLs are masked, and so
are known secrets, should one be within a text that came from elsewhere. Loaded with the engine, not
by `import mcplens` alone.
"""

from __future__ import annotations

import logging

from mcplens.known_secrets import known_secrets

_root = logging.getLogger("mcplens")
# Without a handler of its own, Python would print the warnings of a library to stderr.
_root.addHandler(logging.NullHandler())


def get_logger(name: str) -> logging.Logger:
    """The logger of a module or subject, such as `mcplens.transports.stdio`."""
    logger = logging.getLogger(name)
    logger.addFilter(_mask)  # the same function is added only once
    return logger


def _mask(record: logging.LogRecord) -> bool:
    if known_secrets:
        record.msg, record.args = known_secrets.mask_text(record.getMessage()), None
    return True


def muted_logger(name: str) -> logging.Logger:
    """A logger for a library that would write headers, which hold secrets, to its own."""
    logger = logging.getLogger(name)
    logger.propagate = False
    logger.setLevel(logging.CRITICAL + 1)
    return logger
