"""Raw containers: their inputs and outputs are files."""

from datetime import datetime, timedelta

from flytekit import ContainerTask, kwtypes, task, workflow
from flytekit.types.directory import FlyteDirectory
from flytekit.types.file import FlyteFile


def _shell(
    name: str, script: str, inputs: dict | None = None, outputs: dict | None = None, **more: object
) -> ContainerTask:
    return ContainerTask(
        name=name,
        image=more.pop("image", "alpine:3"),
        command=["sh", "-c", script],
        inputs=kwtypes(**(inputs or {})),
        outputs=kwtypes(**(outputs or {})),
        input_data_dir="/var/inputs",
        output_data_dir="/var/outputs",
        **more,
    )


double = ContainerTask(
    name="double",
    image="alpine:3",
    command=["sh", "-c", 'echo $((2 * $0)) > /var/outputs/twice; printf %s "$1" > /var/outputs/said'],
    arguments=["{{.inputs.n}}", "{{.inputs.word}}"],
    inputs=kwtypes(n=int, word=str),
    outputs=kwtypes(twice=int, said=str),
    input_data_dir="/var/inputs",
    output_data_dir="/var/outputs",
)

every = _shell(
    "every",
    """
    cp /var/inputs/i /var/outputs/i; cp /var/inputs/f /var/outputs/f.txt; cp /var/inputs/b /var/outputs/b
    cp /var/inputs/s /var/outputs/s; cp /var/inputs/t /var/outputs/t; cp /var/inputs/d /var/outputs/d
    cp /var/inputs/j /var/outputs/j; cat /var/inputs/inputs.json > /var/outputs/told
    cat /var/inputs/many/0 /var/inputs/many/1 > /var/outputs/l
    """,
    {"i": int, "f": float, "b": bool, "s": str, "t": datetime, "d": timedelta, "j": dict, "many": list[str]},
    {"i": int, "f": float, "b": bool, "s": str, "t": datetime, "d": timedelta, "j": dict, "told": dict, "l": str},
)

upper = _shell(
    "upper",
    "tr a-z A-Z < /var/inputs/file > /var/outputs/loud; cd /var/outputs; mkdir all; cp loud all/x",
    {"file": FlyteFile},
    {"loud": FlyteFile, "all": FlyteDirectory},
)

silent = _shell("silent", "true", outputs={"number": int, "file": FlyteFile})
wrong = _shell("wrong", "echo many > /var/outputs/number", outputs={"number": int})
complains = _shell("complains", "echo too hot > /var/outputs/_ERROR", outputs={"number": int})
exits = _shell("exits", "echo sorry >&2; exit 3", outputs={"number": int})
hangs = _shell("hangs", "while :; do sleep 3600; done", outputs={"number": int})
imageless = _shell("imageless", "true", image="missing:1")
says = _shell(
    "says",
    "echo $FLYTE_INTERNAL_EXECUTION_ID-$MINE > /var/outputs/who",
    outputs={"who": str},
    environment={"MINE": "mine"},
)


@task
def written(text: str) -> FlyteFile:
    with open("said.txt", "w") as file:
        file.write(text)
    return FlyteFile("said.txt")


@task
def read(file: FlyteFile, folder: FlyteDirectory) -> str:
    with open(file) as loud, open(f"{folder.download()}/x") as again:
        return loud.read() + again.read()


@workflow
def doubles(n: int, word: str) -> tuple[int, str]:
    return double(n=n, word=word)


@workflow
def everything(
    i: int, f: float, b: bool, s: str, t: datetime, d: timedelta, j: dict, many: list[str]
) -> tuple[int, float, bool, str, datetime, timedelta, dict, dict, str]:
    made = every(i=i, f=f, b=b, s=s, t=t, d=d, j=j, many=many)
    return made.i, made.f, made.b, made.s, made.t, made.d, made.j, made.told, made.l


@workflow
def files(text: str) -> str:
    made = upper(file=written(text=text))
    return read(file=made.loud, folder=made.all)


@workflow
def is_silent() -> tuple[int, FlyteFile]:
    return silent()


@workflow
def is_wrong() -> int:
    return wrong()


@workflow
def complaint() -> int:
    return complains()


@workflow
def exit_status() -> int:
    return exits()


@workflow
def too_slow() -> int:
    return hangs().with_overrides(timeout=timedelta(seconds=1))


@workflow
def no_image() -> None:
    imageless()


@workflow
def other_image() -> str:
    return says().with_overrides(container_image="other:2")


@workflow
def sound(n: int) -> FlyteFile:
    return written(text="x")
