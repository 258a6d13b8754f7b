"""Tasks of two architectures and of none, a map, a child launch plan and a dynamic."""

from flytekit import LaunchPlan, dynamic, map_task, task, workflow
from flytekit.models.common import Labels

ARM = {"kubernetes.io/arch": "arm64"}
AMD = {"kubernetes.io/arch": "amd64"}


@task(labels=ARM)
def on_arm(n: int) -> int:
    return n + 1


@task(labels=AMD)
def on_amd(n: int) -> int:
    return n + 1


@task
def anywhere(n: int) -> int:
    return n + 1


@task(labels=ARM)
def element(n: int) -> int:
    return n * 2


@task
def planned(n: int) -> int:
    return n + 10


@dynamic(labels=ARM)
def plans(n: int) -> int:
    return on_amd(n=planned(n=n))


@workflow
def child(n: int) -> int:
    return anywhere(n=on_amd(n=n))


child_on_arm = LaunchPlan.create("child_on_arm", child, labels=Labels({"propwash.dev/architecture": "arm64"}))


@task
def total(parts: list[int], more: int) -> int:
    return sum(parts) + more


@workflow
def routed(n: int) -> int:
    doubled = map_task(element)(n=[1, 2, 3])
    more = plans(n=child_on_arm(n=on_arm(n=on_amd(n=anywhere(n=n)))))
    return total(parts=doubled, more=more)
