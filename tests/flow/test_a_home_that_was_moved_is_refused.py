"""States hold absolute URIs: a home that is somewhere else now is refused before anything of it is failed."""

from __future__ import annotations

from pathlib import Path

import pytest

from config.settings import Settings
from engine.homes import open_parts
from engine.model.errors import BadInput


async def test_a_moved_home_is_refused_and_fine_again_when_moved_back(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    async with open_parts(first, Settings()):
        pass
    first.rename(second)

    with pytest.raises(BadInput, match=f"was made at {first} and is now at {second}.*Move it back"):
        async with open_parts(second, Settings()):
            pass

    second.rename(first)
    async with open_parts(first, Settings()):
        pass


async def test_a_home_may_be_reached_by_a_link(tmp_path: Path) -> None:
    home, link = tmp_path / "home", tmp_path / "link"
    async with open_parts(home, Settings()):
        pass
    link.symlink_to(home)
    async with open_parts(link, Settings()):
        pass
