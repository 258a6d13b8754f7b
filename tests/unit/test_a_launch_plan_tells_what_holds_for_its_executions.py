"""Labels, annotations, environment and the other options of a launch plan, and when it starts by itself."""

from __future__ import annotations

import pytest
from flyteidl.admin.launch_plan_pb2 import LaunchPlan
from flyteidl.admin.schedule_pb2 import FixedRateUnit
from flyteidl.core.types_pb2 import LiteralType, SimpleType

from engine.model.graph import LaunchPlanSpec
from engine.model.ids import EntityId, EntityKind
from engine.model.overrides import Overrides
from engine.model.schedules import Schedule
from engine.wire.compile_plans import compile_plan
from tests.literal_types import INT
from tests.packages import literal
from tests.programs import interface

TIME = LiteralType(simple=SimpleType.DATETIME)
WORKFLOW = EntityId(EntityKind.WORKFLOW, "p", "d", "wf", "v1")


def a_plan() -> LaunchPlan:
    plan = LaunchPlan()
    plan.id.name = "daily"
    plan.spec.workflow_id.project, plan.spec.workflow_id.domain = "p", "d"
    plan.spec.workflow_id.name, plan.spec.workflow_id.version = "wf", "v1"
    return plan


def compiled(plan: LaunchPlan, **inputs: LiteralType) -> tuple[LaunchPlanSpec, list[str]]:
    return compile_plan(plan, {WORKFLOW: interface(inputs)})


def test_options_are_kept() -> None:
    plan = a_plan()
    plan.spec.labels.values.update({"team": "x", "propwash.dev/architecture": "arm64"})
    plan.spec.annotations.values["why"] = "because"
    plan.spec.envs.values.add(key="LEVEL", value="debug")
    plan.spec.interruptible.value = False
    plan.spec.max_parallelism = 7
    plan.spec.overwrite_cache = True
    plan.spec.raw_output_data_config.output_location_prefix = "s3://raw"
    spec, wrong = compiled(plan)
    assert wrong == []
    assert spec.overrides == Overrides({"team": "x"}, {"why": "because"}, {"LEVEL": "debug"}, False, 7, "s3://raw")
    assert (spec.architecture, spec.overwrite_cache) == ("arm64", True)


def test_a_plan_without_options_says_nothing() -> None:
    spec, wrong = compiled(a_plan())
    assert (spec.overrides, spec.schedule, spec.notices, wrong) == (Overrides(), None, (), [])


def test_an_unknown_architecture_is_a_mistake() -> None:
    plan = a_plan()
    plan.spec.labels.values["propwash.dev/architecture"] = "sparc"
    assert compiled(plan)[1] == [
        "its label propwash.dev/architecture is 'sparc'; expected one of amd64, arm64, arm-v6, arm-v7"
    ]


def test_what_nobody_does_is_told() -> None:
    plan = a_plan()
    plan.spec.entity_metadata.notifications.add()
    assert compiled(plan)[0].notices == (
        "its notifications are not sent: nobody here sends mail, Slack or PagerDuty messages",
    )


@pytest.mark.parametrize(
    ("cron", "offset", "expected"),
    [
        ("*/5 * * * *", "", Schedule("*/5 * * * *")),
        ("@daily", "PT1H30M", Schedule("0 0 * * *", 5400.0)),
        ("hours", "", Schedule("0 * * * *")),
    ],
)
def test_cron_schedules(cron: str, offset: str, expected: Schedule) -> None:
    plan = a_plan()
    plan.spec.entity_metadata.schedule.cron_schedule.schedule = cron
    plan.spec.entity_metadata.schedule.cron_schedule.offset = offset
    assert compiled(plan)[0].schedule == expected


def test_the_old_cron_expression_counts_days_from_1() -> None:
    plan = a_plan()
    plan.spec.entity_metadata.schedule.cron_expression = "15 12 ? * 2-6 *"
    assert compiled(plan)[0].schedule == Schedule("15 12 * * 1-5")


@pytest.mark.parametrize(
    ("unit", "seconds"), [(FixedRateUnit.MINUTE, 180.0), (FixedRateUnit.HOUR, 10800.0), (FixedRateUnit.DAY, 259200.0)]
)
def test_rates(unit: FixedRateUnit, seconds: float) -> None:
    plan = a_plan()
    plan.spec.entity_metadata.schedule.rate.value = 3
    plan.spec.entity_metadata.schedule.rate.unit = unit
    assert compiled(plan)[0].schedule == Schedule(every_seconds=seconds)


def test_a_schedule_that_can_t_be_kept_does_no_harm_to_the_rest() -> None:
    plan = a_plan()
    plan.spec.entity_metadata.schedule.cron_schedule.schedule = "0 25 * * *"
    spec, wrong = compiled(plan)
    assert (spec.schedule, wrong) == (None, [])
    assert spec.schedule_problem.startswith("'0 25 * * *' is no cron expression: ")


def test_a_schedule_needs_a_value_for_every_input() -> None:
    plan = a_plan()
    schedule = plan.spec.entity_metadata.schedule
    schedule.cron_schedule.schedule = "@daily"
    schedule.kickoff_time_input_arg = "at"
    assert compiled(plan, at=TIME)[0].schedule_problem == ""
    assert compiled(plan, at=TIME)[0].schedule == Schedule("0 0 * * *", kickoff_input="at")
    assert compiled(plan, at=INT)[0].schedule_problem == (
        "its schedule gives the time to input 'at', which is no datetime"
    )
    assert compiled(plan, n=INT)[0].schedule_problem == (
        "its schedule gives the time to input 'at', which its workflow does not have; "
        "it has a schedule, but nobody gives a value for 'n': give it a default or fix it"
    )
    plan.spec.fixed_inputs.literals["n"].CopyFrom(literal(3))
    assert compiled(plan, at=TIME, n=INT)[0].schedule_problem == ""
