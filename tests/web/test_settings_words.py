"""The page has plain words for every setting."""

from __future__ import annotations

import re
from pathlib import Path

from mcplens.config.keys import TOP_KEYS

LABELS = Path(__file__).parents[2] / "web" / "src" / "screens" / "settings" / "settingLabels.ts"


def test_every_setting_has_a_label_and_every_label_a_setting() -> None:
    labels = re.findall(r'^  (\w+): "', LABELS.read_text(), re.MULTILINE)
    assert sorted(labels) == sorted(key.name for key in TOP_KEYS)
