"""What an author wrote, compiled: tasks, workflow graphs and launch plans of one package.

Types and values stay serialized flyteidl messages (`bytes`): this floor only passes them on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum

from msgspec import Struct

from engine.model.cache import CachePolicy
from engine.model.errors import Failure
from engine.model.ids import EntityId
from engine.model.overrides import NONE, Overrides
from engine.model.schedules import Schedule

START_NODE = "start-node"
END_NODE = "end-node"


class NodeKind(StrEnum):
    START = "start"
    END = "end"
    TASK = "task"
    ARRAY = "array"
    SUBWORKFLOW = "sub-workflow"
    LAUNCH_PLAN = "launch plan"
    BRANCH = "branch"
    GATE = "gate"
    ARRAY_OF_LAUNCH_PLANS = "map over a launch plan"

    __hash__ = str.__hash__


class FailurePolicy(StrEnum):
    FAIL_IMMEDIATELY = "FAIL_IMMEDIATELY"
    FAIL_AFTER_EXECUTABLE_NODES_COMPLETE = "FAIL_AFTER_EXECUTABLE_NODES_COMPLETE"


class Interface(Struct, frozen=True):
    """Name -> serialized flyteidl `LiteralType`, in the order of the declaration's message."""

    inputs: Mapping[str, bytes] = {}
    outputs: Mapping[str, bytes] = {}


class Binding(Struct, frozen=True):
    """One input of a node (or one output of a workflow, on its end-node)."""

    variable: str
    data: bytes
    """Serialized flyteidl `BindingData`. A promise on node id "" or "start-node" is an input of the workflow."""
    failure: Failure | None = None
    """What a failure node is told, in place of `data`. Never part of a program: it is put in when the node is run."""
    times: bool = False
    """The declared type holds a datetime or a duration: what a step into a dataclass finds stays msgpack, in which both
    are plain text and numbers."""


class TaskSpec(Struct, frozen=True):
    id: EntityId
    type: str
    """`python-task`, `raw-container`, ..."""
    interface: Interface
    template: bytes
    """Serialized flyteidl `TaskTemplate`, canonical form, ids filled."""
    runtime_type: str = "OTHER"
    """`FLYTE_SDK` or `OTHER`: the name of TaskTemplate.metadata.runtime.type."""
    runtime_version: str = ""
    architecture: str = ""
    """Of its image, as its template declares: by the container's field, else by a label; empty: not said. Text of the
    author's that need not be an architecture."""
    raw_container: bool = False
    """It knows nothing of Flyte: it runs in its own image, its inputs and outputs are files."""


class ArraySpec(Struct, frozen=True):
    """What a map node adds to the task it maps (flytekit writes the element's policy on the inner node)."""

    parallelism: int | None = None
    """Elements at once, first indexes first; None = not said, 0 = unlimited."""
    min_successes: int | None = None
    min_success_ratio: float | None = None
    """The float32 of the message, widened; `machine.arrays.needed` turns it back to the author's decimal."""
    bound_inputs: frozenset[str] = frozenset()
    """Inputs passed whole to every element (`functools.partial`), even when they are lists."""
    run_all: bool = False
    """Run every element even when too many have failed for the map to succeed."""
    original_interface: bool = False
    """The mapped task keeps its own interface: element inputs hold the items themselves, not lists."""


class GateKind(StrEnum):
    SIGNAL = "signal"
    """wait_for_input: a typed value from outside."""
    APPROVE = "approve"
    SLEEP = "sleep"


class GateSpec(Struct, frozen=True):
    kind: GateKind
    signal_id: str = ""
    type: bytes = b""
    """Serialized `LiteralType` of the value (SIGNAL)."""
    variable: str = ""
    """The output that the value becomes (SIGNAL)."""
    seconds: float = 0.0
    """How long it sleeps (SLEEP)."""


class Arm(Struct, frozen=True):
    """One way out of a conditional."""

    node: str
    """Id of its body in the branch's graph."""
    condition: bytes = b""
    """Serialized `BooleanExpression` over the branch node's own inputs; empty for the else arm, which stands last."""


class BranchSpec(Struct, frozen=True):
    arms: tuple[Arm, ...]
    """In order: the first whose condition holds is taken."""
    graph: Graph
    """The bodies, one node an arm, without start- and end-node. Their promises and upstream ids are those of the graph
    around the branch (of the outermost branch, where branches nest), not of this one."""
    refusal: str = ""
    """The author's message of `else_().fail(...)`, where there is no else arm."""


