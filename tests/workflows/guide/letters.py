"""A dynamic workflow: the number of nodes depends on the length of a text."""

from flytekit import dynamic, task, workflow


@task
def index_of(character: str) -> int:
    return ord(character.lower()) - ord("a")


@task
def counted(counts: list[int], index: int) -> list[int]:
    counts[index] += 1
    return counts


@task
def common(first: list[int], second: list[int]) -> int:
    return sum(min(a, b) for a, b in zip(first, second))


@dynamic
def count_common(first: str, second: str) -> int:
    counts = []
    for text in (first, second):
        found = [0] * 26
        for character in text:
            found = counted(counts=found, index=index_of(character=character))
        counts.append(found)
    return common(first=counts[0], second=counts[1])


@workflow
def common_letters(first: str, second: str) -> int:
    """How many letters two words share."""
    return count_common(first=first, second=second)
