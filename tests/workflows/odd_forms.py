"""Other ways to write tasks and workflows: decorators, async, classes, closures, decks, imperative workflows."""

import functools
import os
from typing import Callable, NamedTuple, Optional

from flytekit import Deck, ImageSpec, Resources, Secret, current_context, task, workflow
from flytekit.core.utils import ClassDecorator


def announced(function: Callable) -> Callable:
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        return f"announced {function(*args, **kwargs)}"

    return wrapper


def repeated(times: int) -> Callable:
    def decorate(function: Callable) -> Callable:
        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            return " ".join(str(function(*args, **kwargs)) for _ in range(times))

        return wrapper

    return decorate


class marked(ClassDecorator):
    """A decorator that is a class, as flytekit's own plugins write them."""

    def __init__(self, function: Optional[Callable] = None, mark: str = "?") -> None:
        self.mark = mark
        super().__init__(function, mark=mark)

    def execute(self, *args, **kwargs):
        return f"{self.task_function(*args, **kwargs)}{self.mark}"

    def get_extra_config(self) -> dict[str, str]:
        return {"mark": self.mark}


@task
@announced
def decorated(n: int) -> str:
    return f"plain {n}"


@task
@repeated(times=2)
@announced
def twice_decorated(n: int, text: str = "d") -> str:
    return f"{text}{n}"


@task
@marked(mark="!")
def class_decorated(n: int) -> str:
    return f"c{n}"


@task(
    cache=False,
    retries=1,
    interruptible=True,
    requests=Resources(cpu="10m"),
    container_image=ImageSpec(name="odd", packages=["nothing"], registry="localhost:30000"),
    secret_requests=[Secret(group="own-group", key="the_key")],
    environment={"own-group_x": "1", "EMPTY": ""},
    labels={"team": "green"},
    annotations={"note": "x"},
    docs=None,
    enable_deck=True,
)
def furnished(n: int) -> str:
    Deck("mine", f"<b>{n}</b>")
    return f"{n} {os.environ['EMPTY']!r} {current_context().execution_id.domain}"


@task
def no_inputs() -> str:
    return "nothing"


@task
def keyword_like(type: int, inputs: int, task: int, kwargs: int, lambda_: int, o0: int) -> dict[str, int]:
    return {"type": type, "inputs": inputs, "task": task, "kwargs": kwargs, "lambda": lambda_, "o0": o0}


class Odd(NamedTuple):
    items: int
    result_1: str
    o0: float
    größe: int


@task
def oddly_named_outputs(größe: int) -> Odd:
    return Odd(größe, "r", 0.5, größe * 2)


@task
def of_odd(items: int, o0: float, größe: int) -> str:
    return f"{items} {o0} {größe}"


@task
def total(ns: list[int]) -> int:
    return sum(ns)


@task
def hundreds(a00: int, a01: int, a02: int, a03: int, a04: int, a05: int, a06: int, a07: int, a08: int, a09: int) -> int:
    return a00 + a09


@task
def add(a: int, b: int) -> int:
    return a + b


class Holder:
    """flytekit can package a task in a class, but finds it no more when it is to run."""

    @staticmethod
    @task
    def held(n: int) -> int:
        return n


@workflow
def wf_decorated(n: int) -> tuple[str, str, str]:
    return decorated(n=n), twice_decorated(n=n), class_decorated(n=n)


@workflow
def wf_furnished(n: int) -> str:
    return furnished(n=n)


@workflow
def wf_keywords(type: int, inputs: int, home: int = 3, name: int = 4, json: int = 5, o0: int = 6) -> dict[str, int]:
    return keyword_like(type=type, inputs=inputs, task=home, kwargs=name, lambda_=json, o0=o0)


@workflow
def wf_odd_outputs(größe: int) -> Odd:
    made = oddly_named_outputs(größe=größe)
    said = of_odd(items=made.items, o0=made.o0, größe=made.größe)
    return Odd(items=made.items, result_1=said, o0=made.o0, größe=made.größe)


@workflow
def wf_held(n: int) -> int:
    return Holder.held(n=n)


@workflow
def wf_added(n: int) -> int:
    return add(a=n, b=add(a=1, b=2))


@workflow
def wf_python(n: int) -> tuple[int, str]:
    """What runs while the workflow is built: loops, comprehensions, functions, f-strings on constants."""
    sums = [add(a=n, b=k) for k in range(3)]
    bigger = {name: add(a=sums[k], b=k) for k, name in enumerate("abc")}
    return total(ns=[*sums, *bigger.values(), n, 5]), f"{len(sums)} sums"


@workflow
def wf_diamonds(n: int) -> int:
    top = [n, n]
    for _ in range(4):
        top = [add(a=top[0], b=top[1]), add(a=top[1], b=top[0])]
    return total(ns=top)


@workflow
def wf_unused(n: int) -> str:
    decorated(n=n)
    no_inputs()
    return no_inputs()


@workflow(interruptible=True, docs=None, default_options=None)
def wf_without_inputs() -> str:
    return no_inputs()
