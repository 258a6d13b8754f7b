"""Child executions: the inputs and events that start one, and what one has left for the map that waits for it."""

from __future__ import annotations

from engine.data.evidence import output_sizes
from engine.data.framing import CorruptMessage
from engine.data.literals import entries, literal_map
from engine.data.stored import BLOCK
from engine.machine.children import child_id, place
from engine.model import layout
from engine.model.effects import MeasureElement, StartChild, StartElement
from engine.model.errors import BlobNotFound, ErrorKind, Failure, Permanent
from engine.model.events import AttemptFailed, AttemptStarted, AttemptSucceeded, Event, ExecutionSubmitted
from engine.model.graph import LaunchPlanSpec
from engine.ports.blobstore import BlobStore
from engine.ports.services import Services


async def submission(effect: StartChild | StartElement, resolved: bytes, services: Services) -> tuple[Event, ...]:
    """Store the child's inputs; the submission, and word to the parent that it is made.

    resolved: a serialized `LiteralMap` of what the parent gives. Raises Permanent as `child_inputs`; Transient.
    """
    inputs, uri = child_inputs(effect.plan, resolved), ""
    if inputs:
        uri = services.blobs.uri(layout.workflow_inputs(effect.child))
        await services.blobs.put(uri, inputs)
    child = ExecutionSubmitted(
        recovers=effect.recovers,
        depth=effect.origin.depth + 1,
        root=effect.origin.root or effect.key,
        execution=effect.child,
        entity=effect.plan.id,
        package=effect.plan.package or effect.origin.package,
        inputs_uri=uri,
        parent=effect.key,
        submitted_at=services.clock.now(),
        overwrite_cache=effect.origin.overwrite_cache,
        overrides=effect.origin.overrides,
    )
    return (child, AttemptStarted(effect.key, uri))


async def measured(blobs: BlobStore, effect: MeasureElement) -> AttemptSucceeded | AttemptFailed:
    """The element's success, with the bytes that each of its outputs takes in the gathered list. Raises Transient."""
    if not effect.declared:
        return AttemptSucceeded(effect.key)
    try:
        head = await blobs.get(effect.outputs_uri, 0, BLOCK)
        sizes, _ = await output_sizes(blobs, effect.outputs_uri, head)
        return AttemptSucceeded(effect.key, effect.outputs_uri, {name: sizes[name] for name in effect.declared})
    except (BlobNotFound, CorruptMessage) as problem:
        reason = str(problem)
    except KeyError as problem:
        reason = f"they lack {problem.args[0]!r}"
    message = f"the outputs of child execution {child_id(effect.key).name} can't be used: {reason}"
    return AttemptFailed(effect.key, Failure("OutputsNotFound", ErrorKind.SYSTEM, message, place(effect.key)))


def child_inputs(plan: LaunchPlanSpec, resolved: bytes) -> bytes:
    """Every input of a child execution, as a serialized `LiteralMap`: defaults, then what is given, then fixed inputs.

    Large values stay references. Raises Permanent (USER) naming the inputs that nobody gives.
    """
    given, fixed = entries(resolved), entries(plan.fixed)
    inputs = {**entries(plan.defaults), **given, **fixed}
    expected = {*plan.interface.inputs, *fixed}
    missing = [name for name in plan.interface.inputs if name not in inputs]
    if missing:
        what = f"input {missing[0]!r} is" if len(missing) == 1 else f"inputs {', '.join(map(repr, missing))} are"
        message = f"{plan.id} can't be started: {what} missing; the node gives {', '.join(given) or 'none'}"
        raise Permanent(Failure(code="RemoteChildWorkflowExecutionFailed", kind=ErrorKind.USER, message=message))
    return literal_map({name: literal for name, literal in inputs.items() if name in expected})
