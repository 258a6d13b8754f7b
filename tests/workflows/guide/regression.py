"""Sub-workflows, and the same as a launch plan: slope and intercept of a line through points."""

from flytekit import LaunchPlan, task, workflow


@task
def slope(x: list[int], y: list[int]) -> float:
    n = len(x)
    products = sum(a * b for a, b in zip(x, y))
    return (n * products - sum(x) * sum(y)) / (n * sum(a**2 for a in x) - sum(x) ** 2)


@task
def intercept(x: list[int], y: list[int], slope: float) -> float:
    return sum(y) / len(y) - slope * sum(x) / len(x)


@workflow
def regression_line(x: list[int] = [-3, 0, 3], y: list[int] = [7, 4, -2]) -> float:
    return intercept(x=x, y=y, slope=slope(x=x, y=y))


@workflow
def nested_regression_line() -> float:
    return regression_line(x=[-1, 0, 1], y=[2, 3, 7])


line_plan = LaunchPlan.get_or_create(regression_line, "regression-line-plan", default_inputs={"y": [0, 0, 6]})


@workflow
def by_plan() -> float:
    return line_plan(x=[0, 1, 2], y=[0, 0, 6])
