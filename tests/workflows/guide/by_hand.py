"""An imperative workflow: put together by calls."""

from flytekit import LaunchPlan, Workflow, task, workflow


@task
def slope(x: list[int], y: list[int]) -> float:
    return (y[-1] - y[0]) / (x[-1] - x[0])


@task
def shift(y: list[int], by: int = 1) -> list[int]:
    return [value + by for value in y]


@task
def say(text: str) -> str:
    return f"I said {text}"


@workflow
def saying(text: str) -> str:
    return say(text=text)


saying_plan = LaunchPlan.get_or_create(saying, "saying-plan")

imperative_wf = Workflow(name="my_workflow")
imperative_wf.add_workflow_input("x", list[int])
imperative_wf.add_workflow_input("y", list[int])
shifted = imperative_wf.add_entity(shift, y=imperative_wf.inputs["y"], by=3)
found = imperative_wf.add_entity(slope, x=imperative_wf.inputs["x"], y=shifted.outputs["o0"])
said = imperative_wf.add_entity(saying, text="hello")
planned = imperative_wf.add_entity(saying_plan, text="by plan")
imperative_wf.add_workflow_output("slope", found.outputs["o0"])
imperative_wf.add_workflow_output("said", [said.outputs["o0"], planned.outputs["o0"]], python_type=list[str])
