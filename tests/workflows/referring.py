"""Workflows that refer to what was registered from another file, in another project."""

from flytekit import reference_launch_plan, reference_task, workflow


@reference_task(project="lib", domain="development", name="registering.double", version="v1")
def double(n: int) -> int: ...


@reference_launch_plan(project="lib", domain="development", name="registering.fixed", version="v1")
def fixed() -> int: ...


@workflow
def doubled(n: int) -> int:
    return double(n=n)


@workflow
def by_plan() -> int:
    return fixed()
