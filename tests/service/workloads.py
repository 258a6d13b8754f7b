"""What the crash harness runs, in the size that is wanted."""

from __future__ import annotations

from tests.service.crashes import Workload


def mapped(elements: int, *, scripted: bool = True) -> Workload:
    """A map with retries: every fifth element fails once."""
    inputs: dict[str, object] = {"ns": list(range(elements))}
    return Workload("map", "many", {"e": inputs}, lambda given: given["ns"], scripted, 0.005)


def nested(elements: int, *, scripted: bool = True) -> Workload:
    """A launch plan inside a sub-workflow, with a map in the child. A scripted `total` passes its list on."""
    inputs: dict[str, object] = {"ns": list(range(elements))}
    right = sum(range(elements))
    return Workload(
        "launch plan in a sub-workflow",
        "nested",
        {"e": inputs},
        lambda given: given["ns"] if scripted else right,
        scripted,
        0.005,
    )


def at_once(executions: int, *, scripted: bool = True) -> Workload:
    """Many executions of five no-op nodes in a chain."""
    inputs: dict[str, dict[str, object]] = {f"e{number}": {"n": number} for number in range(executions)}
    return Workload(f"{executions} executions of 5 nodes", "five", inputs, lambda given: given["n"], scripted)


def planned(size: int) -> Workload:
    """Dynamic tasks, one in the plan of the other, with launch plans and a map over one. Only real tasks plan."""
    inputs: dict[str, object] = {"n": size}
    return Workload("dynamic tasks", "planned", {"e": inputs}, lambda _: 4 * sum(range(size)), scripted=False)


def demo(count: int) -> Workload:
    """examples/big_map.py: a gathered map that is passed on as a reference. Its tasks leave no marks."""
    return Workload("demo", "big_map", {"demo": {"count": count}}, lambda _: count * 1_000_000, scripted=False)
