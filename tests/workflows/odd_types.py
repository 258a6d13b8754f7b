"""Types that few authors use: literals, formats of files, batches of pickles, messages, untyped containers."""

import datetime as dt
import typing as t
from dataclasses import dataclass, field

from flyteidl.core.errors_pb2 import ContainerError
from flytekit import BatchSize, kwtypes, task, workflow
from flytekit.types.file import CSVFile, FlyteFile
from google.protobuf.struct_pb2 import Struct

Mode = t.Literal["fast", "slow"]


class Thing:
    def __init__(self, n: int) -> None:
        self.n = n


@dataclass
class Pair:
    both: tuple[int, str]
    some: tuple[int, ...] = (1, 2)
    names: t.Optional[list[t.Optional[str]]] = None
    at: t.Optional[dt.datetime] = None
    lasts: dt.timedelta = dt.timedelta(seconds=1.5)
    anything: dict = field(default_factory=dict)
    either: t.Union[int, float, str] = 1
    nested: t.Optional[list[dict[str, tuple[int, int]]]] = None


@task
def moved(mode: Mode) -> Mode:
    return "slow" if mode == "fast" else "fast"


@task
def batch(n: int) -> t.Annotated[list[Thing], BatchSize(2)]:
    return [Thing(k) for k in range(n)]


@task
def total(things: t.Annotated[list[Thing], BatchSize(2)]) -> int:
    return sum(thing.n for thing in things)


@task
def loose(n: int) -> t.Annotated[dict, kwtypes(allow_pickle=True)]:
    return {"thing": Thing(n), "n": n}


@task
def of_loose(table: t.Annotated[dict, kwtypes(allow_pickle=True)]) -> int:
    return table["n"] + table["thing"].n


@task
def message(text: str) -> ContainerError:
    return ContainerError(code="C", message=text)


@task
def of_message(error: ContainerError) -> str:
    return f"{error.code} {error.message}"


@task
def struct(n: int) -> Struct:
    made = Struct()
    made.update({"n": n, "deep": {"a": [1, None, "x"]}})
    return made


@task
def of_struct(struct: Struct) -> str:
    return f"{struct['n']} {dict(struct['deep'])['a'][2]}"


@task
def csv(n: int) -> CSVFile:
    with open("table.csv", "w") as file:
        file.writelines(f"{k},{k * k}\n" for k in range(n))
    return CSVFile("table.csv")


@task
def lines(file: FlyteFile["csv"]) -> int:  # noqa: F821
    with open(file) as handle:
        return len(handle.readlines())


@task
def any_lines(file: FlyteFile) -> int:
    with open(file) as handle:
        return len(handle.readlines())


@task
def pair(n: int) -> Pair:
    return Pair((n, "é"), (n, n, n), ["a", None], None, anything={"a": [1, {"b": None}]}, nested=[{"x": (1, 2)}])


@task
def of_pair(pair: Pair) -> str:
    return repr(pair)


@task
def sets(n: int) -> tuple[set, bytes]:
    return {n, 1}, bytes([n, 255])


@task
def of_sets(a: set, b: bytes) -> str:
    return f"{sorted(a)} {b!r}"


@workflow
def wf_modes(mode: Mode = "fast") -> tuple[Mode, Mode]:
    once = moved(mode=mode)
    return once, moved(mode=once)


@workflow
def wf_batches(n: int) -> int:
    return total(things=batch(n=n))


@workflow
def wf_loose(n: int) -> int:
    return of_loose(table=loose(n=n))


@workflow
def wf_messages(text: str) -> str:
    return of_message(error=message(text=text))


@workflow
def wf_structs(n: int) -> str:
    return of_struct(struct=struct(n=n))


@workflow
def wf_formats(n: int) -> tuple[int, int]:
    made = csv(n=n)
    return lines(file=made), any_lines(file=made)


@workflow
def wf_pairs(n: int) -> str:
    return of_pair(pair=pair(n=n))


@workflow
def wf_given_pair(pair: Pair) -> str:
    return of_pair(pair=pair)


@workflow
def wf_sets(n: int) -> str:
    a, b = sets(n=n)
    return of_sets(a=a, b=b)
