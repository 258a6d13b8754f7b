"""Conditionals: every comparison and conjunction, nested ones, arms of every kind, what comes after and before them."""

import datetime as dt
from typing import NamedTuple, Optional

from flytekit import LaunchPlan, conditional, task, workflow


class Pair(NamedTuple):
    left: int
    right: str


@task
def inc(n: int) -> int:
    return n + 1


@task
def double(n: int) -> int:
    return n * 2


@task
def negative(n: int) -> int:
    return -n


@task
def say(text: str) -> str:
    return f"said {text}"


@task
def add(a: int, b: int) -> int:
    return a + b


@task
def pair(n: int) -> Pair:
    return Pair(n, f"p{n}")


@task
def other_pair(n: int) -> Pair:
    return Pair(-n, "other")


@task
def flip() -> bool:
    return True


@task
def maybe(n: int) -> Optional[int]:
    return None if n < 0 else n


@task
def unless_none(n: Optional[int]) -> int:
    return -1 if n is None else n


@task
def quiet(n: int) -> None:
    print(n)


@task
def fails(n: int) -> int:
    """Never comes to return."""
    raise ValueError(f"the arm of {n} must not be taken")


@task
def moment(year: int) -> dt.datetime:
    return dt.datetime(year, 1, 1, tzinfo=dt.timezone.utc)


@workflow
def sub(n: int) -> int:
    return inc(n=inc(n=n))


plan = LaunchPlan.get_or_create(sub, name="conditions-plan", default_inputs={"n": 40})


@workflow
def sizes(n: int) -> str:
    return (
        conditional("sizes")
        .if_(n < 0)
        .then(say(text="negative"))
        .elif_(n == 0)
        .then(say(text="zero"))
        .elif_(n <= 9)
        .then(say(text="small"))
        .elif_((n >= 10) & (n != 13))
        .then(say(text="large"))
        .else_()
        .then(say(text="unlucky"))
    )


@workflow
def kinds(i: int, f: float, s: str, b: bool) -> tuple[str, str, str, str, str, str, str]:
    return (
        conditional("int").if_(i > 2).then(say(text="more")).else_().then(say(text="less")),
        conditional("float").if_(f >= 2.5).then(say(text="more")).else_().then(say(text="less")),
        conditional("text").if_(s == "yes ✓").then(say(text="equal")).else_().then(say(text="other")),
        conditional("order").if_(s < "m").then(say(text="before")).else_().then(say(text="after")),
        conditional("true").if_(b.is_true()).then(say(text="on")).else_().then(say(text="off")),
        conditional("false").if_(b.is_false()).then(say(text="off")).else_().then(say(text="on")),
        conditional("unlike").if_(s != "yes ✓").then(say(text="other")).else_().then(say(text="equal")),
    )


@workflow
def joined(a: int, b: int, c: bool) -> tuple[int, int, int]:
    return (
        conditional("and").if_((a > 1) & (b > 1)).then(inc(n=a)).else_().then(double(n=b)),
        conditional("or").if_((a > 1) | (b > 1)).then(inc(n=a)).else_().then(double(n=b)),
        conditional("deep").if_(((a > 1) & (b > 1)) | (c.is_true())).then(inc(n=a)).else_().then(double(n=b)),
    )


@workflow
def of_promises(n: int) -> int:
    made = inc(n=n)
    other = double(n=n)
    return (
        conditional("promises")
        .if_(made > other)
        .then(negative(n=made))
        .elif_((made == other) & (n > 0))
        .then(add(a=made, b=other))
        .else_()
        .then(double(n=made))
    )


@workflow
def used(n: int) -> tuple[int, int]:
    first = conditional("first").if_(n > 0).then(inc(n=n)).else_().then(negative(n=n))
    second = conditional("second").if_(first > 5).then(double(n=first)).else_().then(inc(n=first))
    return add(a=first, b=second), second


@workflow
def nested(a: int, b: int) -> str:
    return (
        conditional("outer")
        .if_(a > 0)
        .then(
            conditional("inner")
            .if_(b > 0)
            .then(say(text="both"))
            .elif_(b == 0)
            .then(
                conditional("innermost").if_(a == 1).then(say(text="one and zero")).else_().then(say(text="a and zero"))
            )
            .else_()
            .then(say(text="only a"))
        )
        .else_()
        .then(conditional("other").if_(b > 0).then(say(text="only b")).else_().then(say(text="neither")))
    )


