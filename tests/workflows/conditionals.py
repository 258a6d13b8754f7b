"""Conditionals of every form."""

import typing
from datetime import datetime, timedelta

from flytekit import LaunchPlan, conditional, map_task, task, workflow


@task
def double(a: int) -> int:
    return 2 * a


@task
def triple(a: int) -> int:
    return 3 * a


@task
def inc(a: int) -> int:
    return a + 1


@task
def join(a: int, b: int) -> int:
    return a + b


@task
def words(n: int) -> str:
    return f"w{n}"


@task
def positive(n: int) -> typing.Optional[int]:
    return n if n > 0 else None


@task
def pair(n: int) -> typing.NamedTuple("Pair", low=int, high=int):  # noqa: F821
    return n - 1, n + 1


@task
def broken(a: int) -> int:
    if a:
        raise ValueError(f"arm {a}")
    return a


@task
def total(ns: typing.List[int]) -> int:
    return sum(ns)


@workflow
def sub(a: int) -> int:
    return join(a=double(a=a), b=inc(a=a))


@workflow
def chooses(a: int) -> int:
    return conditional("inside").if_(a > 10).then(double(a=a)).else_().then(inc(a=a))


plan = LaunchPlan.get_or_create(chooses, name="chooses-plan")


@workflow
def joined(x: int) -> int:
    c = conditional("c").if_(x > 5).then(double(a=x)).else_().then(triple(a=x))
    return join(a=c, b=x)


@workflow
def refusing(x: int) -> int:
    return (
        conditional("sign")
        .if_(x > 0)
        .then(inc(a=x))
        .elif_(x < -10)
        .then(inc(a=-1))
        .else_()
        .fail("x must not be in [-10,0]")
    )


@workflow
def late(t: timedelta) -> str:
    return conditional("late").if_(t > timedelta(seconds=1)).then(words(n=1)).else_().then(words(n=0))


@workflow
def since(at: datetime) -> str:
    return conditional("since").if_(at >= datetime(2024, 5, 17, 9, 30)).then(words(n=1)).else_().then(words(n=0))


@workflow
def comparators(a: int, x: float) -> int:
    one = conditional("eq").if_(a == 5).then(inc(a=0)).else_().then(inc(a=-1))
    two = conditional("ne").if_(a != 5).then(inc(a=0)).else_().then(inc(a=1))
    three = conditional("ge").if_(x >= 2.0).then(inc(a=3)).else_().then(inc(a=-1))
    four = conditional("le").if_(x <= 2.0).then(inc(a=7)).else_().then(inc(a=-1))
    five = conditional("and").if_((a > 1) & (x < 3.0)).then(inc(a=15)).else_().then(inc(a=-1))
    six = conditional("or").if_((a < 1) | (x > 1.0)).then(inc(a=31)).else_().then(inc(a=-1))
    return total(ns=[one, two, three, four, five, six])


@workflow
def texts_and_truths(s: str, b: bool) -> int:
    one = conditional("s").if_(s == "yes").then(inc(a=0)).else_().then(inc(a=1))
    two = conditional("b").if_(b.is_true()).then(inc(a=2)).else_().then(inc(a=3))
    three = conditional("nb").if_((b.is_false()) & (s != "yes")).then(inc(a=4)).else_().then(inc(a=5))
    return total(ns=[one, two, three])


@workflow
def optionals(n: int) -> int:
    maybe = positive(n=n)
    one = conditional("none").if_(maybe.is_none()).then(inc(a=0)).else_().then(inc(a=1))
    two = conditional("some").if_(maybe == 3).then(inc(a=2)).else_().then(inc(a=3))
    return join(a=one, b=two)


@workflow
def mixed_numbers(a: int) -> int:
    return conditional("mixed").if_(a > 9.5).then(inc(a=0)).else_().then(inc(a=1))


@workflow
def nested(x: int) -> int:
    n, m = inc(a=x), double(a=x)
    return (
        conditional("outer")
        .if_(x > 0)
        .then(
            conditional("inner")
            .if_(n > 10)
            .then(join(a=n, b=m))
            .elif_((x > 5) & (m > 0))
            .then(sub(a=m))
            .else_()
            .then(conditional("innermost").if_(x == 1).then(inc(a=n)).else_().then(triple(a=m)))
        )
        .elif_(x < -5)
        .then(chooses(a=n))
        .else_()
        .fail("between -5 and 0")
    )


@workflow
def two_outputs(n: int) -> typing.Tuple[int, int]:
    m = double(a=n)
    low, high = conditional("pair").if_(n > 0).then(pair(n=n)).else_().then(pair(n=m))
    return low, high


@workflow
def of_launch_plans(n: int) -> int:
    return conditional("plans").if_(n > 5).then(plan(a=n)).else_().then(inc(a=n))


@workflow
def of_maps(n: int, ns: typing.List[int]) -> typing.List[int]:
    return conditional("maps").if_(n > 5).then(map_task(double)(a=ns)).else_().then(map_task(inc)(a=ns))


@workflow
def failing_arm(n: int) -> int:
    return conditional("bad").if_(n > 0).then(broken(a=n)).else_().then(inc(a=n))


@workflow
def no_order(b: bool, n: int) -> int:
    return conditional("order").if_(b > True).then(inc(a=n)).else_().then(double(a=n))


@workflow
def lists(ns: typing.List[int]) -> int:
    """Nothing but None can be compared with a list."""
    return conditional("list").if_(ns == 3).then(inc(a=0)).else_().then(inc(a=1))
