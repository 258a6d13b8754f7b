"""The filters of `propwash list`: phase, workflow, age, number, order, children."""

from __future__ import annotations

import pytest
from msgspec import structs

from engine.cli.report import execution_table
from engine.gateway.choosing import Wanted
from engine.model.errors import ErrorKind, Failure
from engine.model.ids import AttemptKey, EntityId, EntityKind, ExecutionId
from engine.model.phases import ExecutionPhase
from engine.model.state import Execution

NOW = 10_000.0


def execution(name: str, age: float, phase: ExecutionPhase, workflow: str, parent: str = "") -> Execution:
    entity = EntityId(EntityKind.LAUNCH_PLAN, "p", "d", workflow, "v1")
    flow = structs.replace(entity, kind=EntityKind.WORKFLOW, name=f"flows.{workflow.rpartition('.')[2]}")
    key = AttemptKey(ExecutionId("p", "d", parent), "n4") if parent else None
    return Execution(ExecutionId("p", "d", name), entity, flow, "digest", phase, parent=key, submitted_at=NOW - age)


RECORDS = [
    execution("old", 7200.0, ExecutionPhase.SUCCEEDED, "flows.daily"),
    execution("bad", 600.0, ExecutionPhase.FAILED, "flows.hourly"),
    execution("child", 500.0, ExecutionPhase.FAILED, "plan_daily", parent="bad"),
    execution("now", 60.0, ExecutionPhase.RUNNING, "flows.daily"),
]


@pytest.mark.parametrize(
    ("wanted", "names"),
    [
        (Wanted(), "old bad child now"),
        (Wanted(children=False), "old bad now"),
        (Wanted(phases=("FAILED",)), "bad child"),
        (Wanted(phases=("FAILED", "RUNNING"), children=False), "bad now"),
        (Wanted(workflow="daily"), "old now"),
        (Wanted(workflow="flows.daily"), "old now"),
        (Wanted(workflow="plan_daily"), "child"),
        (Wanted(workflow="aily"), ""),
        (Wanted(since_seconds=600.0), "bad child now"),
        (Wanted(since_seconds=599.0), "child now"),
        (Wanted(limit=2), "child now"),
        (Wanted(limit=2, newest_first=True), "now child"),
        (Wanted(limit=0), ""),
        (Wanted(limit=9, newest_first=True, children=False), "now bad old"),
    ],
)
def test_filters(wanted: Wanted, names: str) -> None:
    assert [record.id.name for record in wanted.choose(RECORDS, NOW)] == names.split()


def test_columns_stand_below_each_other_and_empty_ones_are_left_out() -> None:
    failed = structs.replace(RECORDS[2], started_at=1.0, ended_at=3.5, error=Failure("任:X", ErrorKind.USER, "no"))
    lines = execution_table([RECORDS[0], failed], NOW).splitlines()
    heads = ["NAME", "PHASE", "WORKFLOW", "SUBMITTED", "TIME", "PARENT", "ERROR"]
    assert lines[0].split() == heads
    row = dict(zip(heads, (lines[2][lines[0].index(head) :].partition("  ")[0].strip() for head in heads), strict=True))
    assert row.pop("SUBMITTED")
    assert row == {
        "NAME": "child",
        "PHASE": "FAILED",
        "WORKFLOW": "plan_daily",
        "TIME": "2.5 s",
        "PARENT": "bad n4",
        "ERROR": "任:X",
    }
    assert execution_table(RECORDS[:1], NOW).splitlines()[0].split() == heads[:4]
