"""Launch plans: defaults, fixed inputs, schedules, notifications, labels."""

from datetime import datetime, timedelta

from flytekit import (
    Annotations,
    CronSchedule,
    Email,
    FixedRate,
    Labels,
    LaunchPlan,
    Resources,
    WorkflowExecutionPhase,
    task,
    workflow,
)


@task(requests=Resources(cpu="100m", mem="100Mi"), limits=Resources(mem="1Gi"))
def greet(day: str, number: int, am: bool) -> str:
    return f"Have a great {day} in {'morning' if am else 'evening'} number {number}"


@task
def date_of(kickoff: datetime) -> str:
    return kickoff.strftime("%d/%m/%Y")


@workflow
def go_greet(day: str, number: int, am: bool = False) -> str:
    return greet(day=day, number=number, am=am)


@workflow
def format_date(kickoff: datetime) -> str:
    return date_of(kickoff=kickoff)


morning = LaunchPlan.get_or_create(
    go_greet, name="morning_greeting", default_inputs={"number": 1}, fixed_inputs={"am": True}
)
labelled = LaunchPlan.get_or_create(
    go_greet,
    name="labelled_greeting",
    fixed_inputs={"day": "Sunday", "number": 7},
    labels=Labels({"team": "greeters"}),
    annotations=Annotations({"note": "é"}),
    notifications=[Email(phases=[WorkflowExecutionPhase.FAILED], recipients_email=["somebody@example.com"])],
    max_parallelism=2,
)
every_minute = LaunchPlan.get_or_create(
    format_date,
    name="every_minute",
    schedule=CronSchedule(schedule="*/1 * * * *", kickoff_time_input_arg="kickoff"),
)
every_hour = LaunchPlan.get_or_create(
    go_greet,
    name="every_hour",
    schedule=FixedRate(duration=timedelta(hours=1)),
    fixed_inputs={"day": "Monday", "number": 3},
)


@workflow
def greetings(day: str) -> tuple[str, str, str]:
    return morning(day=day), labelled(), morning(day="Friday", number=9)
