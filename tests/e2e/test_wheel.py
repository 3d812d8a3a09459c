"""What the browser tests drive is what users install."""

from __future__ import annotations

import gzip
import re
import subprocess
from pathlib import Path

from . import wheel
from .site import Site

# What the page loads before its first list of tools, compressed. The bench's aim is 350 kB.
MOST_SCRIPT_BYTES = 332_800


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


def test_the_first_screen_loads_no_more_javascript_than_it_needs() -> None:
    (static,) = wheel.ENVIRONMENT.glob("lib/python*/site-packages/mcplens/web/static")
    index = (static / "index.html").read_text()
    scripts = set(re.findall(r'"/(assets/[^"]+\.js)"', index))
    sizes = {name: len(gzip.compress((static / name).read_bytes(), 6)) for name in scripts}
    # The frame, the Tools screen and what it shares: more files would cost more requests.
    assert 3 <= len(sizes) <= 8
    assert sum(sizes.values()) <= MOST_SCRIPT_BYTES, sorted(sizes.items(), key=lambda one: -one[1])
