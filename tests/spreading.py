"""How xdist spreads the files over its workers.

A browser test keeps more than one core busy, most other tests wait: a worker of each kind side by
side uses the cores best. A worker stays with one kind while there is any of it, since the browser
is started anew each time that it comes back.
"""

from __future__ import annotations

from typing import Any, Final

from xdist.scheduler import LoadFileScheduling  # type: ignore[import-untyped]  # has no types

BROWSER: Final = "tests/e2e/"


def preferred(files: list[str], worker: str) -> str:
    """The file for a worker ("gw0", "gw1" …): the first of its kind, or of the other one."""
    has_browser = int(worker.removeprefix("gw")) % 2 == 0
    return next((one for one in files if one.startswith(BROWSER) == has_browser), files[0])


class BothKinds(LoadFileScheduling):  # type: ignore[misc]  # for the same reason
    """Whole files; every other worker begins with those that need a browser."""

    def _assign_work_unit(self, node: Any) -> None:
        self.workqueue.move_to_end(preferred(list(self.workqueue), node.gateway.id), last=False)
        super()._assign_work_unit(node)
