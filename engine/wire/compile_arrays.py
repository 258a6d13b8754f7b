"""Compiles what a map adds to the task or launch plan it maps over."""

from __future__ import annotations

from collections.abc import Iterator

from flyteidl.core.workflow_pb2 import ArrayNode

from engine.model.graph import ArraySpec
from engine.wire.interfaces import NodeInterface, list_of


def array_spec(array: ArrayNode) -> ArraySpec:
    criterion = array.WhichOneof("success_criteria")
    return ArraySpec(
        parallelism=array.parallelism if array.WhichOneof("parallelism_option") else None,
        min_successes=array.min_successes if criterion == "min_successes" else None,
        min_success_ratio=array.min_success_ratio if criterion == "min_success_ratio" else None,
        bound_inputs=frozenset(array.bound_inputs),
        run_all=array.run_all_sub_nodes,
        original_interface=array.is_original_sub_node_interface.value,
    )


def array_interface(array: ArrayNode, element: NodeInterface) -> NodeInterface:
    """What the map node takes and gives. A map task's own interface holds the lists already (flytekit lifts it)."""
    if not array.is_original_sub_node_interface.value:
        return element
    bound = frozenset(array.bound_inputs)
    tolerant = array.WhichOneof("success_criteria") == "min_success_ratio" and array.min_success_ratio < 1
    inputs, outputs = element.inputs, element.outputs
    return NodeInterface(
        inputs=inputs and {name: kind if name in bound else list_of(kind) for name, kind in inputs.items()},
        outputs=outputs and {name: kind and list_of(kind, optional=tolerant) for name, kind in outputs.items()},
        optional=element.optional,
    )


def array_problems(array: ArrayNode, element: NodeInterface) -> Iterator[str]:
    """What is wrong with the map itself."""
    unknown = sorted(name for name in array.bound_inputs if element.inputs is not None and name not in element.inputs)
    if unknown:
        yield f"its bound input {', '.join(unknown)} is no input of what it maps over"
    if array.WhichOneof("success_criteria") == "min_success_ratio" and not 0 <= array.min_success_ratio <= 1:
        yield f"its min_success_ratio is {array.min_success_ratio:g}; expected a number from 0 to 1"
