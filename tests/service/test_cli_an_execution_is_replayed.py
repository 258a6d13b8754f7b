"""`propwash replay` on a real home: the same comes out; a history that somebody changed is found out."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from msgspec import structs

from engine.adapters.sqlite.home import LOG_FILE
from engine.wire import codec
from tests.service.command import WORKFLOWS, Propwash, propwash

__all__ = ["propwash"]
pytestmark = pytest.mark.service("flytekit")


def _change(home: Path) -> None:
    """The last fact of the history says something else."""
    with sqlite3.connect(home / LOG_FILE) as connection:
        rows = connection.execute("SELECT execution, sequence, payload FROM history ORDER BY sequence").fetchall()
        execution, sequence, payload = rows[-1]
        fact = structs.replace(codec.unpack_fact(payload), phase="ABORTED")
        connection.execute(
            "UPDATE history SET payload = ? WHERE execution = ? AND sequence = ?",
            (codec.pack_fact(fact), execution, sequence),
        )
    connection.close()


def test_the_same_comes_out_and_a_change_is_found(propwash: Propwash) -> None:
    folder = str(propwash.folder)
    ran = propwash("run", str(WORKFLOWS / "every_kind.py"), "wf", "--name", "all", "--n", "4", "--folder", folder)
    assert ran.code == 0, ran.err
    replayed = propwash("replay", "all")
    assert replayed.code == 0, replayed.out
    assert replayed.out.endswith("facts: today's engine decides the same\n")
    steps = propwash("replay", "all", "--steps").out
    assert "ExecutionSubmitted" in steps
    assert "node n0, attempt 0: RUNNING" in steps
    assert propwash("replay", "all", "--json").document["difference"] is None

    _change(propwash.home)
    changed = propwash("replay", "all")
    assert changed.code == 1
    assert "recorded: execution: ABORTED\n  decided:  execution: SUCCEEDED\n" in changed.out
    assert propwash("replay", "nobody").code == 2
