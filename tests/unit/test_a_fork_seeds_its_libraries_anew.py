"""Two forks of one parent would draw the same numbers from a library that the parent has loaded."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import pytest

from engine.adapters.processes import forked


@pytest.mark.parametrize("name", ["numpy.random", "torch"])
def test_what_the_parent_has_loaded_is_seeded(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    calls: list[str] = []
    module = SimpleNamespace(seed=lambda: calls.append(name))
    monkeypatch.setitem(sys.modules, name, module)
    forked._reseed()
    assert calls == [name]
