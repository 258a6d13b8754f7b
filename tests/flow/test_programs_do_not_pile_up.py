"""A long-running engine keeps the programs it works on and a few idle ones, whatever the number of packages."""

from __future__ import annotations

from engine.loop.residents import IDLE_PROGRAMS, Residents
from engine.machine.step import submitted
from engine.model.events import ExecutionSubmitted
from engine.model.graph import Program
from engine.model.ids import ExecutionId
from tests.programs import chain, workflow_id


async def test_idle_programs_are_bounded_and_used_ones_stay() -> None:
    loads: list[str] = []

    async def load(digest: str) -> Program:
        loads.append(digest)
        return chain(1)

    residents = Residents(load)

    async def start(name: str, digest: str) -> ExecutionId:
        execution = ExecutionId("p", "d", name)
        program = await residents.program(digest)
        residents.add(submitted(ExecutionSubmitted(execution, workflow_id("wf"), digest), program))
        return execution

    await start("busy", "used")
    for number in range(100):
        residents.drop(await start(f"e{number}", f"package {number}"))

    assert residents.known_program("used") is not None
    kept = [number for number in range(100) if residents.known_program(f"package {number}")]
    assert kept == list(range(100 - IDLE_PROGRAMS, 100))
    await start("again", "package 99")
    assert loads.count("package 99") == 1
