"""Where a task is placed follows from what is said of it, whatever else is in its workflow and in whatever order."""

from __future__ import annotations

from collections.abc import Sequence

from flyteidl.admin.task_pb2 import TaskSpec
from flyteidl.core.tasks_pb2 import Container
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs

from engine.data.placed import placement_of
from engine.model.architectures import Architecture, ArchitectureName
from engine.model.effects import Origin, RunTask
from engine.model.errors import Permanent
from engine.model.graph import Program
from engine.model.ids import AttemptKey, ExecutionId
from engine.model.overrides import Overrides
from engine.model.placement import NodePool, Placement, PlacementRules
from tests.packages import compiled, constant, node, task, task_id, workflow, workflow_id

NAMES: list[ArchitectureName] = ["", "amd64", "arm64", "arm-v6", "arm-v7"]
ORIGIN = Origin(workflow_id("m.w"), workflow_id("m.w"), "digest")
KEY = AttemptKey(ExecutionId("p", "d", "x"), "n0")


def declaring(name: str, field: int, label: str, selector: str) -> TaskSpec:
    """A container says it by its field; a pod by its node selector; both by a label."""
    spec = task(name)
    if label:
        spec.template.metadata.metadata.labels["kubernetes.io/arch"] = label
    if selector:
        spec.template.k8s_pod.pod_spec.update(
            {"nodeSelector": {"kubernetes.io/arch": selector}, "containers": [{"name": "c", "args": ["a"]}]}
        )
    else:
        spec.template.container.architecture = field  # type: ignore[assignment]
    return spec


declarations = st.tuples(
    st.sampled_from([Container.UNKNOWN, Container.AMD64, Container.ARM64, Container.ARM_V6, Container.ARM_V7]),
    st.sampled_from([*NAMES, "sparc"]),
    st.sampled_from(["", "", "arm64", "amd64", "s390x"]),
)
rules = st.builds(
    PlacementRules,
    st.dictionaries(
        st.sampled_from(Architecture), st.builds(NodePool, st.dictionaries(st.just("pool"), st.sampled_from("ab")))
    ),
    st.sampled_from([None, *Architecture]),
    st.dictionaries(st.just("p:d"), st.sampled_from(Architecture)),
)


def program(specs: Sequence[TaskSpec]) -> Program:
    nodes = [node(f"n{place}", {"a": constant(1)}, runs=spec.template.id.name) for place, spec in enumerate(specs)]
    return compiled(*specs, workflow("m.w", *nodes)).program


def placed(found: Program, name: str, origin: Origin, by: PlacementRules) -> Placement | str:
    spec = next(iter(found.workflows.values())).nodes["n0"]
    effect = RunTask(KEY, spec, found.tasks[task_id(name)], {}, origin)
    try:
        return placement_of(effect, by)
    except Permanent as problem:
        return problem.failure.code


@settings(max_examples=200, deadline=None)
@given(
    own=declarations,
    others=st.lists(declarations, max_size=4),
    order=st.randoms(use_true_random=False),
    by=rules,
    execution=st.sampled_from(NAMES),
    launch_plan=st.sampled_from(NAMES),
)
def test_alone_and_among_others(
    own: tuple[int, str, str],
    others: list[tuple[int, str, str]],
    order: object,
    by: PlacementRules,
    execution: ArchitectureName,
    launch_plan: str,
) -> None:
    origin = structs.replace(ORIGIN, overrides=Overrides(architecture=execution), architecture=launch_plan)
    mine = declaring("m.own", *own)
    alone = placed(program([mine]), "m.own", origin, by)
    crowd = [mine, *(declaring(f"m.t{place}", *said) for place, said in enumerate(others))]
    order.shuffle(crowd)  # type: ignore[attr-defined]
    among = program(crowd)
    for spec in crowd:
        placed(among, spec.template.id.name, origin, by)
    assert placed(among, "m.own", origin, by) == alone


@given(own=declarations, by=rules, execution=st.sampled_from(NAMES[1:]))
def test_what_the_execution_says_is_what_is_placed_or_refused(
    own: tuple[int, str, str], by: PlacementRules, execution: ArchitectureName
) -> None:
    origin = structs.replace(ORIGIN, overrides=Overrides(architecture=execution))
    found = placed(program([declaring("m.own", *own)]), "m.own", origin, by)
    if isinstance(found, Placement):
        assert found.architecture == execution
        assert found.architecture in by.architectures
    else:
        assert found in ("ArchitectureNotConfigured", "ArchitectureConflict", "ArchitectureUnknown")
