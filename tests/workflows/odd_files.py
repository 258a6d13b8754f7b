"""Values that lie in files: pickles, anything at all, iterators, files and folders."""

import datetime as dt
import typing as t

from flytekit import task, workflow
from flytekit.types.directory import FlyteDirectory
from flytekit.types.file import FlyteFile, PNGImageFile
from flytekit.types.iterator.json_iterator import JSON
from flytekit.types.pickle.pickle import FlytePickle


class Plain:
    """No type that flytekit knows."""

    def __init__(self, n: int) -> None:
        self.n = n

    def __repr__(self) -> str:
        return f"Plain({self.n})"


@task
def pickled(n: int) -> Plain:
    return Plain(n)


@task
def pickles(n: int) -> tuple[list[Plain], dict[str, Plain], t.Optional[Plain], FlytePickle]:
    return [Plain(k) for k in range(n)], {"x": Plain(n)}, Plain(n + 1), Plain(n + 2)


@task
def shown_pickles(one: Plain, many: list[Plain], named: dict[str, Plain], maybe: t.Optional[Plain]) -> str:
    return f"{one} {many} {named} {maybe}"


@task
def anything(kind: int) -> t.Any:
    return [3, 2.5, "text", b"bytes", [1, "a"], {"a": {1, 2}}, Plain(4), dt.date(2024, 1, 1)][kind]


@task
def shown_anything(value: t.Any) -> str:
    return repr(value)


@task
def iterated(n: int) -> t.Iterator[str]:
    for k in range(n):
        yield f"item {k}"


@task
def joined(items: t.Iterator[str]) -> str:
    return ",".join(items)


@task
def json_lines(n: int) -> t.Iterator[JSON]:
    for k in range(n):
        yield {"k": k, "é": [None, k / 2]}


@task
def shown_json_lines(items: t.Iterator[JSON]) -> str:
    return repr(list(items))


@task
def image(n: int) -> PNGImageFile:
    with open("image.png", "wb") as file:
        file.write(bytes(range(n)))
    return PNGImageFile("image.png")


@task
def bytes_of(file: PNGImageFile) -> list[int]:
    with open(file, "rb") as handle:
        return list(handle.read())


@task
def same_file(file: FlyteFile, folder: FlyteDirectory) -> tuple[FlyteFile, FlyteDirectory]:
    return file, folder


@task
def made_files(n: int) -> tuple[FlyteFile, FlyteDirectory]:
    made = FlyteDirectory.new("Ordner mit ✓")
    file = FlyteFile.new("Datei ✓.txt")
    with file.open("w") as handle:
        handle.write("0123")
    for k in range(n):
        with open(made.new_file(f"{k}.txt"), "w") as handle:
            handle.write(f"in {k}")
    return file, made


@workflow
def wf_pickles(n: int) -> str:
    many, named, maybe, _ = pickles(n=n)
    return shown_pickles(one=pickled(n=n), many=many, named=named, maybe=maybe)


@workflow
def wf_anything() -> list[str]:
    return [shown_anything(value=anything(kind=kind)) for kind in range(8)]


@workflow
def wf_iterators(n: int) -> tuple[str, str]:
    return joined(items=iterated(n=n)), shown_json_lines(items=json_lines(n=n))


@workflow
def wf_images(n: int) -> list[int]:
    return bytes_of(file=image(n=n))


@workflow
def wf_made_files(n: int) -> tuple[FlyteFile, FlyteDirectory, FlyteFile, FlyteDirectory]:
    file, folder = made_files(n=n)
    again, folder_again = same_file(file=file, folder=folder)
    return file, folder, again, folder_again


@workflow
def wf_given_files(file: FlyteFile, folder: FlyteDirectory) -> tuple[FlyteFile, FlyteDirectory]:
    return same_file(file=file, folder=folder)
