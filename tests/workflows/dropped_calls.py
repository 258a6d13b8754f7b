"""Calls inside then(...) and if_(...), which flytekit leaves out of the package."""

from flytekit import conditional, task, workflow


@task
def double(a: int) -> int:
    return 2 * a


@workflow
def nowhere(x: int) -> int:
    """The promise on the dropped call means the conditional itself."""
    return conditional("d").if_(x > 0).then(double(a=double(a=x))).else_().then(double(a=x))


@workflow
def elsewhere(x: int) -> int:
    """The dropped call has the id of another node."""
    n = double(a=x)
    return conditional("d").if_(n > 0).then(double(a=double(a=x))).else_().then(double(a=x))


@workflow
def in_a_condition(x: int) -> int:
    n = double(a=x)
    return conditional("d").if_(double(a=n) > 0).then(double(a=x)).else_().then(double(a=n))


@workflow
def sound(x: int) -> int:
    n, m = double(a=x), double(a=x)
    return conditional("d").if_(n > 0).then(double(a=m)).else_().then(double(a=n))
