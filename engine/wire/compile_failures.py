"""Compiles the failure node of a workflow (on_failure): it takes the workflow's inputs, and the failure as `err`."""

from __future__ import annotations

from dataclasses import replace

from flyteidl.core.types_pb2 import LiteralType, SimpleType
from flyteidl.core.workflow_pb2 import WorkflowTemplate
from msgspec import structs

from engine.model.graph import END_NODE, START_NODE, Interface
from engine.model.ids import NODE_ID, EntityId
from engine.wire.built import Built
from engine.wire.check_bindings import Scope, node_problems
from engine.wire.problems import Report

_ERROR_INPUT = "err"
"""The name that flytekit and Flyte 1 look for."""


def compile_failure_node(
    template: WorkflowTemplate, id: EntityId, interface: Interface, built: Built, report: Report
) -> Built:
    """It waits for nothing: it is started when the graph has failed. What is wrong with it goes to the report."""
    key = built.spec.id
    if key in (START_NODE, END_NODE) or any(node.id == key for node in template.nodes):
        report.wrong(id, ["its failure node has the id of another node"], key)
    elif not NODE_ID.match(key):
        report.wrong(id, [f"the node id {key!r} may hold only letters, digits, '.', '_' and '-'"])
    report.wrong(id, built.wrong, key)
    for reason in built.lacks:
        report.lacks(id, reason, key)
    for upstream in sorted({*built.spec.upstream} - {START_NODE} - {*built.spec.sources}):
        report.wrong(id, [f"it waits for node {upstream}, but a failure node waits for none"], key)
    report.wrong(id, node_problems(built, Scope(interface.inputs, {})), key)
    return replace(built, spec=structs.replace(built.spec, upstream=()))


def error_input(failure: Built) -> str:
    """The name of the input that takes the failure, if there is one."""
    inputs = failure.interface.inputs or {}
    bound = any(binding.variable == _ERROR_INPUT for binding in failure.spec.bindings)
    if not bound or _ERROR_INPUT not in inputs:
        return ""
    variants = LiteralType.FromString(inputs[_ERROR_INPUT]).union_type.variants
    takes = any(kind.WhichOneof("type") == "simple" and kind.simple == SimpleType.ERROR for kind in variants)
    return _ERROR_INPUT if takes else ""
