"""Packages for tests, put together by hand as flytekit writes them: empty ids, no start and end nodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from flyteidl.admin.launch_plan_pb2 import LaunchPlan
from flyteidl.admin.task_pb2 import TaskSpec
from flyteidl.admin.workflow_pb2 import WorkflowSpec
from flyteidl.core import condition_pb2, literals_pb2, types_pb2, workflow_pb2
from flyteidl.core.identifier_pb2 import Identifier
from flyteidl.core.interface_pb2 import TypedInterface
from flyteidl.core.types_pb2 import LiteralType

from engine.model.graph import Graph
from engine.model.ids import EntityId, EntityKind
from engine.wire.compile import Compiled, compile_package
from engine.wire.package import Package, PackageFiles
from engine.wire.registration import register
from tests.literal_types import INT

Entity = TaskSpec | WorkflowSpec | LaunchPlan
Types = Mapping[str, LiteralType]
SUFFIX = {TaskSpec: 1, WorkflowSpec: 2, LaunchPlan: 3}


def interface(inputs: Types, outputs: Types) -> TypedInterface:
    face = TypedInterface()
    for variables, types in ((face.inputs, inputs), (face.outputs, outputs)):
        for name, kind in types.items():
            variables.variables[name].type.CopyFrom(kind)
    return face


def task(name: str, inputs: Types | None = None, outputs: Types | None = None) -> TaskSpec:
    """A python-task; by default it takes an int `a` and gives an int `o0`."""
    spec = TaskSpec()
    spec.template.id.name = name
    spec.template.type = "python-task"
    face = interface({"a": INT} if inputs is None else inputs, {"o0": INT} if outputs is None else outputs)
    spec.template.interface.CopyFrom(face)
    spec.template.container.args.extend(["pyflyte-execute", "--inputs", "{{.input}}"])
    return spec


def constant(value: int | float | str | None) -> literals_pb2.BindingData:
    return literals_pb2.BindingData(scalar=literal(value).scalar)


def literal(value: int | float | str | None) -> literals_pb2.Literal:
    if value is None:
        return literals_pb2.Literal(scalar=literals_pb2.Scalar(none_type=literals_pb2.Void()))
    primitive = literals_pb2.Primitive()
    setattr(primitive, {int: "integer", float: "float_value", str: "string_value"}[type(value)], value)
    return literals_pb2.Literal(scalar=literals_pb2.Scalar(primitive=primitive))


def output(node: str, var: str = "o0", *path: str | int) -> literals_pb2.BindingData:
    """A promise; node "" is an input of the workflow."""
    steps = [
        types_pb2.PromiseAttribute(string_value=step)
        if isinstance(step, str)
        else types_pb2.PromiseAttribute(int_value=step)
        for step in path
    ]
    promise = types_pb2.OutputReference(node_id=node, var=var, attr_path=steps)
    return literals_pb2.BindingData(promise=promise)


def given(var: str) -> literals_pb2.BindingData:
    return output("", var)


def items(*bindings: literals_pb2.BindingData) -> literals_pb2.BindingData:
    return literals_pb2.BindingData(collection=literals_pb2.BindingDataCollection(bindings=bindings))


def bound(bindings: Mapping[str, literals_pb2.BindingData]) -> list[literals_pb2.Binding]:
    return [literals_pb2.Binding(var=var, binding=data) for var, data in bindings.items()]


Bindings = Mapping[str, literals_pb2.BindingData]


def node(
    id: str, bindings: Bindings | None = None, *, after: Sequence[str] = (), runs: str | Identifier = "m.t"
) -> workflow_pb2.Node:
    """A node that runs a task."""
    reference = Identifier(name=runs) if isinstance(runs, str) else runs
    return workflow_pb2.Node(
        id=id,
        inputs=bound(bindings or {}),
        upstream_node_ids=after,
        task_node=workflow_pb2.TaskNode(reference_id=reference),
    )


def map_node(
    id: str, bindings: Bindings, *, runs: str = "m.t", bound_inputs: Sequence[str] = (), ratio: float = 1.0
) -> workflow_pb2.Node:
    """A map over a task, bindings on the outer and on the inner node, as flytekit writes it."""
    inner = node(runs, bindings, runs=runs)
    array = workflow_pb2.ArrayNode(node=inner, min_success_ratio=ratio, bound_inputs=bound_inputs)
    return workflow_pb2.Node(id=id, inputs=bound(bindings), array_node=array)


def condition(
    variable: str, sign: str, value: int | float | str | None = None, *, other: str = ""
) -> condition_pb2.BooleanExpression:
    """`variable sign value`, or `variable sign other`, where other is a variable too."""
    comparison = condition_pb2.ComparisonExpression(operator=sign)
    comparison.left_value.var = variable
    if other:
        comparison.right_value.var = other
    elif value is None:
        comparison.right_value.scalar.CopyFrom(literal(None).scalar)
    else:
        comparison.right_value.primitive.CopyFrom(literal(value).scalar.primitive)
    return condition_pb2.BooleanExpression(comparison=comparison)


def branch(
    id: str,
    bindings: Bindings,
    *arms: tuple[condition_pb2.BooleanExpression | None, workflow_pb2.Node],
    fails: str = "",
    name: str = "choice",
    after: Sequence[str] = (),
) -> workflow_pb2.Node:
    """A conditional; the arm without a condition is the else arm."""
    made = workflow_pb2.Node(id=id, inputs=bound(bindings), upstream_node_ids=after)
    made.metadata.name = name
    block = made.branch_node.if_else
    for number, (needed, body) in enumerate(arms):
        if needed is None:
            block.else_node.CopyFrom(body)
        else:
            case = block.other.add() if number else block.case
            case.condition.CopyFrom(needed)
            case.then_node.CopyFrom(body)
    if fails:
        block.error.message = fails
    return made


def calls(
    id: str, bindings: Bindings | None = None, *, plan: str = "", workflow: str = "", after: Sequence[str] = ()
) -> workflow_pb2.Node:
    """A node that runs a launch plan or a sub-workflow."""
    runs = (
        workflow_pb2.WorkflowNode(launchplan_ref=Identifier(name=plan))
        if plan
        else workflow_pb2.WorkflowNode(sub_workflow_ref=Identifier(name=workflow))
    )
    return workflow_pb2.Node(id=id, inputs=bound(bindings or {}), upstream_node_ids=after, workflow_node=runs)


def workflow(
    name: str,
    *nodes: workflow_pb2.Node,
    inputs: Types | None = None,
    gives: Mapping[str, tuple[LiteralType, literals_pb2.BindingData]] | None = None,
) -> WorkflowSpec:
    """By default it takes an int `n` and gives nothing; `gives` has each output's type and binding."""
    gives = gives or {}
    spec = WorkflowSpec()
    spec.template.id.name = name
    face = interface({"n": INT} if inputs is None else inputs, {key: kind for key, (kind, _) in gives.items()})
    spec.template.interface.CopyFrom(face)
    spec.template.nodes.extend(nodes)
    spec.template.outputs.extend(bound({key: data for key, (_, data) in gives.items()}))
    return spec


