"""What flytekit offers beside plain tasks: environments, contexts, checkpoints, shell tasks, imperative workflows."""

import datetime
import os
import tempfile

from flytekit import LaunchPlan, Resources, Workflow, current_context, kwtypes, map_task, task, workflow
from flytekit.core.task import Echo
from flytekit.exceptions.user import FlyteRecoverableException
from flytekit.extras.tasks.shell import OutputLocation, ShellTask
from flytekit.types.directory import FlyteDirectory
from flytekit.types.file import FlyteFile


@task(
    cache=True,
    cache_version="1",
    environment={"MINE": "mine"},
    requests=Resources(cpu="1", mem="500Mi"),
    container_image="registry.example/image:1",
    interruptible=True,
    enable_deck=True,
)
def furnished(n: int) -> str:
    return f"{os.environ['MINE']} {n}"


@task
def context() -> str:
    own = current_context()
    return f"{own.execution_id.project} {own.execution_id.domain} {own.execution_id.name} {own.task_id.name}"


@task(retries=3)
def resumes() -> int:
    """Each attempt goes on where the one before it stopped."""
    checkpoint = current_context().checkpoint
    before = checkpoint.read()
    step = int(before.decode()) if before else 0
    checkpoint.write(str(step + 1).encode())
    if step < 2:
        raise FlyteRecoverableException(f"at step {step}")
    return step


shell = ShellTask(
    name="features-shell",
    script="echo {inputs.text} > {inputs.path}",
    inputs=kwtypes(text=str, path=str),
    output_locs=[OutputLocation(var="said", var_type=FlyteFile, location="{inputs.path}")],
)


@task
def read(file: FlyteFile) -> str:
    with open(file) as handle:
        return handle.read()


@task
def folder(n: int) -> FlyteDirectory:
    made = tempfile.mkdtemp()
    for number in range(n):
        with open(f"{made}/{number}", "w") as file:
            file.write("x")
    return FlyteDirectory(made)


@task
def count(where: FlyteDirectory) -> int:
    where.download()
    return len(os.listdir(where.path))


@task
def total(ns: list[int]) -> int:
    return sum(ns)


@workflow
def wf_furnished(n: int) -> str:
    return furnished(n=n).with_overrides(
        limits=Resources(cpu="3"), timeout=datetime.timedelta(seconds=50), cache=False, container_image="other:2"
    )


@workflow
def wf_context() -> str:
    return context()


@workflow
def wf_resumes() -> int:
    return resumes()


@workflow
def wf_shell(text: str, path: str) -> str:
    return read(file=shell(text=text, path=path))


@workflow
def wf_folders() -> list[int]:
    return map_task(count)(where=map_task(folder)(n=[1, 2]))


@workflow
def wf_rows(rows: list[list[int]]) -> list[int]:
    return map_task(total)(ns=rows)


odd_plan = LaunchPlan.get_or_create(wf_folders, name="odd/name:1")


@workflow
def wf_odd_plan() -> list[int]:
    return odd_plan()


both = Echo(name="both", inputs=kwtypes(a=int, b=str))


@workflow
def wf_echo(a: int, b: str) -> tuple[int, str]:
    return both(a=a, b=b)


imperative = Workflow(name="my.imperative")
imperative.add_workflow_input("n", int)
node = imperative.add_entity(total, ns=[imperative.inputs["n"], imperative.inputs["n"]])
imperative.add_workflow_output("sum_of_both", node.outputs["o0"])
