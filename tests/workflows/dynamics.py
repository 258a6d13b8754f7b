"""Dynamic tasks of every kind that an author can write."""

from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Optional

from flytekit import LaunchPlan, WorkflowFailurePolicy, conditional, dynamic, map_task, sleep, task, workflow
from flytekit.exceptions.user import FlyteRecoverableException
from flytekit.types.error.error import FlyteError
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
def fib(n: int) -> int:
    if n < 2:
        return n
    return add(a=fib(n=n - 1), b=fib(n=n - 2))


@workflow
def sort(xs: list[int]) -> list[int]:
    return merge_sort(xs=xs)


@task
def merge(a: list[int], b: list[int]) -> list[int]:
    return sorted([*a, *b])


@dynamic
def merge_sort(xs: list[int]) -> list[int]:
    """By way of a sub-workflow that contains the task itself."""
    if len(xs) < 2:
        return xs
    middle = len(xs) // 2
    return merge(a=sort(xs=xs[:middle]), b=sort(xs=xs[middle:]))


@task
def halves(xs: list[int]) -> tuple[list[int], list[int], int]:
    middle = len(xs) // 2
    return xs[:middle], xs[middle:], len(xs)


@workflow
def sort_by_branch(xs: list[int]) -> list[int]:
    """Recursion through a conditional: flytesnacks has merge sort like this."""
    left, right, size = halves(xs=xs)
    return conditional("small").if_(size < 2).then(copy(xs=xs)).else_().then(sort_halves(left=left, right=right))


@task
def copy(xs: list[int]) -> list[int]:
    return xs


@dynamic
def sort_halves(left: list[int], right: list[int]) -> list[int]:
    return merge(a=sort_by_branch(xs=left), b=sort_by_branch(xs=right))


@task
def tell(n: int, err: Optional[FlyteError] = None) -> None:
    print(n, err)


@dynamic
def plan_of_cleaning(n: int, err: Optional[FlyteError] = None) -> None:
    tell(n=n, err=err)
    said(text="cleaned", path="/dev/null")


@workflow(on_failure=plan_of_cleaning)
def fails_and_cleans(n: int) -> int:
    return odd_only(n=n)


@dynamic
def runs_what_cleans(n: int) -> int:
    return add(a=fails_and_cleans(n=n), b=sq(a=n))


@dynamic
def sleeps(n: int) -> int:
    slept = sleep(timedelta(milliseconds=20))
    result = sq(a=n)
    slept >> result
    return result


@dynamic
def chooses(n: int) -> int:
    """Conditionals in a plan: their arms are tasks, maps of plans' values, and other dynamic tasks."""
    size = sq(a=n)
    return (
        conditional("size").if_(size < 5).then(twice(n=size)).elif_(size < 50).then(fib(n=5)).else_().fail("too large")
    )


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
def wf_fib(n: int) -> int:
    return fib(n=n)


@workflow
def wf_sort(xs: list[int]) -> list[int]:
    return merge_sort(xs=xs)


@workflow
def wf_sort_by_branch(xs: list[int]) -> list[int]:
    return sort_by_branch(xs=xs)


@workflow
def wf_cleans(n: int) -> int:
    return runs_what_cleans(n=n)


@workflow
def wf_sleeps(n: int) -> int:
    return sleeps(n=n)


@workflow
def wf_chooses(n: int) -> int:
    return chooses(n=n)


@workflow
def wf_chosen(n: int) -> int:
    """A dynamic task in an arm."""
    return conditional("n").if_(n < 3).then(fib(n=n)).else_().then(total(xs=[n, n]))


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
