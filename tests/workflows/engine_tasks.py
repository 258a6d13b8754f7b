"""Tasks that are no Python functions of the author: Echo, shells, subprocesses."""

import os
import tempfile
from typing import Optional

from flytekit import kwtypes, task, workflow
from flytekit.core.task import Echo
from flytekit.extras.tasks.shell import OutputLocation, ShellTask, subproc_execute
from flytekit.types.directory import FlyteDirectory
from flytekit.types.file import FlyteFile

echo_one = Echo(name="engine_tasks.echo_one", inputs={"n": int})
echo_three = Echo(name="engine_tasks.echo_three", inputs={"a": int, "b": Optional[str], "c": list[dict[str, int]]})

counts = ShellTask(
    name="engine_tasks.counts",
    script="""
    set -e
    wc -c < {inputs.given} | tr -d ' ' > {outputs.size}
    for k in $(seq {inputs.n}); do echo "line $k" >> {outputs.lines}; done
    """,
    inputs=kwtypes(given=FlyteFile, n=int),
    output_locs=[
        OutputLocation(var="size", var_type=FlyteFile, location="{inputs.given}.size"),
        OutputLocation(var="lines", var_type=FlyteFile, location="{inputs.given}.lines"),
    ],
)
fails_in_shell = ShellTask(
    name="engine_tasks.fails", script="echo oh no >&2; exit {inputs.code}", inputs=kwtypes(code=int)
)
silent_shell = ShellTask(name="engine_tasks.silent", script="true", inputs=kwtypes(n=int))
folded = ShellTask(
    name="engine_tasks.folded",
    script="mkdir -p {outputs.made} && cp {inputs.given} {outputs.made}/copy",
    inputs=kwtypes(given=FlyteFile),
    output_locs=[OutputLocation(var="made", var_type=FlyteDirectory, location="{inputs.given}.made")],
)


@task
def written(text: str) -> FlyteFile:
    path = os.path.join(tempfile.mkdtemp(), "given.txt")
    with open(path, "w", encoding="utf8") as file:
        file.write(text)
    return FlyteFile(path)


@task
def text_of(file: FlyteFile) -> str:
    with open(file, encoding="utf8") as handle:
        return handle.read()


@task
def names_in(folder: FlyteDirectory) -> list[str]:
    return sorted(os.listdir(folder))


@task
def inc(n: int) -> int:
    return n + 1


@task
def from_subprocess(n: int) -> str:
    return subproc_execute(["echo", f"n is {n}"]).output.strip()


@workflow
def echoes(n: int) -> int:
    return inc(n=echo_one(n=inc(n=n)))


@workflow
def echoes_of_many(a: int, b: Optional[str] = None) -> tuple[int, Optional[str], list[dict[str, int]]]:
    return echo_three(a=a, b=b, c=[{"k": a}, {}])


@workflow
def shells(text: str, n: int) -> tuple[str, str]:
    size, lines = counts(given=written(text=text), n=n)
    return text_of(file=size), text_of(file=lines)


@workflow
def folders_of_shells(text: str) -> list[str]:
    return names_in(folder=folded(given=written(text=text)))


@workflow
def failing_shell(code: int) -> None:
    fails_in_shell(code=code)


@workflow
def a_silent_shell(n: int) -> int:
    done = silent_shell(n=n)
    after = inc(n=n)
    done >> after
    return after


@workflow
def subprocesses(n: int) -> str:
    return from_subprocess(n=n)
