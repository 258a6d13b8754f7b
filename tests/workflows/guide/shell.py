"""Shell tasks: one makes a file, one copies it into a folder, one packs the folder."""

from pathlib import Path

from flytekit import kwtypes, task, workflow
from flytekit.extras.tasks.shell import OutputLocation, ShellTask
from flytekit.types.directory import FlyteDirectory
from flytekit.types.file import FlyteFile

first = ShellTask(
    name="shell.first",
    debug=True,
    script="""
    set -ex
    echo "Hey there! Let's run some bash scripts."
    echo "Showcasing shell tasks." | tee {inputs.x}
    """,
    inputs=kwtypes(x=FlyteFile),
    output_locs=[OutputLocation(var="i", var_type=FlyteFile, location="{inputs.x}")],
)
second = ShellTask(
    name="shell.second",
    script="""
    set -e
    cp {inputs.x} {inputs.y}
    tar -zcf {outputs.j} -C {inputs.y} .
    """,
    inputs=kwtypes(x=FlyteFile, y=FlyteDirectory),
    output_locs=[OutputLocation(var="j", var_type=FlyteFile, location="{inputs.y}.tar.gz")],
)
third = ShellTask(
    name="shell.third",
    script="""
    set -e
    tar -zxOf {inputs.z} > {outputs.k}
    wc -c < {outputs.k}
    """,
    inputs=kwtypes(z=FlyteFile),
    output_locs=[OutputLocation(var="k", var_type=FlyteFile, location="output.txt")],
)


@task
def create() -> tuple[FlyteDirectory, FlyteFile]:
    folder = Path("shelled")
    folder.mkdir(exist_ok=True)
    Path("test.txt").write_text("")
    (folder / "was-here.txt").write_text("and this\n")
    return FlyteDirectory(str(folder)), FlyteFile("test.txt")


@task
def read(file: FlyteFile) -> list[str]:
    return sorted(Path(file).read_text().splitlines())


@workflow
def shell_tasks() -> list[str]:
    folder, file = create()
    return read(file=third(z=second(x=first(x=file), y=folder)))
