"""Steps into a promise: fields, keys, indexes, in any mix."""

import enum
from dataclasses import dataclass, field
from typing import Optional

from flytekit import map_task, task, workflow
from flytekit.types.file import FlyteFile


class Level(enum.Enum):
    LOW = "low"
    HIGH = "high"


@dataclass
class Leaf:
    n: int
    rate: float = 0.5
    ok: bool = True


@dataclass
class Tree:
    name: str
    leaf: Leaf
    leaves: list[Leaf] = field(default_factory=list)
    table: dict[str, list[int]] = field(default_factory=dict)
    words: list[str] = field(default_factory=list)
    limit: Optional[int] = None
    level: Level = Level.LOW
    by_name: dict[str, Leaf] = field(default_factory=dict)


@dataclass
class WithFile:
    file: FlyteFile
    name: str


@task
def tree(n: int) -> Tree:
    return Tree(
        name="tré ✓",
        leaf=Leaf(n, 2.0, False),
        leaves=[Leaf(k, k / 2) for k in range(n)],
        table={"k": [10, 20, 30], "empty": []},
        words=["a", "b", "c"],
        limit=n,
        level=Level.HIGH,
        by_name={"x": Leaf(99)},
    )


@task
def made_of_lists(n: int) -> tuple[list[dict[str, int]], dict[str, list[int]], list[list[str]], list[Tree]]:
    rows = [{"k": k, "kk": k * k} for k in range(n)]
    trees = [Tree("t0", Leaf(0)), Tree("t1", Leaf(1, 1.5))]
    return rows, {"k": [1, 2, 3], "other": [4]}, [["a", "b"], ["c"]], trees


@task
def untyped() -> tuple[dict, list[dict]]:
    return {"a": {"k": [1, 2.5, "three", None, True]}, "n": 4, "f": 4.0}, [{"a": {"k": [1, None]}}, {}]


@task
def with_file() -> WithFile:
    with open("held.txt", "w") as file:
        file.write("held")
    return WithFile(FlyteFile("held.txt"), "n")


@task
def scalars(n: int, rate: float, ok: bool, word: str, maybe: Optional[int], level: Level) -> str:
    return f"{n!r} {rate!r} {ok!r} {word!r} {maybe!r} {level!r}"


@task
def whole(leaf: Leaf, leaves: list[Leaf], ns: list[int], words: list[str], table: dict[str, int]) -> str:
    return f"{leaf} {leaves} {ns} {words} {sorted(table.items())}"


@task
def numbers(a: int, b: int, c: int, d: int) -> list[int]:
    return [a, b, c, d]


@task
def loose(table: dict, rows: list[dict]) -> str:
    return f"{sorted(table.items())} {rows}"


@task
def of_file(file: FlyteFile) -> str:
    with open(file) as handle:
        return handle.read()


@task
def inc(n: int) -> int:
    return n + 1


@task
def grown(leaf: Leaf) -> Leaf:
    return Leaf(leaf.n + 1, leaf.rate, leaf.ok)


@workflow
def fields(n: int) -> tuple[str, str, list[int]]:
    made = tree(n=n)
    leaf = made.leaf
    return (
        scalars(n=leaf.n, rate=leaf.rate, ok=leaf.ok, word=made.name, maybe=made.limit, level=made.level),
        whole(leaf=leaf, leaves=made.leaves, ns=made.table["empty"], words=made.words, table={"a": leaf.n, "b": 2}),
        numbers(a=made.table["k"][1], b=made.leaves[1].n, c=made.leaves[-1].n, d=made.by_name["x"].n),
    )


@workflow
def indexes(n: int) -> tuple[list[int], str, str]:
    rows, table, words, trees = made_of_lists(n=n)
    return (
        numbers(a=rows[1]["kk"], b=table["k"][1], c=table["k"][-3], d=trees[1].leaf.n),
        whole(leaf=trees[-1].leaf, leaves=trees[0].leaves, ns=table["other"], words=words[0], table=rows[-1]),
        whole(
            leaf=trees[0].leaf,
            leaves=[trees[1].leaf, trees[0].leaf],
            ns=[table["k"][0], n, 3],
            words=[words[1][0], "z"],
            table={"x": rows[0]["k"], "n": n},
        ),
    )


@workflow
def looseness() -> str:
    table, rows = untyped()
    return loose(table=table, rows=rows)


@workflow
def of_inputs(made: Tree, named: dict[str, list[int]], many: list[Leaf]) -> tuple[list[int], str, str]:
    return (
        numbers(a=made.leaf.n, b=named["k"][1], c=many[0].n, d=many[-1].n),
        whole(leaf=many[-1], leaves=many, ns=named["k"], words=made.words, table={}),
        made.name,
    )


@workflow
def as_outputs(n: int) -> tuple[int, str, list[int], Leaf, int, list[int]]:
    made = tree(n=n)
    return made.leaf.n, made.name, made.table["k"], made.leaf, made.table["k"][2], [made.leaf.n, n]


@workflow
def mapped(n: int) -> tuple[list[int], list[Leaf], list[Leaf]]:
    made = tree(n=n)
    return (
        map_task(inc)(n=made.table["k"]),
        map_task(grown)(leaf=made.leaves),
        map_task(grown)(leaf=[made.leaf, made.leaves[0]]),
    )


@workflow
def of_files() -> str:
    return of_file(file=with_file().file)


@workflow
def inner(leaf: Leaf, ns: list[int]) -> tuple[list[int], list[int]]:
    return numbers(a=leaf.n, b=ns[1], c=ns[-1], d=0), ns


@workflow
def into_subs(n: int) -> tuple[list[int], list[int]]:
    made = tree(n=n)
    return inner(leaf=made.leaves[0], ns=made.table["k"])


@workflow
def out_of_range(table: dict[str, list[int]]) -> int:
    return inc(n=table["k"][7])


@workflow
def no_such_key(table: dict[str, list[int]]) -> int:
    return inc(n=table["nope"][0])


@workflow
def below_range(table: dict[str, list[int]]) -> int:
    return inc(n=table["k"][-4])