def plan(
    name: str,
    of: WorkflowSpec,
    *,
    defaults: Mapping[str, int | str] | None = None,
    fixed: Mapping[str, int | str] | None = None,
) -> LaunchPlan:
    """Every input of the workflow that is neither fixed nor has a default is required."""
    defaults, fixed = defaults or {}, fixed or {}
    made = LaunchPlan(id=Identifier(name=name))
    made.spec.workflow_id.name = of.template.id.name
    for var, kind in of.template.interface.inputs.variables.items():
        if var not in fixed and var not in defaults:
            made.spec.default_inputs.parameters[var].var.CopyFrom(kind)
            made.spec.default_inputs.parameters[var].required = True
    for var, value in defaults.items():
        made.spec.default_inputs.parameters[var].default.CopyFrom(literal(value))
    for var, value in fixed.items():
        made.spec.fixed_inputs.literals[var].CopyFrom(literal(value))
    return made


def files(*entities: Entity, code_root: str = "") -> PackageFiles:
    named = {f"{i}_e_{SUFFIX[type(entity)]}.pb": entity.SerializeToString() for i, entity in enumerate(entities)}
    return PackageFiles("package", named, code_root)


def registered(*entities: Entity, version: str = "v1") -> Package:
    return register(files(*entities), project="p", domain="d", version=version)


def compiled(*entities: Entity) -> Compiled:
    return compile_package(registered(*entities))


def graph_of(*entities: Entity, name: str = "m.w") -> Graph:
    """The graph of a workflow that must be free of problems."""
    result = compiled(*entities)
    assert [str(problem) for problem in result.problems] == []
    return result.program.workflows[workflow_id(name)]


def complaints(*entities: Entity) -> list[str]:
    return [str(problem) for problem in compiled(*entities).problems]


def entity(kind: EntityKind, name: str) -> EntityId:
    return EntityId(kind, "p", "d", name, "v1")


def task_id(name: str) -> EntityId:
    return entity(EntityKind.TASK, name)


def workflow_id(name: str) -> EntityId:
    return entity(EntityKind.WORKFLOW, name)


def plan_id(name: str) -> EntityId:
    return entity(EntityKind.LAUNCH_PLAN, name)
