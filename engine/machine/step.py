"""Hop 3: one event, applied. Pure: old state + event -> new state, facts, effects and follow-up events."""

from __future__ import annotations

from msgspec import structs

from engine.machine import arrays, recovery, retries, signals
from engine.machine.draft import Draft, Rules
from engine.machine.execution import ExecutionState, Step, open_frames, startable
from engine.machine.frames import abort_execution, moved, open_frame, settle, try_start
from engine.machine.handler import ElementStep, Move
from engine.model.errors import Defect, ErrorKind, Failure, shorten
from engine.model.events import (
    AbortRequested,
    AttemptFailed,
    AttemptPlanned,
    ChildEnded,
    Event,
    ExecutionSubmitted,
    NodeEvent,
    NodeRetryRequested,
    SignalRefused,
    SignalSet,
    TimerFired,
)
from engine.model.graph import NodeKind, Program, every_node
from engine.model.ids import ROOT_FRAME, EntityId, EntityKind
from engine.model.phases import ExecutionPhase, NodePhase
from engine.model.state import Elements, Execution


def submitted(event: ExecutionSubmitted, program: Program, source: ExecutionState | None = None) -> ExecutionState:
    """The execution that a submission asks for, before its first step. `source`: the one that it recovers."""
    record = Execution(
        id=event.execution,
        entity=event.entity,
        workflow=workflow_of(event.entity, program),
        package=event.package,
        inputs_uri=event.inputs_uri,
        parent=event.parent,
        submitted_at=event.submitted_at,
        overwrite_cache=event.overwrite_cache,
        overrides=event.overrides,
        run=event.run,
        depth=event.depth,
        root=event.root,
        recovers=event.recovers,
        request=event.request,
        signals=recovery.signals(source) if source else {},
    )
    return ExecutionState.of(record, program, source=source)


def unusable(entity: EntityId, program: Program, rules: Rules) -> str:
    """Why an entity can't be run at all: it is not there, or it uses a kind of node without a handler. "" = it can."""
    plan = program.launch_plans.get(entity)
    found, waiting = set[EntityId](), [plan.workflow if plan else entity]
    while waiting:
        workflow = waiting.pop()
        graph = program.workflows.get(workflow)
        if graph is None:
            return f"{workflow} is not in the package"
        found.add(workflow)
        for node in every_node(graph):
            if node.kind not in rules.handlers:
                return f"node {node.id} of {workflow} is a {node.kind.value} node, which this version can't run"
            if node.kind is NodeKind.SUBWORKFLOW and node.target and node.target not in found:
                waiting.append(node.target)
    return ""


def workflow_of(entity: EntityId, program: Program) -> EntityId:
    """The workflow behind a launch plan, or the workflow itself. Raises Defect for anything else."""
    if entity.kind is EntityKind.LAUNCH_PLAN and entity in program.launch_plans:
        return program.launch_plans[entity].workflow
    if entity in program.workflows:
        return entity
    raise Defect(f"{entity} is not in package {program.digest}")


def same_submission(record: Execution, event: ExecutionSubmitted) -> bool:
    """Whether a submission repeats the one that made this execution; when, and as which run, does not count."""
    if record.request or event.request:
        return record.request == event.request
    mine = (record.entity, record.package, record.inputs_uri, record.parent, record.recovers)
    theirs = (event.entity, event.package, event.inputs_uri, event.parent, event.recovers)
    same_options = (record.overwrite_cache, record.overrides) == (event.overwrite_cache, event.overrides)
    return mine == theirs and same_options


def apply(state: ExecutionState, event: Event, now: float, rules: Rules) -> Step:
    """What `event` does to `state`, which stays as it is. Raises Defect when a handler breaks the transition table."""
    draft, event = Draft(state, rules, now), _bounded(event)
    match event:
        case ExecutionSubmitted():
            return _submit(draft, event)
        case AbortRequested():
            return _abort(draft, event)
        case SignalSet():
            return signals.come(draft, event)
        case SignalRefused():
            signals.refused(draft, event)
            return _node_event(draft, event)
        case NodeRetryRequested():
            return retries.again(draft, event)
        case _:
            return _node_event(draft, event)


def _bounded(event: Event) -> Event:
    """No text of others makes a state, a fact or the next event too large to be kept or sent."""
    match event:
        case AttemptFailed(failure=failure):
            return structs.replace(event, failure=failure.bounded())
        case ChildEnded(error=Failure() as error):
            return structs.replace(event, error=error.bounded())
        case AbortRequested(cause=cause):
            return structs.replace(event, cause=shorten(cause))
    return event


def resume(state: ExecutionState, now: float, rules: Rules) -> Step:
    """After a restart: whatever became ready and was not started, and every effect that is still due."""
    draft = Draft(state, rules, now)
    for path in list(state.live):
        node = state.nodes[path]
        draft.effects.extend(draft.handler(node.kind).pending(node, draft.context(path)))
    for prefix in open_frames(state):
        for node_id in startable(state, prefix):
            try_start(draft, prefix, node_id)
    settle(draft)
    return draft.step()


