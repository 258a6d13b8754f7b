"""A map whose gathered output is too large to be passed around, and a launch plan that gets it all the same.

`big_map` -> sub-workflow `make_all` maps `make_text` over `count` elements, 1 MB each -> the list of about 20 MB
is stored once, and the launch plan `count_plan` receives a reference of a few hundred bytes to it.
"""

from flytekit import LaunchPlan, map_task, task, workflow

MEGABYTE = 1_000_000


@task
def indexes(count: int) -> list[int]:
    return list(range(count))


@task
def make_text(index: int) -> str:
    """One megabyte that starts with its own number."""
    return f"{index:06d}".ljust(MEGABYTE, "x")


@workflow
def make_all(count: int) -> list[str]:
    return map_task(make_text)(index=indexes(count=count))


@task
def count_characters(texts: list[str]) -> int:
    if [int(text[:6]) for text in texts] != list(range(len(texts))):
        raise ValueError("the texts are not in order")
    return sum(len(text) for text in texts)


@workflow
def count_all(texts: list[str]) -> int:
    return count_characters(texts=texts)


count_plan = LaunchPlan.get_or_create(count_all, name="count_plan")


@workflow
def big_map(count: int = 20) -> int:
    return count_plan(texts=make_all(count=count))
