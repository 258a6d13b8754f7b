"""For tests that read the settings of a whole process."""

from __future__ import annotations

import os

import pytest


@pytest.fixture(autouse=True)
def no_settings_of_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the services of the run are is told by variables that look like settings and are none."""
    for name in [name for name in os.environ if name.startswith("PROPWASH_")]:
        monkeypatch.delenv(name)
