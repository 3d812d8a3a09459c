"""What the browser tests drive is what users install."""

from __future__ import annotations

import subprocess
from pathlib import Path

from . import wheel
from .site import Site


def test_the_backend_runs_from_the_wheel_and_not_from_the_sources(
    demo: Site, tmp_path: Path
) -> None:
    process = str(demo.process.pid)
    started = subprocess.check_output(["ps", "-ww", "-o", "args=", "-p", process], text=True)
    assert started.split()[:2] == [str(wheel.PYTHON), str(wheel.COMMAND)]
    asked = "import mcplens, mcplens.web.page as page; print(mcplens.__file__, page.STATIC)"
    said = subprocess.check_output(
        [wheel.PYTHON, "-c", asked], env=wheel.surroundings(tmp_path), cwd=tmp_path, text=True
    )
    for place in said.split():
        assert Path(place).is_relative_to(wheel.ENVIRONMENT), place
