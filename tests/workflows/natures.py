"""Values of every type but records, through a task and out again: what goes in must come out."""

import datetime as dt
import enum
import os
from typing import Any, Optional, Union

from flytekit import task, workflow
from flytekit.types.directory import FlyteDirectory
from flytekit.types.file import FlyteFile


class Colour(enum.Enum):
    RED = "red"
    GREEN = "green"


@task
def numbers(i: int, f: float, b: bool, s: str) -> tuple[int, float, bool, str]:
    return i, f, b, s


@task
def moments(at: dt.datetime, lasts: dt.timedelta, day: dt.date) -> tuple[dt.datetime, dt.timedelta, dt.date]:
    return at + lasts, lasts * 2, day


@task
def lists(ns: list[int], fs: list[float], texts: list[list[str]]) -> tuple[list[int], list[float], list[list[str]]]:
    return ns, fs, texts


@task
def dicts(
    ns: dict[str, int], deep: dict[str, dict[str, list[int]]]
) -> tuple[dict[str, int], dict[str, dict[str, list[int]]]]:
    return ns, deep


@task
def optionals(
    n: Optional[int], s: Optional[str], ns: Optional[list[int]]
) -> tuple[Optional[int], Optional[str], Optional[list[int]]]:
    return n, s, ns


@task
def unions(
    a: Union[int, str], b: Union[str, float, None], c: list[Union[int, str]]
) -> tuple[Union[int, str], Union[str, float, None], list[Union[int, str]]]:
    return a, b, c


@task
def enums(one: Colour, many: list[Colour], maybe: Optional[Colour]) -> tuple[Colour, list[Colour], Optional[Colour]]:
    return one, many, maybe


@task
def anything(n: int) -> Any:
    return {"set": {n}}


@task
def of_anything(value: Any) -> str:
    return repr(value)


@task
def write(text: str) -> FlyteFile:
    with open("note.txt", "w", encoding="utf8") as file:
        file.write(text)
    return FlyteFile("note.txt")


@task
def write_many(texts: list[str]) -> list[FlyteFile]:
    made = []
    for number, text in enumerate(texts):
        with open(f"note{number}.txt", "w", encoding="utf8") as file:
            file.write(text)
        made.append(FlyteFile(f"note{number}.txt"))
    return made


@task
def read(file: FlyteFile) -> str:
    with open(file, encoding="utf8") as handle:
        return handle.read()


@task
def read_maybe(file: Optional[FlyteFile] = None) -> str:
    if file is None:
        return "none"
    with open(file, encoding="utf8") as handle:
        return handle.read()


@task
def read_all(files: list[FlyteFile], named: dict[str, FlyteFile]) -> str:
    return "".join(read.task_function(file) for file in [*files, *named.values()])


@task
def folder(texts: dict[str, str]) -> FlyteDirectory:
    os.makedirs("made/sub")
    for name, text in texts.items():
        with open(f"made/{name}", "w") as file:
            file.write(text)
    return FlyteDirectory("made")


@task
def listed(where: FlyteDirectory) -> str:
    found = []
    where.download()
    for base, _, names in os.walk(where.path):
        for name in names:
            with open(os.path.join(base, name)) as file:
                found.append(f"{os.path.relpath(os.path.join(base, name), where.path)}={file.read()}")
    return " ".join(sorted(found))


@workflow
def wf_numbers(i: int, f: float, b: bool, s: str) -> tuple[int, float, bool, str]:
    return numbers(i=i, f=f, b=b, s=s)


@workflow
def wf_moments(at: dt.datetime, lasts: dt.timedelta, day: dt.date) -> tuple[dt.datetime, dt.timedelta, dt.date]:
    return moments(at=at, lasts=lasts, day=day)


@workflow
def wf_lists(ns: list[int], fs: list[float], texts: list[list[str]]) -> tuple[list[int], list[float], list[list[str]]]:
    return lists(ns=ns, fs=fs, texts=texts)


@workflow
def wf_dicts(
    ns: dict[str, int], deep: dict[str, dict[str, list[int]]]
) -> tuple[dict[str, int], dict[str, dict[str, list[int]]]]:
    return dicts(ns=ns, deep=deep)


@task
def loose(table: dict, rows: list[dict]) -> dict:
    return {"table": table, "rows": rows}


@workflow
def wf_loose(table: dict, rows: list[dict]) -> dict:
    return loose(table=table, rows=rows)


@workflow
def wf_optionals(
    n: Optional[int] = None, s: Optional[str] = "s", ns: Optional[list[int]] = None
) -> tuple[Optional[int], Optional[str], Optional[list[int]]]:
    return optionals(n=n, s=s, ns=ns)


@workflow
def wf_unions(
    a: Union[int, str], b: Union[str, float, None], c: list[Union[int, str]]
) -> tuple[Union[int, str], Union[str, float, None], list[Union[int, str]]]:
    return unions(a=a, b=b, c=c)


@workflow
def wf_enums(
    one: Colour = Colour.GREEN, many: list[Colour] = [Colour.RED], maybe: Optional[Colour] = None
) -> tuple[Colour, list[Colour], Optional[Colour]]:
    return enums(one=one, many=many, maybe=maybe)


@workflow
def wf_anything(n: int) -> str:
    return of_anything(value=anything(n=n))


@workflow
def wf_files(text: str) -> tuple[str, str, str]:
    made = write(text=text)
    return read(file=made), read_maybe(file=made), read_maybe()


@workflow
def wf_given_file(file: FlyteFile) -> str:
    return read(file=file)


@workflow
def wf_many_files(texts: list[str]) -> str:
    made = write_many(texts=texts)
    one = write(text="!")
    return read_all(files=made, named={"one": one})


@workflow
def wf_folders() -> str:
    return listed(where=folder(texts={"a.txt": "A", "sub/b.txt": "B"}))


@workflow
def wf_file_out(text: str) -> FlyteFile:
    return write(text=text)
