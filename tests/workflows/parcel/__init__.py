"""A package with a workflow in its __init__, and relative imports in every direction."""

from flytekit import LaunchPlan, workflow

from .inner import deep
from .inner.deep import add, doubled


@workflow
def whole(n: int) -> int:
    return add(a=doubled(n=n), b=deep.constant(n=n))


plan = LaunchPlan.get_or_create(whole, name="parcel-plan", default_inputs={"n": 3})
