from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from msgspec import structs

from engine.app import Engine
from engine.clusters import done
from engine.machine.execution import ExecutionState
from engine.model.ids import AttemptKey, ExecutionId
from engine.model.phases import ExecutionPhase
from engine.model.state import Execution
from tests.programs import chain
from tests.simulation import EXECUTION, Simulation

ENDED, ELSEWHERE = ExecutionId("p", "d", "ended"), ExecutionId("p", "d", "elsewhere")


class Holder:
    """An engine that has one execution in memory and one, which has ended, in its log."""

    def __init__(self) -> None:
        self.state = Simulation(chain(2), lambda key: "hang").state
        self.residents, self.log = self, self

    def get(self, execution: ExecutionId) -> ExecutionState | None:
        return self.state if execution == EXECUTION else None

    async def find(self, ids: Sequence[ExecutionId]) -> dict[ExecutionId, Execution]:
        ended = structs.replace(self.state.record, id=ENDED, phase=ExecutionPhase.SUCCEEDED)
        return {ENDED: ended} if ENDED in ids else {}


async def test_only_what_the_engine_holds_is_judged() -> None:
    wanted, over = AttemptKey(EXECUTION, "n0"), AttemptKey(EXECUTION, "n0", 7)
    ended, elsewhere = AttemptKey(ENDED, "n0"), AttemptKey(ELSEWHERE, "n0")
    found = await done(cast("Engine", Holder()), [wanted, over, ended, elsewhere])
    assert found == [over, ended]
