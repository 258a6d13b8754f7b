"""What is to be done about it: imperative, never stored; `pending` derives them from state again after a crash.

`sources` maps the node ids that the bindings read from to the URI of that node's outputs (a `LiteralMap`);
START_NODE stands for the inputs of the frame's workflow. An empty URI is an empty map.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from engine.model.graph import Binding, GateSpec, LaunchPlanSpec, NodeSpec, TaskSpec
from engine.model.ids import AttemptKey, EntityId, ExecutionId
from engine.model.overrides import NONE, Overrides
from engine.model.state import Elements


class Origin(Struct, frozen=True):
    """Facts about the execution that every effect may need: for FLYTE_INTERNAL_* and child executions."""

    workflow: EntityId
    entity: EntityId
    package: str
    code_root: str = ""
    overwrite_cache: bool = False
    overrides: Overrides = NONE
    """What holds for the execution; its child executions are submitted with the same."""
    depth: int = 0
    """Levels of executions above this one."""
    root: AttemptKey | None = None
    """What started them all, in the execution at the top; None: nothing is above this one."""
    architecture: str = ""
    """Of its launch plan; child executions don't get it."""
    tasks: Mapping[EntityId, TaskSpec] = {}
    """Those of the execution's own package."""
    previous: AttemptKey | None = None
    """The attempt in the recovered execution that this one comes after: it gets that one's checkpoint."""


class ResolveInputs(Struct, frozen=True):
    """Resolve a composite node's inputs and store them."""

    key: AttemptKey
    bindings: tuple[Binding, ...]
    sources: Mapping[str, str]


class EvaluateBranch(Struct, frozen=True):
    """Resolve the inputs of a branch node's conditions, store them, and choose an arm."""

    key: AttemptKey
    spec: NodeSpec
    sources: Mapping[str, str]


class PrepareArray(Struct, frozen=True):
    """Resolve a map node's inputs, pass the runtime-version gate, store them, and find its size."""

    key: AttemptKey
    spec: NodeSpec
    target: TaskSpec | LaunchPlanSpec
    sources: Mapping[str, str]


class RunTask(Struct, frozen=True):
    """Resolve inputs, start the attempt, wait for its end and judge it."""

    key: AttemptKey
    spec: NodeSpec
    task: TaskSpec
    sources: Mapping[str, str]
    origin: Origin
    resumed: bool = False
    """Asked for by `pending` after a restart: a verdict found in the attempt's folder is believed."""
    interruptible: bool = False
    """It may run on capacity that can be taken away."""
    begun: bool = False
    """It was told of as running."""


class KeepOutputs(Struct, frozen=True):
    """Cache what the graph that a task had planned has given."""

    key: AttemptKey
    spec: NodeSpec
    task: TaskSpec
    sources: Mapping[str, str]
    outputs_uri: str


class RunElement(Struct, frozen=True):
    """The same for one element of a map node, whose inputs are stored already."""

    key: AttemptKey
    spec: NodeSpec
    task: TaskSpec
    array_inputs_uri: str
    size: int
    origin: Origin
    resumed: bool = False
    interruptible: bool = False
    begun: bool = False
    succeeded: AttemptKey | None = None
    """The attempt in the recovered execution whose outputs are this element's too."""


class StartElement(Struct, frozen=True):
    """Submit the child execution of one element of a map over a launch plan; the map's inputs are stored already."""

    key: AttemptKey
    child: ExecutionId
    spec: NodeSpec
    plan: LaunchPlanSpec
    array_inputs_uri: str
    origin: Origin
    recovers: ExecutionId | None = None
    """The child execution that the same node of the recovered execution started."""


class MeasureElement(Struct, frozen=True):
    """Look through the outputs that an element's child execution has left, as the judge does with a task's."""

    key: AttemptKey
    outputs_uri: str
    declared: tuple[str, ...]


class StopAttempt(Struct, frozen=True):
    """End whatever runs for this attempt, wait until it is gone, and say so."""

    key: AttemptKey


class GatherOutputs(Struct, frozen=True):
    """Write the outputs of a map node from those of its elements."""

    key: AttemptKey
    spec: NodeSpec
    target: TaskSpec | LaunchPlanSpec
    elements: Elements


class WriteOutputs(Struct, frozen=True):
    """Resolve a workflow's output bindings and store them as its end-node's outputs."""

    key: AttemptKey
    bindings: tuple[Binding, ...]
    sources: Mapping[str, str]


class TakeSignal(Struct, frozen=True):
    """Read the value of a gate's signal, check it, and write the gate's outputs."""

    key: AttemptKey
    gate: GateSpec
    value_uri: str
    bindings: tuple[Binding, ...]
    sources: Mapping[str, str]


class StartChild(Struct, frozen=True):
    """Resolve a launch plan node's inputs and submit its child execution."""

    key: AttemptKey
    child: ExecutionId
    bindings: tuple[Binding, ...]
    sources: Mapping[str, str]
    plan: LaunchPlanSpec
    origin: Origin
    recovers: ExecutionId | None = None
    """The child execution that the same node of the recovered execution started."""


class AbortChild(Struct, frozen=True):
    """Ask a child execution to abort; its `ChildEnded` is the answer."""

    key: AttemptKey
    child: ExecutionId
    cause: str


Effect = (
    ResolveInputs
    | EvaluateBranch
    | PrepareArray
    | RunTask
    | KeepOutputs
    | RunElement
    | StartElement
    | MeasureElement
    | StopAttempt
    | GatherOutputs
    | WriteOutputs
    | TakeSignal
    | StartChild
    | AbortChild
)
