"""What holds for an execution: what its submission says, over what its launch plan says."""

from __future__ import annotations

from engine.model.graph import Program
from engine.model.overrides import NONE, Overrides
from engine.model.state import Execution


def effective(record: Execution, program: Program) -> Overrides:
    """FlytePropeller's order: execution, then launch plan. The architecture is the submission's alone: a launch plan's
    own stands below it and above the task's (`LaunchPlanSpec.architecture`)."""
    plan = program.launch_plans.get(record.entity)
    if plan is None or plan.overrides is NONE:
        return record.overrides
    return record.overrides.over(plan.overrides)


def overwrites_cache(record: Execution, program: Program) -> bool:
    plan = program.launch_plans.get(record.entity)
    return record.overwrite_cache or (plan is not None and plan.overwrite_cache)


def plan_architecture(record: Execution, program: Program) -> str:
    """What the launch plan says of its tasks' images; "" = nothing."""
    plan = program.launch_plans.get(record.entity)
    return "" if plan is None else plan.architecture
