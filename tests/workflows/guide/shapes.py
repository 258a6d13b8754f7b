"""Conditions: which task runs is decided while the workflow runs."""

import math

from flytekit import conditional, task, workflow


@task
def circumference(radius: float) -> float:
    return 2 * math.pi * radius


@task
def area(radius: float) -> float:
    return math.pi * radius * radius


@task
def coin(seed: int) -> bool:
    return seed % 2 == 0


@task
def won() -> int:
    return 1


@task
def lost() -> int:
    return 0


@task
def total(a: float, b: float) -> float:
    return a + b


@workflow
def shape_properties(radius: float) -> float:
    return (
        conditional("shape_properties")
        .if_((radius >= 0.1) & (radius < 1.0))
        .then(circumference(radius=radius))
        .elif_((radius >= 1.0) & (radius <= 10.0))
        .then(area(radius=radius))
        .else_()
        .fail("The radius must be between 0.1 and 10")
    )


@workflow
def twice(radius: float) -> float:
    first = conditional("first").if_(radius < 1.0).then(circumference(radius=radius)).else_().then(area(radius=radius))
    return total(a=first, b=area(radius=first))


@workflow
def toss(seed: int = 5) -> int:
    heads = coin(seed=seed)
    return conditional("coin").if_(heads.is_true()).then(won()).else_().then(lost())


@workflow
def nested(seed: int = 4, radius: float = 0.5) -> float:
    heads = coin(seed=seed)
    return (
        conditional("outer")
        .if_((radius > 0.1) & (radius < 1.0))
        .then(
            conditional("inner")
            .if_(radius < 0.5)
            .then(circumference(radius=radius))
            .elif_((radius >= 0.5) & (heads.is_true()))
            .then(area(radius=radius))
            .else_()
            .fail("Only between 0.1 and 0.5, or if the coin says so")
        )
        .elif_((radius >= 1.0) & (radius < 10.0))
        .then(area(radius=radius))
        .else_()
        .then(total(a=0.0, b=0.0))
    )
