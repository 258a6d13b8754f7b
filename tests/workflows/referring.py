"""Workflows that refer to what was registered from another file, in another project."""

from flytekit import dynamic, reference_launch_plan, reference_task, workflow


@reference_task(project="lib", domain="development", name="registering.double", version="v1")
def double(n: int) -> int: ...


@reference_launch_plan(project="lib", domain="development", name="registering.fixed", version="v1")
def fixed() -> int: ...


@reference_launch_plan(project="lib", domain="development", name="registering.twice", version="v1")
def twice(n: int) -> int: ...


@workflow
def doubled(n: int) -> int:
    return double(n=n)


@workflow
def by_plan() -> int:
    return fixed()


@dynamic
def plans(n: int) -> list[int]:
    """Nobody knows of these references before the task runs."""
    return [fixed(), *[twice(n=k) for k in range(n)]]


@workflow
def planned(n: int) -> list[int]:
    return plans(n=n)
