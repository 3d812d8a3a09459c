"""The version of mcplens; pyproject.toml reads it from here when a package is built."""

from typing import Final

VERSION: Final = "0.1.0"
