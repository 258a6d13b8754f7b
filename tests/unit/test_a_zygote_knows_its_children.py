from __future__ import annotations

import os
import subprocess

import pytest

from engine.adapters.processes import zygote


@pytest.mark.service("fork")
def test_a_search_of_the_process_table_finds_them_too() -> None:
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE) as process:
        assert process.pid in zygote._children_by_search()
        assert os.getpid() not in zygote._children_by_search()
    assert process.pid not in zygote._children_by_search()
