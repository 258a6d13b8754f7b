"""One workflow for each kind of node that has no handler yet, and a sound one beside them."""

from flytekit import LaunchPlan, conditional, dynamic, eager, map_task, task, workflow
from flytekit.core.base_task import kwtypes
from flytekit.core.task import Echo, reference_task
from flytekit.core.launch_plan import reference_launch_plan


@task
def one(n: int) -> int:
    return n + 1


@task
def clean(n: int) -> None:
    print(n)


@dynamic
def several(n: int) -> int:
    for _ in range(n):
        n = one(n=n)
    return n


@eager
async def eagerly(n: int) -> int:
    return one(n=n)


echo = Echo(name="echo", inputs=kwtypes(n=int))


@reference_task(project="elsewhere", domain="production", name="their.task", version="v7")
def theirs(n: int) -> int: ...


@reference_launch_plan(project="elsewhere", domain="production", name="their.plan", version="v8")
def their_plan(n: int) -> int: ...


@workflow
def sound(n: int) -> int:
    return one(n=n)


plan = LaunchPlan.get_or_create(sound)


@workflow
def branches(n: int) -> int:
    return conditional("small").if_(n < 3).then(one(n=n)).else_().then(several(n=n))


@workflow
def dynamics(n: int) -> int:
    return several(n=one(n=n))


@workflow(on_failure=clean)
def cleaned(n: int) -> int:
    return one(n=n)


@workflow
def echoes(n: int) -> int:
    return echo(n=n)


@workflow
def maps_a_plan(ns: list[int]) -> list[int]:
    return map_task(plan)(n=ns)


@workflow
def elsewhere(n: int) -> int:
    return their_plan(n=theirs(n=n))


@workflow
def contains(n: int) -> int:
    return dynamics(n=n)


dynamic_plan = LaunchPlan.get_or_create(contains, name="contains-plan")


@workflow
def calls(n: int) -> int:
    return dynamic_plan(n=n)