class NodeSpec(Struct, frozen=True):
    id: str
    kind: NodeKind
    upstream: tuple[str, ...] = ()
    """Every node it waits for: data dependencies and explicit ones, without duplicates, sorted."""
    bindings: tuple[Binding, ...] = ()
    sources: tuple[str, ...] = ()
    """Node ids its bindings read from; START_NODE stands for the workflow's inputs."""
    name: str = ""
    target: EntityId | None = None
    """The task, workflow or launch plan it runs."""
    retries: int = 0
    """User retries: attempts = retries + 1."""
    timeout_seconds: float | None = None
    """Per attempt, from its start."""
    interruptible: bool | None = None
    """None: what the execution says, else what the workflow says."""
    array: ArraySpec | None = None
    branch: BranchSpec | None = None
    gate: GateSpec | None = None
    cache: CachePolicy | None = None
    """Of a task node or of the elements of a map node; None = its results are not cached."""
    overrides: bytes = b""
    """Serialized flyteidl `TaskNodeOverrides`: what `with_overrides` says about resources, image and pod."""
    detail: str = ""
    """For a kind without a handler: what the author used, for the error message."""


class Graph(Struct, frozen=True):
    """One workflow. `nodes` holds START_NODE and END_NODE too; the end-node's bindings are the workflow's outputs."""

    id: EntityId
    interface: Interface
    nodes: Mapping[str, NodeSpec]
    downstream: Mapping[str, tuple[str, ...]]
    """Node id -> the nodes that may become ready when it ends: those that wait for it, and the branches with an arm
    that waits for it."""
    policy: FailurePolicy = FailurePolicy.FAIL_IMMEDIATELY
    interruptible: bool = False
    """What holds for nodes that say nothing, here and in the sub-workflows that say nothing."""
    failure: NodeSpec | None = None
    """The clean-up (on_failure): not in `nodes`, run when the graph has failed and nothing of it is live any more."""
    error_input: str = ""
    """The input of the failure node that takes the failure (an Optional of flytekit's FlyteError); empty: none."""


def every_node(graph: Graph) -> Iterator[NodeSpec]:
    """The nodes of a graph, its failure node, and whatever its branches choose from, to any depth."""
    return _with_bodies([*graph.nodes.values(), *([graph.failure] if graph.failure else [])])


def all_waits(spec: NodeSpec) -> frozenset[str]:
    """Ids of what a node waits for, and, for a branch, of what any of its arms waits for, to any depth."""
    return frozenset(upstream for inner in _with_bodies([spec]) for upstream in inner.upstream)


def _with_bodies(left: list[NodeSpec]) -> Iterator[NodeSpec]:
    while left:
        spec = left.pop()
        yield spec
        if spec.branch is not None:
            left += spec.branch.graph.nodes.values()


class LaunchPlanSpec(Struct, frozen=True):
    id: EntityId
    workflow: EntityId
    interface: Interface
    """Inputs a caller may give (fixed inputs are not among them) and the workflow's outputs."""
    defaults: bytes = b""
    """Serialized `LiteralMap` of the inputs a caller may leave out."""
    fixed: bytes = b""
    """Serialized `LiteralMap` of the inputs a caller can't give."""
    package: str = ""
    """Digest of the package that it runs from, where a plan refers to one of another package; "" = the execution's."""
    overrides: Overrides = NONE
    """Without an architecture."""
    overwrite_cache: bool = False
    architecture: str = ""
    """The label `propwash.dev/architecture`, which `overrides.labels` does not hold."""
    schedule: Schedule | None = None
    """When it starts by itself, while it is active."""
    schedule_problem: str = ""
    """Why it can't be activated, though it can be started by hand."""
    notices: tuple[str, ...] = ()
    """What its author asked for and nobody does here, for whoever registers it."""


class Program(Struct, frozen=True):
    """One package, compiled. `digest` is the SHA-256 (hex) of its canonical form."""

    digest: str
    tasks: Mapping[EntityId, TaskSpec]
    workflows: Mapping[EntityId, Graph]
    launch_plans: Mapping[EntityId, LaunchPlanSpec]
    code_root: str = ""
    """Local folder that holds the modules of its tasks; part of the digest. Empty where images hold them."""
    code_roots: Mapping[EntityId, str] = {}
    """The same of tasks that came from another package."""
    root: EntityId | None = None
    """The workflow to run, where the program is the plan that a @dynamic task wrote."""

    def task(self, target: EntityId | None) -> TaskSpec:
        assert target is not None
        return self.tasks[target]
