"""Which servers `mcplens gateway` may start: at first, and whenever the configuration changes.

A project's servers are asked about at first, where that is possible. Later nobody is asked: one
that is new or changed stays stopped until it is confirmed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from mcplens.cli import output
from mcplens.cli.command_options import CommandOptions
from mcplens.cli.exit_codes import CommandError

if TYPE_CHECKING:
    from mcplens.bus import Bus
    from mcplens.config.model import Configuration, ServerEntry

Tell = Callable[[str, str], None]
# Uses another configuration, of which these servers are offered.
Follow = Callable[["list[ServerEntry]", "Configuration"], None]


class GatewayConfiguration:
    """The configuration of a running gateway, its servers, and the keys that are secret in it."""

    def __init__(self, flags: CommandOptions, *, can_ask: bool) -> None:
        from mcplens.config.configuration import load_configuration

        self._flags = flags
        self._secret_keys: tuple[str, ...] = ()
        self.current = load_configuration(flags.config)
        self.entries = self._offered(self.current, _note, can_ask=can_ask)
        if not any(entry.is_usable for entry in self.entries):
            raise CommandError("no server can be started; add one with `mcplens servers add`")

    def __repr__(self) -> str:
        return f"<GatewayConfiguration {self.current!r}>"

    def keys_of(self, server_id: str) -> tuple[str, ...]:
        """Keys whose values are secret: a message of a client may hold those of any server."""
        return self._secret_keys

    async def watch(self, follow: Follow, bus: Bus) -> None:
        """Reload whenever a file changes, until cancelled; a broken one changes nothing."""
        from mcplens.config.environment import current_environment
        from mcplens.downstream.configuration_watcher import ConfigurationWatcher
        from mcplens.events import Remark

        def tell(server: str, text: str) -> None:
            bus.publish(Remark(message=text), server)

        def apply(found: Configuration) -> None:
            follow(self._offered(found, tell, can_ask=False), found)

        here = current_environment()
        watcher = ConfigurationWatcher(apply, bus=bus, here=here, path=self._flags.config)
        watcher.configuration = self.current
        await watcher.run()

    def _offered(
        self, configuration: Configuration, tell: Tell, *, can_ask: bool
    ) -> list[ServerEntry]:
        """The servers that may be started, and those whose entry is wrong: their clients are
        answered with what is wrong.
        """
        from mcplens.cli.confirmation import confirm_entry
        from mcplens.config.environment import current_environment
        from mcplens.workspace.confirmation import Confirmations

        self._learn_keys(configuration)
        for problem in configuration.problems:
            tell("", problem.message)
        confirmations = Confirmations(current_environment())
        found = []
        for entry in configuration.servers:
            if not entry.enabled:
                continue
            if entry.problem is not None:
                tell(entry.name, entry.problem.message)
                found.append(entry)
            elif confirmations.is_needed(entry) and not (self._flags.is_trusted or can_ask):
                tell(
                    entry.name,
                    f"{entry.name} of {entry.source.path} is not started: use --yes",
                )
            elif confirm_entry(self._flags, entry, is_optional=True):
                found.append(entry)
            else:
                tell(entry.name, f"{entry.name} is not started")
        return found

    def _learn_keys(self, configuration: Configuration) -> None:
        """A key that was secret once stays secret."""
        from mcplens.config.secret_keys import secret_keys_of

        keys = [*self._secret_keys, *secret_keys_of(configuration)]
        for entry in configuration.servers:
            keys += entry.secret_keys
        self._secret_keys = tuple(dict.fromkeys(keys))


def _note(_server: str, text: str) -> None:
    output.note(f"mcplens: {text}", fg="yellow")
