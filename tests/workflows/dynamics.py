"""Dynamic tasks of every kind that an author can write."""

from dataclasses import dataclass
from pathlib import Path
from typing import Optional

from flytekit import LaunchPlan, WorkflowFailurePolicy, dynamic, map_task, task, workflow
from flytekit.exceptions.user import FlyteRecoverableException
from flytekit.types.file.file import FlyteFile


@dataclass
class Part:
    name: str
    sizes: list[int]


@task
def sq(a: int) -> int:
    return a * a


@task
def add(a: int, b: int) -> int:
    return a + b


@task
def total(xs: list[int]) -> int:
    return sum(xs)


@task
def said(text: str, path: str) -> str:
    with open(path, "a") as file:
        file.write(text)
    return text


@task
def part(name: str, size: int) -> Part:
    return Part(name, [size, size + 1])


@task
def names(parts: list[Part]) -> str:
    return " ".join(f"{it.name}{it.sizes}" for it in parts)


@task
def one_file(n: int) -> FlyteFile:
    path = Path(f"{n}.txt")
    path.write_text(f"file {n}")
    return FlyteFile(str(path))


@task
def odd_only(n: int) -> int:
    if n % 2 == 0:
        raise ValueError(f"{n} is even")
    return n


@task(retries=2)
def second_time(path: str) -> int:
    with open(path, "a") as file:
        file.write("x")
    if len(Path(path).read_text()) < 2:
        raise FlyteRecoverableException("the first time is for nothing")
    return 7


@workflow
def twice(n: int) -> int:
    return add(a=n, b=n)


@workflow
def both(a: int, b: int = 10) -> int:
    return add(a=sq(a=a), b=b)


both_plan = LaunchPlan.get_or_create(both, name="dynamics.both_fixed", fixed_inputs={"b": 100})
twice_plan = LaunchPlan.get_or_create(twice)


@dynamic
def squares(n: int) -> list[int]:
    return [sq(a=i) for i in range(n)]


@dynamic
def everything(n: int) -> tuple[int, list[int], dict[str, int]]:
    """Maps, launch plans, sub-workflows, other dynamic tasks, and promises in every form."""
    mapped = map_task(sq)(a=list(range(n)))
    via_plan = both_plan(a=n)
    inner = twice(n=via_plan)
    deep = total(xs=squares(n=n))
    last = total(xs=[inner, deep, total(xs=mapped), mapped[1]])
    return last, mapped, {"plan": via_plan, "deep": deep}


@dynamic
def over_plan(n: int) -> list[int]:
    return map_task(twice_plan)(n=list(range(n)))


@dynamic
def constant(n: int) -> int:
    return 7


@dynamic
def records(n: int) -> str:
    return names(parts=[part(name=f"p{i}", size=i) for i in range(n)])


@dynamic
def files(n: int) -> list[FlyteFile]:
    return [one_file(n=i) for i in range(n)]


@dynamic
def speaks(texts: list[str], path: str) -> None:
    before = None
    for text in texts:
        now = said(text=text, path=path)
        if before is not None:
            before >> now
        before = now


@dynamic
def maybe(n: Optional[int] = None) -> Optional[int]:
    if n is None:
        return None
    return sq(a=n)


@dynamic
def odd_ones(n: int) -> list[int]:
    return [odd_only(n=i) for i in range(1, n, 2)] + [odd_only(n=n)]


@dynamic
def raises(n: int) -> int:
    if n > 3:
        raise ValueError(f"no plan for {n}")
    return sq(a=n)


@dynamic
def gives_text(n: int) -> int:
    return said(text="no number", path="/dev/null")


@dynamic
def tries(path: str) -> int:
    return second_time(path=path)


@workflow
def wf_squares(n: int) -> int:
    return total(xs=squares(n=n))


@workflow
def wf_list(n: int) -> list[int]:
    return squares(n=n)


@workflow
def wf_everything(n: int) -> tuple[int, list[int], dict[str, int], int]:
    last, mapped, named = everything(n=n)
    return last, mapped, named, sq(a=last)


@workflow
def wf_over_plan(n: int) -> list[int]:
    return over_plan(n=n)


@workflow
def wf_constant(n: int) -> int:
    return constant(n=n)


@workflow
def wf_records(n: int) -> str:
    return records(n=n)


@workflow
def wf_files(n: int) -> list[FlyteFile]:
    return files(n=n)


@workflow
def wf_speaks(texts: list[str], path: str) -> None:
    speaks(texts=texts, path=path)


@workflow
def wf_maybe(n: Optional[int] = None) -> Optional[int]:
    return maybe(n=n)


@workflow
def wf_odd(n: int) -> list[int]:
    return odd_ones(n=n)


@workflow
def wf_raises(n: int) -> int:
    return raises(n=n)


@workflow
def wf_gives_text(n: int) -> int:
    return gives_text(n=n)


@workflow
def wf_tries(path: str) -> int:
    return tries(path=path)


@workflow
def wf_deep(n: int) -> int:
    """A dynamic task inside a sub-workflow, and one in a child execution."""
    return add(a=wf_squares(n=n), b=squares_plan(n=n))


squares_plan = LaunchPlan.get_or_create(wf_squares)


@workflow(failure_policy=WorkflowFailurePolicy.FAIL_AFTER_EXECUTABLE_NODES_COMPLETE)
def wf_chained(n: int) -> int:
    """The plan of one is the input of another."""
    return total(xs=squares(n=total(xs=squares(n=n))))
