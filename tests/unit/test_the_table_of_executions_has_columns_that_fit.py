"""The table that `propwash list` prints."""

from __future__ import annotations

from msgspec import structs

from engine.cli.report import execution_table
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
    execution("child", 500.0, ExecutionPhase.FAILED, "plan_daily", parent="bad"),
]


def test_columns_stand_below_each_other_and_empty_ones_are_left_out() -> None:
    failed = structs.replace(RECORDS[1], started_at=1.0, ended_at=3.5, error=Failure("任:X", ErrorKind.USER, "no"))
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