def answer(record: Execution) -> ChildEnded | None:
    """What the parent of a terminal execution should know; sent again when the parent asks again."""
    if record.parent is None or not record.terminal:
        return None
    return ChildEnded(record.parent, record.id, record.phase, record.outputs_uri, record.error)


def refused(event: ExecutionSubmitted, reason: str) -> ChildEnded | None:
    """The answer to a parent whose child can't be started."""
    if event.parent is None:
        return None
    error = Failure("RuntimeExecutionError", ErrorKind.USER, f"the child execution was refused: {reason}")
    return ChildEnded(event.parent, event.execution, ExecutionPhase.FAILED, error=error)


def unplanned(event: AttemptPlanned) -> AttemptFailed:
    """What becomes of an attempt whose plan can't be read any more."""
    message = f"the plan {event.plan}, which the task has written, can't be read"
    return AttemptFailed(event.key, Failure("DynamicWorkflowBuildFailed", ErrorKind.SYSTEM, message))


def give_up(state: ExecutionState, failure: Failure, now: float, rules: Rules) -> Step:
    """End an execution that can't go on, without asking its handlers to decide: FAILED, and all it runs is stopped."""
    draft = Draft(state, rules, now)
    if draft.record.terminal:
        return draft.step(stale=True)
    draft.enter(ExecutionPhase.FAILING, error=failure)
    for path in list(state.live):
        node = state.nodes[path]
        aborting = structs.replace(node, phase=NodePhase.ABORTING)
        effects = tuple(draft.handler(node.kind).pending(aborting, draft.context(path)))
        elements, steps = _ended(node.elements)
        states = (structs.replace(aborting, phase=NodePhase.ABORTED, ended_at=now, elements=elements),)
        draft.accept(path, Move(states if node.phase is NodePhase.ABORTING else (aborting, *states), effects, steps))
    draft.enter(ExecutionPhase.FAILED, ended_at=now)
    reply = answer(draft.record)
    draft.events.extend([reply] if reply else [])
    return draft.step()


def _ended(elements: Elements | None) -> tuple[Elements | None, tuple[ElementStep, ...]]:
    """The elements of a map that is given up: none of them is live."""
    if elements is None:
        return None, ()
    elements, waited = arrays.given_up(elements)
    working = tuple(arrays.at_work(elements))
    for index in working:
        elements = arrays.with_element(elements, index, NodePhase.ABORTED)
    ended = sorted((*waited, *working))
    return elements, tuple(ElementStep(index, arrays.attempt_of(elements, index), NodePhase.ABORTED) for index in ended)


def never_started(event: AbortRequested) -> ChildEnded | None:
    """The answer to a parent that aborts a child which was never submitted."""
    if event.parent is None:
        return None
    return ChildEnded(event.parent, event.execution, ExecutionPhase.ABORTED)


def _submit(draft: Draft, event: ExecutionSubmitted) -> Step:
    if draft.record.phase is not ExecutionPhase.READY:
        return _again(draft)
    draft.enter(ExecutionPhase.RUNNING, started_at=draft.now)
    open_frame(draft, ROOT_FRAME)
    settle(draft)
    return draft.step()


def _abort(draft: Draft, event: AbortRequested) -> Step:
    """In time as long as something may still be started: a node, or the clean-up of a failed execution."""
    record, root = draft.record, draft.frame(ROOT_FRAME)
    cleaning = record.phase is ExecutionPhase.HANDLING_FAILURE_NODE or (
        record.phase is ExecutionPhase.FAILING and bool(root.cleanup)
    )
    if record.phase is not ExecutionPhase.RUNNING and not cleaning:
        return _again(draft)
    abort_execution(draft, event.cause)
    return draft.step()


def _again(draft: Draft) -> Step:
    """Asked again for what is done already: nothing changes, but a parent that still waits gets its answer."""
    reply = answer(draft.record)
    if reply is None:
        return draft.step(stale=True)
    draft.events.append(reply)
    return draft.step()


def _node_event(draft: Draft, event: NodeEvent) -> Step:
    path = event.key.path
    try:
        before = draft.node(path)
    except KeyError as problem:
        raise Defect(f"{event.execution} has no node {path}: {problem}") from None
    if not before.live or draft.record.terminal:
        return draft.step(stale=True)
    if isinstance(event, TimerFired):
        if not before.wake_at or event.at != before.wake_at:
            return draft.step(stale=True)
        # It has come, even if the clock was set back since: nobody would tell of it a second time.
        draft.now = max(draft.now, event.at)
    move = draft.handler(before.kind).on_event(before, event, draft.context(path))
    if move is None:
        return draft.step(stale=True)
    moved(draft, path, move)
    settle(draft)
    return draft.step()
