"""A workflow with every kind of node, and what may happen to it: for tests that must hold whatever does."""

from __future__ import annotations

from dataclasses import replace

from msgspec import structs

from engine.model.errors import Failure
from engine.model.events import AbortRequested, NodeRetryRequested, SignalSet
from engine.model.graph import ArraySpec, Program
from engine.model.ids import AttemptKey
from engine.model.limits import ExecutionLimits, RetryLimits
from tests.programs import approve, branch, gate, graph, mapped, node, plan, program, sleep, task, workflow_id
from tests.property.test_every_committed_state_keeps_the_invariants import next_event
from tests.simulation import EXECUTION, RULES, Simulation, recoverable, user_error


def _of_all_kinds() -> tuple[Program, Program]:
    """Every kind of node, some inside each other, with retries, waits, timeouts and a clean-up; and a plan."""
    work, dynamic, clean = task("work"), task("dynamic"), task("clean")
    many = mapped(work)
    inner = graph(
        "inner",
        [node("n0", many.id, array=ArraySpec(parallelism=2), retries=1), gate("n1", approve("go"), timeout=90.0)],
        failure=node("fn0", clean.id),
    )
    child = graph("child", [node("n0", work.id)])
    child_plan = plan("child_plan", child)
    arms = [node("n0", work.id, after=["n1"]), gate("n1", approve("go"), after=["n4"])]
    nodes = [
        node("n0", inner.id, retries=1, timeout=500.0),
        node("n1", child_plan.id),
        node("n2", work.id, after=["n0", "n1"], retries=1),
        gate("n3", sleep(9.0), after=["n1"]),
        node("n4", dynamic.id, retries=1),
        branch("n5", {"n0": b"c", "n1": b""}, arms),
        node("n6", child_plan.id, array=ArraySpec(parallelism=1), after=["n5"]),
    ]
    whole = program([graph("outer", nodes, failure=node("fn0", clean.id)), inner, child], [work, dynamic, clean, many])
    planned = program([graph("planned", [node("dn0", work.id), gate("dn1", approve("go"), after=["dn0"])])], [work])
    plans = {child_plan.id: child_plan}
    return structs.replace(whole, launch_plans=plans), structs.replace(planned, root=workflow_id("planned"))


PROGRAM, PLANNED = _of_all_kinds()
PLACES = ["n2", "n0/0/n0", "n4", "n4/0/dn0", "n5/0/n0", "n0"]
RULES_WITH_WAITS = replace(RULES, retries=RetryLimits(user_wait_seconds=5.0), executions=ExecutionLimits(4))


class World(Simulation):
    """Attempts end as the fates of their nodes say: fine, again (the first one fails), broken."""

    def __init__(self, fates: dict[str, str]) -> None:
        self.fates = fates
        super().__init__(PROGRAM, self.fate, size=5, rules=RULES_WITH_WAITS)
        self.plans = {"planned": PLANNED}

    def place(self, key: AttemptKey) -> str:
        """Where its fate stands."""
        return key.path

    def fate(self, key: AttemptKey) -> Failure | str | None:
        fate = self.fates.get(self.place(key), "fine")
        if fate == "broken":
            return user_error()
        if fate == "again" and key.attempt == 0:
            return recoverable()
        return "plan:planned" if key.path == "n4" else None

    def act(self, action: int) -> None:
        """Something that may happen next: 0 to 94 deliver an event."""
        match action:
            case 99:
                self.resume()
            case 98:
                self.apply(AbortRequested(EXECUTION, "enough"))
            case 97:
                self.apply(SignalSet(EXECUTION, "go", "yes"))
            case 96 if any(self.nodes()[path].wake_at for path in self.state.live):
                self.ring()
            case 95:
                self.apply(NodeRetryRequested(EXECUTION, "n2"))
            case _ if self.waiting:
                self.deliver(next_event(self, action % len(self.waiting)))