@workflow
def refused(n: int) -> int:
    return conditional("limits").if_(n < 3).then(inc(n=n)).elif_(n < 5).then(double(n=n)).else_().fail("n is too large")


@workflow
def nested_refusal(n: int) -> int:
    return (
        conditional("outside")
        .if_(n > 0)
        .then(conditional("inside").if_(n > 10).then(inc(n=n)).else_().fail("between 1 and 10"))
        .else_()
        .then(double(n=n))
    )


@workflow
def of_nothing(n: int, m: Optional[int] = None) -> tuple[str, str]:
    found = maybe(n=n)
    return (
        conditional("found").if_(found.is_none()).then(say(text="nothing")).else_().then(say(text="something")),
        conditional("given").if_(m.is_none()).then(say(text="nothing")).else_().then(say(text="something")),
    )


@workflow
def of_optional(n: int) -> str:
    found = maybe(n=n)
    return conditional("value").if_(found == 3).then(say(text="three")).else_().then(say(text="another"))


@workflow
def pairs(n: int) -> tuple[int, str]:
    left, right = conditional("pairs").if_(n > 3).then(pair(n=n)).else_().then(other_pair(n=n))
    return inc(n=left), right


@workflow
def bodies(n: int) -> tuple[int, int, int]:
    made = inc(n=n)
    return (
        conditional("sub-workflow").if_(n > 3).then(sub(n=n)).else_().then(inc(n=n)),
        conditional("plan").if_(n > 3).then(plan(n=n)).else_().then(plan()),
        conditional("mixed").if_(n > 3).then(plan(n=made)).else_().then(sub(n=n)),
    )


@workflow
def without_outputs(n: int) -> int:
    first = conditional("quiet").if_(n > 3).then(quiet(n=n)).else_().then(quiet(n=0))
    after = inc(n=n)
    first >> after
    return after


@workflow
def arms_wait(n: int) -> int:
    """Each arm needs nodes of its own."""
    a, b, c = inc(n=n), double(n=n), negative(n=n)
    return conditional("which").if_(n > 0).then(add(a=a, b=b)).else_().then(add(a=b, b=c))


@workflow
def colliding(n: int) -> int:
    """The arms' nodes are numbered from n0 again, and mean the n0 outside."""
    first = inc(n=n)
    second = double(n=first)
    return conditional("same").if_(n > 0).then(add(a=first, b=second)).else_().then(add(a=second, b=n))


@workflow
def flipped() -> int:
    heads = flip()
    return conditional("coin").if_(heads.is_true()).then(inc(n=1)).else_().then(inc(n=10))


@workflow
def moments(year: int) -> str:
    a, b = moment(year=year), moment(year=2020)
    return conditional("years").if_(a > b).then(say(text="later")).else_().then(say(text="not later"))


@workflow
def numbers(f: float) -> str:
    """An int and a float are compared as numbers."""
    return conditional("numbers").if_(f > 3).then(say(text="more")).else_().then(say(text="less"))


@workflow
def same_task_in_each_arm(n: int) -> tuple[int, int]:
    made = inc(n=n)
    return conditional("again").if_(made == 1).then(inc(n=made)).else_().then(inc(n=n)), inc(n=made)


@workflow
def sub_with_branch(n: int) -> int:
    return conditional("within").if_(n > 3).then(double(n=n)).else_().then(inc(n=n))


branch_plan = LaunchPlan.get_or_create(sub_with_branch, name="conditions-branch-plan")


@workflow
def inside(n: int) -> tuple[int, int]:
    return sub_with_branch(n=inc(n=n)), branch_plan(n=n)


@workflow
def collatz(n: int) -> int:
    return conditional("one").if_(n == 1).then(inc(n=n)).else_().then(sub_with_branch(n=n))


@workflow
def an_odd_name(n: int) -> int:
    return conditional("Größe? (%s/../x)").if_(n > 0).then(inc(n=n)).else_().then(double(n=n))


@workflow
def a_failing_arm(n: int) -> int:
    return conditional("failing").if_(n > 0).then(fails(n=n)).else_().then(inc(n=n))


@workflow
def many_arms(n: int) -> int:
    chosen = conditional("many").if_(n == 0).then(inc(n=0))
    for k in range(1, 30):
        chosen = chosen.elif_(n == k).then(inc(n=k * 10))
    return chosen.else_().then(inc(n=-1))
