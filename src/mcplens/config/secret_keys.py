"""The secret keys of the whole configuration; a server may have more of its own.

Used by everything that records or exports. If they cannot be read, that is an error, not an empty
list, so that nothing secret is written by mistake.
"""

from __future__ import annotations

from collections.abc import Callable

from mcplens.config.environment import Environment
from mcplens.config.model import Configuration
from mcplens.config.paths import find_files
from mcplens.errors import InspectorError


def find_secret_keys(path: str | None = None, here: Environment | None = None) -> tuple[str, ...]:
    """The secret keys of the configuration; none where there is no file.

    Raises:
        InspectorError: a file cannot be read, or its `secretKeys` cannot.
    """
    if not find_files(path, here):
        return ()
    from mcplens.config.configuration import (
        load_configuration,
    )  # costs 4 ms, and most runs do not need it

    return secret_keys_of(load_configuration(path, here=here))


def secret_keys_of(configuration: Configuration) -> tuple[str, ...]:
    """As `find_secret_keys`, for a loaded configuration."""
    for problem in configuration.problems:
        if str(problem.details.get("key")).startswith("secretKeys"):
            raise problem
    return configuration.settings.secret_keys


def problem_of_keys(configuration: Configuration) -> InspectorError | None:
    """Why the secret keys are unknown: a file is broken, or its `secretKeys` are."""
    for problem in configuration.problems:
        key = problem.details.get("key")
        # Without a key, or for all servers: nothing of that file was loaded.
        if key is None or key == "mcpServers" or str(key).startswith("secretKeys"):
            return problem
    return None


def find_keys_by_server(
    path: str | None = None, here: Environment | None = None
) -> Callable[[str], tuple[str, ...]]:
    """The secret keys of each server by name, including those of the whole configuration.

    The secrets of the user's servers are known from then on.

    Raises:
        InspectorError: as `find_secret_keys`.
    """
    from mcplens.config.configuration import load_configuration
    from mcplens.config.connect_options import learn_secrets

    configuration = load_configuration(path, here=here)
    for entry in configuration.servers:
        # A project's file must not choose what is masked in the traffic of others.
        if entry.source.scope != "project":
            learn_secrets(entry)
    wide = secret_keys_of(configuration)
    own = {entry.name: tuple(entry.secret_keys) for entry in configuration.servers}
    return lambda name: (*wide, *own.get(name, ()))
