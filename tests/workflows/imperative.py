"""Workflows that are put together by calls, one of them with two hundred inputs."""

from flytekit import Workflow, task, workflow


@task
def total(ns: list[int]) -> int:
    return sum(ns)


@task
def add(a: int, b: int) -> int:
    return a + b


@task
def no_inputs() -> str:
    return "nothing"


@workflow
def added(n: int) -> int:
    return add(a=n, b=add(a=1, b=2))


wide = Workflow(name="imperative.wide")
for number in range(200):
    wide.add_workflow_input(f"in_{number}", int)
wide_node = wide.add_entity(total, ns=[wide.inputs[f"in_{number}"] for number in range(200)])
wide.add_workflow_output("sum", wide_node.outputs["o0"])
wide.add_workflow_output("same", [wide.inputs["in_0"], wide.inputs["in_199"]], python_type=list[int])

made = Workflow(name="imperative.made by hand ✓")
made.add_workflow_input("n", int)
made_first = made.add_entity(add, a=made.inputs["n"], b=1)
made_sub = made.add_entity(added, n=made_first.outputs["o0"])
made_alone = made.add_entity(no_inputs)
made_first.runs_before(made_alone)
made.add_workflow_output("from_sub", made_sub.outputs["o0"])
made.add_workflow_output("both", [made_first.outputs["o0"], made_sub.outputs["o0"]], python_type=list[int])
made.add_workflow_output("word", made_alone.outputs["o0"])
