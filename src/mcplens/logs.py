"""Standard logging under the name `mcplens`: silent until a program turns it on.

Debug is for what happens, warning for what the user of the library should know. Nothing that is
logged holds a secret: no message bodies, headers, arguments or environment, and URLs are masked.
Loaded with the engine, not by `import mcplens` alone.
"""

from __future__ import annotations

import logging

_root = logging.getLogger("mcplens")
# Without a handler of its own, Python would print the warnings of a library to stderr.
_root.addHandler(logging.NullHandler())


def get_logger(name: str) -> logging.Logger:
    """The logger of a module or subject, such as `mcplens.transports.stdio`."""
    return logging.getLogger(name)


def muted_logger(name: str) -> logging.Logger:
    """A logger for a library that would write headers, which hold secrets, to its own."""
    logger = logging.getLogger(name)
    logger.propagate = False
    logger.setLevel(logging.CRITICAL + 1)
    return logger
