from __future__ import annotations

import asyncio
import threading
from pathlib import Path

import pytest
import uvloop

from engine.adapters.files.blobs import FileBlobs
from engine.adapters.files.folders import Known
from engine.adapters.files.thread import GROUP, IoThread
from engine.model.errors import Defect


async def test_calls_run_in_order_in_one_thread_and_share_a_group() -> None:
    thread = IoThread("t")
    order: list[int] = []
    groups: list[int] = []
    threads: set[int] = set()

    def work(number: int, known: Known) -> int:
        order.append(number)
        threads.add(threading.get_ident())
        if not known:
            groups.append(0)
        known.add(str(number))
        groups[-1] += 1
        return number * 2

    try:
        calls = [thread.call(lambda known, number=number: work(number, known)) for number in range(600)]  # type: ignore[misc]
        assert await asyncio.gather(*calls) == [number * 2 for number in range(600)]
    finally:
        await thread.close()
    assert order == list(range(600))
    assert groups == [GROUP, GROUP, 600 - 2 * GROUP]
    assert len(threads) == 1
    assert threading.get_ident() not in threads


async def test_a_call_cancelled_before_its_turn_never_runs_and_the_others_do() -> None:
    thread = IoThread("t")
    ran: list[str] = []
    try:
        first = thread.call(lambda known: ran.append("first"))
        second = thread.call(lambda known: ran.append("second"))
        third = thread.call(lambda known: ran.append("third"))
        second.cancel()
        await asyncio.gather(first, third)
    finally:
        await thread.close()
    assert ran == ["first", "third"]


async def test_an_error_reaches_the_one_who_called() -> None:
    thread = IoThread("t")
    try:
        good = thread.call(lambda known: 1)
        bad = thread.call(lambda known: 1 // 0)
        with pytest.raises(ZeroDivisionError):
            await bad
        assert await good == 1
    finally:
        await thread.close()


async def test_closing_finishes_what_was_called_and_refuses_more() -> None:
    thread = IoThread("the store")
    ran: list[int] = []
    calls = [thread.call(lambda known: ran.append(1)) for _ in range(10)]
    await thread.close()
    await thread.close()
    assert len(ran) == 10
    assert all(call.done() for call in calls)
    with pytest.raises(Defect, match="the store was called after it was closed"):
        thread.call(lambda known: None)


def assert_gone(name: str) -> None:
    for thread in threading.enumerate():
        if thread.name.startswith(name):
            thread.join(30)
            assert not thread.is_alive()


def test_a_loop_that_ends_first_is_no_error() -> None:
    go = threading.Event()

    async def main() -> None:
        thread = IoThread("t")
        thread.call(lambda known: go.wait(30))
        await asyncio.sleep(0)

    asyncio.run(main())
    go.set()
    assert_gone("t")


@pytest.mark.parametrize("loop_factory", [asyncio.new_event_loop, uvloop.new_event_loop], ids=["asyncio", "uvloop"])
def test_the_store_works_on_both_event_loops(tmp_path: Path, loop_factory: object) -> None:
    async def main() -> None:
        async with FileBlobs.open(tmp_path) as files:
            uris = [files.uri(f"a/{number}") for number in range(600)]
            await asyncio.gather(*(files.put(uri, uri.encode()) for uri in uris))
            assert await asyncio.gather(*(files.get(uri) for uri in uris)) == [uri.encode() for uri in uris]
            async with files.writer(files.uri("b")) as writer:
                await writer.write(b"x" * 2_500_000)
            assert await files.size(files.uri("b")) == 2_500_000

    with asyncio.Runner(loop_factory=loop_factory) as runner:  # type: ignore[arg-type]
        runner.run(main())
    assert_gone("store ")
