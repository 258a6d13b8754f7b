"""The reference: a plain asyncio loop, one SQLite WAL commit with `synchronous=FULL` per step, and nothing else."""

from __future__ import annotations

import asyncio
import sqlite3
import statistics
import time
from pathlib import Path

STEPS = 200


async def step_seconds(folder: Path) -> float:
    """Seconds of one step: the median of STEPS."""
    connection = sqlite3.connect(folder / "reference.db", isolation_level=None)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=FULL")
    connection.execute("CREATE TABLE step (number INTEGER PRIMARY KEY, payload BLOB)")
    times = []
    for number in range(STEPS):
        begin = time.perf_counter()
        await asyncio.sleep(0)
        connection.execute("BEGIN")
        connection.execute("INSERT INTO step VALUES (?, ?)", (number, b"x" * 300))
        connection.execute("COMMIT")
        times.append(time.perf_counter() - begin)
    connection.close()
    return statistics.median(times)


def copy_seconds(source: Path, destination: Path) -> float:
    """Seconds of a plain copy of a folder's files into one file, in order: the best of three."""
    return min(copied_once(source, destination) for _ in range(3))


def copied_once(source: Path, destination: Path) -> float:
    begin = time.perf_counter()
    with destination.open("wb") as out:
        for path in sorted(source.iterdir()):
            out.write(path.read_bytes())
    return time.perf_counter() - begin
