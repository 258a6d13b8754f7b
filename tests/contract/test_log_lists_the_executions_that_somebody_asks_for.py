"""Filters, order and pages of a list of executions: every log gives the same."""

from __future__ import annotations

import pytest
from msgspec import structs

from engine.model.ids import AttemptKey, EntityId, EntityKind, ExecutionId
from engine.model.phases import ExecutionPhase
from engine.model.state import Execution
from engine.ports.eventlog import Changes, Mark, Selection
from tests.contract.log_adapters import LogWorld


def execution(name: str, at: float, phase: ExecutionPhase, workflow: str, parent: str = "") -> Execution:
    entity = EntityId(EntityKind.LAUNCH_PLAN, "p", "d", workflow, "v1")
    flow = structs.replace(entity, kind=EntityKind.WORKFLOW, name=f"flows.{workflow.rpartition('.')[2]}")
    key = AttemptKey(ExecutionId("p", "d", parent), "n4") if parent else None
    return Execution(ExecutionId("p", "d", name), entity, flow, "digest", phase, parent=key, submitted_at=at)


OTHERS = Execution(
    ExecutionId("p2", "d2", "else"),
    EntityId(EntityKind.WORKFLOW, "p2", "d2", "größen_\udc80", "v1"),
    EntityId(EntityKind.WORKFLOW, "p2", "d2", "größen_\udc80", "v1"),
    "digest",
    ExecutionPhase.ABORTED,
    submitted_at=100.0,
)
RECORDS = [
    execution("old", 100.0, ExecutionPhase.SUCCEEDED, "flows.daily"),
    execution("bad", 400.0, ExecutionPhase.FAILED, "flows.hourly"),
    execution("child", 400.0, ExecutionPhase.FAILED, "plan_daily", parent="bad"),
    OTHERS,
    execution("now", 940.0, ExecutionPhase.RUNNING, "flows.daily"),
]


@pytest.mark.parametrize(
    ("wanted", "names"),
    [
        (Selection(), "now child bad old else"),
        (Selection(children=False), "now bad old else"),
        (Selection(phases=("FAILED",)), "child bad"),
        (Selection(phases=("FAILED", "RUNNING"), children=False), "now bad"),
        (Selection(workflow="daily"), "now old"),
        (Selection(workflow="flows.daily"), "now old"),
        (Selection(workflow="plan_daily"), "child"),
        (Selection(workflow="aily"), ""),
        (Selection(workflow="flows_daily"), ""),
        (Selection(workflow="größen_\udc80"), "else"),
        (Selection(since=400.0), "now child bad"),
        (Selection(since=401.0), "now"),
        (Selection(project="p2"), "else"),
        (Selection(project="p", domain="d2"), ""),
        (Selection(limit=2), "now child"),
        (Selection(limit=0), ""),
        (Selection(limit=1, behind=Mark(400.0, ExecutionId("p", "d", "child"))), "bad"),
        (Selection(behind=Mark(100.0, ExecutionId("p", "d", "old"))), "else"),
        (Selection(behind=Mark(500.0, ExecutionId("p", "d", "forgotten"))), "child bad old else"),
    ],
)
async def test_a_list_has_what_is_asked_for_in_its_order(log_world: LogWorld, wanted: Selection, names: str) -> None:
    await log_world.log.commit((), Changes(executions=RECORDS))
    assert [record.id.name for record in await log_world.log.select(wanted)] == names.split()


async def test_a_list_shows_executions_as_they_are_now(log_world: LogWorld) -> None:
    await log_world.log.commit((), Changes(executions=RECORDS))
    ended = structs.replace(RECORDS[-1], phase=ExecutionPhase.FAILED, ended_at=990.0)
    await log_world.log.commit((), Changes(executions=[ended]))
    assert await log_world.log.select(Selection(phases=("RUNNING",))) == []
    assert await log_world.log.select(Selection(phases=("FAILED",), limit=1)) == [ended]
