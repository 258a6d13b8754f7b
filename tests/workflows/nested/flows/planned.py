"""A dynamic task: what it plans must find the code where the task itself has found it."""

from flytekit import LaunchPlan, dynamic, map_task, workflow

from flows.main import shouted
from flows.tasks import shout

shouted_plan = LaunchPlan.get_or_create(shouted)


@dynamic
def each(texts: list[str]) -> list[str]:
    mapped = map_task(shout)(text=texts)
    return [mapped[0], shout(text=texts[1]), shouted(text=mapped[1]), shouted_plan(text=texts[0])]


@workflow
def all_shouted(texts: list[str]) -> list[str]:
    return each(texts=texts)
