"""A flood of output: the task goes on, the engine's memory does not, and head and tail are kept (user case S31)."""

from __future__ import annotations

import sys
from pathlib import Path

import anyio
import pytest
from msgspec import structs

from engine.adapters.processes.runner import LocalRunner, StoreAccess
from engine.ports.taskrunner import ExitReason
from tests.service.tasks import Bench, nothing

MIB = 1024 * 1024


@pytest.mark.service("flytekit")
@pytest.mark.service("fork")
async def test_105_megabytes_with_a_long_line_and_invalid_text(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "tests.service.runner_driver", "flood", str(tmp_path)]
    with anyio.fail_after(10):
        done = await anyio.run_process(words, stderr=None)
    reason, code, grown_kib = done.stdout.decode().split()
    assert (reason, code) == ("exited", "0")
    assert int(grown_kib) <= 20 * 1024
    bench = Bench(tmp_path)
    assert bench.outputs() == 1
    line = b"0123456789abcde\n"
    out, err = ((bench.prefix() / name).read_bytes() for name in ("stdout.log", "stderr.log"))
    cut_out = 50 * MIB + 1 - 10 * MIB  # flytekit prints an empty line first
    assert out == (b"\n" + line * MIB)[: 5 * MIB] + _mark(cut_out) + line * (5 * MIB // len(line))
    end = b"\xff the end"
    cut_err = 50 * MIB + 2 + 5 * MIB + len(end) - 10 * MIB
    assert err == line * (5 * MIB // len(line)) + _mark(cut_err) + b"x" * (5 * MIB - len(end)) + end


def _mark(count: int) -> bytes:
    return f"\n[... {count} bytes cut here ...]\n".encode()


@pytest.mark.service
async def test_a_task_that_prints_for_ever_fills_no_disk(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    async with LocalRunner(tmp_path / "work", log_limit=MIB, stop_grace_seconds=0) as runner:
        ended = await runner.run(bench.shell("exec cat /dev/zero", timeout_seconds=0.5), nothing)
    assert ended.reason is ExitReason.TIMED_OUT
    size = (bench.prefix() / "stdout.log").stat().st_size
    assert MIB < size < MIB + 100


@pytest.mark.service
async def test_the_end_of_stderr_is_told(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    script = "head -c 5000 /dev/zero | tr '\\0' x >&2; printf '\\377 no such bird\\n' >&2; exit 3"
    async with LocalRunner(tmp_path / "work") as runner:
        ended = await runner.run(bench.shell(script), nothing)
    told = "\ufffd no such bird"
    assert (ended.code, ended.message) == (3, "x" * (2048 - len("? no such bird\n")) + told)


@pytest.mark.service
async def test_output_goes_to_the_store_where_the_prefix_is_no_local_folder(tmp_path: Path) -> None:
    stored: dict[str, bytes] = {}

    async def put(uri: str, data: bytes) -> None:
        stored[uri] = data

    request = structs.replace(Bench(tmp_path).shell("echo out; echo err >&2"), prefix_uri="s3://bucket/a/n0/0")
    async with LocalRunner(tmp_path / "work", store=StoreAccess(put)) as runner:
        await runner.run(request, nothing)
    assert stored == {"s3://bucket/a/n0/0/stdout.log": b"out\n", "s3://bucket/a/n0/0/stderr.log": b"err\n"}
