"""Shapes of graphs, and every way to bind an input: chains, fans, order without data, literals, pass-through."""

from typing import NamedTuple, Optional

from flytekit import task, workflow
from flytekit.core.node_creation import create_node


class Pair(NamedTuple):
    left: int
    right: str


class Single(NamedTuple):
    only: int


@task
def inc(x: int) -> int:
    return x + 1


@task
def add(a: int, b: int = 10) -> int:
    return a + b


@task
def total(ns: list[int]) -> int:
    return sum(ns)


@task
def total_by_name(table: dict[str, int]) -> int:
    return sum(len(name) * n for name, n in table.items())


@task
def deep(table: dict[str, list[int]], rows: list[list[int]]) -> str:
    return f"{sorted(table.items())} {rows}"


@task
def pair(n: int) -> Pair:
    return Pair(left=n, right=f"r{n}")


@task
def two(n: int) -> tuple[int, str]:
    return n * 2, f"t{n}"


@task
def one(n: int) -> Single:
    return Single(only=n)


@task
def join(left: int, right: str) -> str:
    return f"{left}|{right}"


@task
def constant() -> str:
    return "nothing came in"


@task
def quiet(n: int) -> None:
    print(n)


@task
def silent():
    print("no inputs, no outputs, no annotation")


@task
def maybe(n: int) -> Optional[int]:
    return None if n < 0 else n


@task
def shown(n: Optional[int]) -> str:
    return repr(n)


@task
def append(path: str, word: str) -> None:
    with open(path, "a") as file:
        file.write(word)


@task
def read(path: str) -> str:
    with open(path) as file:
        return file.read()


@workflow
def chain_of_ten(n: int) -> int:
    for _ in range(10):
        n = inc(x=n)
    return n


@workflow
def fan(n: int) -> int:
    return total(ns=[add(a=n, b=k) for k in range(8)])


@workflow
def diamond(n: int) -> tuple[int, int]:
    top = inc(x=n)
    left, right = add(a=top, b=1), add(a=top, b=top)
    return add(a=left, b=right), top


@workflow
def ordered(path: str) -> str:
    third, first, second = append(path=path, word="3"), append(path=path, word="1"), append(path=path, word="2")
    first >> second
    second >> third
    said = read(path=path)
    third >> said
    return said


@workflow
def ordered_nodes(path: str) -> str:
    second = create_node(append, path=path, word="b")
    first = create_node(append, path=path, word="a")
    last = create_node(read, path=path)
    first.runs_before(second)
    second >> last
    return last.o0


@workflow
def named_outputs(n: int) -> Pair:
    left, right = pair(n=n)
    return Pair(left=left, right=right)


@workflow
def one_of_each(n: int) -> tuple[int, str, str]:
    made = pair(n=n)
    a, b = two(n=made.left)
    return a, b, join(left=a, right=made.right)


@workflow
def single_field(n: int) -> int:
    return inc(x=one(n=n).only)


@workflow
def passed(n: int, text: str = "given") -> tuple[int, str, int, list[int], dict[str, int]]:
    m = inc(x=n)
    return n, text, 7, [n, m, 3], {"n": n, "m": m, "k": 4}


@workflow
def only_passed(n: int) -> int:
    return n


@workflow
def only_literals() -> tuple[str, list[str]]:
    return "lit", ["a", "b"]


@workflow
def empty() -> None:
    pass


@workflow
def bindings(n: int) -> tuple[int, int, str]:
    m = inc(x=n)
    return (
        total(ns=[n, m, 100]),
        total_by_name(table={"a": n, "bb": m, "ccc": 5}),
        deep(table={"x": [m, n], "y": []}, rows=[[n], [], [m, 2]]),
    )


@workflow
def defaults(a: int = 5, b: Optional[int] = None) -> tuple[int, int, str]:
    return add(a=a), add(a=a, b=a), shown(n=b)


@workflow
def nothings(n: int) -> tuple[str, str, str]:
    silent()
    quiet(n=n)
    constant()
    return shown(n=maybe(n=n)), shown(n=maybe(n=-1)), constant()


@workflow
def just_effects(n: int):
    quiet(n=n)
    silent()


@workflow
def inner_pair(n: int, text: str = "sub") -> Pair:
    return Pair(left=inc(x=n), right=text)


@workflow
def inner_nothing(n: int) -> None:
    quiet(n=n)


@workflow
def inner_passed(ns: list[int], n: int) -> tuple[list[int], int, int]:
    return ns, n, 3


@workflow
def middle(n: int) -> tuple[int, str]:
    made = inner_pair(n=n)
    inner_nothing(n=made.left)
    return made.left, made.right


@workflow
def nested(n: int) -> tuple[int, str, int]:
    a, text = middle(n=inc(x=n))
    ns, same, three = inner_passed(ns=[a, n, 1], n=a)
    return total(ns=ns), text, add(a=same, b=three)


@workflow
def ordered_subs(n: int) -> int:
    first = inner_nothing(n=n)
    second = inner_pair(n=n)
    first >> second.left
    return second.left


@workflow
def same_sub_twice(n: int) -> int:
    return add(a=inner_pair(n=n).left, b=inner_pair(n=add(a=n)).left)


@workflow
def renamed(n: int) -> int:
    return inc(x=inc(x=n).with_overrides(node_name="My Step.1")).with_overrides(name="other name", retries=3)
