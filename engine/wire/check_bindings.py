"""Checks what a node is bound to: every source exists, every type fits, nothing required is missing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from flyteidl.core.literals_pb2 import Binding, BindingData
from flyteidl.core.types_pb2 import LiteralType, OutputReference

from engine.model.graph import START_NODE
from engine.wire.built import Built, promises
from engine.wire.casting import accepts_none, castable, castable_bytes, step_into
from engine.wire.inference import binding_type
from engine.wire.interfaces import NodeInterface
from engine.wire.typenames import type_name

WORKFLOW_INPUTS = ("", START_NODE)


@dataclass(frozen=True, slots=True)
class Scope:
    """What the bindings of one graph can refer to."""

    inputs: Mapping[str, bytes]
    nodes: Mapping[str, NodeInterface]


def node_problems(built: Built, scope: Scope) -> Iterator[str]:
    """What is wrong with a node's bindings; those in the bodies of a branch too, to any depth."""
    left = [(built, "")]
    while left:
        node, place = left.pop()
        for text in binding_problems(node.message.inputs, node.interface, scope, own_id=built.spec.id):
            yield f"{place}{text}"
        left += [(body, f"{place}body {body.spec.id}: ") for body in reversed(node.bodies)]


def binding_problems(
    bindings: Sequence[Binding], taker: NodeInterface, scope: Scope, own_id: str, label: str = "input"
) -> Iterator[str]:
    """What is wrong with the bindings of a node, or (label "output") of a workflow's outputs."""
    seen: set[str] = set()
    for binding in bindings:
        if binding.var in seen:
            yield f"{label} {binding.var!r} is bound twice"
        seen.add(binding.var)
        if taker.inputs is not None and binding.var not in taker.inputs:
            yield f"{label} {binding.var!r} does not exist; there is {_listed(taker.inputs)}"
            continue
        broken = list(_broken_promises(binding.binding, scope, own_id))
        yield from (f"{label} {binding.var!r} {text}" for text in broken)
        if not broken and taker.inputs is not None:
            yield from _misfits(binding, taker.inputs[binding.var], scope, label)
    yield from _unbound(seen, taker, label)


def _unbound(bound: set[str], taker: NodeInterface, label: str) -> Iterator[str]:
    missing = [name for name in taker.inputs or () if name not in bound and name not in taker.optional]
    for name in missing:
        kind = LiteralType.FromString((taker.inputs or {})[name])
        if not accepts_none(kind):
            yield f"{label} {name!r} ({type_name(kind)}) is required, but nothing is bound to it"


def _broken_promises(binding: BindingData, scope: Scope, own_id: str) -> Iterator[str]:
    for promise in promises(binding):
        if promise.node_id in WORKFLOW_INPUTS:
            if promise.var not in scope.inputs:
                there = _listed(scope.inputs)
                yield f"takes the workflow's input {promise.var!r}, which does not exist; there is {there}"
        elif promise.node_id == own_id:
            yield f"takes {promise.var!r} from its own node {own_id}"
        elif promise.node_id not in scope.nodes:
            yield f"takes {promise.var!r} from node {promise.node_id}, which does not exist"
        else:
            outputs = scope.nodes[promise.node_id].outputs
            if outputs is not None and promise.var not in outputs:
                yield f"takes {promise.var!r} from node {promise.node_id}, which gives only {_listed(outputs)}"


def _misfits(binding: Binding, wanted: bytes, scope: Scope, label: str) -> Iterator[str]:
    data = binding.binding
    if data.WhichOneof("value") == "promise" and not data.promise.attr_path:
        given = _promised_bytes(data.promise, scope)
        if given is None or castable_bytes(given, wanted):
            return
    source = binding_type(data, lambda promise: _promised(promise, scope))
    target = LiteralType.FromString(wanted)
    if not castable(source, target):
        yield f"{label} {binding.var!r} is given {type_name(source)}{_origin(data)}, but expects {type_name(target)}"


def _promised_bytes(promise: OutputReference, scope: Scope) -> bytes | None:
    """The serialized type of what a sound promise stands for, or None where nobody knows."""
    if promise.node_id in WORKFLOW_INPUTS:
        return scope.inputs[promise.var]
    outputs = scope.nodes[promise.node_id].outputs
    return None if outputs is None else outputs[promise.var]


def _promised(promise: OutputReference, scope: Scope) -> LiteralType:
    known = _promised_bytes(promise, scope)
    if known is None:
        return LiteralType()
    path = [getattr(step, step.WhichOneof("value") or "int_value") for step in promise.attr_path]
    return step_into(LiteralType.FromString(known), path) or LiteralType()


def _origin(data: BindingData) -> str:
    """Where a promise comes from, for a message; nothing for constants."""
    if data.WhichOneof("value") != "promise":
        return ""
    promise = data.promise
    if promise.node_id in WORKFLOW_INPUTS:
        return f" by the workflow's input {promise.var!r}"
    return f" by output {promise.var!r} of node {promise.node_id}"


def _listed(names: Mapping[str, object]) -> str:
    return ", ".join(sorted(names)) or "none"
