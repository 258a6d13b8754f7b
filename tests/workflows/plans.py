"""Launch plans with default and fixed inputs, called from a workflow."""

from flytekit import CronSchedule, LaunchPlan, task, workflow


@task
def greet(name: str, times: int, mark: str) -> str:
    return (name + mark) * times


@workflow
def greeting(name: str, times: int = 2, mark: str = "!") -> str:
    return greet(name=name, times=times, mark=mark)


polite = LaunchPlan.get_or_create(greeting, name="polite", default_inputs={"times": 3}, fixed_inputs={"mark": "."})
nightly = LaunchPlan.get_or_create(
    greeting, name="nightly.greeting", fixed_inputs={"name": "moon"}, schedule=CronSchedule(schedule="0 2 * * *")
)

usual = LaunchPlan.get_or_create(greeting)


@workflow
def both(name: str) -> tuple[str, str]:
    return polite(name=name), usual(name=name, times=1)
