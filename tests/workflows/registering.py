"""Tasks and workflows to be registered, one of them with a launch plan that starts by itself."""

import os
from datetime import datetime, timedelta

import registering_lib
from flytekit import FixedRate, Labels, LaunchPlan, task, workflow


@task
def double(n: int) -> int:
    return registering_lib.times(n, 2)


@task
def level(at: datetime) -> str:
    return f"{os.environ.get('LEVEL', 'none')} at {at:%H:%M}"


@workflow
def twice(n: int = 4) -> int:
    return double(n=double(n=n))


@workflow
def leveled(at: datetime) -> str:
    return level(at=at)


fixed = LaunchPlan.get_or_create(twice, "registering.fixed", fixed_inputs={"n": 10}, labels=Labels({"team": "x"}))
minutely = LaunchPlan.get_or_create(
    leveled,
    "registering.minutely",
    schedule=FixedRate(timedelta(minutes=1), kickoff_time_input_arg="at"),
    auto_activate=True,
)
