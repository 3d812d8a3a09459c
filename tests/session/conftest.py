"""Each test probes its servers anew."""

from __future__ import annotations

import pytest

from mcplens.session.handshake import forget_revisions


@pytest.fixture(autouse=True)
def _no_verdicts() -> None:
    forget_revisions()
