"""Values of exact sizes, made by maps and by tasks, and who uses them."""

from flytekit import LaunchPlan, map_task, task, workflow


@task
def letters(n: int) -> str:
    return "a" * n


@task
def measured(texts: list[str]) -> list[int]:
    return [len(texts), sum(len(text) for text in texts)]


@task
def length(text: str) -> int:
    return len(text)


@workflow
def by_size(ns: list[int]) -> tuple[list[str], list[int], int]:
    made = map_task(letters)(n=ns)
    return made, measured(texts=made), length(text=made[-1])


@workflow
def measure(texts: list[str]) -> list[int]:
    return measured(texts=texts)


plan = LaunchPlan.get_or_create(measure, name="sizes-plan")


@workflow
def to_a_plan(ns: list[int]) -> tuple[list[int], list[str]]:
    made = map_task(letters)(n=ns)
    return plan(texts=made), made


@workflow
def of_a_task(n: int) -> tuple[str, int]:
    made = letters(n=n)
    return made, length(text=made)
