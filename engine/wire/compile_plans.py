"""Compiles launch plans: what a caller may give, what has a default, what is fixed, what holds for every execution."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from flyteidl.admin.launch_plan_pb2 import LaunchPlan
from flyteidl.core.interface_pb2 import TypedInterface, VariableMap
from flyteidl.core.literals_pb2 import Literal, LiteralMap
from flyteidl.core.types_pb2 import LiteralType

from engine.model.graph import Interface, LaunchPlanSpec
from engine.model.ids import EntityId, EntityKind
from engine.wire.casting import castable
from engine.wire.compile_schedules import compile_standing
from engine.wire.inference import literal_type
from engine.wire.interfaces import NodeInterface, dump_type, entity_id, interface_of
from engine.wire.typenames import type_name


def compile_plan(plan: LaunchPlan, workflows: Mapping[EntityId, Interface]) -> tuple[LaunchPlanSpec, list[str]]:
    """The launch plan, and what is wrong with it. Without its workflow it keeps the inputs that it declares itself."""
    workflow = entity_id(plan.spec.workflow_id, EntityKind.WORKFLOW)
    interface = workflows.get(workflow)
    fixed = dict(plan.spec.fixed_inputs.literals)
    defaults = _defaults(plan, fixed)
    standing = compile_standing(plan, interface, {**defaults, **fixed})
    spec = LaunchPlanSpec(
        id=entity_id(plan.id, EntityKind.LAUNCH_PLAN),
        workflow=workflow,
        interface=_callable(plan, interface, fixed),
        defaults=_dump(defaults),
        fixed=_dump(fixed),
        overrides=standing.overrides,
        overwrite_cache=plan.spec.overwrite_cache,
        architecture=standing.architecture,
        schedule=standing.schedule,
        schedule_problem=standing.schedule_problem,
        notices=standing.notices,
    )
    wrong = list(standing.wrong)
    if interface is not None:
        wrong += [*_value_problems("default", defaults, interface), *_value_problems("fixed", fixed, interface)]
    return spec, wrong


def state_interface(plan: LaunchPlan, workflow: TypedInterface) -> None:
    """Write the workflow's interface into the launch plan's closure, for where its workflow is not at hand."""
    plan.closure.expected_outputs.CopyFrom(workflow.outputs)
    for name, variable in workflow.inputs.variables.items():
        plan.closure.expected_inputs.parameters[name].var.CopyFrom(variable)


def stated_interface(plan: LaunchPlan) -> Interface:
    """The inverse of `state_interface`."""
    inputs = VariableMap(variables={name: it.var for name, it in plan.closure.expected_inputs.parameters.items()})
    return interface_of(TypedInterface(inputs=inputs, outputs=plan.closure.expected_outputs))


def _callable(plan: LaunchPlan, workflow: Interface | None, fixed: Mapping[str, Literal]) -> Interface:
    """The inputs that a caller may give, and the outputs."""
    if workflow is not None:
        return Interface({name: kind for name, kind in workflow.inputs.items() if name not in fixed}, workflow.outputs)
    declared = plan.spec.default_inputs.parameters
    return Interface({name: dump_type(declared[name].var.type) for name in sorted(declared) if name not in fixed})


def _defaults(plan: LaunchPlan, fixed: Mapping[str, Literal]) -> dict[str, Literal]:
    return {
        name: parameter.default
        for name, parameter in plan.spec.default_inputs.parameters.items()
        if parameter.WhichOneof("behavior") == "default" and name not in fixed
    }


def _dump(literals: Mapping[str, Literal]) -> bytes:
    return LiteralMap(literals=literals).SerializeToString(deterministic=True)


def _value_problems(label: str, literals: Mapping[str, Literal], workflow: Interface) -> Iterator[str]:
    for name, literal in sorted(literals.items()):
        if name not in workflow.inputs:
            known = ", ".join(workflow.inputs) or "none"
            yield f"{label} input {name!r} is no input of its workflow, which has: {known}"
            continue
        given, wanted = literal_type(literal), LiteralType.FromString(workflow.inputs[name])
        if not castable(given, wanted):
            yield f"{label} input {name!r} is {type_name(given)}, but the workflow expects {type_name(wanted)}"


def plan_interface(plan: LaunchPlanSpec) -> NodeInterface:
    """What a node that runs this launch plan takes and gives: fixed inputs can't be bound, defaults need not be."""
    optional = frozenset(LiteralMap.FromString(plan.defaults).literals)
    return NodeInterface(plan.interface.inputs, plan.interface.outputs, optional)
