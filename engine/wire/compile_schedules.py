"""Compiles what a launch plan says about its executions beside their inputs: options, and when it starts by itself."""

from __future__ import annotations

from collections.abc import Mapping

from flyteidl.admin.launch_plan_pb2 import LaunchPlan, LaunchPlanSpec
from flyteidl.admin.schedule_pb2 import FixedRate, FixedRateUnit
from flyteidl.admin.schedule_pb2 import Schedule as Message
from flyteidl.core.types_pb2 import LiteralType, SimpleType
from msgspec import Struct

from engine.model.architectures import PLAN_LABEL, Architecture
from engine.model.graph import Interface
from engine.model.overrides import NONE, Overrides
from engine.model.schedules import Schedule
from engine.wire.cron import BadCron, read_cron, read_old_cron
from engine.wire.entities import Entity
from engine.wire.moments import SECOND, parse_duration

_UNIT_SECONDS = {FixedRateUnit.MINUTE: 60, FixedRateUnit.HOUR: 3600, FixedRateUnit.DAY: 86400}


class Standing(Struct, frozen=True):
    """What holds for every execution of a launch plan."""

    overrides: Overrides = NONE
    """NONE itself, where nothing is said: then nobody has to lay anything over it."""
    architecture: str = ""
    schedule: Schedule | None = None
    schedule_problem: str = ""
    notices: tuple[str, ...] = ()
    wrong: tuple[str, ...] = ()


def compile_standing(plan: LaunchPlan, interface: Interface | None, given: Mapping[str, object]) -> Standing:
    """`interface`: of the workflow, None where it is not known. `given`: inputs with a default or a fixed value."""
    spec = plan.spec
    labels = dict(spec.labels.values)
    architecture = labels.pop(PLAN_LABEL, "")
    wrong: list[str] = []
    if architecture and architecture not in list(Architecture):
        known = ", ".join(Architecture)
        wrong.append(f"its label {PLAN_LABEL} is {architecture!r}; expected one of {known}")
    problems: list[str] = []
    schedule = _schedule(spec.entity_metadata.schedule, problems)
    if schedule is not None and interface is not None:
        problems += _unstartable(schedule, interface, given)
    overrides = Overrides(
        labels=labels,
        annotations=dict(spec.annotations.values),
        envs={pair.key: pair.value for pair in spec.envs.values},
        interruptible=spec.interruptible.value if spec.HasField("interruptible") else None,
        max_parallelism=spec.max_parallelism,
        raw_output_prefix=spec.raw_output_data_config.output_location_prefix,
        service_account=_service_account(spec),
    )
    if overrides == NONE:
        overrides = NONE
    return Standing(overrides, architecture, schedule, "; ".join(problems), _notices(spec), tuple(wrong))


def _service_account(spec: LaunchPlanSpec) -> str:
    """What flytekit writes today, else what it wrote before there were security contexts."""
    old = spec.auth_role.kubernetes_service_account or spec.auth.kubernetes_service_account
    return str(spec.security_context.run_as.k8s_service_account or old)


def _notices(spec: LaunchPlanSpec) -> tuple[str, ...]:
    found = []
    if spec.entity_metadata.notifications:
        found.append("its notifications are not sent: nobody here sends mail, Slack or PagerDuty messages")
    if spec.HasField("concurrency_policy"):
        found.append("its concurrency policy is not kept: every execution that is asked for starts")
    if spec.entity_metadata.HasField("launch_conditions"):
        found.append("its launch conditions are not looked at: it starts by its schedule or by hand")
    return tuple(found)


def _schedule(message: Message, problems: list[str]) -> Schedule | None:
    kickoff = message.kickoff_time_input_arg
    try:
        match message.WhichOneof("ScheduleExpression"):
            case "cron_schedule":
                offset = _offset(message.cron_schedule.offset)
                return Schedule(read_cron(message.cron_schedule.schedule), offset, kickoff_input=kickoff)
            case "cron_expression":
                return Schedule(read_old_cron(message.cron_expression), kickoff_input=kickoff)
            case "rate":
                return Schedule(every_seconds=_rate(message.rate), kickoff_input=kickoff)
    except (BadCron, ValueError) as problem:
        problems.append(str(problem))
    return None


def _offset(text: str) -> float:
    return parse_duration(text) / SECOND if text else 0.0


def _rate(rate: FixedRate) -> float:
    seconds = float(rate.value * _UNIT_SECONDS.get(rate.unit, 0))
    if not seconds:
        raise ValueError(f"a rate of {rate.value} of unit {rate.unit} stands for no time")
    return seconds


def _unstartable(schedule: Schedule, interface: Interface, given: Mapping[str, object]) -> list[str]:
    """A schedule gives one input at most: the others need a value."""
    found = []
    kickoff = schedule.kickoff_input
    if kickoff and kickoff not in interface.inputs:
        found.append(f"its schedule gives the time to input {kickoff!r}, which its workflow does not have")
    elif kickoff and LiteralType.FromString(interface.inputs[kickoff]).simple != SimpleType.DATETIME:
        found.append(f"its schedule gives the time to input {kickoff!r}, which is no datetime")
    missing = [name for name in interface.inputs if name not in given and name != kickoff]
    if missing:
        listed = ", ".join(map(repr, missing))
        found.append(f"it has a schedule, but nobody gives a value for {listed}: give it a default or fix it")
    return found


def plan_summary(plan: Entity) -> tuple[str, str]:
    """The name of a launch plan's workflow, and its schedule in words ("" = none that can be kept)."""
    assert isinstance(plan, LaunchPlan)
    schedule = _schedule(plan.spec.entity_metadata.schedule, [])
    return plan.spec.workflow_id.name, "" if schedule is None else str(schedule)
