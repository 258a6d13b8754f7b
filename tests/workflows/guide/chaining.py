"""Order without data: tasks and sub-workflows chained by `>>`."""

from flytekit import task, workflow
from flytekit.core.node_creation import create_node


@task
def write(place: str, line: str):
    with open(place, "a") as file:
        file.write(f"{line}\n")


@task
def read(place: str) -> list[str]:
    with open(place) as file:
        return file.read().split()


@workflow
def upper(place: str):
    first = write(place=place, line="first")
    second = write(place=place, line="second")
    first >> second


@workflow
def chain_tasks(place: str) -> list[str]:
    third = create_node(write, place=place, line="third")
    second = create_node(write, place=place, line="second")
    first = create_node(write, place=place, line="first")
    said = create_node(read, place=place)
    first >> second
    second >> third
    third >> said
    return said.o0


@workflow
def chain_workflows(place: str) -> list[str]:
    begin = upper(place=place)
    last = write(place=place, line="third")
    said = read(place=place)
    begin >> last
    last >> said
    return said
